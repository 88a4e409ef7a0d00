package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strings"

	ads "intermission-ads"
)

func main() {
	token := os.Getenv("AD_API_TOKEN")
	client, err := ads.NewClient(os.Getenv("AD_SERVICE_URL"), token, os.Getenv("BOT_ID"))
	if err != nil {
		log.Fatal(err)
	}
	ledger, err := OpenLedger(or(os.Getenv("LEDGER"), "coins.jsonl"))
	if err != nil {
		log.Fatal(err)
	}
	pay := func(_ context.Context, event ads.Event) error {
		return ledger.Pay(Entry{EventID: event.ID, UserID: event.UserID, Coins: 10})
	}
	http.Handle("/webhooks/ads", ads.Handler(pay, token))
	// Your bot would call these two; here anybody on this machine may.
	http.HandleFunc("/ads/", func(w http.ResponseWriter, r *http.Request) {
		code, err := client.CreateCode(r.Context(), strings.TrimPrefix(r.URL.Path, "/ads/"), "")
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

func or(value, fallback string) string {
	if value != "" {
		return value
	}
	return fallback
}
