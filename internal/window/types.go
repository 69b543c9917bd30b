package window

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

// DefaultInterval is the shortest time between two appends to a text that is
// being made.
const DefaultInterval = 33 * time.Millisecond

// Options say how to watch a thread.
type Options struct {
	// Tail is how many of the newest messages the window begins with: 1 to
	// view.MaxTail; 0: view.DefaultTail.
	Tail int

	// From asks for what follows: the messages with that seq and later ones. Epoch is
	// the incarnation of the log that From is of; empty: whichever it is. 0: the tail.
	From  int64
	Epoch string

	// Viewer is who looks: messages whose audience does not hold the name show as
	// stubs. Empty: somebody who may see everything.
	Viewer string

	// Interval is the shortest time between two appends to a text that is being
	// made; 0: DefaultInterval. Commits do not wait for it.
	Interval time.Duration
}

// Frame is what a watch gives its client in one piece: one batch.
type Frame struct {
	N int64 // the batch's number: 1 for the watch's first

	// Seq is the seq that the client has seen with this frame, for a cursor: it
	// resumes from Seq + 1. 0: the frame does not move it.
	Seq int64

	// Parts are the JSON of the batch's operations, brackets included, one after the
	// other: [["p",["entries"],…],…]. They are shared between watches and must not be
	// changed.
	Parts [][]byte
}

// Size is how many bytes the parts have.
func (f Frame) Size() (n int) {
	for _, p := range f.Parts {
		n += len(p)
	}
	return n
}

// Batch reads the frame as its client does.
func (f Frame) Batch() (view.Batch, error) {
	b := view.Batch{N: f.N}
	err := json.Unmarshal(slices.Concat(f.Parts...), &b.Ops)
	return b, err
}

// The orders of a page.
const (
	NewestFirst Order = ""
	OldestFirst Order = "asc"
)

// Order says in which order a page's messages come.
type Order string

// PageQuery says which messages a page holds: those with Before > seq > After,
// in that order, at most Limit (1 to MaxLimit; 0: DefaultLimit) and at most
// view.MaxBytes. Cursor goes on where another page of the same thread and order
// ended; Before and After are then those of that page. Inactive asks for undone
// messages too. Viewer is as in [Options].
type PageQuery struct {
	Before, After int64
	Limit         int
	Order         Order
	Cursor        string
	Inactive      bool
	Viewer        string
}

// How many messages a page has.
const (
	DefaultLimit = 50
	MaxLimit     = 200
)

func invalid(id, op, message, hint string) error {
	return &thread.Error{Code: thread.Invalid, Op: op, Thread: id, Message: message, Hint: hint}
}
