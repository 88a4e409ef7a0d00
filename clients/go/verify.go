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
	mac := func(token string, data []byte) []byte {
		hash := hmac.New(sha256.New, []byte(token))
		hash.Write(data)
		return hash.Sum(nil)
	}
	signed := append([]byte(id+"."+timestamp+"."), body...)
	hasX, hasStandard := false, false
	for _, token := range tokens {
		if token == "" { // From a variable that is not set: anybody could sign with it.
			continue
		}
		expected := "sha256=" + hex.EncodeToString(mac(token, body))
		hasX = hmac.Equal([]byte(expected), []byte(header("x-signature"))) || hasX
		standard := "v1," + base64.StdEncoding.EncodeToString(mac(token, signed))
		for _, received := range strings.Split(header("webhook-signature"), " ") {
			hasStandard = hmac.Equal([]byte(standard), []byte(received)) || hasStandard
		}
	}
	return hasX && hasStandard
}
