package ads

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
)

var (
	xSignature = regexp.MustCompile(`^sha256=[0-9a-f]{64}$`)
	seconds    = regexp.MustCompile(`^[0-9]{1,12}$`)
)

// IsGenuine wants the body's bytes as they came. Tokens are yours: the new one and the old one while you rotate.
func IsGenuine(header func(string) string, body []byte, tokens []string, now int64) bool {
	id, timestamp := header("webhook-id"), header("webhook-timestamp")
	if !xSignature.MatchString(header("x-signature")) || !seconds.MatchString(timestamp) || strings.Contains(id, ".") {
		return false
	}
	sentAt, _ := strconv.ParseInt(timestamp, 10, 64)
	if now-sentAt > 300 || sentAt-now > 300 {
		return false
	}
	return hasX(tokens, body, header("x-signature")) && hasStandard(tokens, body, id, timestamp, header("webhook-signature"))
}

func hasX(tokens []string, body []byte, received string) bool {
	isEqual := false
	for _, token := range tokens {
		// Empty from a variable that is not set: anybody could sign with it.
		expected := "sha256=" + hex.EncodeToString(mac(token, body))
		isEqual = token != "" && hmac.Equal([]byte(expected), []byte(received)) || isEqual
	}
	return isEqual
}

func hasStandard(tokens []string, body []byte, id, timestamp, list string) bool {
	signed := append([]byte(id+"."+timestamp+"."), body...)
	isEqual := false
	for _, token := range tokens {
		expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac(token, signed)))
		for _, received := range strings.Split(list, " ") {
			isEqual = token != "" && hmac.Equal(expected, []byte(received)) || isEqual
		}
	}
	return isEqual
}

func mac(token string, data []byte) []byte {
	hash := hmac.New(sha256.New, []byte(token))
	hash.Write(data)
	return hash.Sum(nil)
}
