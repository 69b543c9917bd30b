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
	now func() time.Time

	mu      sync.RWMutex
	threads map[name]*log
	blobs   map[blobKey]blob
	rows    int64 // threads ever made
	closed  bool
}

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
	return &Store{now: o.Now, threads: map[name]*log{}, blobs: map[blobKey]blob{}}
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

// Fork makes a thread of t's past.
func (s *Store) Fork(ctx context.Context, t *thread.Thread, index int64, id, title string) (f thread.Thread, err error) {
	err = s.onThread(ctx, "fork", t.Key, func(x *tx, h *store.Head) error {
		fork, err := store.Fork(x, h, t, index, id, title, store.NewEpoch(), s.now())
		if err == nil {
			f = fork.Thread
		}
		return err
	})
	return f, err
}

// Delete hides a thread.
func (s *Store) Delete(ctx context.Context, key thread.Key) error {
	return s.onThread(ctx, "delete", key, func(x *tx, h *store.Head) error { return store.Delete(x, h, s.now()) })
}

// Undelete shows a hidden thread again.
func (s *Store) Undelete(ctx context.Context, key thread.Key) error {
	return s.onThread(ctx, "undelete", key, func(x *tx, h *store.Head) error { return store.Undelete(x, h) })
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

// Append writes what floats or is said.
func (s *Store) Append(ctx context.Context, key thread.Key, d store.Draft) (store.Written, error) {
	p, err := store.PrepareAppend(key, d, store.NewID)
	if err != nil {
		return store.Written{}, err
	}
	return s.write(ctx, "append", key, p, nil)
}

// Commit writes what the owner of a turn may.
func (s *Store) Commit(ctx context.Context, key thread.Key, d store.Draft, g store.Guard) (store.Written, error) {
	p, err := store.PrepareCommit(key, d, store.NewID)
	if err != nil {
		return store.Written{}, err
	}
	return s.write(ctx, "commit", key, p, &g)
}

func (s *Store) write(ctx context.Context, op string, key thread.Key, p *store.Prepared, g *store.Guard) (store.Written, error) {
	if err := p.Decode(); err != nil {
		return store.Written{}, err
	}
	var r *store.Result
	err := s.onThread(ctx, op, key, func(x *tx, h *store.Head) (err error) {
		r, err = store.Write(x, h, p, g, s.now())
		return err
	})
	if err != nil {
		return store.Written{}, err
	}
	return r.Written()
}

// PutNodes stores lines that were built.
func (s *Store) PutNodes(ctx context.Context, t *thread.Thread, nodes []thread.Node) (made []thread.Node, err error) {
	err = s.onThread(ctx, "nodes", t.Key, func(x *tx, h *store.Head) error {
		made, err = store.PutNodes(x, h, t, nodes)
		return err
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

// PutDocs writes documents.
func (s *Store) PutDocs(ctx context.Context, key thread.Key, docs []thread.Doc) error {
	if err := store.CheckDocs("docs", key, docs); err != nil {
		return err
	}
	return s.onThread(ctx, "docs", key, func(x *tx, h *store.Head) error {
		for _, d := range docs {
			if err := x.PutDoc(h, d); err != nil {
				return err
			}
		}
		return nil
	})
}

// Acquire takes or renews a lease.
func (s *Store) Acquire(ctx context.Context, key thread.Key, owner string, ttl time.Duration) (l thread.Lease, err error) {
	err = s.onThread(ctx, "acquire", key, func(x *tx, h *store.Head) error {
		l, err = store.Acquire(x, h, owner, ttl, s.now())
		return err
	})
	return l, err
}

// Release gives a lease up.
func (s *Store) Release(ctx context.Context, key thread.Key, fence int64, parked bool) error {
	return s.onThread(ctx, "release", key, func(x *tx, h *store.Head) error {
		return store.Release(x, h, fence, parked)
	})
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
