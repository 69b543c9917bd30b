package client

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

// State is how a watch's link stands.
type State string

// The states.
const (
	Live       State = "live"        // the view is the server's
	CatchingUp State = "catching up" // connected, or about to be; a snapshot is on its way
	Offline    State = "offline"     // there is no link; the watch comes back by itself
	Gone       State = "gone"        // for good, with a reason
)

// WatchOptions say how to watch a thread.
type WatchOptions struct {
	Tail int   // how many of the newest messages the window begins with; 0: the server's default
	From int64 // begin at the message with this seq instead
}

// Update is one step of a watch: another state, or a batch.
type Update struct {
	State  State
	Reason string      // why the state is another, where there is a reason
	Batch  *view.Batch // what changed the view; nil: only the state changed
	View   view.View   // as of now
}

// Watcher follows a thread. Its methods may be called while Updates runs.
type Watcher struct {
	client  *Client
	thread  string
	options WatchOptions

	mu        sync.Mutex
	running   bool
	replica   view.Replica
	seen      bool // there was a snapshot
	state     State
	reason    string
	held      bool
	link      link          // while there is one
	changed   chan struct{} // closed at the next change
	transport Transport
}

// Watch makes a watch of a thread. It begins when its updates are asked for.
func (c *Client) Watch(thread string, options WatchOptions) *Watcher {
	return &Watcher{client: c, thread: thread, options: options, state: Offline, changed: make(chan struct{}), transport: c.cfg.Transport}
}

// Updates follows the thread until ctx ends, the loop is left, or the thread is
// gone: then it yields the reason as a [thread.Error], last. Nothing else is an
// error: a lost link is a state, and the watch comes back. It may be called again,
// and then goes on where it was, but not while it runs.
func (w *Watcher) Updates(ctx context.Context) iter.Seq2[Update, error] {
	return func(yield func(Update, error) bool) {
		if err := w.begin(); err != nil {
			yield(w.update(nil), err)
			return
		}
		defer w.ended()
		f := follower{Watcher: w, yield: yield, retry: retry{pace: w.client.cfg.Pace, rand: w.client.cfg.Rand}}
		f.follow(ctx)
	}
}

func (w *Watcher) begin() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running {
		return &thread.Error{Code: thread.Conflict, Op: "watch", Thread: w.thread, Message: "the watch runs already", Hint: "make another one"}
	}
	w.running = true
	return nil
}

func (w *Watcher) ended() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = false
	if w.state != Gone {
		w.state = Offline
	}
	w.note()
}

// note tells who waits that something changed. The mutex is held.
func (w *Watcher) note() {
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *Watcher) update(b *view.Batch) Update {
	w.mu.Lock()
	defer w.mu.Unlock()
	return Update{State: w.state, Reason: w.reason, Batch: b, View: w.replica.View()}
}

// State is how the link stands, and why.
func (w *Watcher) State() (state State, reason string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state, w.reason
}

// View is the view as of the last batch.
func (w *Watcher) View() view.View {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.replica.View()
}

// Ranges gives all that is held of the thread, the oldest first; the window is, or
// ends, the last.
func (w *Watcher) Ranges() []view.Range {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.replica.Ranges()
}

// Holes gives what is missing between the ranges. See [Watcher.Fetch].
func (w *Watcher) Holes() []view.Hole {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.replica.Holes()
}

// Forget lets go of all that is older than the window: what was fetched, and what has
// left the window since.
func (w *Watcher) Forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.replica.Forget()
}

// Hold asks the server to send nothing until it is let go on; then one snapshot
// brings what was missed.
func (w *Watcher) Hold(on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held == on {
		return
	}
	w.held = on
	if w.link != nil {
		w.link.hold(on)
	}
	w.note()
}

// mostStale is how often a page is asked for that a rewind overtakes.
const mostStale = 5

// Earlier fetches the page before the window and what joins it; limit is the most
// messages, 0 the server's default. It says whether there are more before those.
// A page that a rewind overtakes is asked for again until the view knows of the
// rewind too; from within the loop over Updates it cannot hear of it, and then the
// error is a [view.Fault] of code stale.
func (w *Watcher) Earlier(ctx context.Context, limit int) (more bool, err error) {
	return w.fetch(ctx, limit, func() int64 {
		ranges := w.replica.Ranges()
		if len(ranges) == 0 || ranges[len(ranges)-1].Before == 0 {
			return 0
		}
		last := ranges[len(ranges)-1]
		if len(last.Entries) > 0 {
			return last.Entries[0].Seq
		}
		return last.Before + 1
	})
}

// Fetch fetches the page of messages before a seq, such as the end of a hole. It
// says whether there are more before those.
func (w *Watcher) Fetch(ctx context.Context, before int64, limit int) (more bool, err error) {
	return w.fetch(ctx, limit, func() int64 { return before })
}

func (w *Watcher) fetch(ctx context.Context, limit int, where func() int64) (more bool, err error) {
	for attempt := 1; ; attempt++ {
		w.mu.Lock()
		before, changed := where(), w.changed
		w.mu.Unlock()
		if before <= 1 {
			return false, nil
		}
		page, err := w.client.Page(ctx, w.thread, PageQuery{Before: before, Limit: limit})
		if err != nil {
			return false, err
		}
		more, err := w.join(page)
		var stale *view.Fault
		if !errors.As(err, &stale) || attempt == mostStale {
			return more, err
		}
		select { // the page is older than the view, or newer: then the view is about to move on
		case <-changed:
		case <-time.After(time.Second):
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}

func (w *Watcher) join(page view.Page) (more bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.replica.Fetched(page); err != nil {
		return false, err
	}
	for _, e := range page.Items {
		more = e.Prev != 0 // the last is the oldest
	}
	return more, nil
}
