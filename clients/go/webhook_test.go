package ads

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

const token = "ad_test"

const rewarded = `{"event":"rewarded","event_id":"evt_1","bot_id":"7000000001","user_tg_id":"42","code":"Code42"}`

func macOf(key, text string) []byte {
	hash := hmac.New(sha256.New, []byte(key))
	hash.Write([]byte(text))
	return hash.Sum(nil)
}

// request is a webhook as the ad service sends it.
func request(body, key string, sentAt time.Time) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/webhooks/ads", strings.NewReader(body))
	timestamp := fmt.Sprint(sentAt.Unix())
	r.Header.Set("X-Signature", "sha256="+hex.EncodeToString(macOf(key, body)))
	r.Header.Set("webhook-id", "evt_1")
	r.Header.Set("webhook-timestamp", timestamp)
	r.Header.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(macOf(key, "evt_1."+timestamp+"."+body)))
	return r
}

func statusOf(handler http.Handler, r *http.Request) int {
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, r)
	return recorder.Code
}

func TestAGenuineWebhookIsPaidAndAnswered200(t *testing.T) {
	var paid []Event
	handler := Handler(func(_ context.Context, event Event) error { paid = append(paid, event); return nil }, token)
	if status := statusOf(handler, request(rewarded, token, time.Now())); status != 200 {
		t.Fatalf("answered %d", status)
	}
	want := Event{Type: "rewarded", ID: "evt_1", BotID: "7000000001", UserID: "42", Code: "Code42"}
	if len(paid) != 1 || paid[0] != want {
		t.Fatalf("paid %+v", paid)
	}
}

func TestWhatIsNotGenuineOrNoEventIsRefusedAndPaysNothing(t *testing.T) {
	twice := request(rewarded, token, time.Now())
	twice.Header.Add("X-Signature", twice.Header.Get("X-Signature"))
	changed := request(rewarded, token, time.Now())
	changed.Body = request(strings.Replace(rewarded, "42", "43", 1), token, time.Now()).Body
	get := request(rewarded, token, time.Now())
	get.Method = http.MethodGet
	cases := map[string]struct {
		request *http.Request
		status  int
	}{
		"another token":      {request(rewarded, "ad_other", time.Now()), 401},
		"a changed body":     {changed, 401},
		"six minutes ago":    {request(rewarded, token, time.Now().Add(-6*time.Minute)), 401},
		"no signature":       {httptest.NewRequest(http.MethodPost, "/", strings.NewReader(rewarded)), 401},
		"two signatures":     {twice, 401},
		"the empty token":    {request(rewarded, "", time.Now()), 401},
		"an unknown event":   {request(`{"event":"other","user_tg_id":"42"}`, token, time.Now()), 400},
		"a number as a user": {request(`{"event":"rewarded","user_tg_id":42}`, token, time.Now()), 400},
		"no JSON":            {request("hello", token, time.Now()), 400},
		"a body of 1 MB":     {request(strings.Repeat("x", 1<<20), token, time.Now()), 413},
		"another method":     {get, 405},
	}
	handler := Handler(func(context.Context, Event) error { t.Error("paid"); return nil }, token, "")
	for name, one := range cases {
		if status := statusOf(handler, one.request); status != one.status {
			t.Errorf("%s: answered %d instead of %d", name, status, one.status)
		}
	}
}

func TestAReceiverWithoutATokenSaysSo(t *testing.T) {
	log.SetOutput(io.Discard)
	defer log.SetOutput(os.Stderr)
	for _, tokens := range [][]string{nil, {""}, {"", ""}} {
		handler := Handler(func(context.Context, Event) error { t.Error("paid"); return nil }, tokens...)
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request(rewarded, "", time.Now()))
		if recorder.Code != 500 || !strings.Contains(recorder.Body.String(), "(AD_API_TOKEN) is missing") {
			t.Errorf("%q: answered %d %s", tokens, recorder.Code, recorder.Body)
		}
	}
}

func TestATestIsAnswered200AndPaysNothing(t *testing.T) {
	handler := Handler(func(context.Context, Event) error { t.Error("paid"); return nil }, token)
	for _, body := range []string{
		`{"event":"rewarded","event_id":"evt_1","user_tg_id":"0"}`,
		`{"event":"rewarded","event_id":"evt_1","user_tg_id":"42","test":true}`,
	} {
		if status := statusOf(handler, request(body, token, time.Now())); status != 200 {
			t.Errorf("answered %d", status)
		}
	}
}

func TestAnEventThatCouldNotBePaidIsAnswered500(t *testing.T) {
	handler := Handler(func(context.Context, Event) error { return errors.New("the database is down") }, token)
	if status := statusOf(handler, request(rewarded, token, time.Now())); status != 500 {
		t.Fatalf("answered %d", status)
	}
}

// The webhooks that every receiver of this repository is tested with; `npm test -- go-client` writes them.
func TestTheSameVerdictsAsEveryOtherReceiver(t *testing.T) {
	var cases []struct {
		Name, Expected string
		Headers        map[string]string
		Body           []byte
		Tokens         []string
		Now            int64
		Refusal        *Refusal
		Message        string
	}
	readCases(t, "RECEIVER_CASES", &cases)
	if len(cases) < 800 {
		t.Fatalf("%d cases", len(cases))
	}
	for _, one := range cases {
		header := http.Header{}
		for name, value := range one.Headers {
			header.Set(name, value)
		}
		_, err := Verify(header, one.Body, one.Tokens, time.Unix(one.Now, 0))
		verdict := "genuine"
		if errors.Is(err, ErrNotGenuine) {
			verdict = "refused"
		}
		if verdict != one.Expected {
			t.Errorf("%s: %s", one.Name, verdict)
		}
		var refusal *Refusal
		if errors.As(err, &refusal) && one.Refusal != nil && (*refusal != *one.Refusal || err.Error() != one.Message) {
			t.Errorf("%s: %v instead of %v (%s)", one.Name, *refusal, *one.Refusal, one.Message)
		}
	}
}

// A receiver of one event's effect: the table of payments has a unique event id, as the README shows.
type payments map[string]int

func (p payments) pay(event Event) { p[event.ID] = 1 }

func TestAWebhookIsAnswered200WhenItsEffectIsThereOnce(t *testing.T) {
	log.SetOutput(io.Discard)
	defer log.SetOutput(os.Stderr)
	var table struct{ Handlers []struct{ Name string } }
	readCases(t, "MISBEHAVING_HANDLERS", &table)
	fault := errors.New("a fault of the handler")
	// The others are of stores, which this client does not have.
	handlers := map[string]func(payments, Event) error{
		"fails":   func(payments, Event) error { return fault },
		"crashes": func(payments, Event) error { var none map[string]int; none["x"] = 1; return nil },
		"fails afterwards": func(paid payments, event Event) error {
			paid.pay(event)
			return fault
		},
		"hides an error": func(paid payments, event Event) error { _ = fault; paid.pay(event); return nil },
		"commits twice":  func(paid payments, event Event) error { paid.pay(event); paid.pay(event); return nil },
	}
	known := map[string]bool{}
	for _, one := range table.Handlers {
		known[one.Name] = true
	}
	for name, misbehave := range handlers {
		if !known[name] {
			t.Errorf("%s is not in the table", name)
		}
		paid := payments{}
		deliver := func(handle func(payments, Event) error) int {
			handler := Handler(func(_ context.Context, event Event) error { return handle(paid, event) }, token)
			return statusOf(handler, request(rewarded, token, time.Now()))
		}
		for delivery := 0; delivery < 3; delivery++ {
			if status := deliver(misbehave); status == 200 && paid["evt_1"] != 1 {
				t.Errorf("%s: answered 200 without the effect", name)
			}
		}
		right := func(paid payments, event Event) error { paid.pay(event); return nil }
		if status := deliver(right); status != 200 || len(paid) != 1 {
			t.Errorf("%s: answered %d in the end, paid %v", name, status, paid)
		}
	}
	if status := statusOf(Handler(nil, token), request(rewarded, token, time.Now())); status != 500 {
		t.Errorf("without a function: answered %d", status)
	}
}

func TestARefusalIsAnsweredInTheFormThatDoctorReads(t *testing.T) {
	handler := Handler(func(context.Context, Event) error { return nil }, token)
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request(rewarded, token, time.Now().Add(-time.Hour)))
	var answer struct {
		Error struct {
			Code, Message string
			Details       Refusal
		}
	}
	if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil || answer.Error.Code != "BAD_SIGNATURE" {
		t.Fatalf("%s, %v", recorder.Body, err)
	}
	if details := answer.Error.Details; details.Fault != "stale" || details.Seconds < 3599 || details.Seconds > 3700 {
		t.Errorf("%+v", details)
	}
}
