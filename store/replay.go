package store

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sort"

	"github.com/skeinhq/skein/thread"
)

// Evidence is all that a driver holds, as of one moment, for those who check or
// rebuild what is derived. Each method gives what lies in the thread itself.
type Evidence interface {
	Log(ctx context.Context, h *Head) iter.Seq2[Record, error]       // by seq
	Nodes(ctx context.Context, h *Head) iter.Seq2[NodeRecord, error] // but for the Lines of records
	Text(ctx context.Context, h *Head, seq int64, level int) (text string, ok bool, err error)
	Dues(ctx context.Context, h *Head) ([]Place, error)
}

// Record is an entry as it is kept.
type Record struct {
	Entry thread.Entry
	Sum   []byte
	Lines []string // see Placed
}

// NodeRecord is a node as it is kept.
type NodeRecord struct {
	Seq   int64
	Level int
	Text  string
	By    string
}

// Derived is what a thread's log and nodes say about it.
type Derived struct {
	Head *Head
	thread.Thread
	Dues []Place // those whose last message lies in the thread itself
}

// heard is what is remembered of a message while a log is replayed.
type heard struct {
	seq, index, branch, prev int64
	cut, cuts                int64 // in force and made when it was said
}

// spot is where a node lies.
type spot struct {
	row   int64
	seq   int64
	level int
}

// replay derives the state of every thread of a family anew, from its entries
// and nodes alone, by other means than writing does.
type replay struct {
	ev     Evidence
	family []*Head // the oldest first
	byID   map[string]*Head
	heard  map[string][]heard
	nodes  map[spot]bool
	out    []*Derived
	flaw   func(h *Head, format string, args ...any) // told what contradicts itself
}

// Derive replays a family. flaw is told of every contradiction within the log
// and the nodes; the error is of reading them.
func Derive(ctx context.Context, ev Evidence, family []*Head, flaw func(error)) ([]*Derived, error) {
	r := &replay{
		ev: ev, family: family, byID: map[string]*Head{}, heard: map[string][]heard{}, nodes: map[spot]bool{},
		flaw: func(h *Head, format string, args ...any) {
			flaw(fail(thread.Storage, "check", h.ID, "", "thread %s: %s", h.ID, fmt.Sprintf(format, args...)))
		},
	}
	for _, h := range family {
		r.byID[h.ID] = h
	}
	for _, h := range family {
		d, err := r.log(ctx, h)
		if err != nil {
			return nil, err
		}
		r.out = append(r.out, d)
	}
	for _, h := range family {
		if err := r.readNodes(ctx, h); err != nil {
			return nil, err
		}
	}
	r.due()
	return r.out, nil
}

// log replays one thread's own entries.
func (r *replay) log(ctx context.Context, h *Head) (*Derived, error) {
	d := &Derived{Head: h, Thread: h.Thread}
	r.begin(d)
	for rec, err := range r.ev.Log(ctx, h) {
		if err != nil {
			return nil, err
		}
		e := rec.Entry
		if e.Seq != d.Tip+1 {
			r.flaw(h, "entry %d follows entry %d", e.Seq, d.Tip)
		}
		if e.ID == "" || e.Time.IsZero() {
			r.flaw(h, "entry %d has no id or no time", e.Seq)
		}
		d.Tip = e.Seq
		if !e.Kind.Floats() {
			d.Fixed = e.Seq
		}
		if e.Body() != nil {
			r.entry(d, &e)
		}
		if rec.Lines != nil {
			if err := r.lines(ctx, h, &e, rec.Lines); err != nil {
				return nil, err
			}
		}
		if (e.Key == "") != (rec.Sum == nil) {
			r.flaw(h, "entry %d has a key without the sum of its content, or the sum alone", e.Seq)
		}
	}
	return d, nil
}

// begin is the state before the first own entry: nothing, or what a fork sees.
func (r *replay) begin(d *Derived) {
	t := &d.Thread
	t.Tip, t.Fixed, t.Last, t.Length, t.Branch, t.Cut, t.Cuts, t.Turn, t.Inbox, t.Backlog = 0, 0, 0, 0, 0, 0, 0, 0, nil, 0
	first := d.Head.FirstOwn()
	if first == 0 {
		return
	}
	_, m := r.message(&d.Thread, first)
	if m == nil {
		r.flaw(d.Head, "it forks at entry %d, which is no message of an origin", first)
		return
	}
	t.Tip, t.Fixed, t.Last, t.Length, t.Cut, t.Cuts = first, first, first, m.index+1, m.cut, m.cuts
}

// message finds a message in t's lineage.
func (r *replay) message(t *thread.Thread, seq int64) (*Head, *heard) {
	h := r.byID[t.OriginAt(seq)]
	if h == nil {
		return nil, nil
	}
	all := r.heard[h.ID]
	i := sort.Search(len(all), func(i int) bool { return all[i].seq >= seq })
	if i == len(all) || all[i].seq != seq {
		return h, nil
	}
	return h, &all[i]
}

func (r *replay) entry(d *Derived, e *thread.Entry) {
	t := &d.Thread
	if e.Kind != thread.MessageKind && e.Index != thread.NoIndex {
		r.flaw(d.Head, "entry %d has an index but is no message", e.Seq)
	}
	switch e.Kind {
	case thread.MessageKind:
		r.said(d, e)
	case thread.QueuedKind:
		t.Inbox = append(slices.Clip(t.Inbox), e.Seq)
	case thread.TitleKind:
		t.Title = e.Title.Title
	case thread.CutKind:
		if e.Cut.Number != t.Cuts+1 || e.Cut.Prev != t.Cut || e.Cut.Boundary > t.Length {
			r.flaw(d.Head, "the cut of entry %d does not follow from the log", e.Seq)
		}
		t.Cut, t.Cuts = e.Seq, e.Cut.Number
	case thread.TurnKind:
		r.turn(d, e)
	case thread.ResetKind:
		t.Branch++
		t.Length, t.Last, t.Cut = 0, 0, 0
	case thread.RewindKind:
		r.rewind(d, e)
	}
}

func (r *replay) said(d *Derived, e *thread.Entry) {
	t := &d.Thread
	if q := e.Message.Queued; q != 0 {
		if i := slices.Index(t.Inbox, q); i >= 0 {
			t.Inbox = without(t.Inbox, i)
		} else {
			r.flaw(d.Head, "entry %d takes entry %d, which does not wait", e.Seq, q)
		}
	}
	if e.Prev != t.Last || e.Branch != t.Branch {
		r.flaw(d.Head, "entry %d follows message %d on branch %d, but should follow %d on %d", e.Seq, e.Prev, e.Branch, t.Last, t.Branch)
	}
	if e.Index == thread.NoIndex {
		return
	}
	if e.Index != t.Length {
		r.flaw(d.Head, "entry %d has index %d, but should have %d", e.Seq, e.Index, t.Length)
	}
	r.heard[t.ID] = append(r.heard[t.ID], heard{e.Seq, e.Index, e.Branch, e.Prev, t.Cut, t.Cuts})
	t.Last, t.Length = e.Seq, e.Index+1
}

func (r *replay) turn(d *Derived, e *thread.Entry) {
	switch e.Turn.State {
	case thread.TurnBegun:
		d.Turn = e.Seq
	case thread.TurnEnded:
		if e.Turn.Turn != d.Turn {
			r.flaw(d.Head, "entry %d ends the turn of entry %d, but that of %d is open", e.Seq, e.Turn.Turn, d.Turn)
		}
		d.Turn = 0
	}
}

func (r *replay) rewind(d *Derived, e *thread.Entry) {
	_, m := r.message(&d.Thread, e.Rewind.To)
	if m == nil || m.index != e.Rewind.Index || m.cut != e.Rewind.Cut {
		r.flaw(d.Head, "the rewind of entry %d does not follow from the log", e.Seq)
	}
	if m == nil {
		return
	}
	d.Branch++
	d.Length, d.Last, d.Cut = m.index+1, m.seq, m.cut
}

// lines looks at the nodes that are kept with their last message.
func (r *replay) lines(ctx context.Context, h *Head, e *thread.Entry, lines []string) error {
	for level, text := range lines {
		by := thread.ByJoined
		if level == 0 {
			by = thread.ByVerbatim
		}
		if err := r.node(ctx, h, NodeRecord{Seq: e.Seq, Level: level, Text: text, By: by}); err != nil {
			return err
		}
	}
	return nil
}

// readNodes looks at the other nodes whose last message lies in h.
func (r *replay) readNodes(ctx context.Context, h *Head) error {
	for n, err := range r.ev.Nodes(ctx, h) {
		if err != nil {
			return err
		}
		if err := r.node(ctx, h, n); err != nil {
			return err
		}
	}
	return nil
}

// node checks a node against its place and its children.
func (r *replay) node(ctx context.Context, h *Head, n NodeRecord) error {
	at := spot{h.Row, n.Seq, n.Level}
	if r.nodes[at] {
		r.flaw(h, "the node of level %d at entry %d is there twice", n.Level, n.Seq)
	}
	r.nodes[at] = true
	if len(n.Text) > thread.LineBytes || n.By == "" {
		r.flaw(h, "the node of level %d at entry %d is too long or by nobody", n.Level, n.Seq)
	}
	own := h.Thread
	_, last := r.message(&own, n.Seq)
	if last == nil || (last.index+1)%(1<<n.Level) != 0 {
		r.flaw(h, "the node of level %d at entry %d ends at no message with such a node", n.Level, n.Seq)
		return nil
	}
	if n.Level == 0 {
		return nil
	}
	leftHead, left := r.back(h, last, 1<<(n.Level-1))
	if left == nil {
		return nil // the chain is broken, which was told
	}
	a, ok, err := r.ev.Text(ctx, leftHead, left.seq, n.Level-1)
	if err != nil {
		return err
	}
	b, ok2, err := r.ev.Text(ctx, h, n.Seq, n.Level-1)
	if err != nil {
		return err
	}
	if !ok || !ok2 {
		r.flaw(h, "the node of level %d at entry %d lacks a child", n.Level, n.Seq)
		return nil
	}
	if fits := len(a)+1+len(b) <= thread.LineBytes; n.By == thread.ByJoined && (!fits || n.Text != a+"\n"+b) {
		r.flaw(h, "the joined node of level %d at entry %d is not its children's texts", n.Level, n.Seq)
	}
	return nil
}

// back goes so many messages back from m, which lies in h.
func (r *replay) back(h *Head, m *heard, steps int64) (*Head, *heard) {
	t := &h.Thread
	for ; steps > 0 && m != nil; steps-- {
		h, m = r.message(t, m.prev)
	}
	return h, m
}
