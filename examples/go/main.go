package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"time"
)

var (
	adService = os.Getenv("AD_SERVICE_URL")
	token     = os.Getenv("AD_API_TOKEN")
	botID     = os.Getenv("BOT_ID")
	client    = &http.Client{Timeout: 10 * time.Second}
)

func main() {
	if token == "" {
		log.Fatal("AD_API_TOKEN is not set")
	}
	ledger, err := OpenLedger(or(os.Getenv("LEDGER"), "coins.jsonl"))
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/webhooks/ads", func(w http.ResponseWriter, r *http.Request) { receive(w, r, ledger) })
	// Your bot would call these two; here anybody on this machine may.
	http.HandleFunc("/ads/", func(w http.ResponseWriter, r *http.Request) {
		code, err := createCode(strings.TrimPrefix(r.URL.Path, "/ads/"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		json.NewEncoder(w).Encode(code)
	})
	http.HandleFunc("/coins/", func(w http.ResponseWriter, r *http.Request) {
		json.NewEncoder(w).Encode(map[string]int{"coins": ledger.Coins(strings.TrimPrefix(r.URL.Path, "/coins/"))})
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+or(os.Getenv("PORT"), "3000"), nil))
}

// receive answers 200 only when the reward is stored: every other answer makes the service send the event again.
func receive(w http.ResponseWriter, r *http.Request, ledger *Ledger) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 65536))
	if err != nil {
		http.Error(w, "the body cannot be read", http.StatusBadRequest)
		return
	}
	if r.Method != http.MethodPost || !IsGenuine(r.Header.Get, body, []string{token}, time.Now().Unix()) {
		// Of no use to a forger, and what a genuine sender needs to know.
		reason := "not genuine: another token, a changed body, or a clock that is more than 5 minutes off"
		http.Error(w, reason, http.StatusUnauthorized)
		return
	}
	var event struct {
		EventID string `json:"event_id"`
		UserID  string `json:"user_tg_id"`
		Test    bool   `json:"test"`
	}
	if err := json.Unmarshal(body, &event); err != nil || event.EventID == "" {
		http.Error(w, "the body is not an event", http.StatusBadRequest)
		return
	}
	if !event.Test {
		if err := ledger.Pay(Entry{event.EventID, event.UserID, 10}); err != nil {
			log.Print(err)
			http.Error(w, "not stored; send it again", http.StatusInternalServerError)
			return
		}
	}
	fmt.Fprintln(w, "ok")
}

// Code is what your bot sends: MiniappURL in an inline web_app button, DirectLink where there are no mini-apps.
type Code struct {
	MiniappURL string `json:"miniapp_url"`
	DirectLink string `json:"direct_link"`
}

func createCode(userID string) (Code, error) {
	wanted, _ := json.Marshal(map[string]string{"bot_id": botID, "user_tg_id": userID})
	request, err := http.NewRequest(http.MethodPost, adService+"/client/v1/codes", bytes.NewReader(wanted))
	if err != nil {
		return Code{}, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return Code{}, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		var refusal struct{ Error struct{ Message string } }
		if json.NewDecoder(io.LimitReader(response.Body, 4096)).Decode(&refusal) != nil {
			return Code{}, fmt.Errorf("%d from a proxy in front of the ad service", response.StatusCode)
		}
		return Code{}, fmt.Errorf("the ad service answered %d: %s", response.StatusCode, refusal.Error.Message)
	}
	var code Code
	return code, json.NewDecoder(response.Body).Decode(&code)
}

func or(value, fallback string) string {
	if value != "" {
		return value
	}
	return fallback
}
