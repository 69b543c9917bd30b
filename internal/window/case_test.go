package window_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/internal/window"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

// inWorld plays a case on a thread of so many messages, in a bubble of time.
func inWorld(t *testing.T, messages int, play func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for range messages {
			w.say(atOnce, w.text("before"))
		}
		play(t, w)
		w.end()
	})
}

func (c *client) seqs() []int64 {
	var out []int64
	for _, e := range c.replica.View().Entries {
		out = append(out, e.Seq)
	}
	return out
}

func TestAnAppendIsOneOperation(t *testing.T) {
	inWorld(t, 6, func(t *testing.T, w *world) {
		c := w.client("A", window.Options{Tail: 4})
		c.drain()
		counts := []int{}
		for range 12 {
			w.say(atOnce, w.text("x"))
			f, _, ok, err := c.watch.Poll(ctx)
			w.must(err)
			if !ok {
				t.Fatal("nothing came")
			}
			b, err := f.Batch()
			w.must(err)
			n := 0
			for _, o := range b.Ops {
				if o.Code == view.SpliceOp {
					n++
				}
			}
			counts = append(counts, n)
			c.take(f)
		}
		if d := cmp.Diff([]int{1, 1, 1, 2, 1, 1, 1, 2, 1, 1, 1, 2}, counts); d != "" {
			t.Errorf("splices (-want +got):\n%s", d)
		}
		w.settle()
		c.drain()
		c.check()
		c.lose()
	})
}

// The snapshot is made from one state under one lock; what is committed while its
// bytes are written is in the next frame, and nowhere else.
func TestAnAppendWhileASnapshotIsWrittenIsSeenOnce(t *testing.T) {
	inWorld(t, 60, func(t *testing.T, w *world) {
		c := w.client("A", window.Options{Tail: 50})
		f, _, _, err := c.watch.Poll(ctx)
		w.must(err)
		w.say(atOnce, w.text("meanwhile"))
		c.take(f) // only now read
		c.drain()
		w.settle()
		c.drain()
		c.check()
		if n := len(c.seqs()); n != 51 {
			t.Errorf("%d messages", n)
		}
	})
}

func TestEntriesOfOtherKindsHideNothingOnResume(t *testing.T) {
	inWorld(t, 20, func(t *testing.T, w *world) {
		c := w.client("A", window.Options{Tail: 4})
		c.drain()
		c.lose()
		mine := w.say(atOnce, w.text("one"))
		for i := range 5000 {
			w.commit(atOnce, nil, event(thread.TitleKind, thread.Entry{Title: &thread.Title{Title: fmt.Sprint(i)}}))
		}
		other := w.say(atOnce, w.text("two"))
		c.connect()
		w.settle()
		c.drain()
		c.check()
		if d := cmp.Diff([]int64{mine.Entries[0].Seq, other.Entries[0].Seq}, c.seqs()); d != "" {
			t.Errorf("missed (-want +got):\n%s", d)
		}
		if len(c.replica.Holes()) != 0 {
			t.Errorf("holes: %v", c.replica.Holes())
		}
	})
}

func TestACursorThatIsNoneGetsABoundedSnapshotThatSaysSo(t *testing.T) {
	for name, o := range map[string]window.Options{
		"far behind":          {Tail: 4, From: 2},
		"past the end":        {Tail: 4, From: 1000},
		"of another epoch":    {Tail: 4, From: 99, Epoch: "another"},
		"one past the end":    {Tail: 4, From: 101},
		"the newest message":  {Tail: 4, From: 100},
		"seven missed":        {Tail: 4, From: 94},
		"eight missed":        {Tail: 4, From: 93},
		"without a cursor":    {Tail: 4},
		"from the first on":   {Tail: 200, From: 1},
		"exactly at the tail": {Tail: 4, From: 97},
	} {
		want := map[string]struct {
			n     int
			fresh bool
		}{
			"far behind": {4, false}, "past the end": {4, true}, "of another epoch": {4, true}, "one past the end": {0, false},
			"the newest message": {1, false}, "seven missed": {7, false}, "eight missed": {4, false}, "without a cursor": {4, false},
			"from the first on": {100, false}, "exactly at the tail": {4, false},
		}[name]
		t.Run(name, func(t *testing.T) {
			inWorld(t, 100, func(t *testing.T, w *world) {
				wa, err := w.rooms.Watch(ctx, "launch", o)
				w.must(err)
				defer wa.Close()
				c := &client{world: w, name: name, options: o, watch: wa}
				c.drain()
				c.check()
				v := c.replica.View()
				if len(v.Entries) != want.n || v.Fresh != want.fresh || c.cursor != 100 {
					t.Errorf("%d messages, fresh %t, cursor %d; want %d, %t, 100", len(v.Entries), v.Fresh, c.cursor, want.n, want.fresh)
				}
			})
		})
	}
}

func TestWhatAClientFetchedStays(t *testing.T) {
	inWorld(t, 400, func(t *testing.T, w *world) {
		c := w.client("A", window.Options{Tail: 10})
		c.drain()
		c.fetch(c.replica.View().Before+1, 200)
		held := func() (n int) {
			for _, r := range c.replica.Ranges() {
				n += len(r.Entries)
			}
			return n
		}
		before := held()
		for range 500 { // the reader stalls
			w.say(atOnce, w.text("x"))
		}
		c.drain()
		if got := held(); got < before {
			t.Errorf("an overflow shrank what is held from %d to %d messages", before, got)
		}
		if n := len(c.replica.Holes()); n != 1 {
			t.Errorf("%d holes, want the one between the old window and the new", n)
		}
		for len(c.replica.Holes()) > 0 {
			c.fetch(c.replica.Holes()[0].Before, 200)
		}
		w.settle()
		c.drain()
		c.check()
		if c.frames != 3 && c.frames != 2 {
			t.Errorf("%d frames: what was behind was not one snapshot", c.frames)
		}
		c.lose()
		for range 3 {
			w.say(atOnce, w.text("y"))
		}
		c.connect()
		c.drain()
		if len(c.replica.Holes()) != 0 || len(c.replica.Ranges()) != 1 {
			t.Errorf("a snapshot that touches is not joined: %v", c.replica.Holes())
		}
	})
}

func TestWhatWasUndoneWhileAwayDisappears(t *testing.T) {
	for name, after := range map[string]int{"little was said since": 2, "much was said since": 40} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 30, func(t *testing.T, w *world) {
				c := w.client("A", window.Options{Tail: 5})
				c.drain()
				c.fetch(c.replica.View().Before+1, 10)
				c.lose()
				w.rewind(atOnce, 20)
				for range after {
					w.say(atOnce, w.text("another way"))
				}
				c.connect()
				w.settle()
				c.drain()
				c.check()
			})
		})
	}
}

func TestWhatWasUndoneWhileBehindDisappears(t *testing.T) {
	inWorld(t, 30, func(t *testing.T, w *world) {
		c := w.client("A", window.Options{Tail: 5})
		c.drain()
		c.fetch(c.replica.View().Before+1, 10)
		w.rewind(atOnce, 20)
		for range 300 {
			w.say(atOnce, w.text("another way"))
		}
		w.settle()
		c.drain()
		c.check()
	})
}

func TestASecondViewerChangesNothingForTheFirst(t *testing.T) {
	inWorld(t, 100, func(t *testing.T, w *world) {
		a := w.client("A", window.Options{Tail: 10})
		a.drain()
		b := w.client("B", window.Options{Tail: 50})
		b.drain()
		b.lose()
		b.connect()
		b.drain()
		w.settle()
		if a.read() {
			t.Error("the first viewer was sent something")
		}
		a.check()
		b.check()
	})
}

func TestManyAppendsAtOnceAreAllSeenInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		c := w.client("A", window.Options{Tail: 500})
		c.drain()
		var wg sync.WaitGroup
		var mu sync.Mutex // of Publish, which the hub calls for one batch after the other
		for i := range 8 {
			wg.Go(func() {
				for j := range 125 {
					m := thread.Message{Author: "ana", Role: thread.User, Parts: []thread.Part{thread.Text(fmt.Sprint(i, j))}}
					wr, err := w.store.Append(ctx, w.key, store.Draft{Entries: []store.New{{Entry: thread.Say(m)}}})
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					w.rooms.Publish(thread.Batch{Thread: wr.Thread, Entries: wr.Entries})
					mu.Unlock()
				}
			})
		}
		for done := false; !done; {
			c.drain()
			done = c.replica.View().Length == 1000
			time.Sleep(time.Millisecond)
		}
		wg.Wait()
		w.settle()
		c.drain()
		c.check()
		w.end()
	})
}

func TestWhoJoinsInTheMiddleSeesTheTextFromItsFirstCharacter(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		w.begin(atOnce)
		for _, s := range []string{"Der ", "Kai", "ser ", "schl"} { // nobody views yet
			w.piece("text", s)
		}
		c := w.client("A", window.Options{Tail: 10})
		c.drain()
		if got := c.replica.View().Docs.Live; got == nil || got.Text != "Der Kaiser schl" {
			t.Fatalf("%+v", got)
		}
		w.piece("text", "äft")
		time.Sleep(50 * time.Millisecond)
		c.drain()
		c.check()
		c.lose()
		c.connect()
		w.piece("text", " fest")
		c.lose()
		c.connect()
		time.Sleep(50 * time.Millisecond)
		c.drain()
		if got := c.replica.View().Docs.Live; got == nil || got.Text != "Der Kaiser schläft fest" {
			t.Fatalf("two cuts in a row lost something: %+v", got)
		}
		w.finish(true)
		if !c.read() {
			t.Fatal("the commit did not come")
		}
		v, ranges := c.replica.View(), c.replica.Ranges()
		if v.Docs.Live != nil || len(ranges) != 1 || len(ranges[0].Entries) != 4 {
			t.Errorf("partial and final are both shown, or neither: %+v, %+v", v.Docs.Live, ranges)
		}
	})
}

func TestTextComesAtMostOnceInAnInterval(t *testing.T) {
	for interval, most := range map[time.Duration]int{0: 32, 250 * time.Millisecond: 6} {
		t.Run(interval.String(), func(t *testing.T) {
			inWorld(t, 1, func(t *testing.T, w *world) {
				w.begin(atOnce)
				w.piece("text", "x")
				c := w.client("A", window.Options{Tail: 10, Interval: interval})
				w.settle()
				c.drain()
				done := make(chan struct{})
				limited, stop := context.WithCancel(ctx)
				frames, size := 0, 0
				go func() {
					defer close(done)
					for {
						f, err := c.watch.Next(limited)
						if err != nil {
							return
						}
						frames++
						size += f.Size()
						c.take(f)
					}
				}()
				for range 100 {
					w.piece("text", "abcd")
					time.Sleep(10 * time.Millisecond)
				}
				time.Sleep(time.Second)
				stop()
				<-done
				if frames > most || frames < most-3 {
					t.Errorf("%d frames in a second, at most %d", frames, most)
				}
				if interval == 0 && size > 100*18 {
					t.Errorf("%d bytes for 100 tokens", size)
				}
				c.check()
			})
		})
	}
}

func TestNoRuneIsSplit(t *testing.T) {
	inWorld(t, 1, func(t *testing.T, w *world) {
		w.begin(atOnce)
		c := w.client("A", window.Options{Tail: 10})
		text := "héllo 漢字 👩‍🚀 \x00 \"\\\n"
		for i := range len(text) {
			w.piece("text", text[i:i+1])
			time.Sleep(40 * time.Millisecond)
			c.drain()
		}
		c.check()
	})
}

func TestToolsShowTheTailOfWhatTheyPutOut(t *testing.T) {
	inWorld(t, 1, func(t *testing.T, w *world) {
		w.begin(atOnce)
		c := w.client("A", window.Options{Tail: 10})
		late := w.client("B", window.Options{Tail: 10})
		c.drain()
		late.drain()
		s := w.state()
		tell := func(e thread.Event) {
			e.Turn, e.Agent = s.Turn, "north"
			w.rooms.Publish(thread.Batch{Thread: s, Events: []thread.Event{e}})
		}
		tell(thread.Event{Type: thread.ToolEvent, Name: "shell", CallID: "c1", Input: []byte(`{"command":"make"}`)})
		whole := ""
		for i := range 400 {
			line := fmt.Sprintf("line %d of the output, with some more to say\n", i)
			whole += line
			tell(thread.Event{Type: thread.OutputEvent, Name: "shell", CallID: "c1", Text: line})
			time.Sleep(20 * time.Millisecond)
			c.drain()
		}
		time.Sleep(time.Second)
		for _, c := range []*client{c, late} {
			c.drain()
			live := c.replica.View().Docs.Live
			if live == nil || len(live.Tools) != 1 {
				t.Fatalf("%s: %+v", c.name, live)
			}
			if got := live.Tools[0].Output; !strings.HasSuffix(whole, got) || len(got) < 4000 || len(got) > 8<<10 {
				t.Errorf("%s: %d bytes of output are no tail", c.name, len(got))
			}
		}
		if c.bytes > 6*len(whole) {
			t.Errorf("%d bytes went out for %d", c.bytes, len(whole))
		}
		m := thread.Message{Author: "shell", Role: thread.Tool, Turn: s.Turn, Parts: []thread.Part{thread.Result("c1", "shell", "done", false)}}
		w.commit(atOnce, nil, store.New{Entry: thread.Say(m)})
		c.drain()
		if live := c.replica.View().Docs.Live; live != nil {
			t.Errorf("a call with a result still runs: %+v", live)
		}
	})
}

func TestWhatIsNotForAViewerShowsAsAStub(t *testing.T) {
	inWorld(t, 1, func(t *testing.T, w *world) {
		all := w.client("all", window.Options{Tail: 10})
		ana := w.client("ana", window.Options{Tail: 10, Viewer: "ana"})
		bob := w.client("bob", window.Options{Tail: 10, Viewer: "bob"})
		secret := w.text("the code is 4711")
		secret.Author, secret.Audience = "cem", []string{"ana", "north"}
		w.say(atOnce, secret)
		w.begin(atOnce)
		waiting := w.text("and 4712")
		waiting.Audience = []string{"north"}
		w.say(atOnce, waiting)
		w.piece("text", "It is 4711, so", "ana", "north", "cem")
		w.settle()
		for _, c := range []*client{all, ana, bob} {
			for {
				f, _, ok, err := c.watch.Poll(ctx)
				w.must(err)
				if !ok {
					break
				}
				if c == bob && strings.Contains(show(f), "471") {
					t.Errorf("bob was sent %s", show(f))
				}
				c.take(f)
			}
		}
		if live := bob.replica.View().Docs.Live; live != nil {
			t.Errorf("bob sees an answer that is not for him: %+v", live)
		}
		if live := ana.replica.View().Docs.Live; live == nil || live.Text != "It is 4711, so" {
			t.Errorf("ana sees %+v", live)
		}
		if q := bob.replica.View().Docs.Inbox; len(q) != 1 || q[0].Message != nil {
			t.Errorf("bob's inbox: %+v", q)
		}
		stub := bob.replica.View().Entries[1]
		if stub.Message != nil || stub.ID == "" || stub.Prev == 0 || stub.Index != 1 {
			t.Errorf("the stub is %+v", stub)
		}
		s := w.state()
		p, err := window.ReadPage(ctx, w.store, &s, window.PageQuery{Viewer: "bob"})
		w.must(err)
		if p.Items[0].Message != nil || p.Items[1].Message == nil {
			t.Errorf("the page shows %+v", p.Items)
		}
	})
}

// Another process commits, which shows later; the answer's own commit then comes
// too early, and its last viewer leaves before the store is read.
func TestAnAnswerWhoseCommitNobodyTookIsOver(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		w.begin(atOnce)
		c := w.client("A", window.Options{Tail: 10})
		c.drain()
		w.piece("text", "so ")
		w.cut(never, 1)
		w.finish(false)
		c.lose()
		c.connect()
		w.settle()
		c.drain()
		c.check()
	})
}

// The room is opened between an answer's commit and its publication.
func TestAnAnswerThatTheStoreShowsFirstIsOver(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		w.begin(atOnce)
		w.piece("text", "so ")
		s, id := w.state(), w.answer.ID
		said := thread.Say(thread.Message{Author: "north", Role: thread.Assistant, Turn: s.Turn, Parts: []thread.Part{thread.Text("so.")}})
		said.ID = id
		w.answer = nil
		w.commit(later, nil, store.New{Entry: said}, w.ended(&s))
		c := w.client("A", window.Options{Tail: 10})
		c.drain()
		c.check() // not both the partial and the final answer
		w.settle()
		c.drain()
		c.check()
	})
}

// Between an answer that is for some only and the next one, its calls run; who
// joins then, while nobody viewed before, must not see them either.
func TestCallsOfAnAnswerToAFewAreNotViewedByOthers(t *testing.T) {
	inWorld(t, 1, func(t *testing.T, w *world) {
		w.begin(atOnce)
		s := w.state()
		m := thread.Message{Author: "north", Role: thread.Assistant, Turn: s.Turn, Audience: []string{"ana"}, Parts: []thread.Part{thread.Call("c1", "shell", []byte(`{"command":"echo 4711"}`))}}
		w.commit(atOnce, nil, store.New{Entry: thread.Say(m)})
		tell := func(e thread.Event) {
			e.Turn, e.Agent, e.Name, e.CallID = s.Turn, "north", "shell", "c1"
			w.rooms.Publish(thread.Batch{Thread: w.state(), Events: []thread.Event{e}})
		}
		tell(thread.Event{Type: thread.ToolEvent, Input: []byte(`{"command":"echo 4711"}`)})
		bob := w.client("bob", window.Options{Tail: 10, Viewer: "bob"})
		ana := w.client("ana", window.Options{Tail: 10, Viewer: "ana"})
		tell(thread.Event{Type: thread.OutputEvent, Text: "4711"})
		w.settle()
		for {
			f, _, ok, err := bob.watch.Poll(ctx)
			w.must(err)
			if !ok {
				break
			}
			if strings.Contains(show(f), "4711") {
				t.Errorf("bob was sent %s", show(f))
			}
		}
		ana.drain()
		if live := ana.replica.View().Docs.Live; live == nil || live.Tools[0].Output != "4711" {
			t.Errorf("ana sees %+v", live)
		}
	})
}

func TestHoldEndsWithOneSnapshot(t *testing.T) {
	inWorld(t, 10, func(t *testing.T, w *world) {
		c := w.client("A", window.Options{Tail: 5})
		c.watch.Hold(true)
		if c.read() {
			t.Fatal("a frame came while held")
		}
		c.watch.Hold(false)
		c.drain()
		w.settle()
		c.drain()
		was := c.frames
		c.watch.Hold(true)
		for range 3 {
			w.say(atOnce, w.text("x"))
		}
		c.watch.Hold(false)
		c.watch.Hold(true)
		w.say(atOnce, w.text("x"))
		c.watch.Hold(false)
		c.drain()
		if c.frames != was+1 {
			t.Errorf("%d frames", c.frames-was)
		}
		c.watch.Hold(true)
		c.watch.Hold(false)
		if c.read() {
			t.Error("something came though nothing had changed")
		}
		w.settle()
		c.drain()
		c.check()
	})
}

func TestARestoredDatabaseEmptiesTheCache(t *testing.T) {
	inWorld(t, 30, func(t *testing.T, w *world) {
		c := w.client("A", window.Options{Tail: 5})
		away := w.client("B", window.Options{Tail: 5})
		for _, c := range []*client{c, away} {
			c.drain()
			c.fetch(c.replica.View().Before+1, 10)
		}
		away.lose()
		epoch := "restored"
		w.store.epoch.Store(&epoch)
		w.store.changes.Add(1)
		w.settle()
		away.connect()
		for _, c := range []*client{c, away} {
			c.drain()
			if v := c.replica.View(); !v.Fresh || v.Thread.Epoch != epoch || len(c.replica.Ranges()) != 1 {
				t.Errorf("%s: fresh %t, epoch %s, %d ranges", c.name, v.Fresh, v.Thread.Epoch, len(c.replica.Ranges()))
			}
			c.check()
		}
	})
}

func TestDeletingAThreadEndsItsWatches(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		c := w.client("A", window.Options{Tail: 5})
		c.drain()
		ended := make(chan error, 1)
		go func() {
			for {
				if _, err := c.watch.Next(ctx); err != nil {
					ended <- err
					return
				}
			}
		}()
		synctest.Wait()
		w.must(w.store.Delete(ctx, w.key))
		w.rooms.Stale("launch")
		errorCode(t, <-ended, thread.NotFound)
		c.watch.Close()
		_, err := w.rooms.Watch(ctx, "launch", window.Options{})
		errorCode(t, err, thread.NotFound)
		w.must(w.store.Undelete(ctx, w.key))
		c.connect()
		c.drain()
		c.check()
	})
}

func TestNotifyIsCalledOnceForWhatPollHasNot(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		c := w.client("A", window.Options{Tail: 5})
		calls := 0
		c.watch.Notify(func() {
			calls++
			c.called.Store(true)
		})
		c.drain()
		for range 3 {
			w.say(atOnce, w.text("x"))
		}
		if calls != 1 {
			t.Errorf("%d calls", calls)
		}
		w.settle()
		c.drain()
		calls = 0
		w.rooms.Close(&thread.Error{Code: thread.Aborted, Message: "the engine was closed"})
		if calls != 1 {
			t.Errorf("%d calls at the end", calls)
		}
		_, _, _, err := c.watch.Poll(ctx)
		errorCode(t, err, thread.Aborted)
	})
}

// What others have read makes no read for the next, and a window costs what it
// shows.
func TestAWindowReadsNoMoreThanItShows(t *testing.T) {
	inWorld(t, 1000, func(t *testing.T, w *world) {
		counting := &counted{Store: w.store}
		rooms := window.New(window.Config{
			Store:  counting,
			Agent:  func(_ context.Context, t *thread.Thread) (view.Agent, error) { return agentOf(t), nil },
			Go:     func(func(context.Context)) {},
			Report: func(string, error) {},
		})
		a, err := rooms.Watch(ctx, "launch", window.Options{Tail: 50})
		w.must(err)
		_, err = a.Next(ctx)
		w.must(err)
		if counting.messages > 64 {
			t.Errorf("%d messages were read for a window of 50", counting.messages)
		}
		counting.messages = 0
		b, err := rooms.Watch(ctx, "launch", window.Options{Tail: 50, From: 996})
		w.must(err)
		f, err := b.Next(ctx)
		w.must(err)
		if counting.messages > 0 || f.Size() > 5*300+800 {
			t.Errorf("%d messages were read and %d bytes sent for 5 that were missed", counting.messages, f.Size())
		}
	})
}

type counted struct {
	store.Store
	messages int
}

func (c *counted) Messages(ctx context.Context, t *thread.Thread, from, to int64) iter.Seq2[thread.Entry, error] {
	c.messages += int(to - from)
	return c.Store.Messages(ctx, t, from, to)
}

func TestBadOptionsAreRefused(t *testing.T) {
	inWorld(t, 1, func(t *testing.T, w *world) {
		for _, o := range []window.Options{{Tail: 501}, {Tail: -1}, {From: -1}, {Interval: -1}} {
			_, err := w.rooms.Watch(ctx, "launch", o)
			errorCode(t, err, thread.Invalid)
		}
		_, err := w.rooms.Watch(ctx, "nothing", window.Options{})
		errorCode(t, err, thread.NotFound)
	})
}

func TestPages(t *testing.T) {
	inWorld(t, 30, func(t *testing.T, w *world) {
		w.rewind(atOnce, 19) // messages 21 to 30 are undone
		for range 5 {
			w.say(atOnce, w.text("x")) // 32 to 36
		}
		w.reset(atOnce)
		for range 5 {
			w.say(atOnce, w.text("y")) // 38 to 42
		}
		s := w.state()
		pages := func(q window.PageQuery) (out []int64) {
			for {
				p, err := window.ReadPage(ctx, w.store, &s, q)
				w.must(err)
				for _, e := range p.Items {
					out = append(out, e.Seq)
					past := e.Seq < 37
					undone := e.Seq > 20 && e.Seq < 31
					if e.Undone != undone || e.Past != (past && !undone) {
						t.Errorf("message %d: undone %t, past %t", e.Seq, e.Undone, e.Past)
					}
				}
				if p.Next == "" {
					return out
				}
				if len(p.Items) != q.Limit {
					t.Errorf("a page of %d in the middle, not %d", len(p.Items), q.Limit)
				}
				q.Cursor = p.Next
			}
		}
		var all, every []int64
		for i := range int64(43) {
			switch {
			case i == 0 || i == 31 || i == 37:
			case i > 20 && i < 31:
				every = append(every, i)
			default:
				all, every = append(all, i), append(every, i)
			}
		}
		reversed := func(s []int64) []int64 { s = slices.Clone(s); slices.Reverse(s); return s }
		for _, limit := range []int{1, 7, 200} {
			for _, c := range []struct {
				q    window.PageQuery
				want []int64
			}{
				{window.PageQuery{}, reversed(all)},
				{window.PageQuery{Order: window.OldestFirst}, all},
				{window.PageQuery{Inactive: true}, reversed(every)},
				{window.PageQuery{Inactive: true, Order: window.OldestFirst}, every},
				{window.PageQuery{Before: 24, After: 18}, []int64{20, 19}},
			} {
				c.q.Limit = limit
				if d := cmp.Diff(c.want, pages(c.q)); d != "" {
					t.Errorf("%+v (-want +got):\n%s", c.q, d)
				}
			}
		}
		p, err := window.ReadPage(ctx, w.store, &s, window.PageQuery{Limit: 3})
		w.must(err)
		other := s
		other.ID = "other"
		for _, bad := range []func() error{
			func() error {
				_, err := window.ReadPage(ctx, w.store, &s, window.PageQuery{Cursor: p.Next, Order: window.OldestFirst})
				return err
			},
			func() error {
				_, err := window.ReadPage(ctx, w.store, &other, window.PageQuery{Cursor: p.Next})
				return err
			},
			func() error {
				_, err := window.ReadPage(ctx, w.store, &s, window.PageQuery{Cursor: "nonsense"})
				return err
			},
			func() error { _, err := window.ReadPage(ctx, w.store, &s, window.PageQuery{Limit: 201}); return err },
			func() error { _, err := window.ReadPage(ctx, w.store, &s, window.PageQuery{Order: "up"}); return err },
		} {
			errorCode(t, bad(), thread.Invalid)
		}
		again, err := window.ReadPage(ctx, w.store, &s, window.PageQuery{Limit: 3})
		w.must(err)
		w.say(atOnce, w.text("z"))
		s = w.state()
		next, err := window.ReadPage(ctx, w.store, &s, window.PageQuery{Limit: 3})
		w.must(err)
		if again.Tag != p.Tag || next.Tag == p.Tag {
			t.Errorf("tags %s, %s, then %s", p.Tag, again.Tag, next.Tag)
		}
	})
}

func TestAPageIsBoundedInBytes(t *testing.T) {
	inWorld(t, 0, func(t *testing.T, w *world) {
		for range 20 {
			w.say(atOnce, w.text(strings.Repeat("a", 400_000)))
		}
		s := w.state()
		p, err := window.ReadPage(ctx, w.store, &s, window.PageQuery{Limit: 200})
		w.must(err)
		data, err := thread.Encode(p.Items)
		w.must(err)
		if len(p.Items) < 15 || len(data) > view.MaxBytes+100 || p.Next == "" || !p.Items[0].More {
			t.Errorf("%d messages of %d bytes, more %t", len(p.Items), len(data), p.Items[0].More)
		}
		c := w.client("A", window.Options{Tail: 50})
		c.drain()
		if n := len(c.seqs()); n < 15 || n > 16 {
			t.Errorf("a window of %d messages of 256 KiB", n)
		}
		for range 12 {
			w.say(atOnce, w.text(strings.Repeat("b", 300_000)))
			c.drain()
		}
		w.settle()
		c.drain()
		c.check()
	})
}
