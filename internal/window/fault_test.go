package window_test

import (
	"context"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeinhq/skein/internal/window"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/store/memory"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

// slow is a store whose next read of messages takes so long that something
// happens meanwhile.
type slow struct {
	store.Store
	meanwhile func()
}

func (s *slow) Messages(ctx context.Context, t *thread.Thread, from, to int64) iter.Seq2[thread.Entry, error] {
	var all []thread.Entry
	var failed error
	for e, err := range s.Store.Messages(ctx, t, from, to) {
		if err != nil {
			failed = err
			break
		}
		all = append(all, e)
	}
	if f := s.meanwhile; f != nil {
		s.meanwhile = nil
		f()
	}
	return func(yield func(thread.Entry, error) bool) {
		for _, e := range all {
			if !yield(e, nil) {
				return
			}
		}
		if failed != nil {
			yield(thread.Entry{}, failed)
		}
	}
}

// What is said while older messages are read pushes the bytes of some out of the
// room. After a rewind a window holds these again, and has them all.
func TestBytesThatWereLetGoWhileOthersWereReadAreReadAgain(t *testing.T) {
	for name, c := range map[string]struct {
		before, size int // messages that are there, and their bytes
		tail         int // of the watch that has older ones read
		said, bytes  int // meanwhile
		rewind       int64
		after        []int // tails of the watches that follow
	}{
		"a window's bytes are said":   {before: 40, size: 1, tail: 30, said: 30, bytes: 200 << 10, rewind: 45, after: []int{10}},
		"a little more than a window": {before: 100, size: 100 << 10, tail: 50, said: 3, bytes: 100 << 10, rewind: 98, after: []int{50, 45}},
		"more than a room keeps":      {before: 40, size: 1, tail: 30, said: 1000, bytes: 8 << 10, rewind: 600, after: []int{40, 200}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				for range c.before {
					w.say(atOnce, w.text(strings.Repeat("x", c.size)))
				}
				w.end()
				s := &slow{Store: w.store}
				life, stop := context.WithCancel(ctx)
				var work sync.WaitGroup
				w.rooms = window.New(window.Config{
					Store:  s,
					Agent:  func(_ context.Context, t *thread.Thread) (view.Agent, error) { return agentOf(t), nil },
					Go:     func(f func(context.Context)) { work.Go(func() { f(life) }) },
					Report: func(id string, err error) { t.Error(id, err) },
				})
				keeper := w.client("keeper", window.Options{Tail: 5})
				keeper.drain()
				s.meanwhile = func() {
					for range c.said {
						w.say(atOnce, w.text(strings.Repeat("x", c.bytes)))
					}
				}
				reader := w.client("reader", window.Options{Tail: c.tail})
				reader.drain()
				if s.meanwhile != nil {
					t.Fatal("nothing was read: the case does not show what it should")
				}
				w.rewind(atOnce, c.rewind)
				all := []*client{keeper, reader}
				for _, tail := range c.after {
					all = append(all, w.client("after", window.Options{Tail: tail}))
				}
				for _, c := range all {
					c.drain()
					c.check()
					c.lose()
				}
				stop()
				work.Wait()
			})
		})
	}
}

// A fault in the making of a frame ends the watch, with an error; others of the
// thread, and other threads, go on.
func TestAFrameThatFailsBadlyEndsItsWatchAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.say(atOnce, w.text("one"))
		life, stop := context.WithCancel(ctx)
		var work sync.WaitGroup
		reported := make(chan error, 8)
		w.end()
		w.rooms = window.New(window.Config{
			Store:  w.store,
			Agent:  func(_ context.Context, t *thread.Thread) (view.Agent, error) { return agentOf(t), nil },
			Go:     func(f func(context.Context)) { work.Go(func() { f(life) }) },
			Report: func(_ string, err error) { reported <- err },
		})
		a, b := w.client("A", window.Options{Tail: 1}), w.client("B", window.Options{Tail: 1})
		a.drain()
		b.drain()
		w.rooms.Spoil(w.key.ID)
		for range 2 {
			_, err := a.watch.Next(ctx)
			errorCode(t, err, thread.Storage)
		}
		a.watch.Close()
		w.settle()
		w.say(atOnce, w.text("two"))
		b.drain()
		b.check()
		if len(reported) != 1 {
			t.Errorf("%d faults were reported, not 1", len(reported))
		} else if f := thread.FaultOf(<-reported); f == nil || !strings.Contains(string(f.Stack), "poll") {
			t.Errorf("the report does not say where it was: %v", f)
		}
		b.lose()
		stop()
		work.Wait()
	})
}

// A database whose file was replaced by an older copy has the same epoch. What
// clients hold of the messages after it is dropped.
func TestALogThatWasTakenBackIsViewedAfresh(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		epoch := w.state().Epoch
		w.store.epoch.Store(&epoch)
		older := memory.New(memory.Options{})
		copied, err := older.Create(ctx, store.NewThread{Key: thread.Key{ID: w.key.ID}, Title: "Launch"})
		w.must(err)
		for _, e := range w.active() {
			_, err := older.Append(ctx, copied.Key, store.Draft{Entries: []store.New{{Entry: thread.Say(*e.Message)}}})
			w.must(err)
		}
		for range 4 {
			w.say(atOnce, w.text("lost"))
		}
		c := w.client("A", window.Options{Tail: 5})
		away := w.client("B", window.Options{Tail: 5})
		waits := w.client("C", window.Options{Tail: 5})
		for _, c := range []*client{c, away, waits} {
			c.drain()
		}
		away.lose()
		waits.lose()
		waits.connect() // resumes, and has not read yet
		synctest.Wait()
		w.store.Store, w.key = older, copied.Key
		w.store.changes.Add(1)
		w.settle()
		away.connect()
		for _, c := range []*client{c, away, waits} {
			c.drain()
			if v := c.replica.View(); !v.Fresh || v.Length != 3 || len(c.replica.Ranges()) != 1 {
				t.Errorf("%s: fresh %t, %d messages, %d ranges", c.name, v.Fresh, v.Length, len(c.replica.Ranges()))
			}
			c.check()
		}
		w.say(atOnce, w.text("after"))
		for _, c := range []*client{c, away, waits} {
			c.drain()
			c.check()
			c.lose()
		}
	})
}

// A log that another has taken the place of is noticed with the first commit to that
// one, before anybody looks: none of its entries is shown as following the old ones.
func TestACommitToAnotherLogShowsNothingOfIt(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		other := memory.New(memory.Options{})
		made, err := other.Create(ctx, store.NewThread{Key: thread.Key{ID: w.key.ID}, Title: "Launch"})
		w.must(err)
		c, away := w.client("A", window.Options{Tail: 5}), w.client("B", window.Options{Tail: 5})
		c.drain()
		away.drain()
		away.lose()
		w.store.Store, w.key = other, made.Key // as a restore does, with new epochs
		for said := range int64(5) {           // the last two would follow
			w.say(atOnce, w.text("after"))
			c.drain()
			for _, e := range c.replica.View().Entries {
				if v := c.replica.View(); v.Length > said+1 && e.Message.PlainText() == "after" {
					t.Fatalf("it is shown behind the old log: %d messages", v.Length)
				}
			}
		}
		time.Sleep(100 * time.Millisecond) // sooner than anybody looks
		away.connect()
		for _, c := range []*client{c, away} {
			c.drain()
			// Who was there may have been sent another snapshot since the fresh one.
			if v := c.replica.View(); !v.Fresh && c == away || v.Length != 5 || len(c.replica.Ranges()) != 1 {
				t.Errorf("%s: fresh %t, %d messages, %d ranges", c.name, v.Fresh, v.Length, len(c.replica.Ranges()))
			}
			c.check()
			c.lose()
		}
	})
}
