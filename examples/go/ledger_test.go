package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "coins.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const first, second = `{"event_id":"evt_1","user_id":"42","coins":10}` + "\n", `{"event_id":"evt_2","user_id":"42","coins":10}` + "\n"

func TestALastLineThatACrashCutOffIsPaidAgainAndOthersAreNot(t *testing.T) {
	ledger, err := OpenLedger(write(t, first+second[:20]))
	if err != nil {
		t.Fatal(err)
	}
	for _, event := range []string{"evt_1", "evt_2", "evt_2"} {
		if err := ledger.Pay(Entry{EventID: event, UserID: "42", Coins: 10}); err != nil {
			t.Fatal(err)
		}
	}
	if coins := ledger.Coins("42"); coins != 20 {
		t.Fatalf("%d coins", coins)
	}
}

func TestALineThatIsNoEntryRemovesNoneBehindIt(t *testing.T) {
	for _, bad := range []string{"\n", "an editor's note\n", strings.Repeat("\x00", 40) + "\n"} {
		path := write(t, first+bad+second)
		if _, err := OpenLedger(path); err == nil || !strings.Contains(err.Error(), "no entry at byte 47") {
			t.Errorf("%q: %v", bad, err)
		}
		if text, _ := os.ReadFile(path); string(text) != first+bad+second {
			t.Errorf("%q: the file was changed", bad)
		}
	}
}
