package client

import (
	"context"
	"time"
)

// retry says when to try again: later and later, and never all clients at once.
type retry struct {
	pace     Pace
	rand     func() float64
	failures int
	since    time.Time // when the link came up
}

func (r *retry) up() { r.since = time.Now() }

// down gives how long to wait, now that the link is down: half of it by chance.
func (r *retry) down() time.Duration {
	if !r.since.IsZero() && time.Since(r.since) >= r.pace.Health {
		r.failures = 0
	}
	r.since = time.Time{}
	most := min(r.pace.Max, r.pace.Min<<min(r.failures, 16))
	r.failures++
	return most/2 + time.Duration(float64(most/2)*r.rand())
}

// pause waits, unless ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
