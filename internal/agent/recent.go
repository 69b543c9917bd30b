package agent

import (
	"context"
	"sync"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/strategy"
	"github.com/skeinhq/skein/thread"
)

// Recent holds what of a thread its prompt is made from: the cut in force, what it
// keeps, and the messages since. All of it is immutable in the log, so it is read
// once and then only added to; a cut, a rewind, another strategy or a new
// incarnation of the log makes it read anew. The zero value is ready.
type Recent struct {
	mu sync.Mutex

	// Which part of which log is held, and for which strategies.
	epoch  string
	branch int64
	cutSeq int64
	base   Base

	past Past
}

// Past is what a thread's prompt is made from, as of one state.
type Past struct {
	Cut      *thread.Cut
	Outline  []thread.Node
	Kept     []strategy.Message // what a strategy other than the outline left of the messages before Start
	From     int64              // index of the first of Messages
	Messages []thread.Entry
}

// Boundary is where the whole messages start by the cut in force.
func (p Past) Boundary() int64 {
	if p.Cut == nil {
		return 0
	}
	return p.Cut.Boundary
}

// start is the index of the first message that the cut in force says nothing of.
func (p Past) start() int64 {
	if p.Cut != nil && p.Cut.Kept != nil {
		return p.Cut.Length
	}
	return p.Boundary()
}

// kept gives what the strategies left, as entries.
func (p Past) kept() []thread.Entry {
	if len(p.Kept) == 0 {
		return nil
	}
	out := make([]thread.Entry, len(p.Kept))
	for i := range p.Kept {
		out[i] = p.Kept[i].Entry
	}
	return out
}

// Whole gives what is sent after the lines, oldest first.
func (p Past) Whole() []thread.Entry {
	if len(p.Kept) == 0 {
		return p.Messages
	}
	return append(p.kept(), p.Messages...)
}

// first is the index of the first message after the lines.
func (p Past) first() int64 {
	if len(p.Kept) > 0 {
		return p.Boundary()
	}
	return p.From
}

// chunk is how many messages are read at once, backwards from the newest.
const chunk = 256

// Load gives the past of t for strategies of that base: what the cut in force
// keeps and the messages since, but not more than the newest that weigh about
// limit together (0: no limit). From is then past the start.
func (r *Recent) Load(ctx context.Context, st store.Store, t *thread.Thread, base Base, limit int) (Past, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	stale := r.epoch != t.Epoch || r.branch != t.Branch || r.cutSeq != t.Cut || r.base != base || t.Length < r.past.From
	if stale || limit <= 0 && r.past.From > r.past.start() {
		if err := r.reread(ctx, st, t, base, limit); err != nil {
			r.epoch = ""
			return Past{}, err
		}
	}
	end := r.past.From + int64(len(r.past.Messages))
	for e, err := range st.Messages(ctx, t, end, t.Length) {
		if err != nil {
			return Past{}, err
		}
		r.past.Messages = append(r.past.Messages, e)
	}
	held := r.past
	held.Messages = held.Messages[: t.Length-held.From : t.Length-held.From]
	return held, nil
}

// Forget lets go of what is held; the next Load reads it anew.
func (r *Recent) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.epoch, r.past = "", Past{}
}

func (r *Recent) reread(ctx context.Context, st store.Store, t *thread.Thread, base Base, limit int) error {
	r.past = Past{}
	cut, err := base.cut(ctx, st, t)
	if err != nil {
		return err
	}
	if cut != nil {
		if err := r.readCut(ctx, st, t, cut); err != nil {
			return err
		}
	}
	from, start := t.Length, r.past.start()
	weight := 0
	for from > start && (limit <= 0 || weight <= limit) {
		next := max(start, from-chunk)
		var part []thread.Entry
		for e, err := range st.Messages(ctx, t, next, from) {
			if err != nil {
				return err
			}
			weight += Weight(&e)
			part = append(part, e)
		}
		r.past.Messages = append(part, r.past.Messages...)
		from = next
	}
	r.past.From = from
	r.epoch, r.branch, r.cutSeq, r.base = t.Epoch, t.Branch, t.Cut, base
	return nil
}

// readCut reads what a cut shows: its lines, and the messages it keeps.
func (r *Recent) readCut(ctx context.Context, st store.Store, t *thread.Thread, cut *thread.Cut) (err error) {
	r.past.Cut = cut
	if r.past.Outline, err = st.Nodes(ctx, t, cut.Outline); err != nil {
		return err
	}
	if len(r.past.Outline) != len(cut.Outline) {
		return &thread.Error{Code: thread.Storage, Op: "read", Thread: t.ID, Message: "a line of the outline is not there", Hint: "run skein doctor --repair"}
	}
	r.past.Kept, err = strategy.Restore(cut.Kept, func(first, last int64) ([]thread.Entry, error) {
		var out []thread.Entry
		q := store.EntriesQuery{After: first - 1, Before: last + 1, Kinds: []thread.Kind{thread.MessageKind}}
		for e, err := range st.Entries(ctx, t, q) {
			if err != nil {
				return nil, err
			}
			out = append(out, e)
		}
		return out, nil
	})
	if err != nil {
		return err
	}
	settle(r.past.Kept)
	return nil
}

// settle gives what a strategy made a weight of its own, and a time: what is new
// is as old as what follows it.
func settle(kept []strategy.Message) {
	for i := len(kept) - 1; i >= 0; i-- {
		k := &kept[i]
		if k.Time.IsZero() && i+1 < len(kept) {
			k.Time = kept[i+1].Time
		}
		if k.Message != nil && (k.Seq == 0 || k.Results > 0) {
			m := *k.Message
			m.Weight = m.Weigh()
			k.Message = &m
		}
	}
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
