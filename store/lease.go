package store

import (
	"time"

	"github.com/skeinhq/skein/thread"
)

// Acquire takes or renews the lease on h's turn.
func Acquire(tx Tx, h *Head, owner string, ttl time.Duration, now time.Time) (thread.Lease, error) {
	if err := visible("acquire", h); err != nil {
		return thread.Lease{}, err
	}
	if owner == "" || ttl <= 0 {
		return thread.Lease{}, fail(thread.Invalid, "acquire", h.ID, "", "a lease needs an owner and a time to live")
	}
	l := h.Lease
	if l.Owner != owner {
		if l.Held(now) {
			return thread.Lease{}, conflict("acquire", h, "wait until it is done", "%q owns the thread's turn", l.Owner)
		}
		l.Owner, l.Fence = owner, l.Fence+1
	}
	l.Until = Stamp(now.Add(ttl))
	h.Lease, h.Parked = l, false
	tx.Touch(h)
	return l, nil
}

// Release gives the lease up. A fence that is not the newest is refused; one
// that was released already is not.
func Release(tx Tx, h *Head, fence int64, parked bool) error {
	if h.Gone {
		return NoThread("release", h.ID)
	}
	if h.Lease.Fence != fence {
		return conflict("release", h, "", "the thread's turn has passed to another owner")
	}
	h.Lease.Owner, h.Lease.Until = "", time.Time{}
	h.Parked = parked
	tx.Touch(h)
	return nil
}
