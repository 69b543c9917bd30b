package server

import (
	"encoding/base64"
	"io"
	"sync"
	"time"
)

// mostTickets is how many tickets may wait for their use at once.
const mostTickets = 10_000

// tickets are good for one stream each, for a short time: a browser cannot send a
// token with an EventSource or a WebSocket, and what stands in an address may be
// logged by others.
type tickets struct {
	mu   sync.Mutex
	made map[string]ticket
}

type ticket struct {
	person *person
	until  time.Time
}

// make gives a ticket for a person; ok is false where too many wait.
func (t *tickets) make(random io.Reader, p *person, now time.Time, d time.Duration) (id string, until time.Time, ok bool, err error) {
	b := make([]byte, 24)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", time.Time{}, false, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, one := range t.made {
		if now.After(one.until) {
			delete(t.made, id)
		}
	}
	if len(t.made) >= mostTickets {
		return "", time.Time{}, false, nil
	}
	if t.made == nil {
		t.made = map[string]ticket{}
	}
	id, until = base64.RawURLEncoding.EncodeToString(b), now.Add(d)
	t.made[id] = ticket{p, until}
	return id, until, true, nil
}

// take uses a ticket up.
func (t *tickets) take(id string, now time.Time) (*person, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one, ok := t.made[id]
	delete(t.made, id)
	return one.person, ok && !now.After(one.until)
}
