package client_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/skeinhq/skein/client"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// seen is what was told of a watch.
type seen struct {
	*client.Watcher
	mu      sync.Mutex
	states  []string
	reasons []string
	texts   []string
	err     error
	done    chan struct{}
}

// follow takes a watch's updates until the test ends.
func follow(t *testing.T, w *client.Watcher) *seen {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := &seen{Watcher: w, done: make(chan struct{})}
	t.Cleanup(func() { cancel(); <-s.done })
	go func() {
		defer close(s.done)
		for u, err := range w.Updates(ctx) {
			s.mu.Lock()
			if err != nil {
				s.err = err
			}
			if n := len(s.states); n == 0 || s.states[n-1] != string(u.State) {
				s.states = append(s.states, string(u.State))
			}
			if u.Reason != "" {
				s.reasons = append(s.reasons, u.Reason)
			}
			if u.View.Docs.Live != nil {
				s.texts = append(s.texts, u.View.Docs.Live.Text)
			}
			s.mu.Unlock()
		}
	}()
	return s
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("it never came to be: %s", what)
}

func (s *seen) live() bool {
	state, _ := s.State()
	return state == client.Live
}

func (s *seen) length() int64 { return s.View().Length }

// ways runs a test over both transports.
func ways(t *testing.T, test func(t *testing.T, s *fake, c *client.Client)) {
	for _, way := range []client.Transport{client.WebSocket, client.Events} {
		t.Run(string(way), func(t *testing.T) {
			s := serve(t, "t")
			test(t, s, s.client(t, client.Config{Transport: way}))
		})
	}
}

func TestAWatchShowsTheWindowAndGoesOn(t *testing.T) {
	ways(t, func(t *testing.T, s *fake, c *client.Client) {
		m := s.models["t"]
		for range 10 {
			m.say("hi", 0)
		}
		w := follow(t, c.Watch("t", client.WatchOptions{Tail: 4}))
		until(t, "live", w.live)
		m.say("more", 0)
		until(t, "the eleventh", func() bool { return w.length() == 11 })
		v := w.View()
		if got, want := seqs(v.Entries), []int64{7, 8, 9, 10, 11}; !slices.Equal(got, want) {
			t.Errorf("the window is %v, not %v", got, want)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if diff := cmp.Diff([]string{"catching up", "live"}, w.states); diff != "" {
			t.Error(diff)
		}
	})
}

func TestTwoCutsOfTheLinkInARowLoseNoToken(t *testing.T) {
	ways(t, func(t *testing.T, s *fake, c *client.Client) {
		m := s.models["t"]
		m.say("hi", 0)
		w := follow(t, c.Watch("t", client.WatchOptions{}))
		until(t, "live", w.live)
		var text strings.Builder
		for i := range 60 {
			piece := []string{"to", "ken ", "👋", "é"}[i%4]
			text.WriteString(piece)
			m.piece(piece)
			if i%20 == 7 || i%20 == 8 {
				s.cut()
			}
			if i%4 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		until(t, "the whole text", func() bool {
			l := w.View().Docs.Live
			return w.live() && l != nil && l.Text == text.String()
		})
		m.say(text.String(), 0)
		until(t, "the answer", func() bool { return w.length() == 2 })
		if v := w.View(); v.Docs.Live != nil || v.Entries[len(v.Entries)-1].Message.PlainText() != text.String() {
			t.Errorf("the answer is %+v beside %+v", v.Entries, v.Docs.Live)
		}
	})
}

func TestWhoJoinsInMidAnswerSeesTheTextFromItsFirstCharacter(t *testing.T) {
	ways(t, func(t *testing.T, s *fake, c *client.Client) {
		m := s.models["t"]
		m.piece("so ")
		m.piece("far 👋")
		w := follow(t, c.Watch("t", client.WatchOptions{}))
		until(t, "live", w.live)
		m.piece(" so good")
		until(t, "the text", func() bool { return w.View().Docs.Live.Text == "so far 👋 so good" })
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.texts[0] != "so far 👋" {
			t.Errorf("it began with %q", w.texts[0])
		}
	})
}

func TestAMessageOfAnOutageIsThereAfterwardsOnce(t *testing.T) {
	ways(t, func(t *testing.T, s *fake, c *client.Client) {
		m := s.models["t"]
		m.say("before", 0)
		w := follow(t, c.Watch("t", client.WatchOptions{Tail: 4}))
		until(t, "live", w.live)
		s.set(func() { s.refuses = 503 })
		s.cut()
		until(t, "offline", func() bool { state, _ := w.State(); return state == client.Offline })
		m.say("meanwhile", 2)
		s.set(func() { s.refuses = 0 })
		until(t, "the second", func() bool { return w.length() == 2 && w.live() })
		if diff := cmp.Diff([][]int64{{1, 4}}, held(w.Ranges())); diff != "" {
			t.Error(diff)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if got, want := s.asked[len(s.asked)-1], "t tail=4 from=2 epoch=e1"; got != want {
			t.Errorf("it asked for %q, not %q", got, want)
		}
	})
}

func TestARestoredDatabaseEmptiesTheCache(t *testing.T) {
	ways(t, func(t *testing.T, s *fake, c *client.Client) {
		m := s.models["t"]
		for range 10 {
			m.say("hi", 0)
		}
		w := follow(t, c.Watch("t", client.WatchOptions{Tail: 4}))
		until(t, "live", w.live)
		if _, err := w.Earlier(t.Context(), 3); err != nil {
			t.Fatal(err)
		}
		m.mu.Lock() // the restoration happens while nobody is connected
		s.cut()
		m.mu.Unlock()
		m.restore(8)
		until(t, "fresh", func() bool { return w.View().Fresh && w.live() })
		if diff := cmp.Diff([][]int64{{5, 6, 7, 8}}, held(w.Ranges())); diff != "" {
			t.Error(diff)
		}
	})
}

func TestMessagesUndoneWhileAwayDisappear(t *testing.T) {
	ways(t, func(t *testing.T, s *fake, c *client.Client) {
		m := s.models["t"]
		for range 10 {
			m.say("hi", 0)
		}
		w := follow(t, c.Watch("t", client.WatchOptions{Tail: 4}))
		until(t, "live", w.live)
		s.set(func() { s.refuses = 503 })
		s.cut()
		until(t, "offline", func() bool { state, _ := w.State(); return state == client.Offline })
		m.rewind(8)
		m.say("instead", 0)
		s.set(func() { s.refuses = 0 })
		until(t, "the new one", func() bool { return w.length() == 9 && w.live() })
		if diff := cmp.Diff([][]int64{{7, 8, 12}}, held(w.Ranges())); diff != "" {
			t.Error(diff)
		}
	})
}

func TestEveryFaultHasOneWayOut(t *testing.T) {
	ways(t, func(t *testing.T, s *fake, c *client.Client) {
		m := s.models["t"]
		m.say("hi", 0)
		w := follow(t, c.Watch("t", client.WatchOptions{}))
		until(t, "live", w.live)
		for i, spoil := range []func(*view.Batch){
			func(b *view.Batch) { b.N++ },
			func(b *view.Batch) { b.Ops[0] = view.Append(99, "x", "docs", "live", "text") },
			func(b *view.Batch) { b.Ops[0].Index += 5 },
		} {
			s.set(func() {
				s.tamper = func(b *view.Batch) {
					s.tamper = nil // under the model's lock, like every batch
					b.Ops = slices.Clone(b.Ops)
					spoil(b)
				}
			})
			m.say("again", 0)
			until(t, "the next", func() bool { return w.length() == int64(i+2) && w.live() })
		}
	})
}

func TestASocketThatStaysOpenButIsDeadIsFound(t *testing.T) {
	for _, way := range []client.Transport{client.WebSocket, client.Events} {
		t.Run(string(way), func(t *testing.T) {
			s := serve(t, "t")
			m := s.models["t"]
			m.say("hi", 0)
			c := s.client(t, client.Config{Transport: way, Pace: client.Pace{Min: time.Millisecond, Max: time.Millisecond, Ping: 40 * time.Millisecond, Patience: 400 * time.Millisecond}})
			w := follow(t, c.Watch("t", client.WatchOptions{}))
			until(t, "live", w.live)
			s.die()
			m.say("nobody hears it", 0)
			until(t, "the second message", func() bool { return w.length() == 2 && w.live() })
			w.mu.Lock()
			defer w.mu.Unlock()
			if !slices.ContainsFunc(w.reasons, func(r string) bool { return strings.Contains(r, "the connection is dead") }) {
				t.Errorf("it was lost because of %q", w.reasons)
			}
		})
	}
}

func TestAWatchWithAnEndIsGoneAndSaysWhy(t *testing.T) {
	ways(t, func(t *testing.T, s *fake, c *client.Client) {
		s.models["t"].say("hi", 0)
		w := follow(t, c.Watch("t", client.WatchOptions{}))
		until(t, "live", w.live)
		s.endAll("drain")
		until(t, "begun again", func() bool { return s.count() == 2 && w.live() })
		s.endAll("deleted")
		<-w.done
		if thread.CodeOf(w.err) != thread.NotFound || !strings.Contains(w.err.Error(), "deleted") {
			t.Errorf("it ended with %v", w.err)
		}
		if state, reason := w.State(); state != client.Gone || !strings.Contains(reason, "deleted") {
			t.Errorf("it is %s: %s", state, reason)
		}
	})
}

func TestWhatIsNotThereOrNotAllowedIsGone(t *testing.T) {
	ways(t, func(t *testing.T, s *fake, c *client.Client) {
		w := follow(t, c.Watch("u", client.WatchOptions{}))
		<-w.done
		if thread.CodeOf(w.err) != thread.NotFound {
			t.Errorf("a thread that is not there: %v", w.err)
		}
		s.set(func() { s.refuses = 401 })
		w = follow(t, c.Watch("t", client.WatchOptions{}))
		<-w.done
		if thread.CodeOf(w.err) != thread.Permission {
			t.Errorf("a token that is refused: %v", w.err)
		}
	})
}

func TestWhatIsHeldComesAsOneSnapshot(t *testing.T) {
	ways(t, func(t *testing.T, s *fake, c *client.Client) {
		m := s.models["t"]
		m.say("hi", 0)
		w := follow(t, c.Watch("t", client.WatchOptions{}))
		until(t, "live", w.live)
		w.Hold(true)
		until(t, "held", func() bool {
			m.mu.Lock()
			defer m.mu.Unlock()
			for seat := range m.seats {
				if !seat.held {
					return false
				}
			}
			return true
		})
		for range 5 {
			m.say("meanwhile", 0)
		}
		if n := w.length(); n != 1 {
			t.Errorf("%d messages were shown", n)
		}
		w.Hold(false)
		until(t, "all of them", func() bool { return w.length() == 6 && w.live() })
	})
}

func TestWhereNoWebSocketComesThroughEventsDo(t *testing.T) {
	s := serve(t, "t")
	s.noSocks = true
	m := s.models["t"]
	m.say("hi", 0)
	w := follow(t, s.client(t, client.Config{}).Watch("t", client.WatchOptions{}))
	until(t, "live", w.live)
	m.say("more", 0)
	until(t, "more", func() bool { return w.length() == 2 })
}

func TestEarlierFetchesPageAfterPage(t *testing.T) {
	s := serve(t, "t")
	m := s.models["t"]
	for range 20 {
		m.say("hi", 0)
	}
	w := follow(t, s.client(t, client.Config{}).Watch("t", client.WatchOptions{Tail: 4}))
	until(t, "live", w.live)
	for i, want := range []bool{true, true, false, false} {
		if more, err := w.Earlier(t.Context(), 7); err != nil || more != want {
			t.Fatalf("page %d: more is %t, %v", i, more, err)
		}
	}
	if diff := cmp.Diff([][]int64{seqs(m.active)}, held(w.Ranges())); diff != "" {
		t.Error(diff)
	}
}

func TestAPageThatARewindOvertakesIsFetchedAgain(t *testing.T) {
	s := serve(t, "t")
	m := s.models["t"]
	for range 20 {
		m.say("hi", 0)
	}
	w := follow(t, s.client(t, client.Config{}).Watch("t", client.WatchOptions{Tail: 4}))
	until(t, "live", w.live)
	s.before = func() { m.rewind(18) } // the page knows of it before the view does, perhaps
	if _, err := w.Earlier(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	until(t, "the rewind", func() bool { return w.length() == 18 })
	if diff := cmp.Diff([][]int64{{14, 15, 16, 17, 18}}, held(w.Ranges())); diff != "" {
		t.Error(diff)
	}
}

func TestAHoleIsMarkedAndCanBeFetched(t *testing.T) {
	s := serve(t, "t")
	m := s.models["t"]
	for range 20 {
		m.say("hi", 0)
	}
	w := follow(t, s.client(t, client.Config{}).Watch("t", client.WatchOptions{Tail: 4}))
	until(t, "live", w.live)
	s.before = func() { // the window moves on while the page is on its way
		for range 4 {
			m.say("more", 0)
		}
		until(t, "the window has moved on", func() bool { return w.length() == 24 })
	}
	if _, err := w.Earlier(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]view.Hole{{After: 16, Before: 21}}, w.Holes()); diff != "" {
		t.Fatal(diff)
	}
	if _, err := w.Fetch(t.Context(), 21, 50); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]int64{seqs(m.active)}, held(w.Ranges())); diff != "" {
		t.Error(diff)
	}
}

func TestAnOverflowNeverShrinksWhatWasFetched(t *testing.T) {
	s := serve(t, "t")
	m := s.models["t"]
	for range 20 {
		m.say("hi", 0)
	}
	w := follow(t, s.client(t, client.Config{}).Watch("t", client.WatchOptions{Tail: 4}))
	until(t, "live", w.live)
	if _, err := w.Earlier(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	had := held(w.Ranges())
	m.overflow()
	m.piece("now")
	until(t, "after it", func() bool { return w.View().Docs.Live != nil })
	if diff := cmp.Diff(had, held(w.Ranges())); diff != "" {
		t.Error(diff)
	}
}

func TestWhoLeavesTheLoopLeavesNothingBehind(t *testing.T) {
	ways(t, func(t *testing.T, s *fake, c *client.Client) {
		m := s.models["t"]
		m.say("hi", 0)
		w := c.Watch("t", client.WatchOptions{})
		for range 2 { // and may come back
			for u, err := range w.Updates(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				if u.Batch != nil {
					break
				}
			}
			if state, _ := w.State(); state != client.Offline {
				t.Errorf("it is %s", state)
			}
			m.say("more", 0)
		}
		until(t, "the server hears of it", func() bool {
			m.mu.Lock()
			defer m.mu.Unlock()
			return len(m.seats) == 0
		})
	})
}

func TestAWatchRunsOnce(t *testing.T) {
	s := serve(t, "t")
	w := follow(t, s.client(t, client.Config{}).Watch("t", client.WatchOptions{}))
	until(t, "live", w.live)
	for _, err := range w.Updates(t.Context()) {
		if thread.CodeOf(err) != thread.Conflict {
			t.Errorf("a second loop: %v", err)
		}
	}
	if !w.live() {
		t.Error("the second loop has ended the first")
	}
}

func TestContextEndsAWatchInEveryState(t *testing.T) {
	ways(t, func(t *testing.T, s *fake, c *client.Client) {
		s.models["t"].say("hi", 0)
		for _, when := range []client.State{client.CatchingUp, client.Live, client.Offline} {
			ctx, cancel := context.WithCancelCause(t.Context())
			w := c.Watch("t", client.WatchOptions{})
			for u, err := range w.Updates(ctx) {
				if err != nil {
					t.Fatalf("while %s: %v", when, err)
				}
				if u.State == client.Live && when == client.Offline {
					s.cut()
				}
				if u.State == when {
					cancel(errors.New("enough"))
				}
			}
			cancel(nil)
		}
	})
}
