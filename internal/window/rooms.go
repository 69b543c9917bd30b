package window

import (
	"context"
	"sync"
	"time"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

// lookEvery is how often the store is asked whether another process has written,
// while anything is watched.
const lookEvery = 200 * time.Millisecond

// Config says what rooms work with.
type Config struct {
	Store store.Store
	Space string

	// Gather is how long a commit waits for others where watches were told of one less
	// than that ago; 0: they are told of each at once.
	Gather time.Duration

	// Agent says who answers in a thread, as of that state.
	Agent func(ctx context.Context, t *thread.Thread) (view.Agent, error)

	// Go starts work that ends with its context and that somebody waits for.
	Go func(work func(ctx context.Context))

	// Report hears of what failed beside any call.
	Report func(thread string, err error)
}

// Rooms are the threads that are watched. The zero value is of no use; see New.
type Rooms struct {
	cfg Config

	mu      sync.Mutex         // guards the rest; taken before a room's
	rooms   map[string]*Room   // by thread id
	answers map[string]*answer // of threads that nobody watches
	looking bool               // for what other processes write
	ended   error
}

// New makes rooms.
func New(cfg Config) *Rooms {
	return &Rooms{cfg: cfg, rooms: map[string]*Room{}, answers: map[string]*answer{}}
}

// Publish hands a batch to those who watch its thread. It is called for one
// batch after the other; those of two commits may come in either order.
func (h *Rooms) Publish(b thread.Batch) {
	if b.Thread.Space != h.cfg.Space {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.rooms[b.Thread.ID]; r != nil {
		r.publish(b)
		return
	}
	a := h.answers[b.Thread.ID]
	if a == nil {
		if b.Live == nil && len(b.Events) == 0 {
			return
		}
		a = &answer{}
	}
	a.take(&b)
	for i := range b.Entries {
		a.commit(&b.Entries[i])
	}
	if a.matters() {
		h.answers[b.Thread.ID] = a
	} else {
		delete(h.answers, b.Thread.ID)
	}
}

// take hears what a batch tells beside its entries, and says whether more than
// texts has changed.
func (a *answer) take(b *thread.Batch) (changed bool) {
	if b.Live != nil {
		changed = a.hear(&b.Thread, b.Live)
	}
	for i := range b.Events {
		changed = a.happens(&b.Events[i]) || changed
	}
	return changed
}

// Stale says that something of the thread has changed that no batch shows: its
// settings, that it waits, that it was deleted.
func (h *Rooms) Stale(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.rooms[id]; r != nil {
		r.wake(changed | stale)
	}
}

// Close ends all watches, for that reason. None can be opened any more.
func (h *Rooms) Close(reason error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = reason
	for _, r := range h.rooms {
		r.end(reason)
	}
}

// Watch opens a watch on a thread.
//
// Errors: not-found (no such thread, or it was deleted), invalid (options),
// aborted (closed), storage.
func (h *Rooms) Watch(ctx context.Context, id string, o Options) (*Watch, error) {
	o, err := o.complete(id)
	if err != nil {
		return nil, err
	}
	r, err := h.enter(id)
	if err != nil {
		return nil, err
	}
	w, err := r.begin(ctx, o)
	if err != nil {
		h.leave(r)
	}
	return w, err
}

// begin makes a watch in a room, which it opens where it is new.
func (r *Room) begin(ctx context.Context, o Options) (w *Watch, err error) {
	defer func() {
		if p := recover(); p != nil {
			w, err = nil, r.broke(p)
		}
	}()
	if err := r.open(ctx); err != nil {
		return nil, err
	}
	return r.attach(ctx, o)
}

// enter gives the room of a thread, and counts who is in it.
func (h *Rooms) enter(id string) (*Room, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended != nil {
		return nil, h.ended
	}
	r := h.rooms[id]
	if r == nil || r.over() {
		r = &Room{rooms: h, id: id, watches: map[*Watch]struct{}{}, pending: map[int64]thread.Batch{}, nudge: make(chan struct{}, 1), answer: h.answers[id]}
		if r.answer == nil {
			r.answer = &answer{}
		}
		delete(h.answers, id)
		h.rooms[id] = r
	}
	r.users++
	if !h.looking {
		h.looking = true
		h.cfg.Go(h.look)
	}
	return r, nil
}

// leave closes the room behind the last one. What it knows of an answer being
// made stays.
func (h *Rooms) leave(r *Room) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.users--; r.users > 0 {
		return
	}
	a := r.close()
	if h.rooms[r.id] != r {
		return // a thread that was deleted and brought back has another
	}
	delete(h.rooms, r.id)
	if a.matters() && h.ended == nil {
		h.answers[r.id] = a
	}
}

// look wakes all rooms where another process has written to the store.
func (h *Rooms) look(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	defer h.survive()
	was, known, failing := int64(0), false, false
	for {
		h.mu.Lock()
		if h.looking = len(h.rooms) > 0 && h.ended == nil; !h.looking {
			h.mu.Unlock()
			return
		}
		h.mu.Unlock()
		now, err := h.cfg.Store.Changed(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			if !failing {
				h.cfg.Report("", err)
			}
		case !known || now != was:
			was, known = now, true
			h.wakeAll()
		}
		failing = err != nil
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// survive is deferred around what looks for all rooms: where that panics all end,
// and the next one has it looked again.
func (h *Rooms) survive() {
	p := recover()
	if p == nil {
		return
	}
	err := errBroken("", p)
	h.mu.Lock()
	h.looking = false
	for _, r := range h.rooms {
		r.end(err)
	}
	h.mu.Unlock()
	h.cfg.Report("", err)
}

func (h *Rooms) wakeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.rooms {
		r.wake(changed)
	}
}
