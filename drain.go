package skein

import (
	"context"
	"maps"
	"slices"

	"github.com/skeinhq/skein/internal/agent"
)

// Drain stops what runs so that another process goes on with it, and waits until
// it has: turns stay open in the log, with what was saved of their answers, and
// Reply in another engine takes them up. From then on this engine runs no turn and
// nothing else that needs one; it still says, reads and watches until Close. It
// fails where ctx ends first.
func (e *Engine) Drain(ctx context.Context) error {
	e.mu.Lock()
	e.drained = true
	for _, stop := range e.stops {
		stop(agent.ErrLeft)
	}
	running := slices.Collect(maps.Values(e.turns))
	e.mu.Unlock()
	for _, r := range running {
		select {
		case <-r:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
