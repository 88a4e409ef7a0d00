package ads

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// Event is what a user earned.
type Event struct {
	// Type is "rewarded", the ad was watched and closed, or "direct_link", the link was followed.
	Type string `json:"event"`
	// ID is the same on every attempt: pay it once, with a unique key. Empty where the service sends no ids.
	ID     string `json:"event_id"`
	BotID  string `json:"bot_id"`
	UserID string `json:"user_tg_id"`
	Code   string `json:"code"`
	// Reference is the one that the code was created with.
	Reference  string `json:"reference"`
	OccurredAt string `json:"occurred_at"`
	// IsTest is true for a test of the webhook: pay nothing for it.
	IsTest bool `json:"test"`
}

var (
	// ErrNotGenuine says that no token signed the webhook, or that it was sent more than five minutes ago.
	ErrNotGenuine = errors.New("not genuine: another token, a changed body, or a clock that is more than 5 minutes off")
	// ErrMalformed says that a genuine webhook contains no event.
	ErrMalformed = errors.New("the body is not an event")
)

var userID = regexp.MustCompile(`^(0|[1-9][0-9]{0,19})$`)

// maxBodyBytes is more than any webhook has.
const maxBodyBytes = 64 << 10

// Verify reads the event of a webhook: body is its bytes as they arrived, tokens the bot's API tokens, two while they rotate.
func Verify(header http.Header, body []byte, tokens []string, now time.Time) (Event, error) {
	if !IsGenuine(onlyOne(header), body, tokens, now.Unix()) {
		return Event{}, ErrNotGenuine
	}
	var event Event
	isKnown := json.Unmarshal(body, &event) == nil && (event.Type == "rewarded" || event.Type == "direct_link")
	if !isKnown || !userID.MatchString(event.UserID) {
		return Event{}, ErrMalformed
	}
	event.IsTest = event.IsTest || event.UserID == "0"
	return event, nil
}

// onlyOne reads a header that arrives more than once as empty, since it is no signature.
func onlyOne(header http.Header) func(string) string {
	return func(name string) string {
		if len(header.Values(name)) != 1 {
			return ""
		}
		return header.Get(name)
	}
}

// Handler receives webhooks. It calls pay for each event that is not a test, and answers 200 when pay returned nil: every
// other answer makes the service send the event again. The same event may arrive twice, so pay must store event.ID under a
// unique key, together with the reward.
//
// Without a token it answers 500, which is sent again, and logs what is missing.
func Handler(pay func(context.Context, Event) error, tokens ...string) http.Handler {
	if strings.Join(tokens, "") == "" {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			log.Print("ads: webhooks cannot be verified: the API token (AD_API_TOKEN) is missing")
			http.Error(w, "the receiver's API token (AD_API_TOKEN) is missing", http.StatusInternalServerError)
		})
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			http.Error(w, "webhooks are sent with POST", http.StatusMethodNotAllowed)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))
		if err != nil {
			http.Error(w, "the body cannot be read, or is larger than any webhook", http.StatusBadRequest)
			return
		}
		event, err := Verify(r.Header, body, tokens, time.Now())
		if errors.Is(err, ErrNotGenuine) {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		} else if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if !event.IsTest {
			if err := pay(r.Context(), event); err != nil {
				log.Printf("ads: the event %s was not paid: %v", event.ID, err)
				http.Error(w, "not stored; send it again", http.StatusInternalServerError)
				return
			}
		}
		w.WriteHeader(http.StatusOK)
	})
}
