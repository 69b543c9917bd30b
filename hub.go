package skein

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/skeinhq/skein/internal/window"
	"github.com/skeinhq/skein/thread"
)

// maxBehind is how many batches a watcher may be behind before it is let go.
const maxBehind = 1024

// hub carries batches from commits to watchers, and their events to observers. A
// watcher that falls behind is let go with an error; it never slows a commit down.
type hub struct {
	observers *observers    // fixed when the engine opens
	rooms     *window.Rooms // likewise: the threads that are viewed

	mu       sync.Mutex                   // guards the rest, and the order in which observers are told
	watchers map[string]map[*watcher]bool // by thread id
	closed   bool
}

type watcher struct {
	mu      sync.Mutex
	batches []thread.Batch
	err     error
	more    chan struct{} // has room for one: there is something to take
}

func (h *hub) watch(id string) *watcher {
	w := &watcher{more: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		w.end(errClosed())
		return w
	}
	if h.watchers == nil {
		h.watchers = map[string]map[*watcher]bool{}
	}
	if h.watchers[id] == nil {
		h.watchers[id] = map[*watcher]bool{}
	}
	h.watchers[id][w] = true
	return w
}

func (h *hub) leave(id string, w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.watchers[id], w)
	if len(h.watchers[id]) == 0 {
		delete(h.watchers, id)
	}
}

func (h *hub) publish(b thread.Batch) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.observers.tell(b)
	h.rooms.Publish(b)
	b.Events = slices.DeleteFunc(slices.Clone(b.Events), func(e thread.Event) bool { return verbose(e.Type) })
	for w := range h.watchers[b.Thread.ID] {
		w.put(b)
	}
}

func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, ws := range h.watchers {
		for w := range ws {
			w.end(errClosed())
		}
	}
	h.rooms.Close(errClosed())
}

func errClosed() error {
	return &thread.Error{Code: thread.Aborted, Op: "watch", Message: "the engine was closed"}
}

func (w *watcher) put(b thread.Batch) {
	w.mu.Lock()
	switch {
	case w.err != nil:
	case len(w.batches) >= maxBehind:
		w.batches = nil
		w.err = &thread.Error{Code: thread.Limit, Op: "watch", Thread: b.Thread.ID, Message: "the watcher fell too far behind", Hint: "read the log and watch again"}
	default:
		w.batches = append(w.batches, b)
	}
	w.mu.Unlock()
	w.wake()
}

func (w *watcher) end(err error) {
	w.mu.Lock()
	w.err = err
	w.mu.Unlock()
	w.wake()
}

func (w *watcher) wake() {
	select {
	case w.more <- struct{}{}:
	default:
	}
}

func (w *watcher) take() ([]thread.Batch, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.batches
	w.batches = nil
	return out, w.err
}

// Watch yields what this engine commits to the thread from now on, and the
// pieces of answers being made, until ctx ends or the loop is left. It watches
// from the call on, so whoever does not loop must end ctx. A watcher that falls 1,024 batches behind gets an error with code limit. What other
// processes commit is not seen here; read the log for that.
func (t *Thread) Watch(ctx context.Context) iter.Seq2[thread.Batch, error] {
	w := t.engine.hub.watch(t.id)
	context.AfterFunc(ctx, func() { t.engine.hub.leave(t.id, w) })
	return func(yield func(thread.Batch, error) bool) {
		defer t.engine.hub.leave(t.id, w)
		for {
			batches, err := w.take()
			for _, b := range batches {
				if !yield(b, nil) {
					return
				}
			}
			if err != nil {
				yield(thread.Batch{}, err)
				return
			}
			if len(batches) > 0 {
				continue
			}
			select {
			case <-w.more:
			case <-ctx.Done():
				batches, _ := w.take() // came before the end
				for _, b := range batches {
					if !yield(b, nil) {
						return
					}
				}
				return
			}
		}
	}
}
