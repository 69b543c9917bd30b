package sqlite

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/ncruces/go-sqlite3"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// mostGrouped is how many writes share a transaction.
const mostGrouped = 512

// writer owns the one connection that writes. Its goroutine takes what waits
// and makes it durable in one transaction.
type writer struct {
	c  *conn
	tx *tx

	mu     sync.RWMutex // held for reading while a request is handed over
	closed bool
	queue  chan *request
	done   chan struct{}

	written func(heads []*kept) // told of what has become durable
	version int64               // data_version: grows when another process has written
	log     *checkpointer
}

// request is a write on its way.
type request struct {
	op    string
	id    string // the thread's
	f     func(x *tx) error
	state atomic.Int32
	err   error
	done  chan struct{}
}

// The states of a request: its caller may withdraw one that waits.
const (
	waiting int32 = iota
	taken
	withdrawn
)

func newWriter(c *conn, log *checkpointer, written func([]*kept)) *writer {
	cache := newCache()
	w := &writer{
		c: c, log: log, tx: &tx{c: c, cache: cache}, written: written,
		queue: make(chan *request, mostGrouped), done: make(chan struct{}),
	}
	c.WALHook(func(_ *sqlite3.Conn, _ string, pages int) error {
		log.pages = pages
		return nil
	})
	go w.run()
	return w
}

func newRequest(op, id string, f func(x *tx) error) *request {
	return &request{op: op, id: id, f: f, done: make(chan struct{})}
}

// wait waits until the write is durable or has failed. One that still waits its
// turn when the context ends is withdrawn.
func (r *request) wait(ctx context.Context) error {
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
	}
	if r.state.CompareAndSwap(waiting, withdrawn) {
		return store.Stopped(r.op, r.id, ctx.Err())
	}
	<-r.done
	return r.err
}

func (w *writer) send(ctx context.Context, r *request) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return store.Closed(r.op)
	}
	if err := ctx.Err(); err != nil {
		return store.Stopped(r.op, r.id, err)
	}
	select {
	case w.queue <- r:
		return nil
	case <-ctx.Done():
		return store.Stopped(r.op, r.id, ctx.Err())
	}
}

// close lets what waits become durable, then closes the connection.
func (w *writer) close() error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil
	}
	w.closed = true
	close(w.queue)
	w.mu.Unlock()
	<-w.done
	return errors.Join(w.log.close(), w.c.close())
}

func (w *writer) run() {
	defer close(w.done)
	group := make([]*request, 0, mostGrouped)
	for r := range w.queue {
		// Those who were answered last come back for more: let them, as long as any
		// do, so that one sync serves many. Waiting for all would cost more: what
		// the rest prepare meanwhile costs no time.
		for n := -1; n < len(w.queue); {
			n = len(w.queue)
			runtime.Gosched()
		}
		group = w.gather(append(group[:0], r))
		w.commit(group)
		for _, r := range group {
			close(r.done)
		}
		clear(group)
		w.log.committed(w.c)
	}
}

// gather adds whatever else waits, and leaves out what was withdrawn.
func (w *writer) gather(group []*request) []*request {
	for len(group) < mostGrouped {
		select {
		case r, ok := <-w.queue:
			if !ok {
				return taking(group)
			}
			group = append(group, r)
			continue
		default:
		}
		break
	}
	return taking(group)
}

func taking(group []*request) []*request {
	out := group[:0]
	for _, r := range group {
		if r.state.CompareAndSwap(waiting, taken) {
			out = append(out, r)
		}
	}
	return out
}

// commit makes a group durable. Nearly always all of it goes in one
// transaction; where a write fails half-way, each is tried alone.
func (w *writer) commit(group []*request) {
	if len(group) == 0 {
		return
	}
	alone, err := w.attempt(group)
	switch {
	case alone && len(group) > 1:
		for i := range group {
			w.commit(group[i : i+1])
		}
	case err != nil:
		for _, r := range group {
			if r.err == nil {
				r.err = wrap(context.Background(), r.op, r.id, err)
			}
		}
	}
}

// attempt runs a group in one transaction. alone says that nothing was kept and
// that each write may do better by itself; err is what befell the transaction.
func (w *writer) attempt(group []*request) (alone bool, err error) {
	if err := w.begin(); err != nil {
		return false, err
	}
	wrote := false
	for _, r := range group {
		w.tx.wrote = false
		r.err = wrap(context.Background(), r.op, r.id, r.f(w.tx))
		if r.err != nil && w.tx.wrote {
			return true, w.undo(nil)
		}
		wrote = wrote || w.tx.wrote
	}
	if !wrote {
		return false, w.c.exec(`ROLLBACK`)
	}
	if err := w.tx.flush(); err != nil {
		return true, w.undo(err)
	}
	if err := w.c.exec(`COMMIT`); err != nil {
		return w.unsettled(err)
	}
	w.written(w.tx.cache.dirty)
	w.tx.cache.settle()
	return false, nil
}

// begin takes the write lock and drops what another process may have changed.
func (w *writer) begin() error {
	if err := w.c.exec(`BEGIN IMMEDIATE`); err != nil {
		return err
	}
	v, err := w.dataVersion()
	if err != nil {
		return w.undo(err)
	}
	if v != w.version {
		w.tx.cache.drop()
		w.version = v
	}
	return nil
}

func (w *writer) dataVersion() (v int64, err error) {
	_, err = w.c.one(`PRAGMA data_version`, nil, func(s *sqlite3.Stmt) { v = s.ColumnInt64(0) })
	return v, err
}

// undo rolls back. The cache may hold what was rolled back, so it is dropped.
func (w *writer) undo(err error) error {
	w.tx.cache.drop()
	if w.c.GetAutocommit() { // SQLite has rolled back already
		return err
	}
	if failed := w.c.exec(`ROLLBACK`); failed != nil {
		return errors.Join(err, failed)
	}
	return err
}

// unsettled is what a failed COMMIT means: where there was no room for what it
// writes, or a lock, nothing was kept; after any other failure nobody knows.
func (w *writer) unsettled(err error) (alone bool, _ error) {
	known := errors.Is(err, sqlite3.FULL) || errors.Is(err, sqlite3.BUSY)
	err = w.undo(err)
	if known {
		return true, err
	}
	return false, unknown(err)
}

// find gives the thread of that key to a write.
func (x *tx) find(op string, key thread.Key) (*store.Head, error) {
	h, err := x.Head(key.Space, key.ID)
	if err != nil {
		return nil, err
	}
	if h == nil || h.Gone || key.Root != "" && key.Root != h.Root {
		return nil, store.NoThread(op, key.ID)
	}
	return h, nil
}
