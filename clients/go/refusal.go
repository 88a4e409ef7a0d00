package ads

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Refusal says why a webhook is not genuine. errors.Is(refusal, ErrNotGenuine) holds for each. Its words are those of the
// contract's other clients, and its JSON is what `doctor` and the ad service read from the answer.
type Refusal struct {
	// Fault is missing-signature, malformed-signature, wrong-signature, wrong-webhook-signature, stale or future.
	Fault string `json:"fault"`
	// Cause says more of wrong-signature and wrong-webhook-signature.
	Cause string `json:"cause,omitempty"`
	// Header is the one that is missing or malformed, of the webhook-* headers.
	Header string `json:"header,omitempty"`
	// Seconds is how long ago (stale), or ahead (future), a genuine webhook was sent by this machine's clock.
	Seconds int64 `json:"seconds,omitempty"`
}

func (r *Refusal) Is(target error) bool { return target == ErrNotGenuine }

var sentences = map[string]string{
	"missing-signature":   "X-Signature is missing: the request is not a webhook, a proxy removed the header, or the receiver does not read the request's headers",
	"malformed-signature": "X-Signature is malformed: it is sent once, as sha256= and 64 lower-case hex digits",
	"unknown":             "X-Signature does not match the body: the receiver has another token, or something changed the body before it was verified",
	"changed-body":        "X-Signature matches the body as it was sent, not the bytes that were verified: a parser or a proxy wrote the body anew. Verify the raw bytes, before any parser",
	"empty-body":          "there are no bytes to verify: something read the body before, or a parsed object or a promise was passed instead of it. Verify the raw bytes, before any parser",
	"no-token":            "the receiver has no API token to verify with: its setting, usually the variable AD_API_TOKEN, is not set where it runs",
	"another-token":       "X-Signature is made with a token that the receiver does not have, and webhook-signature with one that it has: the tokens rotate. Add the bot's newest token to the receiver's list",
	"padded-token":        "X-Signature matches the receiver's token without the blanks, line breaks or quotes around it: remove them from the setting",
	"no-headers":          "webhook-id, webhook-timestamp and webhook-signature are missing, and the receiver needs a signed time, which X-Timestamp is not: a proxy removed them, or the ad service sends X-Signature alone, which the receiver can allow",
	"missing-header":      "%s is missing, though other webhook-* headers came: a proxy removed it",
	"malformed-header":    "%s is malformed",
	"milliseconds":        "webhook-timestamp is in milliseconds: it is Unix time in whole seconds",
	"mismatch":            "X-Signature matches the body, and webhook-signature does not match id, time and body: something changed a webhook-* header",
	"stale":               "the signature is genuine, but the webhook was sent %d s ago by the clock of this machine: check that clock (NTP). If it is right, this is a repeat of an old webhook",
	"future":              "the signature is genuine, but the webhook was sent %d s in the future by the clock of this machine: check that clock (NTP)",
}

func (r *Refusal) Error() string {
	switch {
	case r.Seconds != 0:
		return fmt.Sprintf(sentences[r.Fault], r.Seconds)
	case r.Header != "":
		sentence := fmt.Sprintf(sentences[r.Cause], r.Header)
		if r.Cause == "malformed-header" && r.Header == "webhook-timestamp" {
			sentence += ": it is Unix time in whole seconds"
		}
		return sentence
	case r.Cause != "":
		return sentences[r.Cause]
	}
	return sentences[r.Fault]
}

// explain says why IsGenuine refused. A MAC proves each cause of wrong-signature but unknown, empty-body and no-token, so a
// sender that cannot sign learns none of the others.
func explain(header http.Header, body []byte, tokens []string, now time.Time) *Refusal {
	read := onlyOne(header)
	isSigned := func(body []byte, tokens []string) bool { return hasX(tokens, body, read("x-signature")) }
	id, timestamp, list := read("webhook-id"), read("webhook-timestamp"), read("webhook-signature")
	switch {
	case len(header.Values("x-signature")) == 0:
		return &Refusal{Fault: "missing-signature"}
	case !xSignature.MatchString(read("x-signature")):
		return &Refusal{Fault: "malformed-signature"}
	case !isSigned(body, tokens):
		return &Refusal{Fault: "wrong-signature", Cause: explainMac(body, tokens, isSigned, hasStandard(tokens, body, id, timestamp, list))}
	}
	if refusal := judgeHeaders(header); refusal != nil {
		return refusal
	}
	if !hasStandard(tokens, body, id, timestamp, list) {
		return &Refusal{Fault: "wrong-webhook-signature", Cause: "mismatch"}
	}
	sentAt, _ := strconv.ParseInt(timestamp, 10, 64)
	age := float64(now.UnixNano())/1e9 - float64(sentAt)
	fault := "stale"
	if age < 0 {
		fault = "future"
	}
	return &Refusal{Fault: fault, Seconds: int64(math.Round(math.Abs(age)))}
}

func explainMac(body []byte, tokens []string, isSigned func([]byte, []string) bool, isStandardSigned bool) string {
	if isSigned(body, unpadded(tokens)) {
		return "padded-token"
	}
	for _, original := range possibleOriginals(body) {
		if isSigned(original, tokens) {
			return "changed-body"
		}
	}
	switch {
	case isStandardSigned:
		return "another-token"
	case strings.Join(tokens, "") == "":
		return "no-token"
	case len(body) == 0:
		return "empty-body"
	}
	return "unknown"
}

var standardHeaders = []string{"webhook-id", "webhook-timestamp", "webhook-signature"}

var patterns = map[string]*regexp.Regexp{
	// No full stop in the id: it separates id, time and body in the signed text.
	"webhook-id":        regexp.MustCompile(`^[\x21-\x2d\x2f-\x7e]{1,256}$`),
	"webhook-timestamp": regexp.MustCompile(`^(0|[1-9][0-9]{0,11})$`),
	"webhook-signature": regexp.MustCompile(`(?s)^.+$`),
}

var milliseconds = regexp.MustCompile(`^[1-9][0-9]{12}$`)

func judgeHeaders(header http.Header) *Refusal {
	missing := []string{}
	for _, name := range standardHeaders {
		if len(header.Values(name)) == 0 {
			missing = append(missing, name)
		}
	}
	const fault = "wrong-webhook-signature"
	read := onlyOne(header)
	switch {
	case len(missing) == len(standardHeaders):
		return &Refusal{Fault: fault, Cause: "no-headers"}
	case len(missing) > 0:
		return &Refusal{Fault: fault, Cause: "missing-header", Header: missing[0]}
	case milliseconds.MatchString(read("webhook-timestamp")):
		return &Refusal{Fault: fault, Cause: "milliseconds"}
	}
	for _, name := range standardHeaders {
		if !patterns[name].MatchString(read(name)) || len(read(name)) > 4096 {
			return &Refusal{Fault: fault, Cause: "malformed-header", Header: name}
		}
	}
	return nil
}

// Those of ECMAScript, so that the receivers of all languages say the same.
const blanks = "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"

// unpadded are the tokens without what a settings file or a shell may have put around them, where that changes them.
func unpadded(tokens []string) []string {
	bare := []string{}
	for _, token := range tokens {
		if one := strings.Trim(token, blanks+"\"'\u200b"); one != token && one != "" {
			bare = append(bare, one)
		}
	}
	return bare
}

// maxSearchedBytes is more than any webhook has.
const maxSearchedBytes = 20_000

// possibleOriginals is what the ad service may have sent, if this is its body after a parser or a proxy wrote it anew: with
// blanks around it, or as the JSON of its fields in their own order.
func possibleOriginals(body []byte) [][]byte {
	if len(body) == 0 || len(body) > maxSearchedBytes {
		return nil
	}
	originals := [][]byte{[]byte(strings.Trim(string(body), blanks))}
	var event sentEvent
	if json.Unmarshal(originals[0], &event) == nil {
		for _, field := range []*json.RawMessage{&event.Reference, &event.StartParam, &event.ClientNote} {
			*field = unescaped(*field)
		}
		if written, err := encode(event); err == nil {
			originals = append(originals, written)
		}
	}
	return originals
}

// unescaped is the text of a JSON string as the ad service writes it: a parser may have written ü as \u00fc.
func unescaped(field json.RawMessage) json.RawMessage {
	var text string
	if len(field) == 0 || json.Unmarshal(field, &text) != nil {
		return field
	}
	if written, err := encode(text); err == nil {
		return written
	}
	return field
}

func encode(value any) ([]byte, error) {
	var written strings.Builder
	encoder := json.NewEncoder(&written)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return []byte(strings.TrimSuffix(written.String(), "\n")), err
}
