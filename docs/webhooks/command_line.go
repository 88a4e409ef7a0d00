package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	ads "intermission-ads"
)

// Takes webhooks as lines of JSON { headers, body (base64), tokens, now }, answers each with a line.
func main() {
	input := json.NewDecoder(os.Stdin)
	for {
		var webhook struct {
			Headers map[string]string
			Body    []byte
			Tokens  []string
			Now     int64
		}
		if err := input.Decode(&webhook); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			panic(err)
		}
		header := func(name string) string { return webhook.Headers[name] }
		if ads.IsGenuine(header, webhook.Body, webhook.Tokens, webhook.Now) {
			fmt.Println("genuine")
		} else {
			fmt.Println("refused")
		}
	}
}
