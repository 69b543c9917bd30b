package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/internal/server"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/echo"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

// trap is a store that panics where it is told to: as often as its counts say.
type trap struct {
	store.Store
	thread, entry, lines, usage atomic.Int64
}

func spring(n *atomic.Int64) {
	if n.Load() > 0 && n.Add(-1) >= 0 {
		panic("a trap")
	}
}

func (s *trap) Thread(ctx context.Context, space, id string) (thread.Thread, error) {
	if id == "pit" { // others are read at any time
		spring(&s.thread)
	}
	return s.Store.Thread(ctx, space, id)
}

func (s *trap) Entry(ctx context.Context, t *thread.Thread, seq int64) (thread.Entry, error) {
	spring(&s.entry)
	return s.Store.Entry(ctx, t, seq)
}

func (s *trap) Doc(ctx context.Context, key thread.Key, name string) (json.RawMessage, bool, error) {
	switch name {
	case thread.LinesDoc:
		spring(&s.lines)
	case thread.UsageDoc:
		spring(&s.usage)
	}
	return s.Store.Doc(ctx, key, name)
}

// journal is what a server logs.
type journal struct {
	mu   sync.Mutex
	text strings.Builder
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

// faults are the lines that tell of a panic.
func (j *journal) faults() (lines []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for l := range strings.SplitSeq(j.text.String(), "\n") {
		if strings.Contains(l, "failed badly") {
			lines = append(lines, l)
		}
	}
	return lines
}

// trapped opens a site on a store that can panic.
func trapped(t *testing.T, with ...settings) (*site, *trap, *journal) {
	t.Helper()
	var tr *trap
	j := &journal{}
	s := open(t, append(with, func(_ *site, c *skein.Config, sc *server.Config) {
		tr = &trap{Store: c.Store}
		c.Store = tr
		sc.Log = slog.New(slog.NewTextHandler(j, nil))
	})...)
	return s, tr, j
}

// logged says that so many panics were logged with their stack, and counted.
func (s *site) logged(j *journal, where string, n int) {
	s.Helper()
	s.until("a fault is logged", func() bool { return len(j.faults()) >= n })
	lines := j.faults()
	if len(lines) != n || !strings.Contains(lines[n-1], "where="+where) || !strings.Contains(lines[n-1], "fault_test.go") {
		s.Errorf("the log tells of %d faults, want %d of a %s with its stack: %q", len(lines), n, where, lines)
	}
	if want := fmt.Sprintf("skein_faults_total{where=%q} %d\n", where, n); !strings.Contains(string(s.do("GET", "/metrics", nil).body), want) {
		s.Errorf("the figures do not say %q", want)
	}
}

// inward are words of this program that are nobody's business.
func inward(t *testing.T, text string) {
	t.Helper()
	for _, word := range []string{"a trap", "goroutine", "runtime", ".go:", "panic", "context canceled", "context deadline"} {
		if strings.Contains(text, word) {
			t.Errorf("a client is told %q: %.300s", word, text)
		}
	}
}

func TestAHandlerThatPanicsIsAProblem(t *testing.T) {
	s, tr, j := trapped(t)
	s.create("rope")
	w := s.say("rope", "hello")
	path := fmt.Sprintf("/v1/threads/rope/entries/%d", w.Seq)
	tr.entry.Store(1)
	a := s.do("GET", path, nil)
	if p := a.problem(t); p.Status != 500 {
		t.Errorf("it is %d %s", a.status, a.body)
	}
	inward(t, string(a.body))
	s.logged(j, "handler", 1)
	if got := string(s.do("GET", "/metrics", nil).body); !strings.Contains(got, `skein_http_requests_total{route="getEntry",status="500"} 1`) {
		t.Error("the figures do not count the request as failed")
	}
	tr.entry.Store(1)
	k := s.dial()
	k.write(`{"call":1,"path":"` + path + `"}`)
	if m := k.read(); m.Status != 500 || m.Error == nil || m.Error.Detail == "" {
		t.Errorf("a call gave %s", m.raw)
	}
	s.logged(j, "handler", 2)
	s.get(path, nil)
	k.write(`{"call":2,"path":"` + path + `"}`)
	if m := k.read(); m.Status != 200 {
		t.Errorf("after it, a call gave %s", m.raw)
	}
}

func TestAnAnswerThatPanicsHalfWayIsCutOff(t *testing.T) {
	mounts := withServer(func(c *server.Config) {
		c.Mounts = []server.Mount{{Pattern: "/page", Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "half") // the test sees what came
			w.(interface{ Unwrap() http.ResponseWriter }).Unwrap().(http.Flusher).Flush()
			panic("a trap")
		})}}
	})
	s, _, j := trapped(t, mounts)
	res, err := s.request("GET", "/page", nil)
	s.must(err)
	defer res.Body.Close()
	if data, err := io.ReadAll(res.Body); err == nil || string(data) != "half" {
		t.Errorf("it ended well: %q", data)
	}
	s.logged(j, "handler", 1)
}

// A worker's panic ends the watches of its thread, with a reason to come back for,
// and what comes back is well.
func TestAPanicInAViewEndsItsWatches(t *testing.T) {
	s, tr, j := trapped(t)
	s.create("rope")
	s.create("other")
	l, k := s.listen("/v1/threads/rope/events"), s.dial()
	k.write(`{"watch":1,"thread":"rope"}`)
	var a, b view.Replica
	l.follow(&a, "a snapshot", func(v view.View) bool { return v.Thread.ID != "" })
	k.follow(map[string]*view.Replica{"1": &b}, "a snapshot", func() bool { return b.View().Thread.ID != "" })
	tr.lines.Store(1)
	s.call("PATCH", "/v1/threads/rope", map[string]any{"settings": map[string]any{"zone": "Europe/Berlin"}}, 200, nil)
	var last event
	for e, ok := l.next(); ok; e, ok = l.next() {
		last = e
	}
	if last.kind != "end" || last.data != `{"reason":"error"}` {
		t.Errorf("the events end with %+v", last)
	}
	for m := k.read(); ; m = k.read() {
		if m.End != nil {
			if m.Reason != "error" {
				t.Errorf("the watch ends with %s", m.raw)
			}
			break
		}
	}
	s.logged(j, "watch", 1)
	k.write(`{"watch":2,"thread":"rope"}`)
	var c view.Replica
	s.say("rope", "hello")
	k.follow(map[string]*view.Replica{"2": &c}, "a message", func() bool { return len(texts(c.View())) == 1 })
}

// crooked is a model that panics.
type crooked struct{}

func (crooked) Stream(context.Context, *model.Request) iter.Seq2[model.Event, error] {
	panic("a trap")
}

func TestAPanicOfASocketEndsItAlone(t *testing.T) {
	s, tr, j := trapped(t)
	s.create("launch")
	s.create("pit")
	other := s.dial()
	other.write(`{"watch":1,"thread":"launch"}`)
	other.read()
	k := s.dial()
	tr.thread.Store(1)
	k.write(`{"watch":1,"thread":"pit"}`)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, data, err := k.conn.Read(ctx); err == nil || ctx.Err() != nil {
		t.Errorf("the socket goes on: %q, %v", data, err)
	}
	s.logged(j, "socket", 1)
	s.say("launch", "still there?")
	other.read()
}

// A turn that panics ends in the log, with words for people; its thread and others
// go on.
func TestATurnThatPanicsEnds(t *testing.T) {
	for name, c := range map[string]struct {
		with settings
		arm  func(*trap)
	}{
		"in the model":  {withModel(crooked{}), func(*trap) {}},
		"in the engine": {withModel(echo.Model{}), func(tr *trap) { tr.usage.Store(1) }},
	} {
		t.Run(name, func(t *testing.T) {
			s, tr, j := trapped(t, c.with)
			s.create("rope")
			c.arm(tr)
			s.ask("rope", "hello")
			s.logged(j, "turn", 1)
			s.until("no turn is open", func() bool { return s.state("rope").Turn == 0 })
			k := s.dial()
			var r view.Replica
			k.write(`{"watch":1,"thread":"rope"}`)
			k.follow(map[string]*view.Replica{"1": &r}, "the error", func() bool { return r.View().Docs.Agent.Error != nil })
			if e := r.View().Docs.Agent.Error; !strings.HasSuffix(e.Message, "failed badly") {
				t.Errorf("the turn failed with %+v", e)
			}
			inward(t, encoded(r.View()))
		})
	}
}
