package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
)

// Entry is one payment, and one line of the file.
type Entry struct {
	EventID string `json:"event_id"`
	UserID  string `json:"user_id"`
	Coins   int    `json:"coins"`
}

// Ledger pays each event once, also after a crash. Use a table with a unique event_id where you have a database.
type Ledger struct {
	mutex sync.Mutex
	file  *os.File
	paid  map[string]bool
	coins map[string]int
}

// OpenLedger reads the entries of the file. A last line that a crash cut off is removed: its event is sent again. Any other
// line that is no entry is an error: what is behind it would be paid again.
func OpenLedger(path string) (*Ledger, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	ledger := &Ledger{file: file, paid: map[string]bool{}, coins: map[string]int{}}
	end := int64(0)
	reader := bufio.NewReader(file)
	for {
		line, err := reader.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		var entry Entry
		if err == nil {
			err = json.Unmarshal(line, &entry)
		}
		if err != nil {
			file.Close()
			return nil, fmt.Errorf("%s: no entry at byte %d: %w", path, end, err)
		}
		end += int64(len(line))
		ledger.add(entry)
	}
	if err := file.Truncate(end); err != nil {
		return nil, err
	}
	_, err = file.Seek(end, 0)
	return ledger, err
}

// Pay stores the entry unless its event is stored, and returns when it is on the disk.
func (l *Ledger) Pay(entry Entry) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.paid[entry.EventID] {
		return nil
	}
	line, err := json.Marshal(entry)
	if err != nil {
		return err
	}
	end, err := l.file.Seek(0, 1)
	if err != nil {
		return err
	}
	_, err = l.file.Write(append(line, '\n'))
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		l.file.Truncate(end)
		l.file.Seek(end, 0)
		return err
	}
	l.add(entry)
	return nil
}

// Coins is what a user was paid.
func (l *Ledger) Coins(userID string) int {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.coins[userID]
}

func (l *Ledger) add(entry Entry) {
	l.paid[entry.EventID] = true
	l.coins[entry.UserID] += entry.Coins
}
