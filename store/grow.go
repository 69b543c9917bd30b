package store

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/skeinhq/skein/thread"
)

// growth is what nodes that were built make of themselves above them: where both
// halves of a span have a node, the parent is joined at once if it fits, else its
// line becomes due. Every thread that sees the node is served.
type growth struct {
	tx   Tx
	head *Head         // the thread that is written
	made []thread.Node // newly stored, in order

	others map[thread.Span]bool // were given, and somebody else's stand there
}

// grow goes on from a node that was just stored.
func (g *growth) grow(at Place, n thread.Node) error {
	all, err := seers(g.tx, g.head, at)
	if err != nil {
		return err
	}
	for _, h := range all {
		h.note(n.Span, n.Text, true)
		if err := g.parent(h, at, n); err != nil {
			return err
		}
	}
	return nil
}

// parent makes, on h's path, the node above n or makes it due.
func (g *growth) parent(h *Head, at Place, n thread.Node) error {
	span := n.Span.Parent()
	if span.End() > h.Length {
		return nil
	}
	left, right := span.Halves()
	sibling := left
	if n.Span == left {
		sibling = right
	}
	text, ok, err := h.text(g.tx, sibling)
	if err != nil || !ok {
		return err
	}
	up, when := at, n.Time
	up.Level++
	if sibling == right {
		if up, when, err = place(g.tx, h, span); err != nil {
			return err
		}
	}
	if up.Head.ID != h.ID || up.Seq <= h.Shared {
		// Another thread of the family may have made it on the same two halves.
		if _, there, err := g.tx.Node(up.Head, up.Seq, up.Level); err != nil || there {
			return err
		}
	}
	l, r := n, thread.Node{Span: sibling, Text: text, Seq: up.Seq, Time: when}
	if sibling == left {
		l, r = r, n
	}
	joined, fits := thread.Join(l, r)
	if !fits {
		return g.due(up)
	}
	joined.Seq, joined.Time = up.Seq, when
	if err := g.tx.PutNode(up, joined); err != nil {
		return err
	}
	g.made = append(g.made, joined)
	return g.grow(up, joined)
}

// due lists a line that is ready to be built.
func (g *growth) due(at Place) error {
	fresh, err := g.tx.PutDue(at)
	if err != nil || !fresh {
		return err
	}
	return g.count(at, +1)
}

// built takes a line off the list.
func (g *growth) built(at Place) error {
	was, err := g.tx.DropDue(at)
	if err != nil || !was {
		return err
	}
	return g.count(at, -1)
}

// count keeps the backlog of every thread that sees the place.
func (g *growth) count(at Place, by int64) error {
	all, err := seers(g.tx, g.head, at)
	if err != nil {
		return err
	}
	for _, h := range all {
		h.Backlog += by
		g.tx.Touch(h)
	}
	return nil
}

// note remembers the newest node of a level.
func (h *Head) note(s thread.Span, text string, built bool) {
	level := s.Level()
	for len(h.edge) <= level {
		h.edge = append(h.edge, edge{})
	}
	if e := &h.edge[level]; !e.known || e.number <= s.Number() {
		*e = edge{number: s.Number(), text: text, known: true, built: built}
	}
}

// lack remembers that the nodes which end with the newest message, from that
// level on, are not there.
func (h *Head) lack(index int64, level int) {
	for ; (index+1)&(1<<level-1) == 0; level++ {
		h.note(thread.SpanOf(level, index>>level), "", false)
	}
}

// text gives the node of that span on h's active path, from the edge where it
// is the newest of its level.
func (h *Head) text(tx Tx, s thread.Span) (string, bool, error) {
	if l := s.Level(); l < len(h.edge) && h.edge[l].known && h.edge[l].number == s.Number() {
		return h.edge[l].text, h.edge[l].built, nil
	}
	at, _, err := place(tx, h, s)
	if err != nil {
		return "", false, err
	}
	return tx.Node(at.Head, at.Seq, at.Level)
}

// PutNodes stores lines that were built for spans of t, a state of h as of some
// moment. It gives the nodes newly stored, joined ones included.
func PutNodes(tx Tx, h *Head, t *thread.Thread, nodes []thread.Node) ([]thread.Node, error) {
	if h.Gone {
		return nil, NoThread("nodes", h.ID)
	}
	old := &Head{Thread: *t, Row: h.Row, Shared: h.Shared}
	g := growth{tx: tx, head: h}
	for _, n := range nodes {
		if err := g.put(old, n); err != nil {
			return nil, err
		}
	}
	return g.made, nil
}

func (g *growth) put(old *Head, n thread.Node) error {
	if err := checkNode(old, n); err != nil {
		return err
	}
	at, when, err := g.place(old, n.Span)
	if err != nil {
		return err
	}
	if n.Seq != 0 && n.Seq != at.Seq {
		return fail(thread.Invalid, "nodes", old.ID, "", "the last message of %s is entry %d, not %d", n.Span, at.Seq, n.Seq)
	}
	n.Seq, n.Time = at.Seq, when
	text, there, err := g.tx.Node(at.Head, at.Seq, at.Level)
	if err != nil {
		return err
	}
	if there && text == n.Text {
		return nil
	}
	if there || g.ofOthers(n.Span) {
		if g.others == nil {
			g.others = map[thread.Span]bool{}
		}
		g.others[n.Span] = true
		return nil
	}
	if n.Span.N > 1 {
		if err := g.halves(old, n.Span); err != nil {
			return err
		}
	}
	if err := g.tx.PutNode(at, n); err != nil {
		return err
	}
	g.made = append(g.made, n)
	if err := g.built(at); err != nil {
		return err
	}
	return g.grow(at, n)
}

// ofOthers says whether what was made of a span is not of what stands there: then it
// stays due.
func (g *growth) ofOthers(s thread.Span) bool {
	if s.N == 1 {
		return false
	}
	left, right := s.Halves()
	return g.others[left] || g.others[right]
}

// place is where the node lies by the older state, in threads of this
// transaction.
func (g *growth) place(old *Head, s thread.Span) (Place, time.Time, error) {
	at, when, err := place(g.tx, old, s)
	if err == nil && at.Head.ID == g.head.ID {
		at.Head = g.head
	}
	return at, when, err
}

// halves refuses a parent over children that are not there.
func (g *growth) halves(old *Head, s thread.Span) error {
	left, right := s.Halves()
	for _, half := range []thread.Span{left, right} {
		at, _, err := g.place(old, half)
		if err != nil {
			return err
		}
		_, ok, err := g.tx.Node(at.Head, at.Seq, at.Level)
		if err != nil {
			return err
		}
		if !ok {
			return fail(thread.Invalid, "nodes", old.ID, "build its halves first", "%s cannot be stored before %s", s, half)
		}
	}
	return nil
}

func checkNode(t *Head, n thread.Node) error {
	switch {
	case !n.Span.Valid() || n.Span.End() > t.Length:
		return fail(thread.Invalid, "nodes", t.ID, "", "the thread has no line %s", n.Span)
	case len(n.Text) > thread.LineBytes || !utf8.ValidString(n.Text) || strings.TrimSpace(n.Text) == "":
		return fail(thread.Invalid, "nodes", t.ID, "", "the text of %s must be valid UTF-8 of 1 to %d bytes", n.Span, thread.LineBytes)
	case n.By == "":
		return fail(thread.Invalid, "nodes", t.ID, "", "%s does not say who wrote it", n.Span)
	}
	return nil
}

// forget drops the lines that were due on h's path as it was and are on nobody's
// path now, and counts the backlog anew.
func forget(tx Tx, h *Head, was *thread.Thread) error {
	h.edge = nil
	h.Backlog = 0
	origins, err := lineage(tx, &Head{Thread: *was})
	if err != nil {
		return err
	}
	for _, o := range origins {
		if o.head.ID == h.ID {
			o.head = h
		}
		dues, err := tx.Dues(o.head, o.after, o.upto)
		if err != nil {
			return err
		}
		for _, at := range dues {
			if h.sees(at) {
				h.Backlog++
				continue
			}
			if !was.Active(at.Head.ID, at.Branch, at.Index) {
				continue
			}
			left, err := seers(tx, h, at)
			if err != nil {
				return err
			}
			if len(left) > 0 {
				continue
			}
			if _, err := tx.DropDue(at); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h *Head) sees(p Place) bool { return !h.Gone && h.Active(p.Head.ID, p.Branch, p.Index) }
