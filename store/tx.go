package store

import (
	"encoding/json"
	"time"

	"github.com/skeinhq/skein/thread"
)

// What follows is for drivers: the rules of writing, once, over the few things
// that a transaction of a driver must be able to do.

// Head is a thread's state inside a write transaction, and what goes with it.
// The rules change it in place; the driver keeps it at the end.
type Head struct {
	thread.Thread
	Row    int64 // the driver's number for the thread
	Shared int64 // forks see the entries up to this seq
	Gone   bool  // purged: nobody sees it, but forks still see entries of it

	edge []edge // the newest node of each level, as far as known
}

// edge is what is known of one level's newest node on the active path. With it
// an append joins parents without reading.
type edge struct {
	number int64
	text   string
	known  bool
	built  bool
}

// Place is where a node lies: with the message that is its last one.
type Place struct {
	Head   *Head // the thread in which that message was said
	Branch int64
	Index  int64
	Seq    int64
	Level  int
}

// Span is the messages that the node stands for.
func (p Place) Span() thread.Span { return thread.SpanOf(p.Level, p.Index>>p.Level) }

// Placed is an entry with its place, encoded, ready to be stored.
type Placed struct {
	Entry thread.Entry
	Body  []byte   // the body as JSON
	Sum   []byte   // of the content, where the entry has a key
	Lines []string // the message's verbatim line, and those joined above it at once, by level
	Index bool     // the message is active

	draft   int    // its place in the draft
	recoded bool   // Body is not the draft's
	line    string // the verbatim line
	old     bool   // was there already
}

// Tx is one write transaction of a driver. Whatever it reads holds what it has
// written. Nothing of it is kept where the rules return an error.
type Tx interface {
	// Head gives a thread, nil where there is none. Family gives all threads of a
	// fork family, the oldest first, purged ones that are still there too.
	Head(space, id string) (*Head, error)
	Family(space, root string) ([]*Head, error)

	// Insert keeps a new thread, Touch a changed one. Trim removes at most limit of
	// the newest own entries after seq upto, and what hangs on them, and gives the
	// seq of the last that is left. Remove forgets an empty thread; last says that
	// its family is gone with it, and so are the family's blobs.
	Insert(h *Head) error
	Touch(h *Head)
	Trim(h *Head, upto int64, limit int) (tip int64, err error)
	Remove(h *Head, last bool) error

	// Keyed, Entry, At and Node read what a thread itself holds, not its origins:
	// the entry of a client key (nil where there is none) and the sum of its
	// content; an entry; where an indexed message lies (0 where there is none); a
	// node's text. LastCut gives the newest cut up to a seq, nil where there is none.
	Keyed(h *Head, key string) (*thread.Entry, []byte, error)
	Entry(h *Head, seq int64) (*thread.Entry, error)
	At(h *Head, branch, index int64) (seq int64, when time.Time, err error)
	Node(h *Head, seq int64, level int) (text string, ok bool, err error)
	LastCut(h *Head, upto int64) (*thread.Entry, error)

	// Dues lists the lines that are due whose last message lies in the thread
	// itself, after < seq <= upto.
	Dues(h *Head, after, upto int64) ([]Place, error)

	// PutEntry keeps an entry and the nodes that its Lines are.
	PutEntry(h *Head, p *Placed) error
	PutNode(p Place, n thread.Node) error
	PutDue(p Place) (fresh bool, err error)
	DropDue(p Place) (was bool, err error)
	PutDoc(h *Head, d thread.Doc) error
	Doc(h *Head, name string) (json.RawMessage, error)
}

// origin is one thread of a lineage and the seqs it holds: after < seq <= upto.
type origin struct {
	head        *Head
	after, upto int64
}

// lineage gives the threads in which h's entries lie, the oldest first.
func lineage(tx Tx, h *Head) ([]origin, error) {
	out := make([]origin, 0, len(h.Lineage))
	after := int64(0)
	for _, o := range h.Lineage {
		upto := o.Upto
		if upto == 0 {
			upto = h.Tip
		}
		head, err := headOf(tx, h, o.Thread)
		if err != nil {
			return nil, err
		}
		out = append(out, origin{head, after, upto})
		after = upto
	}
	return out, nil
}

// headOf gives the thread of that id in h's lineage.
func headOf(tx Tx, h *Head, id string) (*Head, error) {
	if id == h.ID {
		return h, nil
	}
	o, err := tx.Head(h.Space, id)
	if err == nil && o == nil {
		err = fail(thread.Storage, "read", h.ID, "run skein doctor", "the thread's origin %q is missing", id)
	}
	return o, err
}

// seers gives the threads on whose active path the place lies. Only a place
// that forks see, or that lies in h's origin, needs the whole family.
func seers(tx Tx, h *Head, p Place) ([]*Head, error) {
	all := []*Head{h}
	if p.Head.ID != h.ID || p.Seq <= h.Shared {
		var err error
		if all, err = tx.Family(h.Space, h.Root); err != nil {
			return nil, err
		}
	}
	out := all[:0:0]
	for _, x := range all {
		if !x.Gone && x.Active(p.Head.ID, p.Branch, p.Index) {
			out = append(out, x)
		}
	}
	return out, nil
}

// place finds the node of that span on h's active path.
func place(tx Tx, h *Head, s thread.Span) (Place, time.Time, error) {
	seg, _ := h.SegmentAt(s.Last())
	o, err := headOf(tx, h, seg.Origin)
	if err != nil {
		return Place{}, time.Time{}, err
	}
	seq, when, err := tx.At(o, seg.Branch, s.Last())
	if err != nil {
		return Place{}, time.Time{}, err
	}
	if seq == 0 {
		return Place{}, time.Time{}, fail(thread.Storage, "read", h.ID, "run skein doctor", "active message %d is missing", s.Last())
	}
	return Place{Head: o, Branch: seg.Branch, Index: s.Last(), Seq: seq, Level: s.Level()}, when, nil
}

// Forget drops what h remembers of its newest nodes, for a driver that has
// undone a transaction.
func (h *Head) Forget() { h.edge = nil }
