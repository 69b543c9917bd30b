package window_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeinhq/skein/internal/window"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

// trap is a store that panics where it is told to.
type trap struct {
	store.Store
	thread, changed atomic.Bool
}

func (s *trap) Thread(ctx context.Context, space, id string) (thread.Thread, error) {
	if s.thread.Load() {
		panic("no thread")
	}
	return s.Store.Thread(ctx, space, id)
}

func (s *trap) Changed(ctx context.Context) (int64, error) {
	if s.changed.Load() {
		panic("no change")
	}
	return s.Store.Changed(ctx)
}

// A panic in what a room does ends its watches, with a reason and one report of
// where it was; a watch that follows has a room of its own and sees everything.
func TestAPanicEndsTheRoomAndTheNextWatchHasAnother(t *testing.T) {
	for name, c := range map[string]struct {
		spring func(w *world, s *trap)
		in     string // a function that the report names
	}{
		"in a publish": {func(w *world, _ *trap) {
			w.rooms.Break(w.key.ID)
			w.say(atOnce, w.text("two"))
		}, "publish"},
		"in a timer": {func(w *world, _ *trap) {
			w.rooms.Publish(thread.Batch{Thread: w.state(), Live: &thread.Live{ID: "a", Type: "text", Text: "And"}})
			w.rooms.Publish(thread.Batch{Thread: w.state(), Live: &thread.Live{ID: "a", Type: "text", Offset: 3, Text: " so"}})
			w.rooms.Break(w.key.ID)
		}, "flow"},
		"in the worker": {func(w *world, s *trap) {
			s.thread.Store(true)
			w.rooms.Stale(w.key.ID)
		}, "work"},
		"in the look at the store": {func(_ *world, s *trap) { s.changed.Store(true) }, "look"},
		"in the worker, under its lock": {func(w *world, s *trap) {
			w.rooms.Break(w.key.ID)
			w.say(never, w.text("two"))
		}, "work"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.say(atOnce, w.text("one"))
				w.end()
				s := &trap{Store: w.store}
				life, stop := context.WithCancel(ctx)
				var work sync.WaitGroup
				defer work.Wait()
				defer stop()
				reported := make(chan error, 8)
				w.rooms = window.New(window.Config{
					Store:  s,
					Agent:  func(_ context.Context, t *thread.Thread) (view.Agent, error) { return agentOf(t), nil },
					Go:     func(f func(context.Context)) { work.Go(func() { f(life) }) },
					Report: func(_ string, err error) { reported <- err },
				})
				a, b := w.client("A", window.Options{}), w.client("B", window.Options{Tail: 5})
				a.drain()
				b.drain()
				w.settle()
				c.spring(w, s)
				time.Sleep(time.Second)
				for _, c := range []*client{a, b} {
					_, err := c.watch.Next(ctx)
					errorCode(t, err, thread.Storage)
					if thread.FaultOf(err) == nil {
						t.Errorf("%s: the reason is no fault: %v", c.name, err)
					}
					c.watch.Close()
				}
				synctest.Wait()
				if len(reported) != 1 {
					t.Fatalf("%d faults were reported, not 1", len(reported))
				}
				if f := thread.FaultOf(<-reported); f == nil || !strings.Contains(string(f.Stack), c.in) {
					t.Errorf("the report does not say where it was: %v\n%s", f, f.Stack)
				}
				s.thread.Store(false)
				s.changed.Store(false)
				next := w.client("C", window.Options{Tail: 5})
				next.drain()
				next.check()
				w.say(atOnce, w.text("three"))
				w.say(never, w.text("four"))
				w.settle()
				next.drain()
				next.check()
				next.lose()
			})
		})
	}
}

// Who cannot even be let in is told so, and leaves nothing behind.
func TestAPanicInAnOpeningIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.say(atOnce, w.text("one"))
		w.end()
		s := &trap{Store: w.store}
		life, stop := context.WithCancel(ctx)
		var work sync.WaitGroup
		defer work.Wait()
		defer stop()
		w.rooms = window.New(window.Config{
			Store:  s,
			Agent:  func(_ context.Context, t *thread.Thread) (view.Agent, error) { return agentOf(t), nil },
			Go:     func(f func(context.Context)) { work.Go(func() { f(life) }) },
			Report: func(string, error) {},
		})
		s.thread.Store(true)
		_, err := w.rooms.Watch(ctx, w.key.ID, window.Options{Tail: 5})
		errorCode(t, err, thread.Storage)
		if thread.FaultOf(err) == nil {
			t.Errorf("it is no fault: %v", err)
		}
		s.thread.Store(false)
		c := w.client("A", window.Options{Tail: 5})
		c.drain()
		c.check()
		c.lose()
	})
}
