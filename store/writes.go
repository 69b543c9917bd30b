package store

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/skeinhq/skein/thread"
)

// Writes are the methods of a store that write to one thread, the same for every
// driver: a driver embeds them and gives how it runs a transaction.
type Writes struct {
	// On begins work in one transaction on the thread's head, and gives what waits
	// for its end. What work returns, the transaction does not outlive; it may run
	// more than once, and only the last run counts.
	On func(ctx context.Context, op string, key thread.Key, work func(Tx, *Head) error) (wait func() error)

	Now func() time.Time
}

// Append writes what floats or is said.
func (w Writes) Append(ctx context.Context, key thread.Key, d Draft) (Written, error) {
	p, err := PrepareAppend(key, d, NewID)
	if err != nil {
		return Written{}, err
	}
	return w.write(ctx, "append", key, p, nil)
}

// Commit writes what the owner of a turn may.
func (w Writes) Commit(ctx context.Context, key thread.Key, d Draft, g Guard) (Written, error) {
	p, err := PrepareCommit(key, d, NewID)
	if err != nil {
		return Written{}, err
	}
	return w.write(ctx, "commit", key, p, &g)
}

func (w Writes) write(ctx context.Context, op string, key thread.Key, p *Prepared, g *Guard) (Written, error) {
	var r *Result
	wait := w.On(ctx, op, key, func(x Tx, h *Head) (err error) {
		r, err = Write(x, h, p, g, w.Now())
		return err
	})
	unreadable := p.Decode()
	if err := wait(); err != nil {
		return Written{}, err
	}
	if unreadable != nil {
		return Written{}, unreadable
	}
	return r.Written()
}

// PutNodes stores lines that were built.
func (w Writes) PutNodes(ctx context.Context, t *thread.Thread, nodes []thread.Node) (made []thread.Node, err error) {
	err = w.On(ctx, "nodes", t.Key, func(x Tx, h *Head) error {
		made, err = PutNodes(x, h, t, nodes)
		return err
	})()
	if err != nil {
		return nil, err
	}
	return made, nil
}

// PutDocs writes documents.
func (w Writes) PutDocs(ctx context.Context, key thread.Key, docs []thread.Doc) error {
	if err := CheckDocs("docs", key, docs); err != nil {
		return err
	}
	return w.On(ctx, "docs", key, func(x Tx, h *Head) error {
		for _, d := range docs {
			if err := x.PutDoc(h, d); err != nil {
				return err
			}
		}
		return nil
	})()
}

// SwapDoc writes a document that is still as it was read.
func (w Writes) SwapDoc(ctx context.Context, key thread.Key, d thread.Doc, was json.RawMessage) error {
	if err := CheckDocs("docs", key, []thread.Doc{d}); err != nil {
		return err
	}
	return w.On(ctx, "docs", key, func(x Tx, h *Head) error {
		is, err := x.Doc(h, d.Name)
		if err != nil {
			return err
		}
		if !bytes.Equal(is, was) {
			return fail(thread.Conflict, "docs", h.ID, "read it again, and change that", "the document %q has changed", d.Name)
		}
		return x.PutDoc(h, d)
	})()
}

// Fork makes a thread of t's past.
func (w Writes) Fork(ctx context.Context, t *thread.Thread, index int64, id, title string) (f thread.Thread, err error) {
	err = w.On(ctx, "fork", t.Key, func(x Tx, h *Head) error {
		fork, err := Fork(x, h, t, index, id, title, NewEpoch(), w.Now())
		if err == nil {
			f = fork.Thread
		}
		return err
	})()
	return f, err
}

// SetMeta puts other metadata in the place of a thread's own.
func (w Writes) SetMeta(ctx context.Context, key thread.Key, meta json.RawMessage) error {
	return w.On(ctx, "meta", key, func(x Tx, h *Head) error { return SetMeta(x, h, meta) })()
}

// Delete hides a thread.
func (w Writes) Delete(ctx context.Context, key thread.Key) error {
	return w.On(ctx, "delete", key, func(x Tx, h *Head) error { return Delete(x, h, w.Now()) })()
}

// Undelete shows a hidden thread again.
func (w Writes) Undelete(ctx context.Context, key thread.Key) error {
	return w.On(ctx, "undelete", key, Undelete)()
}

// Acquire takes or renews a lease.
func (w Writes) Acquire(ctx context.Context, key thread.Key, owner string, ttl time.Duration) (l thread.Lease, err error) {
	err = w.On(ctx, "acquire", key, func(x Tx, h *Head) error {
		l, err = Acquire(x, h, owner, ttl, w.Now())
		return err
	})()
	return l, err
}

// Release gives a lease up.
func (w Writes) Release(ctx context.Context, key thread.Key, fence int64, parked bool) error {
	return w.On(ctx, "release", key, func(x Tx, h *Head) error { return Release(x, h, fence, parked) })()
}
