package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// Opener opens an empty store whose clock is now.
type Opener func(t *testing.T, now func() time.Time) store.Store

// Run runs the whole suite.
func Run(t *testing.T, open Opener) {
	for _, group := range [][]test{threads, writing, guards, undoing, forks, lines, searching, tokens, concurrent} {
		for _, c := range group {
			t.Run(c.name, func(t *testing.T) {
				s := newSuite(t, open)
				c.run(s)
				s.check()
			})
		}
	}
}

type test struct {
	name string
	run  func(s *suite)
}

// Clock is a clock that stands still until it is moved.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock makes a clock that shows a fixed Monday.
func NewClock() *Clock {
	return &Clock{now: time.Date(2026, 11, 30, 16, 1, 0, 123456789, time.UTC)}
}

// Now is what the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Add moves the clock, also backwards.
func (c *Clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// suite is one test's store, with steps that fail the test on any error.
type suite struct {
	testing.TB
	store.Store
	ctx   context.Context
	clock *Clock
}

func newSuite(t *testing.T, open Opener) *suite {
	s := &suite{TB: t, ctx: context.Background(), clock: NewClock()}
	s.Store = open(t, s.clock.Now)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func (s *suite) check() {
	s.Helper()
	for err := range s.Check(s.ctx) {
		s.Errorf("check: %v", err)
	}
}

func (s *suite) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// refused fails the test unless err has that code, names a cause and wraps
// nothing unreadable.
func (s *suite) refused(err error, code thread.Code) {
	s.Helper()
	var e *thread.Error
	if !errors.As(err, &e) || e.Code != code || e.Message == "" || e.Op == "" {
		s.Fatalf("got error %v (code %q), want one with code %q", err, thread.CodeOf(err), code)
	}
}

func (s *suite) create(id string) thread.Thread {
	s.Helper()
	t, err := s.Create(s.ctx, store.NewThread{Key: thread.Key{Space: "lab", ID: id}})
	s.must(err)
	return t
}

func (s *suite) state(id string) *thread.Thread {
	s.Helper()
	t, err := s.Thread(s.ctx, "lab", id)
	s.must(err)
	return &t
}

func key(id string) thread.Key { return thread.Key{Space: "lab", ID: id} }

// say makes a user's message whose line is verbatim where it is short.
func say(text string) store.New {
	n := store.New{Entry: thread.Say(thread.Message{Author: "ana", Role: thread.User, Parts: []thread.Part{thread.Text(text)}})}
	if line := "ana: " + text; len(line) <= thread.LineBytes {
		n.Line = line
	}
	return n
}

// long makes a message whose line must be built.
func long(text string) store.New {
	n := say(text + strings.Repeat(" and so on", 60))
	n.Line = ""
	return n
}

func keyed(n store.New, key string) store.New {
	n.Key = key
	return n
}

func turn(state string, of int64) store.New {
	return store.New{Entry: thread.Entry{Kind: thread.TurnKind, Turn: &thread.Turn{State: state, Turn: of}}}
}

func title(text string) store.New {
	return store.New{Entry: thread.Entry{Kind: thread.TitleKind, Title: &thread.Title{Title: text}}}
}

func reset() store.New {
	return store.New{Entry: thread.Entry{Kind: thread.ResetKind, Reset: &thread.Reset{By: "ana"}}}
}

func draft(n ...store.New) store.Draft { return store.Draft{Entries: n} }

func (s *suite) append(id string, n ...store.New) store.Written {
	s.Helper()
	w, err := s.Append(s.ctx, key(id), draft(n...))
	s.must(err)
	return w
}

func (s *suite) commit(id string, n ...store.New) store.Written {
	s.Helper()
	w, err := s.Commit(s.ctx, key(id), draft(n...), store.Guard{Tip: s.state(id).Tip})
	s.must(err)
	return w
}

// talk says n short messages.
func (s *suite) talk(id string, n int) {
	s.Helper()
	for i := range n {
		s.append(id, say(fmt.Sprintf("message %d of %s", i, id)))
	}
}

// rewindTo makes the entry that rewinds t to the active message at index.
func (s *suite) rewindTo(t *thread.Thread, index int64) store.New {
	s.Helper()
	n, err := rewindOf(s.ctx, s, t, index)
	s.must(err)
	return n
}

func rewindOf(ctx context.Context, s store.Store, t *thread.Thread, index int64) (store.New, error) {
	r := thread.Rewind{Index: index, Cut: t.Cut, Undid: t.Length - index - 1}
	for m, err := range s.Messages(ctx, t, index, index+1) {
		if err != nil {
			return store.New{}, err
		}
		r.To = m.Seq
	}
	for r.Cut > r.To {
		e, err := s.Entry(ctx, t, r.Cut)
		if err != nil {
			return store.New{}, err
		}
		r.Cut = e.Cut.Prev
	}
	return store.New{Entry: thread.Entry{Kind: thread.RewindKind, Rewind: &r}}, nil
}

// cutAt makes the next cut.
func cutAt(t *thread.Thread, boundary int64) store.New {
	return store.New{Entry: thread.Entry{Kind: thread.CutKind, Cut: &thread.Cut{Number: t.Cuts + 1, Prev: t.Cut, Strategy: "outline", Boundary: boundary, Reason: "test"}}}
}

func (s *suite) message(t *thread.Thread, index int64) thread.Entry {
	s.Helper()
	for e, err := range s.Messages(s.ctx, t, index, index+1) {
		s.must(err)
		return e
	}
	s.Fatalf("message %d is missing", index)
	return thread.Entry{}
}

// texts reads the thread's active messages.
func (s *suite) texts(t *thread.Thread) []string {
	s.Helper()
	var out []string
	for e, err := range s.Messages(s.ctx, t, 0, t.Length) {
		s.must(err)
		if e.Index != int64(len(out)) {
			s.Fatalf("message %d comes in place %d", e.Index, len(out))
		}
		out = append(out, e.Message.PlainText())
	}
	return out
}

func (s *suite) entries(t *thread.Thread, q store.EntriesQuery) []thread.Entry {
	s.Helper()
	var out []thread.Entry
	for e, err := range s.Entries(s.ctx, t, q) {
		s.must(err)
		out = append(out, e)
	}
	return out
}

func seqs(entries []thread.Entry) []int64 {
	var out []int64
	for _, e := range entries {
		out = append(out, e.Seq)
	}
	return out
}
