package ads

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"regexp"
	"runtime/debug"
	"strings"
	"time"
)

// Event is what a user earned.
type Event struct {
	// Type is "rewarded", the ad was watched and closed, or "direct_link", the link was followed. Bots that ask for tasks also
	// get "task", the user joined a channel, and "task_reversed", the user left too early: take back what "task" paid. Bots
	// that ask for interstitials get "interstitial": one was charged. Pay nothing for it.
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

// sentEvent has the fields in the order in which the ad service writes them.
type sentEvent struct {
	Event         json.RawMessage `json:"event,omitempty"`
	EventID       json.RawMessage `json:"event_id,omitempty"`
	BotID         json.RawMessage `json:"bot_id,omitempty"`
	UserID        json.RawMessage `json:"user_tg_id,omitempty"`
	Code          json.RawMessage `json:"code,omitempty"`
	Reference     json.RawMessage `json:"reference,omitempty"`
	StartParam    json.RawMessage `json:"start_param,omitempty"`
	ClientNote    json.RawMessage `json:"client_note,omitempty"`
	OccurredAt    json.RawMessage `json:"occurred_at,omitempty"`
	RevenueMicros json.RawMessage `json:"revenue_micros,omitempty"`
	Currency      json.RawMessage `json:"currency,omitempty"`
	Test          json.RawMessage `json:"test,omitempty"`
}

var (
	// ErrNotGenuine says that no token signed the webhook, or that it was sent more than five minutes ago. The error itself is
	// a *Refusal, which says why.
	ErrNotGenuine = errors.New("not genuine")
	// ErrMalformed says that a genuine webhook contains no event.
	ErrMalformed = errors.New("the body is not an event")
)

var knownTypes = map[string]bool{"rewarded": true, "direct_link": true, "interstitial": true, "task": true, "task_reversed": true}

var userID = regexp.MustCompile(`^(0|[1-9][0-9]{0,19})$`)

// maxBodyBytes is more than any webhook has.
const maxBodyBytes = 64 << 10

// Verify reads the event of a webhook: body is its bytes as they arrived, tokens the bot's API tokens, two while they rotate.
// Its error is a *Refusal or ErrMalformed.
func Verify(header http.Header, body []byte, tokens []string, now time.Time) (Event, error) {
	if !IsGenuine(onlyOne(header), body, tokens, now.Unix()) {
		return Event{}, explain(header, body, tokens, now)
	}
	var event Event
	isKnown := json.Unmarshal(body, &event) == nil && knownTypes[event.Type]
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
// other answer makes the service send the event again, also that to a panic of pay. The same event may arrive twice, so pay must
// store event.ID under a unique key, together with the reward, before it returns: what a goroutine does later may be lost.
//
// Without a token it answers 500, which is sent again, and logs what is missing. Errors have the form of every receiver of the
// contract, which the service and its doctor read: a code, a message, and for a 401 the Refusal.
func Handler(pay func(context.Context, Event) error, tokens ...string) http.Handler {
	if strings.Join(tokens, "") == "" || pay == nil {
		fault := "the API token (AD_API_TOKEN) is missing"
		if pay == nil {
			fault = "ads.Handler needs the function that pays"
		}
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			log.Printf("ads: webhooks cannot be received: %s", fault)
			refuse(w, http.StatusInternalServerError, "NOT_CONFIGURED", fault, nil)
		})
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			refuse(w, http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED", "a webhook is a POST", nil)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			refuse(w, http.StatusRequestEntityTooLarge, "TOO_LARGE", fmt.Sprintf("a webhook has at most %d bytes", maxBodyBytes), nil)
			return
		} else if err != nil {
			refuse(w, http.StatusBadRequest, "BAD_REQUEST", "the request broke off", nil)
			return
		}
		event, err := Verify(r.Header, body, tokens, time.Now())
		var refusal *Refusal
		if errors.As(err, &refusal) {
			refuse(w, http.StatusUnauthorized, "BAD_SIGNATURE", refusal.Error(), refusal)
			return
		} else if err != nil {
			refuse(w, http.StatusBadRequest, "BAD_REQUEST", err.Error(), nil)
			return
		}
		if !event.IsTest {
			if err := payAndRecover(r.Context(), pay, event); err != nil {
				log.Printf("ads: the event %s was not paid: %v", event.ID, err)
				refuse(w, http.StatusInternalServerError, "NOT_HANDLED", "not stored; send it again", nil)
				return
			}
		}
		w.WriteHeader(http.StatusOK)
	})
}

func payAndRecover(ctx context.Context, pay func(context.Context, Event) error, event Event) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("panic: %v\n%s", fault, debug.Stack())
		}
	}()
	return pay(ctx, event)
}

func refuse(w http.ResponseWriter, status int, code, message string, details *Refusal) {
	type fault struct {
		Code    string   `json:"code"`
		Message string   `json:"message"`
		Details *Refusal `json:"details,omitempty"`
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]fault{"error": {code, message, details}})
}
