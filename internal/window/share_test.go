package window_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeinhq/skein/internal/window"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

// Watches that have the same are given the very same bytes, in one piece; one that
// lags behind them, or has other eyes, has a frame of its own.
func TestWatchesThatHaveTheSameShareAFrame(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		a, b := w.client("A", window.Options{Tail: 50}), w.client("B", window.Options{Tail: 50, Viewer: "bob"})
		slow, other := w.client("slow", window.Options{Tail: 50}), w.client("other", window.Options{Tail: 4})
		all := []*client{a, b, slow, other}
		for _, c := range all {
			c.drain()
		}
		next := func(c *client) window.Frame {
			t.Helper()
			f, _, ok, err := c.watch.Poll(ctx)
			w.must(err)
			if !ok {
				t.Fatalf("%s: nothing came", c.name)
			}
			c.take(f)
			return f
		}
		w.say(atOnce, w.text("to all"))
		fa, fb := next(a), next(b)
		next(other)
		if len(fa.Parts) != 1 || len(fb.Parts) != 1 || &fa.Parts[0][0] != &fb.Parts[0][0] {
			t.Errorf("two who have the same are given %d and %d parts of their own", len(fa.Parts), len(fb.Parts))
		}
		m := w.text("for a few")
		m.Audience = []string{"cem"}
		w.say(atOnce, m)
		fa, fb = next(a), next(b)
		if &fa.Parts[0][0] == &fb.Parts[0][0] {
			t.Error("who may not see a message is given it")
		}
		if fs := next(slow); &fs.Parts[0][0] == &fa.Parts[0][0] {
			t.Error("who lags is given less than it has missed")
		}
		next(other)
		w.settle()
		for _, c := range all {
			c.drain()
			c.check()
			c.lose()
		}
	})
}

// Commits that follow each other fast are told together; one after a silence, at
// once.
func TestCommitsAreGathered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.end()
		w.gather = 20 * time.Millisecond
		w.start()
		c := w.client("A", window.Options{Tail: 50})
		c.drain()
		time.Sleep(time.Second)
		c.drain()
		told := []int64{}
		for range 10 { // one every 4 ms
			w.say(atOnce, w.text("x"))
			if c.read() {
				told = append(told, c.replica.View().Length)
			}
			time.Sleep(4 * time.Millisecond)
		}
		if got, want := fmt.Sprint(told), "[1 6]"; got != want {
			t.Errorf("told when there were %s messages, want %s", got, want)
		}
		time.Sleep(20 * time.Millisecond)
		c.drain()
		if n := c.replica.View().Length; n != 10 {
			t.Errorf("the last are told of when there are %d, want 10", n)
		}
		w.settle()
		c.drain()
		c.check()
		c.lose()
		w.end()
	})
}

// That lines were built is told with the next commit, or a moment later: it is no
// frame of its own for each of many watches.
func TestABacklogIsToldWithTheNextCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.end()
		var backlog atomic.Int64
		c, stop := context.WithCancel(ctx)
		var work sync.WaitGroup
		rooms := window.New(window.Config{
			Store: w.store,
			Agent: func(context.Context, *thread.Thread) (view.Agent, error) {
				return view.Agent{Name: "north", Backlog: backlog.Add(1)}, nil
			},
			Go:     func(f func(context.Context)) { work.Go(func() { f(c) }) },
			Report: func(id string, err error) { t.Error(id, err) },
		})
		watch, err := rooms.Watch(ctx, "launch", window.Options{Tail: 50})
		w.must(err)
		frames := 0
		drain := func() {
			for {
				_, _, ok, err := watch.Poll(ctx)
				w.must(err)
				if !ok {
					return
				}
				frames++
			}
		}
		drain()
		for range 20 {
			wr := w.say(never, w.text("x")) // the process hears of its own commits too
			rooms.Publish(thread.Batch{Thread: wr.Thread, Entries: wr.Entries})
			for range 10 {
				time.Sleep(10 * time.Millisecond)
				drain()
			}
		}
		if frames != 21 {
			t.Errorf("%d frames for a snapshot and 20 messages", frames)
		}
		time.Sleep(2 * time.Second)
		drain()
		if frames != 22 {
			t.Errorf("%d frames, want one more for what was different last", frames)
		}
		watch.Close()
		stop()
		work.Wait()
	})
}

// What was read of a thread before a commit does not undo what that commit told.
func TestAnOlderBacklogDoesNotReplaceANewerOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.end()
		var rooms *window.Rooms
		var armed atomic.Bool
		c, stop := context.WithCancel(ctx)
		var work sync.WaitGroup
		rooms = window.New(window.Config{
			Store: w.store,
			Agent: func(_ context.Context, t *thread.Thread) (view.Agent, error) {
				if armed.CompareAndSwap(true, false) {
					wr := w.say(later, w.text("x"))
					rooms.Publish(thread.Batch{Thread: wr.Thread, Entries: wr.Entries})
				}
				return agentOf(t), nil
			},
			Go:     func(f func(context.Context)) { work.Go(func() { f(c) }) },
			Report: func(id string, err error) { t.Error(id, err) },
		})
		watch, err := rooms.Watch(ctx, "launch", window.Options{})
		w.must(err)
		time.Sleep(time.Second)
		armed.Store(true)
		rooms.Stale("launch")
		time.Sleep(2 * time.Second)
		f, _, _, err := watch.Poll(ctx)
		w.must(err)
		b, err := f.Batch()
		w.must(err)
		var r view.Replica
		w.must(r.Applied(b))
		if v := r.View(); v.Length != 1 || v.Docs.Agent.Backlog != w.state().Backlog {
			t.Errorf("%d messages and a backlog of %d, want %d", v.Length, v.Docs.Agent.Backlog, w.state().Backlog)
		}
		watch.Close()
		stop()
		work.Wait()
	})
}
