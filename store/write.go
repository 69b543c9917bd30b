package store

import (
	"bytes"
	"time"

	"github.com/skeinhq/skein/thread"
)

// maxSeq is the highest seq a thread may reach: drivers pack it in 32 bits.
const maxSeq = 1<<32 - 1

// Write places a prepared draft in h's log. A guard is checked where there is
// one. now is the store's clock.
func Write(tx Tx, h *Head, p *Prepared, g *Guard, now time.Time) (*Result, error) {
	if err := visible(p.op, h); err != nil {
		return nil, err
	}
	w := &writing{tx: tx, head: h, op: p.op, next: h.Thread, now: laterOf(Stamp(now), h.Updated), placed: make([]Placed, 0, len(p.entries))}
	found, err := w.known(p)
	if err != nil {
		return nil, err
	}
	if p.keyed > 0 && len(found) == p.keyed {
		return w.repeated(p, found), nil
	}
	if g != nil {
		if err := guard(p.op, h, *g, now); err != nil {
			return nil, err
		}
	}
	for i := range p.entries {
		if old, ok := found[i]; ok {
			w.placed = append(w.placed, Placed{Entry: *old, old: true})
			continue
		}
		if err := w.place(i, &p.entries[i]); err != nil {
			return nil, err
		}
	}
	if err := w.store(p.docs); err != nil {
		return nil, err
	}
	return &Result{Thread: h.Thread, Nodes: w.nodes, Fresh: true, draft: p, placed: w.placed}, nil
}

// writing is one draft on its way into a log. Nothing is stored before every
// entry has found its place.
type writing struct {
	tx   Tx
	head *Head
	op   string
	now  time.Time

	next   thread.Thread // the state after the entries placed so far
	begun  int64         // seq of the turn entry that this draft begins
	placed []Placed
	undone bool // an entry took messages off the active path
	nodes  []thread.Node
}

func visible(op string, h *Head) error {
	if h.Gone {
		return NoThread(op, h.ID)
	}
	if !h.Deleted.IsZero() {
		return fail(thread.NotFound, op, h.ID, "undelete it first", "the thread %q is deleted", h.ID)
	}
	return nil
}

// guard holds a commit to the tip it was read at and to its owner's fence.
func guard(op string, h *Head, g Guard, now time.Time) error {
	l := h.Lease
	switch {
	case g.Fence == 0 && l.Held(now):
		return conflict(op, h, "wait until it is done", "%q owns the thread's turn", l.Owner)
	case g.Fence != 0 && (l.Owner == "" || l.Fence != g.Fence):
		return conflict(op, h, "", "the thread's turn has passed to another owner")
	case g.Tip < h.Fixed:
		return conflict(op, h, "read the thread again", "entry %d has followed the tip %d", h.Fixed, g.Tip)
	}
	return nil
}

func conflict(op string, h *Head, hint, format string, args ...any) error {
	err := fail(thread.Conflict, op, h.ID, hint, format, args...)
	err.Details = h.Lease
	return err
}

// known finds the entries whose client key is in the log, the origins' part
// included, by their place in the draft.
func (w *writing) known(p *Prepared) (map[int]*thread.Entry, error) {
	if p.keyed == 0 {
		return nil, nil
	}
	found := map[int]*thread.Entry{}
	drafted := map[string]bool{}
	for i := range p.entries {
		e := &p.entries[i]
		if e.Key == "" {
			continue
		}
		if drafted[e.Key] {
			return nil, fail(thread.Invalid, w.op, w.head.ID, "give each entry its own key", "the draft names the key %q twice", e.Key)
		}
		drafted[e.Key] = true
		old, sum, err := w.keyed(e.Key)
		if err != nil {
			return nil, err
		}
		if old == nil {
			continue
		}
		if !bytes.Equal(sum, e.sum) {
			return nil, conflict(w.op, w.head, "use a new key for new content", "the key %q was used for another content in entry %d", e.Key, old.Seq)
		}
		found[i] = old
	}
	return found, nil
}

func (w *writing) keyed(key string) (*thread.Entry, []byte, error) {
	for i := len(w.head.Lineage) - 1; i >= 0; i-- {
		o := w.head.Lineage[i]
		h, err := headOf(w.tx, w.head, o.Thread)
		if err != nil {
			return nil, nil, err
		}
		e, sum, err := w.tx.Keyed(h, key)
		if err != nil {
			return nil, nil, err
		}
		if e != nil && (o.Upto == 0 || e.Seq <= o.Upto) {
			return e, sum, nil
		}
	}
	return nil, nil, nil
}

// repeated answers a draft all of whose keys are there: drafts are atomic, so
// it was written before, whole.
func (w *writing) repeated(p *Prepared, found map[int]*thread.Entry) *Result {
	r := &Result{Thread: w.head.Thread}
	for i := range p.entries {
		if old, ok := found[i]; ok {
			r.placed = append(r.placed, Placed{Entry: *old, old: true})
		}
	}
	return r
}

// place gives an entry its seq and lets its kind's rule change the state.
func (w *writing) place(i int, e *prepared) error {
	if w.next.Tip >= maxSeq {
		return fail(thread.Limit, w.op, w.head.ID, "fork it", "the thread's log is full")
	}
	p := Placed{Entry: e.Entry, Body: e.body, Sum: e.sum, draft: i}
	p.Entry.Seq = w.next.Tip + 1
	p.Entry.Prev, p.Entry.Index, p.Entry.Branch = 0, thread.NoIndex, 0
	if p.Entry.Time = Stamp(e.Time); p.Entry.Time.IsZero() {
		p.Entry.Time = w.now
	}
	if err := rules[e.Kind](w, e, &p); err != nil {
		return err
	}
	w.next.Tip = p.Entry.Seq
	if !p.Entry.Kind.Floats() {
		w.next.Fixed = p.Entry.Seq
	}
	w.placed = append(w.placed, p)
	return nil
}

// store writes what was placed.
func (w *writing) store(docs []thread.Doc) error {
	was := w.head.Thread
	w.next.Updated = w.now
	w.head.Thread = w.next
	w.tx.Touch(w.head)
	if w.undone {
		if err := forget(w.tx, w.head, &was); err != nil {
			return err
		}
	}
	for i := range w.placed {
		if p := &w.placed[i]; !p.old {
			if err := w.entry(p); err != nil {
				return err
			}
		}
	}
	for _, d := range docs {
		if err := w.tx.PutDoc(w.head, d); err != nil {
			return err
		}
	}
	return nil
}

// entry writes one entry, and for an active message its line or that it is due.
func (w *writing) entry(p *Placed) error {
	if !p.Index {
		return w.tx.PutEntry(w.head, p)
	}
	e := &p.Entry
	at := Place{Head: w.head, Branch: e.Branch, Index: e.Index, Seq: e.Seq}
	if p.line == "" {
		if err := w.tx.PutEntry(w.head, p); err != nil {
			return err
		}
		w.head.lack(e.Index, 0)
		return w.due(at)
	}
	up, ok, err := w.rise(at, p)
	if err != nil {
		return err
	}
	if err := w.tx.PutEntry(w.head, p); err != nil || !ok {
		return err
	}
	return w.due(up)
}

// rise joins a new message's line with those before it, as far as they fit. due
// says that the node at up is ready but does not fit.
func (w *writing) rise(at Place, p *Placed) (up Place, due bool, err error) {
	defer func() { w.head.lack(at.Index, len(p.Lines)) }()
	n := thread.Node{Span: at.Span(), Seq: at.Seq, Text: p.line, By: thread.ByVerbatim, Time: p.Entry.Time}
	for {
		p.Lines = append(p.Lines, n.Text)
		w.nodes = append(w.nodes, n)
		if !n.Span.IsRight() {
			w.head.note(n.Span, n.Text, true)
			return at, false, nil
		}
		left, _ := n.Span.Parent().Halves()
		text, ok, err := w.head.text(w.tx, left) // before the edge moves on
		w.head.note(n.Span, n.Text, true)
		if err != nil || !ok {
			return at, false, err
		}
		at.Level++
		joined, fits := thread.Join(thread.Node{Span: left, Text: text}, n)
		if !fits {
			return at, true, nil
		}
		n = joined
	}
}

// due lists a line whose last message is new, so that no other thread sees it.
func (w *writing) due(at Place) error {
	fresh, err := w.tx.PutDue(at)
	if err == nil && fresh {
		w.head.Backlog++
	}
	return err
}

func laterOf(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
