package memory

import (
	"context"
	"sync"
	"time"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// Options are the settings of a store in memory. The zero value is ready.
type Options struct {
	Now func() time.Time // the clock; nil means time.Now
}

// Store is a store in memory.
type Store struct {
	writes
	now func() time.Time

	mu      sync.RWMutex
	threads map[name]*log
	blobs   map[blobKey]blob
	tokens  []store.Token // in the order in which they were made
	rows    int64         // threads ever made
	closed  bool
}

// writes are embedded under a name of the package, so that only their methods
// show.
type writes = store.Writes

type name struct{ space, id string }

type blobKey struct{ space, root, hash string }

type blob struct {
	mediaType string
	data      []byte
}

// New makes an empty store.
func New(o Options) *Store {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Store{now: o.Now, threads: map[name]*log{}, blobs: map[blobKey]blob{}}
	s.writes = writes{Now: s.now, On: func(ctx context.Context, op string, key thread.Key, work func(store.Tx, *store.Head) error) (wait func() error) {
		err := s.onThread(ctx, op, key, func(x *tx, h *store.Head) error { return work(x, h) })
		return func() error { return err }
	}}
	return s
}

var _ store.Store = (*Store)(nil)

// update runs f in a transaction.
func (s *Store) update(ctx context.Context, op string, f func(x *tx) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.open(ctx, op); err != nil {
		return err
	}
	x := &tx{s: s, saved: map[*log]store.Head{}}
	if err := f(x); err != nil {
		x.rollback()
		return err
	}
	return nil
}

// read runs f while nothing is written.
func (s *Store) read(ctx context.Context, op string, f func() error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.open(ctx, op); err != nil {
		return err
	}
	return f()
}

func (s *Store) open(ctx context.Context, op string) error {
	if err := ctx.Err(); err != nil {
		return store.Stopped(op, "", err)
	}
	if s.closed {
		return store.Closed(op)
	}
	return nil
}

// find gives the thread of that key, purged or not.
func (s *Store) find(op string, key thread.Key) (*log, error) {
	l := s.threads[name{key.Space, key.ID}]
	if l == nil || l.Gone || key.Root != "" && key.Root != l.Root {
		return nil, store.NoThread(op, key.ID)
	}
	return l, nil
}

// onThread runs f in a transaction on one thread.
func (s *Store) onThread(ctx context.Context, op string, key thread.Key, f func(x *tx, h *store.Head) error) error {
	return s.update(ctx, op, func(x *tx) error {
		l, err := s.find(op, key)
		if err != nil {
			return err
		}
		return f(x, x.lend(l))
	})
}

// Create makes an empty thread.
func (s *Store) Create(ctx context.Context, n store.NewThread) (t thread.Thread, err error) {
	err = s.update(ctx, "create", func(x *tx) error {
		h, err := store.Create(x, n, store.NewEpoch(), s.now())
		if err == nil {
			t = h.Thread
		}
		return err
	})
	return t, err
}

// Purge removes what was hidden before the given time and no fork reaches.
func (s *Store) Purge(ctx context.Context, before time.Time) (n int, err error) {
	err = s.update(ctx, "purge", func(x *tx) error {
		roots := map[name]bool{}
		for _, l := range s.threads {
			if !l.Gone && !l.Deleted.IsZero() && l.Deleted.Before(store.Stamp(before)) {
				if err := store.Bury(x, x.lend(l)); err != nil {
					return err
				}
				n++
			}
			if l.Gone {
				roots[name{l.Space, l.Root}] = true
			}
		}
		for r := range roots {
			if err := sweep(x, r); err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}

func sweep(x *tx, r name) error {
	for {
		more, err := store.Sweep(x, r.space, r.id, 1<<30)
		if err != nil || !more {
			return err
		}
	}
}

// Changed is always the same: no other process reaches this memory.
func (s *Store) Changed(ctx context.Context) (int64, error) {
	return 0, s.read(ctx, "changed", func() error { return nil })
}

// Close makes later calls fail.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}
