package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// HEADERS (JSON), TOKENS and NOW in the environment, the body on standard input.
func main() {
	var headers map[string]string
	if err := json.Unmarshal([]byte(os.Getenv("HEADERS")), &headers); err != nil {
		panic(err)
	}
	body, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	now, _ := strconv.ParseInt(os.Getenv("NOW"), 10, 64)
	header := func(name string) string { return headers[name] }
	if IsGenuine(header, body, strings.Split(os.Getenv("TOKENS"), ","), now) {
		fmt.Println("genuine")
	} else {
		fmt.Println("refused")
	}
}
