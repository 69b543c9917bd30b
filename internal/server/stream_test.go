package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skeinhq/skein/internal/server"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

func TestAStreamIsWhatAnyEventSourceReads(t *testing.T) {
	d := make(dictated)
	s := open(t, withModel(d), withLimits(func(l *server.Limits) { l.Ping = 30 * time.Millisecond }))
	s.create("rope")
	l := s.listen("/v1/threads/rope/events?tail=10")
	epoch := s.state("rope").Epoch
	var r view.Replica
	e, _ := l.next()
	apply(t, &r, []byte(e.data))
	if l.retry == "" {
		t.Error("it says nothing about coming back")
	}
	w := s.ask("rope", "hello")
	moved := map[int64]bool{}
	n := r.View().N
	for len(r.View().Entries) < 2 {
		if live(r.View()) == "" {
			select {
			case d <- "An answer":
			default:
			}
		}
		if live(r.View()) == "An answer" {
			select {
			case d <- "":
			default:
			}
		}
		e, ok := l.next()
		if !ok {
			t.Fatal("the stream ended")
		}
		if e.comment {
			continue
		}
		before := len(r.View().Entries)
		b := apply(t, &r, []byte(e.data))
		if n++; b.N != n || e.kind != "" {
			t.Errorf("frame %d comes after %d", b.N, n-1)
		}
		if e.id == "" && len(r.View().Entries) != before {
			t.Errorf("a frame with an entry has no id: %s", e.data)
		}
		if e.id != "" {
			var seq int64
			if _, err := fmt.Sscanf(e.id, epoch+".%d", &seq); err != nil || moved[seq] || seq < w.Seq {
				t.Errorf("the id %q: %v", e.id, err)
			}
			moved[seq] = true
		}
	}
	for {
		if e, ok := l.next(); !ok || e.comment {
			if !ok {
				t.Error("it ended instead of a sign of life")
			}
			break
		}
	}
	if raw := l.raw.String(); strings.Contains(raw, "\r") || !strings.HasPrefix(raw, "retry: ") {
		t.Errorf("not as it should be: %.200q", raw)
	}
	if got := texts(r.View()); fmt.Sprint(got) != "[hello An answer]" {
		t.Errorf("the window: %q", got)
	}
}

func TestWhoJoinsInMidAnswerSeesItFromItsFirstCharacter(t *testing.T) {
	d := make(dictated)
	s := open(t, withModel(d))
	s.create("rope")
	first := s.listen("/v1/threads/rope/events")
	s.ask("rope", "hello")
	d <- "It was "
	d <- "blue, "
	var a view.Replica
	first.follow(&a, "the first sees it", func(v view.View) bool { return live(v) == "It was blue, " })
	second, k := s.listen("/v1/threads/rope/events"), s.dial()
	var b, c view.Replica
	second.follow(&b, "the second sees all of it", func(v view.View) bool { return live(v) == "It was blue, " })
	k.write(`{"watch":1,"thread":"rope"}`)
	k.follow(map[string]*view.Replica{"1": &c}, "the socket too", func() bool { return live(c.View()) == "It was blue, " })
	id := c.View().Docs.Live.ID
	d <- "I think."
	d.end()
	done := func(v view.View) bool { return len(v.Entries) == 2 && v.Docs.Live == nil }
	first.follow(&a, "the first has the answer", done)
	second.follow(&b, "the second has the answer", done)
	k.follow(map[string]*view.Replica{"1": &c}, "the socket has the answer", func() bool { return done(c.View()) })
	for _, r := range []*view.Replica{&a, &b, &c} {
		if e := r.View().Entries[1]; e.ID != id || e.Message.PlainText() != "It was blue, I think." {
			t.Errorf("the answer: %s", encoded(e))
		}
	}
}

// Two cuts of the link in a row lose no token, and a client that leaves stops
// nothing.
func TestALinkIsCutTwiceInMidAnswer(t *testing.T) {
	d := make(dictated)
	s := open(t, withModel(d))
	s.create("rope")
	var r view.Replica
	path := "/v1/threads/rope/events"
	l := s.listen(path)
	s.ask("rope", "hello")
	want := ""
	for cut := range 3 {
		for range 5 {
			piece := fmt.Sprintf("%d, ", len(want))
			want += piece
			d <- piece
		}
		l.follow(&r, fmt.Sprintf("before cut %d", cut), func(v view.View) bool { return live(v) == want })
		id := l.lastID
		l.close()
		d <- "away, "
		want += "away, "
		r.Resume()
		l = s.listen(path+"?tail=50", header("Last-Event-ID", id))
		l.follow(&r, fmt.Sprintf("after cut %d", cut), func(v view.View) bool { return live(v) == want })
	}
	d.end()
	l.follow(&r, "the answer", func(v view.View) bool { return len(v.Entries) > 0 && v.Docs.Live == nil })
	if got := texts(r.View()); got[len(got)-1] != want {
		t.Errorf("the answer is %q, want %q", got, want)
	}
	checkHoles(t, &r)
}

// checkHoles holds a replica to W8: what is in it is in one piece.
func checkHoles(t *testing.T, r *view.Replica) {
	t.Helper()
	if holes := r.Holes(); len(holes) > 0 {
		t.Errorf("holes: %s", encoded(holes))
	}
}

func TestStopIsNotLeavingAndLeavingIsNotStop(t *testing.T) {
	d := make(dictated)
	s := open(t, withModel(d))
	s.create("rope")
	l := s.listen("/v1/threads/rope/events")
	s.ask("rope", "hello")
	d <- "half "
	var r view.Replica
	l.follow(&r, "half an answer", func(v view.View) bool { return live(v) == "half " })
	l.close()
	d <- "whole"
	d.end()
	s.answered("rope", 2)

	l = s.listen("/v1/threads/rope/events")
	r = view.Replica{}
	s.ask("rope", "again")
	d <- "no end "
	l.follow(&r, "an answer begins", func(v view.View) bool { return live(v) == "no end " })
	s.call("POST", "/v1/threads/rope/stop", nil, 204, nil)
	l.follow(&r, "it is stopped", func(v view.View) bool { return len(v.Entries) == 4 && v.Docs.Live == nil })
	if e := r.View().Entries; e[1].Message.PlainText() != "half whole" || e[3].Message.Stop != thread.StopAborted {
		t.Errorf("the window: %s", encoded(e))
	}
}

func TestWhatIsSaidElsewhereMeanwhileIsThereAfterwards(t *testing.T) {
	s := open(t)
	s.create("rope")
	s.create("other")
	for i := range 5 {
		s.say("rope", fmt.Sprint("old ", i))
	}
	l := s.listen("/v1/threads/rope/events")
	var r view.Replica
	l.follow(&r, "the beginning", func(v view.View) bool { return len(v.Entries) == 5 })
	l.close()
	other, err := s.engine.Thread(t.Context(), "other")
	s.must(err)
	var work sync.WaitGroup
	for range 50 {
		work.Go(func() {
			for range 100 {
				if _, err := other.Say(t.Context(), "ben", "noise"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	work.Wait()
	s.say("rope", "from another device")
	r.Resume()
	l = s.listen("/v1/threads/rope/events", header("Last-Event-ID", l.lastID))
	l.follow(&r, "what was missed", func(v view.View) bool { return v.Length == 6 })
	if v := r.View(); v.Fresh || len(v.Entries) != 1 || texts(v)[0] != "from another device" {
		t.Errorf("more came than was missed: %s", encoded(v))
	}
	checkHoles(t, &r)
	if n := len(r.Ranges()[0].Entries); n != 6 {
		t.Errorf("the client holds %d messages", n)
	}
}

func TestACursorFromElsewhereStartsAfresh(t *testing.T) {
	s := open(t)
	s.create("rope")
	for i := range 30 {
		s.say("rope", fmt.Sprint("message ", i))
	}
	epoch := s.state("rope").Epoch
	for name, c := range map[string]struct {
		path, id string
		fresh    bool
		entries  int
	}{
		"far behind":         {"?tail=5", epoch + ".1", false, 5},
		"a little behind":    {"?tail=5", epoch + ".26", false, 4},
		"at the end":         {"?tail=5", epoch + ".30", false, 0},
		"past the end":       {"?tail=5", epoch + ".3000", true, 5},
		"another epoch":      {"?tail=5", "elsewhere.26", true, 5},
		"nonsense":           {"?tail=5", "nonsense", true, 5},
		"by the query":       {"?tail=5&from=29&epoch=" + epoch, "", false, 2},
		"the header wins":    {"?tail=5&from=1&epoch=x", epoch + ".29", false, 1},
		"the query, foreign": {"?tail=5&from=29&epoch=x", "", true, 5},
	} {
		var changes []change
		if c.id != "" {
			changes = append(changes, header("Last-Event-ID", c.id))
		}
		l := s.listen("/v1/threads/rope/events"+c.path, changes...)
		var r view.Replica
		e, _ := l.next()
		apply(t, &r, []byte(e.data))
		if v := r.View(); v.Fresh != c.fresh || len(v.Entries) != c.entries {
			t.Errorf("%s: fresh %v, %d messages", name, v.Fresh, len(v.Entries))
		}
		l.close()
	}
}

func TestWhatWasUndoneMeanwhileIsGone(t *testing.T) {
	s := open(t)
	s.create("rope")
	for i := range 6 {
		s.say("rope", fmt.Sprint("message ", i))
	}
	l := s.listen("/v1/threads/rope/events")
	var r view.Replica
	l.follow(&r, "all of it", func(v view.View) bool { return v.Length == 6 })
	l.close()
	s.call("POST", "/v1/threads/rope/rewind", map[string]any{"seq": 3}, 200, nil)
	s.say("rope", "otherwise")
	r.Resume()
	l = s.listen("/v1/threads/rope/events", header("Last-Event-ID", l.lastID))
	l.follow(&r, "the new end", func(v view.View) bool { return v.Length == 4 })
	checkHoles(t, &r)
	var got []string
	for _, e := range r.Ranges()[0].Entries {
		got = append(got, e.Message.PlainText())
	}
	if fmt.Sprint(got) != "[message 0 message 1 message 2 otherwise]" {
		t.Errorf("the client holds %q", got)
	}
}

func TestADeletedThreadsWatchesEnd(t *testing.T) {
	s := open(t)
	s.create("rope")
	l, k := s.listen("/v1/threads/rope/events"), s.dial()
	l.next()
	k.write(`{"watch":1,"thread":"rope"}`)
	k.read()
	s.call("DELETE", "/v1/threads/rope", nil, 204, nil)
	if e, ok := l.next(); !ok || e.kind != "end" || e.data != `{"reason":"deleted"}` {
		t.Errorf("the stream ends with %+v", e)
	}
	if m := k.read(); string(m.End) != "1" || m.Reason != "deleted" {
		t.Errorf("the watch ends with %s", m.raw)
	}
	k.write(`{"ping":1}`)
	if m := k.read(); string(m.Pong) != "1" {
		t.Errorf("the socket: %s", m.raw)
	}
}

func TestASocketCarriesManyWatches(t *testing.T) {
	s := open(t)
	rs := map[string]*view.Replica{}
	k := s.dial()
	for i := range 5 {
		id := fmt.Sprint("t", i)
		s.create(id)
		name := fmt.Sprintf("%q", "watch "+id)
		rs[name] = &view.Replica{}
		k.write(`{"watch":` + name + `,"thread":"` + id + `","tail":3}`)
	}
	for i := range 5 {
		for j := range 4 {
			s.say(fmt.Sprint("t", i), fmt.Sprint(j))
		}
	}
	k.follow(rs, "all have all", func() bool {
		for _, r := range rs {
			if r.View().Length != 4 {
				return false
			}
		}
		return true
	})
	for name, r := range rs {
		if v := r.View(); v.Thread.ID == "" || texts(v)[len(texts(v))-1] != "3" {
			t.Errorf("%s: %s", name, encoded(v))
		}
	}
	k.write(`{"unwatch":"watch t0"}`)
	k.write(`{"ping":"now"}`)
	if m := k.read(); string(m.Pong) != `"now"` {
		t.Fatalf("instead of a pong: %s", m.raw)
	}
	s.say("t0", "nobody hears")
	s.say("t1", "somebody does")
	k.follow(rs, "the others go on", func() bool { return rs[`"watch t1"`].View().Length == 5 })
	if rs[`"watch t0"`].View().Length != 4 {
		t.Error("an ended watch goes on")
	}
	k.write(`{"watch":9,"thread":"none"}`)
	if m := k.read(); string(m.End) != "9" || m.Reason != "not-found" {
		t.Errorf("a watch of nothing: %s", m.raw)
	}
}

func TestAHeldWatchGetsOneSnapshot(t *testing.T) {
	s := open(t)
	s.create("rope")
	k := s.dial()
	r := &view.Replica{}
	k.write(`{"watch":1,"thread":"rope"}`)
	k.follow(map[string]*view.Replica{"1": r}, "a snapshot", func() bool { return r.View().N == 1 })
	k.write(`{"hold":1,"on":true}`)
	k.write(`{"ping":1}`)
	k.read()
	for i := range 20 {
		s.say("rope", fmt.Sprint(i))
	}
	k.write(`{"ping":2}`)
	if m := k.read(); string(m.Pong) != "2" {
		t.Fatalf("a held watch says %s", m.raw)
	}
	k.write(`{"hold":1,"on":false}`)
	m := k.read()
	if !bytes.HasPrefix(m.Ops, []byte(`[["r",`)) || m.N != 2 {
		t.Errorf("after the hold: n %d, %.100s", m.N, m.Ops)
	}
	apply(t, r, m.raw)
	if r.View().Length != 20 {
		t.Errorf("the view: %s", encoded(r.View()))
	}
}

func TestOperationsAreCalledOverASocket(t *testing.T) {
	s := open(t)
	s.create("rope")
	k := s.dial()
	for _, c := range []struct {
		send   string
		status int
		has    string
	}{
		{`{"call":1,"path":"/v1/threads/rope"}`, 200, `"id":"rope"`},
		{`{"call":"two","method":"POST","path":"/v1/threads/rope/messages","body":{"text":"hi","reply":false}}`, 202, `"seq":1`},
		{`{"call":3,"path":"/v1/threads/rope/entries?limit=5"}`, 200, `"items":[{`},
		{`{"call":4,"method":"DELETE","path":"/v1/threads/none"}`, 404, `"code":"not-found"`},
		{`{"call":5,"path":"/v1/threads/rope/events"}`, 404, `"error"`},
		{`{"call":6,"path":"/metrics"}`, 404, `"error"`},
		{`{"call":7,"path":"nothing"}`, 400, `"error"`},
		{`{"call":8,"method":"POST","path":"/v1/threads/rope/stop"}`, 204, `"ok":null`},
		{`{"call":9,"method":"POST","path":"/v1/tickets"}`, 404, `"error"`},
		{`{"call":10,"path":"/healthz"}`, 200, `"ok":{"ok":true}`},
	} {
		k.write(c.send)
		m := k.read()
		if m.Status != c.status || !strings.Contains(string(m.raw), c.has) || !strings.Contains(c.send, string(m.Call)) {
			t.Errorf("%s gives %s", c.send, m.raw)
		}
	}
	for _, wrong := range []string{`{`, `[]`, `{}`, `{"watch":{}}`, `{"watch":[1]}`, `{"call":"` + strings.Repeat("x", 80) + `"}`} {
		k.write(wrong)
		if m := k.read(); m.Error == nil || m.Error.Code != "invalid" {
			t.Errorf("%s gives %s", wrong, m.raw)
		}
	}
}

func TestADrainEndsCleanlyAndTheNextProcessGoesOn(t *testing.T) {
	d := make(dictated)
	s := open(t, withModel(d))
	s.create("rope")
	l, k := s.listen("/v1/threads/rope/events"), s.dial()
	s.ask("rope", "hello")
	d <- "half "
	var r view.Replica
	l.follow(&r, "half an answer", func(v view.View) bool { return live(v) == "half " })
	k.write(`{"watch":1,"thread":"rope"}`)
	k.read()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		s.close()
	}()
	ended := false
	for {
		e, ok := l.next()
		if !ok {
			break
		}
		ended = ended || e.kind == "end" && e.data == `{"reason":"drain"}`
	}
	if !ended {
		t.Error("the stream ended without a word")
	}
	for {
		m, err := k.tryRead()
		if err != nil {
			t.Fatalf("the socket ended without a word: %v", err)
		}
		if m.End != nil {
			if string(m.End) != "1" || m.Reason != "drain" {
				t.Errorf("the socket ends with %s", m.raw)
			}
			break
		}
	}
	<-closed
	next := openAt(t, s.path, strings.TrimPrefix(s.url, "http://"))
	r.Resume()
	l = next.listen("/v1/threads/rope/events", header("Last-Event-ID", l.lastID))
	l.follow(&r, "the next process answers", func(v view.View) bool {
		return v.Docs.Live == nil && v.Length == 2 && v.Docs.Agent.Turn == 0
	})
	entries := r.Ranges()[0].Entries
	if got := entries[len(entries)-1].Message.PlainText(); got != "You said: ana: hello" {
		t.Errorf("the answer: %q", got)
	}
}

func TestADrainingServerTakesNothing(t *testing.T) {
	s := open(t)
	s.create("rope")
	s.server.Drain()
	var health struct {
		OK     bool
		Reason string
	}
	a := s.do("GET", "/readyz", nil)
	if err := json.Unmarshal(a.body, &health); err != nil || a.status != 503 || health.OK || health.Reason == "" {
		t.Errorf("ready: %d %s", a.status, a.body)
	}
	s.get("/healthz", &health)
	p := s.do("POST", "/v1/threads/rope/messages", map[string]any{"text": "late"})
	if p.status != 503 || p.header.Get("Retry-After") == "" || p.problem(t).Code != "aborted" {
		t.Errorf("%d %v %s", p.status, p.header, p.body)
	}
	if s.state("rope").Length != 0 {
		t.Error("it was said all the same")
	}
}
