package agent

import (
	"context"
	"sync"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// Recent holds what of a thread its prompt is made from: the cut in force, the
// outline's nodes and the messages since. All of it is immutable in the log, so
// it is read once and then only added to; a cut, a rewind or a new incarnation
// of the log makes it read anew. The zero value is ready.
type Recent struct {
	mu sync.Mutex

	// Which part of which log is held.
	epoch  string
	branch int64
	cutSeq int64

	cut      *thread.Cut
	outline  []thread.Node
	from     int64
	messages []thread.Entry
}

// Past is what a thread's prompt is made from, as of one state.
type Past struct {
	Cut      *thread.Cut
	Outline  []thread.Node
	From     int64 // index of the first of Messages
	Messages []thread.Entry
}

// Boundary is where the whole messages start by the cut in force.
func (p Past) Boundary() int64 {
	if p.Cut == nil {
		return 0
	}
	return p.Cut.Boundary
}

// chunk is how many messages are read at once, backwards from the newest.
const chunk = 256

// Load gives the past of t: the messages from the boundary on, but not more
// than the newest that weigh about limit together (0: no limit). From is then
// past the boundary.
func (r *Recent) Load(ctx context.Context, st store.Store, t *thread.Thread, limit int) (Past, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	stale := r.epoch != t.Epoch || r.branch != t.Branch || r.cutSeq != t.Cut || t.Length < r.from
	if stale || limit <= 0 && r.partial() {
		if err := r.reread(ctx, st, t, limit); err != nil {
			r.epoch = ""
			return Past{}, err
		}
	}
	end := r.from + int64(len(r.messages))
	for e, err := range st.Messages(ctx, t, end, t.Length) {
		if err != nil {
			return Past{}, err
		}
		r.messages = append(r.messages, e)
	}
	held := r.messages[: t.Length-r.from : t.Length-r.from]
	return Past{Cut: r.cut, Outline: r.outline, From: r.from, Messages: held}, nil
}

// Forget lets go of what is held; the next Load reads it anew.
func (r *Recent) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.epoch, r.cut, r.outline, r.messages = "", nil, nil, nil
}

// partial says that messages since the boundary were left unread for weight.
func (r *Recent) partial() bool { return r.from > Past{Cut: r.cut}.Boundary() }

func (r *Recent) reread(ctx context.Context, st store.Store, t *thread.Thread, limit int) error {
	r.cut, r.outline, r.messages = nil, nil, nil
	boundary := int64(0)
	if t.Cut != 0 {
		e, err := st.Entry(ctx, t, t.Cut)
		if err != nil {
			return err
		}
		if e.Cut == nil {
			return &thread.Error{Code: thread.Storage, Op: "read", Thread: t.ID, Message: "the cut in force is not in the log", Hint: "run skein doctor"}
		}
		r.cut, boundary = e.Cut, e.Cut.Boundary
		if r.outline, err = st.Nodes(ctx, t, e.Cut.Outline); err != nil {
			return err
		}
		if len(r.outline) != len(e.Cut.Outline) {
			return &thread.Error{Code: thread.Storage, Op: "read", Thread: t.ID, Message: "a line of the outline is not there", Hint: "run skein doctor --repair"}
		}
	}
	r.from = t.Length
	weight := 0
	for r.from > boundary && (limit <= 0 || weight <= limit) {
		from := max(boundary, r.from-chunk)
		var part []thread.Entry
		for e, err := range st.Messages(ctx, t, from, r.from) {
			if err != nil {
				return err
			}
			weight += Weight(&e)
			part = append(part, e)
		}
		r.messages = append(part, r.messages...)
		r.from = from
	}
	r.epoch, r.branch, r.cutSeq = t.Epoch, t.Branch, t.Cut
	return nil
}

// Weight is a message's weight as it was stored, or its estimate where none
// was.
func Weight(e *thread.Entry) int {
	if e.Message == nil {
		return 0
	}
	if e.Message.Weight > 0 {
		return e.Message.Weight
	}
	return e.Message.Weigh()
}
