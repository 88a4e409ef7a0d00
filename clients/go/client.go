// Package ads is what a bot's backend needs of an Intermission ad service: codes, and webhooks that are verified.
package ads

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Client calls the ad service as the publisher of one bot.
type Client struct {
	base  string
	token string
	botID string
	// HTTP sends the requests. Its timeout is 10 seconds at first.
	HTTP *http.Client
}

// Code is what a bot sends to a user: MiniappURL in an inline web_app button, DirectLink where there are no mini-apps.
type Code struct {
	Code       string `json:"code"`
	ExpiresIn  int    `json:"expires_in"`
	ExpiresAt  string `json:"expires_at"`
	MiniappURL string `json:"miniapp_url"`
	DirectLink string `json:"direct_link"`
}

// Error is a refusal of the ad service, or of an argument that was not sent.
type Error struct {
	// Status is that of HTTP; 0 if nothing was sent.
	Status int
	// Code is in UPPER_SNAKE, for programs; UNEXPECTED_ANSWER where something else answered, such as a proxy. Not sent:
	// NOT_A_PERSON, a user id that stands for many people, and BAD_REQUEST, a value that is no user id.
	Code    string
	Message string
	// RetryAfter is how long to wait before the next request; 0 if the answer does not say.
	RetryAfter time.Duration
}

func (e *Error) Error() string {
	if e.Status == 0 {
		return fmt.Sprintf("%s: %s", e.Code, e.Message)
	}
	return fmt.Sprintf("the ad service answered %d %s: %s", e.Status, e.Code, e.Message)
}

const maxAnswerBytes = 1 << 20

var (
	telegramID = regexp.MustCompile(`^[1-9][0-9]{0,19}$`)
	chatID     = regexp.MustCompile(`^-[0-9]+$`)
	botFather  = regexp.MustCompile(`^[0-9]+:`)
)

// NewClient checks its arguments: serviceURL is the address of the ad service, token the bot's API token (ad_…), botID the
// bot's Telegram id.
func NewClient(serviceURL, token, botID string) (*Client, error) {
	address, err := url.Parse(serviceURL)
	if err != nil || (address.Scheme != "https" && address.Scheme != "http") || address.Host == "" {
		return nil, errors.New("ads: the service's address (AD_SERVICE_URL) is not one such as https://rewards.example.com")
	}
	switch {
	case token == "":
		return nil, errors.New("ads: the API token (AD_API_TOKEN) is missing")
	case botFather.MatchString(token):
		return nil, errors.New("ads: the API token (AD_API_TOKEN) is @BotFather's; the ad service's begins with ad_")
	case strings.ContainsAny(token, " \t\r\n\"'"):
		return nil, errors.New("ads: the API token (AD_API_TOKEN) has blanks, quotes or a line break: remove them")
	case !telegramID.MatchString(botID):
		return nil, errors.New("ads: the bot's id (BOT_ID) is not 1 to 20 digits")
	}
	base := strings.TrimSuffix(strings.TrimRight(serviceURL, "/"), "/client/v1")
	return &Client{base: base, token: token, botID: botID, HTTP: &http.Client{Timeout: 10 * time.Second}}, nil
}

// Consent is what a user has consented to, with the strings as the publisher's consent platform writes them.
type Consent struct {
	// GDPR is whether the law of the European Union applies to the user; nil says nothing.
	GDPR *bool `json:"gdpr,omitempty"`
	// TCF is the string of IAB's Transparency and Consent Framework 2.
	TCF string `json:"tcf,omitempty"`
	// GPP is the string of IAB's Global Privacy Platform, GPPSID its sections that apply.
	GPP    string `json:"gpp,omitempty"`
	GPPSID []int  `json:"gpp_sid,omitempty"`
}

// CreateCode returns the user's code; a repeat returns the open one. The webhook echoes reference, the publisher's own key,
// which may be empty. A refusal is an *Error.
func (c *Client) CreateCode(ctx context.Context, userID, reference string) (Code, error) {
	return c.createCode(ctx, userID, reference, nil)
}

// CreateCodeWithConsent is CreateCode that also says what the user has consented to, for buyers of ads: without it, neither
// address nor id goes to them.
func (c *Client) CreateCodeWithConsent(ctx context.Context, userID, reference string, consent Consent) (Code, error) {
	return c.createCode(ctx, userID, reference, &consent)
}

func (c *Client) createCode(ctx context.Context, userID, reference string, consent *Consent) (Code, error) {
	if fault := notAPerson(userID); fault != nil {
		return Code{}, fault
	}
	fields := map[string]any{"bot_id": c.botID, "user_tg_id": userID}
	if reference != "" {
		fields["reference"] = reference
	}
	if consent != nil {
		fields["consent"] = consent
	}
	body, err := json.Marshal(fields)
	if err != nil {
		return Code{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/client/v1/codes", bytes.NewReader(body))
	if err != nil {
		return Code{}, err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Content-Type", "application/json")
	// A redirect would make a GET of the request, and an address of another host lose the token.
	sender := *c.HTTP
	sender.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	response, err := sender.Do(request)
	if err != nil {
		return Code{}, fmt.Errorf("ads: no answer: %w", err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes))
	if err != nil {
		return Code{}, fmt.Errorf("ads: the answer broke off: %w", err)
	}
	var code Code
	if response.StatusCode != http.StatusOK {
		return Code{}, refusalOf(response, answer)
	}
	if json.Unmarshal(answer, &code) != nil || code.Code == "" {
		return Code{}, refusalOf(response, nil)
	}
	return code, nil
}

// sharedAccounts are Telegram's own, which it names as the sender of what many people write: anonymous administrators,
// those who write as a channel, and the forwarded posts of channels.
var sharedAccounts = map[string]bool{"1087968824": true, "136817688": true, "777000": true}

func notAPerson(userID string) *Error {
	switch {
	case sharedAccounts[userID] || chatID.MatchString(userID):
		return &Error{Code: "NOT_A_PERSON", Message: "user " + userID + " is a chat, or everybody who writes in the name of one: create the code for the person, after a command in the private chat"}
	case !telegramID.MatchString(userID):
		return &Error{Code: "BAD_REQUEST", Message: "the user's id is not 1 to 20 digits, without leading zeros"}
	}
	return nil
}

// redirectOf leaves out what follows the API's path, and a query, which may hold a secret.
func redirectOf(target *url.URL) string {
	base, _, isService := strings.Cut(target.Path, "/client/v1")
	address := target.Scheme + "://" + target.Host + base
	if isService {
		return "the ad service's address redirects, which is not followed: set AD_SERVICE_URL to " + address
	}
	return "the ad service's address redirects to " + address + ": check AD_SERVICE_URL, and what stands in front of it"
}

func refusalOf(response *http.Response, answer []byte) *Error {
	var body struct {
		Error struct{ Code, Message string }
	}
	refusal := &Error{Status: response.StatusCode}
	if json.Unmarshal(answer, &body) == nil && body.Error.Code != "" {
		refusal.Code, refusal.Message = body.Error.Code, body.Error.Message
	} else {
		// The page of a proxy, which no message should show.
		refusal.Code = "UNEXPECTED_ANSWER"
		refusal.Message = "not the ad service's answer, but that of something before it: check AD_SERVICE_URL"
		if target, err := response.Location(); response.StatusCode/100 == 3 && err == nil {
			refusal.Message = redirectOf(target)
		}
	}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
		refusal.RetryAfter = time.Duration(seconds) * time.Second
	}
	return refusal
}
