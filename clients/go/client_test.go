package ads

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

func TestACodeIsRequestedWithItsReference(t *testing.T) {
	var sent map[string]string
	var authorization, path string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		authorization, path = r.Header.Get("Authorization"), r.URL.Path
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			t.Error(err)
		}
		w.Write([]byte(`{"code":"Code42","expires_in":3600,"expires_at":"2026-01-02T04:04:05Z","direct_link":"https://rewards.example.com/Code42","new":1}`))
	}))
	defer server.Close()
	client, err := NewClient(server.URL+"/client/v1/", "ad_test", "7000000001")
	if err != nil {
		t.Fatal(err)
	}
	code, err := client.CreateCode(context.Background(), "42", "order 7")
	if err != nil || code.Code != "Code42" || code.ExpiresIn != 3600 || code.DirectLink != "https://rewards.example.com/Code42" {
		t.Fatalf("%+v, %v", code, err)
	}
	if authorization != "Bearer ad_test" || path != "/client/v1/codes" {
		t.Errorf("%q was sent to %s", authorization, path)
	}
	if len(sent) != 3 || sent["bot_id"] != "7000000001" || sent["user_tg_id"] != "42" || sent["reference"] != "order 7" {
		t.Errorf("sent %v", sent)
	}
}

func TestARefusalNamesItsCodeAndItsWait(t *testing.T) {
	answers := map[string]struct {
		status     int
		body, code string
	}{
		"the service": {429, `{"error":{"code":"TOO_MANY_REQUESTS","message":"slow down"}}`, "TOO_MANY_REQUESTS"},
		"a proxy":     {502, "<html>bad gateway</html>", "UNEXPECTED_ANSWER"},
		"a page":      {200, "<html>sign in</html>", "UNEXPECTED_ANSWER"},
		"201":         {201, `{"code":"Code42"}`, "UNEXPECTED_ANSWER"},
	}
	for name, answer := range answers {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(answer.status)
			w.Write([]byte(answer.body))
		}))
		client, _ := NewClient(server.URL, "ad_test", "7000000001")
		_, err := client.CreateCode(context.Background(), "42", "")
		var refusal *Error
		if !errors.As(err, &refusal) || refusal.Code != answer.code || refusal.RetryAfter != 7*time.Second {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "<html>") {
			t.Errorf("%s: the message shows a page", name)
		}
		server.Close()
	}
}

func TestARedirectIsNamedAndNotFollowed(t *testing.T) {
	cases := map[string]string{
		"https://rewards.example.com/client/v1/codes":           "set AD_SERVICE_URL to https://rewards.example.com",
		"https://www.example.com/ads/client/v1/codes?key=x": "set AD_SERVICE_URL to https://www.example.com/ads",
		"/login?next=/client":                               "/login: check AD_SERVICE_URL",
		"":                                                  "check AD_SERVICE_URL",
	}
	for location, words := range cases {
		requests := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests++
			w.Header().Set("Location", location)
			w.WriteHeader(http.StatusMovedPermanently)
		}))
		client, _ := NewClient(server.URL, "ad_test", "7000000001")
		_, err := client.CreateCode(context.Background(), "42", "")
		var refusal *Error
		if !errors.As(err, &refusal) || refusal.Code != "UNEXPECTED_ANSWER" || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", location, err)
		}
		if requests != 1 || (err != nil && strings.Contains(err.Error(), "key=x")) {
			t.Errorf("%s: %d requests, %v", location, requests, err)
		}
		server.Close()
	}
}

func TestAMistakenArgumentIsNamed(t *testing.T) {
	cases := map[string][3]string{
		"AD_SERVICE_URL": {"rewards.example.com", "ad_x", "1"},
		"missing":        {"https://rewards.example.com", "", "1"},
		"@BotFather":     {"https://rewards.example.com", "7000000001:AAE", "1"},
		"quotes":         {"https://rewards.example.com", `"ad_x"`, "1"},
		"BOT_ID":         {"https://rewards.example.com", "ad_x", "me"},
	}
	for words, arguments := range cases {
		_, err := NewClient(arguments[0], arguments[1], arguments[2])
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v: %v", arguments, err)
		}
	}
	client, _ := NewClient("https://rewards.example.com", "ad_x", "1")
	if _, err := client.CreateCode(context.Background(), "ann", ""); err == nil {
		t.Error("a user id of letters was sent")
	}
}

// The user ids and the handlers that every client of this repository is tested with; `npm test -- go-client` names the files.
func readCases(t *testing.T, variable string, into any) {
	file := os.Getenv(variable)
	if file == "" {
		t.Skip(variable + " is not set: run `npm test -- go-client`")
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestOnlyAPersonGetsACode(t *testing.T) {
	var ids struct {
		People     []string
		ManyPeople []string `json:"many_people"`
		Chats      []string
		NoIDs      []string `json:"no_ids"`
	}
	readCases(t, "USER_IDS", &ids)
	sent := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		sent++
		w.Write([]byte(`{"code":"Code42"}`))
	}))
	defer server.Close()
	client, _ := NewClient(server.URL, "ad_test", "7000000001")
	codeOf := func(id string) string {
		_, err := client.CreateCode(context.Background(), id, "")
		var refusal *Error
		if errors.As(err, &refusal) {
			return refusal.Code
		}
		return ""
	}
	groups := map[string][]string{"": ids.People, "NOT_A_PERSON": append(ids.ManyPeople, ids.Chats...), "BAD_REQUEST": ids.NoIDs}
	for expected, group := range groups {
		for _, id := range group {
			if code := codeOf(id); code != expected {
				t.Errorf("%q: %q instead of %q", id, code, expected)
			}
		}
	}
	if sent != len(ids.People) || sent == 0 {
		t.Errorf("%d requests", sent)
	}
}

func TestACodeIsRequestedWithTheConsentOfItsUser(t *testing.T) {
	var sent map[string]any
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			t.Error(err)
		}
		w.Write([]byte(`{"code":"Code42"}`))
	}))
	defer server.Close()
	client, err := NewClient(server.URL, "ad_test", "7000000001")
	if err != nil {
		t.Fatal(err)
	}
	applies := false
	consent := Consent{GDPR: &applies, GPP: "DBAA", GPPSID: []int{7}}
	if _, err := client.CreateCodeWithConsent(context.Background(), "42", "", consent); err != nil {
		t.Fatal(err)
	}
	body, _ := json.Marshal(sent["consent"])
	if string(body) != `{"gdpr":false,"gpp":"DBAA","gpp_sid":[7]}` {
		t.Errorf("sent %s", body)
	}
}
