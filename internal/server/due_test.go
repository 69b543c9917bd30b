package server_test

import (
	"context"
	"iter"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/internal/server"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// hesitant is a model whose first answer waits for let, and then fails, unless the
// turn was stopped; every other answer comes at once.
type hesitant struct {
	asked atomic.Int32
	let   chan struct{}
}

func (h *hesitant) Stream(ctx context.Context, _ *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		if h.asked.Add(1) > 1 {
			yield(model.Event{Type: model.Done, Parts: []thread.Part{thread.Text("Yes.")}, Stop: thread.StopEnd}, nil)
			return
		}
		<-h.let
		if err := ctx.Err(); err != nil {
			yield(model.Event{}, err)
			return
		}
		yield(model.Event{}, &thread.Error{Code: thread.Response, Op: "model", Message: "it makes no sense"})
	}
}

// goOn lets the first answer go on: at the end of a test that has failed too.
func (h *hesitant) goOn(t *testing.T) (now func()) {
	now = sync.OnceFunc(func() { close(h.let) })
	t.Cleanup(now)
	return now
}

func leased(_ *site, c *skein.Config, _ *server.Config) { c.Lease = 200 * time.Millisecond }

// answering says for how many threads the site is at work on an answer.
func (s *site) answering(threads string) bool {
	s.Helper()
	return strings.Contains(string(s.do("GET", "/metrics", nil).body), "\nskein_turns_running "+threads+"\n")
}

// What was stopped is not answered, also where somebody had asked for it twice; who
// asks after the stop is answered.
func TestAStopTakesBackWhateverWasAskedBefore(t *testing.T) {
	for name, c := range map[string]struct {
		then   string
		length int64
	}{
		"and nothing more":              {"", 1},
		"and then a reply is asked for": {"reply", 2},
	} {
		t.Run(name, func(t *testing.T) {
			m := &hesitant{let: make(chan struct{})}
			s := open(t, withModel(m))
			goOn := m.goOn(t)
			s.create("rope")
			s.ask("rope", "are you there?")
			s.until("it is asked", func() bool { return m.asked.Load() == 1 })
			s.call("POST", "/v1/threads/rope/reply", nil, 202, nil)
			s.call("POST", "/v1/threads/rope/stop", nil, 204, nil)
			if c.then != "" {
				s.call("POST", "/v1/threads/rope/"+c.then, nil, 202, nil)
			}
			goOn()
			s.until("nobody answers any more", func() bool { return s.answering("0") })
			if st := s.state("rope"); st.Length != c.length || int64(m.asked.Load()) != c.length {
				t.Errorf("%d messages, the model was asked %d times, want %d: %q", st.Length, m.asked.Load(), c.length, s.exchange("rope"))
			}
		})
	}
}

// A server that only waits for another's turn does not answer what that turn has
// come to nothing with.
func TestASecondServerLeavesAloneWhatWasStoppedOrFailed(t *testing.T) {
	for name, stops := range map[string]bool{"stopped": true, "failed": false} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "skein.db")
			a, b := &hesitant{let: make(chan struct{})}, &hesitant{let: make(chan struct{})}
			close(b.let)
			first := openAt(t, path, "127.0.0.1:0", withModel(a), leased)
			first.create("rope")
			first.ask("rope", "are you there?")
			first.until("it is asked", func() bool { return a.asked.Load() == 1 })
			second := openAt(t, path, "127.0.0.1:0", withModel(b), leased)
			goOn := a.goOn(t)
			second.until("it waits for the turn", func() bool { return second.answering("1") })
			if stops {
				first.call("POST", "/v1/threads/rope/stop", nil, 204, nil)
			}
			goOn()
			for _, s := range []*site{first, second} {
				s.until("nobody answers any more", func() bool { return s.answering("0") })
			}
			if st := first.state("rope"); st.Turn != 0 || a.asked.Load() != 1 || b.asked.Load() != 0 {
				t.Errorf("turn %d, the models were asked %d and %d times, want 1 and 0: %q", st.Turn, a.asked.Load(), b.asked.Load(), first.exchange("rope"))
			}
		})
	}
}

// Who says again at a living server what a killed one has accepted is answered: 202
// says so.
func TestARetryAtAnotherServerTakesUpTheKilledOnesTurn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "skein.db")
	living := openAt(t, path, "127.0.0.1:0", leased)
	c := spawn(t, path, silentChild+"=1")
	c.create("rope")
	said := map[string]any{"text": "are you there?", "key": "k"}
	c.call("POST", "/v1/threads/rope/messages", said, 202, nil)
	living.until("its turn has begun", func() bool { return living.state("rope").Turn != 0 })
	c.kill()
	living.call("POST", "/v1/threads/rope/messages", said, 202, nil)
	living.answered("rope", 2)
}
