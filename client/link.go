package client

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

// link is one connection that carries one watch.
type link interface {
	// read waits for what comes next. It is not called by two at once.
	read(ctx context.Context) (frame, error)

	// hold passes on that nothing is wanted, or something again. It does not wait.
	hold(on bool)

	// close ends the link and all that it runs. It may be called twice.
	close()
}

// frame is what a server sends: a batch, or the end of the watch.
type frame struct {
	batch view.Batch
	end   bool
	why   string
}

// ask is what a watch begins with.
type ask struct {
	Tail  int
	From  int64
	Epoch string
}

// mostFrame is the most bytes of one frame: a window's messages, the documents, and
// an answer being made.
const mostFrame = 64 << 20

// errDead ends a link that is open and silent.
var errDead = errors.New("the connection is dead")

// gone are the reasons for which a server ends a watch for good.
var gone = map[string]thread.Code{
	"deleted":   thread.NotFound,
	"invalid":   thread.Invalid,
	"not-found": thread.NotFound,
	"refused":   thread.Permission,
	"revoked":   thread.Permission,
	"token":     thread.Permission,
}

// pulse is what shows that a link is alive: when bytes last came, while somebody
// waited for some.
type pulse struct {
	last    atomic.Int64 // nanoseconds of the clock
	waiting atomic.Bool
}

func (p *pulse) beat() { p.last.Store(time.Now().UnixNano()) }

// silentSince says whether somebody has waited since then, and nothing came.
func (p *pulse) silentSince(t time.Time) bool {
	return p.waiting.Load() && p.last.Load() < t.UnixNano()
}

// wait says that somebody waits for bytes; the function returned, that no longer.
func (p *pulse) wait() func() {
	p.beat()
	p.waiting.Store(true)
	return func() { p.waiting.Store(false) }
}

func lost(err error) error { return fmt.Errorf("the connection was lost: %w", err) }
