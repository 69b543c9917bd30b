package window

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"sort"
	"time"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

// What a watch may be behind before it gets a snapshot instead.
const (
	maxBehind      = 100     // commits
	maxBehindBytes = 1 << 20 // of messages
)

// Watch is one reader of a thread's view: a cursor into its room, and a window of
// its own. Its methods may be called from many goroutines, but frames are for
// one reader.
type Watch struct {
	room *Room

	// Guarded by the room's mu. What waking a reader looks at stands together: there
	// may be thousands, and each is one more place in memory.
	notify  func()
	ready   chan struct{} // has room for one; nil until somebody waits in Next
	n       int64         // of the last frame; 0: none yet
	waiting bool          // there was nothing
	closed  bool
	held    bool
	resumes bool  // the first frame begins at window.First
	again   bool  // a snapshot is due
	fresh   bool  // and nothing that the client holds goes on there
	broken  error // why no frame can be made any more
	flowed  time.Time
	client  // as of the last frame

	viewer   string
	interval time.Duration
}

// client is what a client has. Two that have the same are sent the same.
type client struct {
	window   view.Window // before the first frame its Tail, and First of a resume
	known    int64       // the client may hold messages with lower indexes
	low      int64       // the shortest that the thread was since the last frame
	version  int64
	commits  int64
	tip      int64
	from     int64
	before   int64
	length   int64
	docs     [docCount]int64
	liveAt   int64 // versions of the answer, and how much of it the client has
	toolsAt  int64
	text     int
	thinking int
	lives    bool // the client has an answer
}

const never = math.MaxInt64

func errLeft() error {
	return &thread.Error{Code: thread.Aborted, Op: "watch", Message: "the watch was closed"}
}

// complete gives the options with their defaults, or says what is wrong.
func (o Options) complete(id string) (Options, error) {
	switch {
	case o.Tail < 0 || o.Tail > view.MaxTail:
		return o, invalid(id, "watch", fmt.Sprintf("a window cannot begin with %d messages", o.Tail), fmt.Sprintf("ask for 1 to %d", view.MaxTail))
	case o.From < 0:
		return o, invalid(id, "watch", fmt.Sprintf("no message has the seq %d", o.From), "leave from out to see the newest messages")
	case o.Interval < 0:
		return o, invalid(id, "watch", "the interval is negative", "leave it out for 33 ms")
	}
	if o.Tail == 0 {
		o.Tail = view.DefaultTail
	}
	o.Interval = max(o.Interval, DefaultInterval)
	return o, nil
}

// attach makes a watch. Its snapshot is made when its reader asks, as of then.
func (r *Room) attach(ctx context.Context, o Options) (*Watch, error) {
	w := &Watch{room: r, viewer: o.Viewer, interval: o.Interval, client: client{window: view.Window{Tail: o.Tail}, low: never, version: -1}}
	for {
		t, exact, need, err := r.admit(w, o)
		switch {
		case err != nil:
			return nil, err
		case need != nothing:
			if err := r.fill(ctx, need); err != nil {
				return nil, err
			}
			continue
		case exact:
			return w, nil
		}
		undone, err := r.undoneBefore(ctx, &t, o.From)
		if err != nil {
			w.detach()
			return nil, err
		}
		if undone { // between the messages before First and the seq From
			r.lower(w)
		}
		return w, nil
	}
}

// admit takes a watch in, unless messages from index need on have to be read first.
// It is exact where nothing can have been undone, in the thread as it was then, that
// a client who resumes may hold and the room does not know of.
func (r *Room) admit(w *Watch, o Options) (t thread.Thread, exact bool, need int64, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended != nil {
		return t, false, nothing, r.ended
	}
	w.fresh = o.From > 0 && (o.Epoch != "" && o.Epoch != r.thread.Epoch || o.From > r.thread.Tip+1)
	if o.From > 0 && !w.fresh {
		first, need, ok := r.recent.first(o.From, o.Tail)
		if !ok {
			return t, false, need, nil
		}
		w.resumes, w.window.First, w.known, w.from = true, first, first, o.From
	}
	r.watches[w] = struct{}{}
	exact = !w.resumes || w.window.First > r.recent.base && r.recent.at(w.window.First-1).seq == o.From-1
	return r.thread, exact, nothing, nil
}

// lower has a watch drop what its client may hold of what was undone.
func (r *Room) lower(w *Watch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w.low, w.known = min(w.low, w.window.First), w.known+1
}

// first gives the index of the first message from a seq on. Where that lies
// further back than a resume of that tail reaches it gives one that does too. It
// is not ok where messages from index need on have to be read first.
func (r *recent) first(from int64, tail int) (first, need int64, ok bool) {
	length, have := r.length(), int64(len(r.items))
	switch {
	case r.base == 0 || have > 0 && r.items[0].seq < from:
		return r.base + int64(sort.Search(int(have), func(i int) bool { return r.items[i].seq >= from })), 0, true
	case have >= 2*int64(tail) || r.sizes(r.base, length) > view.MaxBytes:
		return r.base, 0, true
	}
	const least = 16
	return 0, max(0, length-min(2*int64(tail), max(least, 2*have))), false
}

// undoneBefore says whether something was undone since a client saw all before
// the seq from: then the newest message there is no longer active.
func (r *Room) undoneBefore(ctx context.Context, t *thread.Thread, from int64) (bool, error) {
	q := store.EntriesQuery{Before: from, Kinds: []thread.Kind{thread.MessageKind}, Newest: true, Inactive: true}
	for e, err := range r.rooms.cfg.Store.Entries(ctx, t, q) {
		switch {
		case err != nil:
			return false, err
		case e.IsMessage():
			return !t.Active(t.OriginAt(e.Seq), e.Branch, e.Index), nil
		}
	}
	return false, nil
}

// Next waits for the next frame: all that has gathered since the one before.
//
// Errors: not-found (the thread was deleted), aborted (the engine or the watch
// was closed), storage (also where the view or a frame of it has panicked: that is
// a [thread.Fault]); the context's, as it is.
func (w *Watch) Next(ctx context.Context) (Frame, error) {
	ready := w.listen()
	for {
		f, wait, ok, err := w.Poll(ctx)
		if ok || err != nil {
			return f, err
		}
		if err := sleep(ctx, ready, wait); err != nil {
			return Frame{}, err
		}
	}
}

// listen gives what wakes a reader that waits.
func (w *Watch) listen() <-chan struct{} {
	w.room.mu.Lock()
	defer w.room.mu.Unlock()
	if w.ready == nil {
		w.ready = make(chan struct{}, 1)
	}
	return w.ready
}

// sleep waits until there may be something, or for wait where that is set.
func sleep(ctx context.Context, ready <-chan struct{}, wait time.Duration) error {
	var due <-chan time.Time
	if wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		due = t.C
	}
	select {
	case <-ready:
	case <-due:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// Poll is Next for who does not want to wait: ok is false where there is nothing
// now. Then the function of Notify is called when there is, or, where wait is set,
// there is something after so long. It may read the store for a snapshot.
func (w *Watch) Poll(ctx context.Context) (f Frame, wait time.Duration, ok bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			f, wait, ok, err = Frame{}, 0, false, w.room.broke(p)
		}
	}()
	for {
		f, wait, ok, need, err := w.poll()
		if need == nothing {
			return f, wait, ok, err
		}
		if err := w.room.fill(ctx, need); err != nil {
			return Frame{}, 0, false, cmp.Or(ctx.Err(), err)
		}
	}
}

// nothing is no index: nothing has to be read.
const nothing = -1

// poll is Poll where nothing has to be read from the store first; else need is the
// index of the message from which on that is.
//
// A frame that cannot be made, by whatever fault, ends its watch and no other: the
// room is let go of, reports it and is read anew.
func (w *Watch) poll() (f Frame, wait time.Duration, ok bool, need int64, err error) {
	r := w.room
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() {
		if p := recover(); p != nil {
			w.fault(p)
			f, wait, ok, need, err = Frame{}, 0, false, nothing, w.broken
		}
	}()
	if idle, err := w.idle(); idle || err != nil {
		return f, 0, false, nothing, err
	}
	if w.n > 0 && !w.again && !w.behind() {
		f, wait, ok, err = w.step()
		if !w.again {
			w.waiting = !ok
			return f, wait, ok, nothing, err
		}
	}
	if need := w.need(); !r.recent.enough(need) {
		return Frame{}, 0, false, need, nil
	}
	f, err = w.snapshot()
	return f, 0, err == nil, nothing, err
}

// idle says that there is nothing for the reader, or why there never will be. The
// room's lock is held.
func (w *Watch) idle() (bool, error) {
	r := w.room
	switch {
	case w.closed:
		return false, errLeft()
	case r.ended != nil:
		return false, r.ended
	case w.broken != nil:
		return false, w.broken
	}
	idle := w.held || w.n > 0 && !w.again && w.version == r.version
	if idle {
		w.waiting = true
	}
	return idle, nil
}

// fault ends the watch, of which a frame failed badly. The room's lock is held.
func (w *Watch) fault(p any) {
	w.broken = errBroken(w.room.id, p)
	w.room.fail(w.broken)
}

// Ready is what Take has found.
type Ready int

// What Take finds.
const (
	Nothing Ready = iota // the function of Notify is called when there is something
	Last                 // a frame, and after it Nothing
	More                 // a frame, and there may be another
	Slow                 // what only Poll gives: a snapshot, an end, a text that waits for its time
)

// Take is Poll for who serves many watches in their turns and must not be kept by
// one of them: it gives the frame of what is new, and never reads the store.
func (w *Watch) Take() (f Frame, ready Ready) {
	r := w.room
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() {
		if p := recover(); p != nil {
			w.fault(p)
			f, ready = Frame{}, Slow
		}
	}()
	idle, err := w.idle()
	switch {
	case idle:
		return f, Nothing
	case err != nil || w.n == 0 || w.again || w.behind():
		return f, Slow
	}
	f, wait, ok, err := w.step()
	if err != nil {
		w.broken = err
	}
	switch {
	case err != nil || w.again || !ok && wait > 0:
		return Frame{}, Slow
	case ok && w.version != r.version:
		return f, More
	}
	w.waiting = true
	if ok {
		return f, Last
	}
	return f, Nothing
}

// Notify has f called when there is something after Poll or Take has said that there is
// nothing, when the watch ends, and when a hold does. f must not block and must
// not use the watch.
func (w *Watch) Notify(f func()) {
	w.room.mu.Lock()
	defer w.room.mu.Unlock()
	w.notify = f
	if w.waiting && (w.room.ended != nil || w.version != w.room.version) {
		w.wake()
	}
}

// Hold keeps frames back, or lets them come again: then, if anything has changed
// meanwhile, with one snapshot.
func (w *Watch) Hold(on bool) {
	r := w.room
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.held == on {
		return
	}
	w.held = on
	if on {
		return
	}
	w.again = w.again || w.n > 0 && w.version != r.version
	w.wake()
}

// Close ends the watch.
func (w *Watch) Close() {
	if w.detach() {
		w.room.rooms.leave(w.room)
	}
}

// detach takes the watch out of its room, and says whether it was there.
func (w *Watch) detach() bool {
	w.room.mu.Lock()
	defer w.room.mu.Unlock()
	if w.closed {
		return false
	}
	w.closed = true
	delete(w.room.watches, w)
	w.wake()
	return true
}

// wake tells the reader, if it waits, that there is something.
func (w *Watch) wake() {
	if !w.waiting && !w.closed && w.room.ended == nil {
		return
	}
	w.waiting = false
	if w.notify != nil {
		w.notify()
	}
	select {
	case w.ready <- struct{}{}: // never, where nobody waits
	default:
	}
}

// behind says whether what is undelivered is dropped for a snapshot.
func (w *Watch) behind() bool {
	r := w.room
	from := min(w.low, w.window.End)
	return r.commits-w.commits > maxBehind || w.window.First < r.recent.base || from < r.recent.whole ||
		r.recent.sizes(from, r.recent.length()) > maxBehindBytes
}
