package store

import (
	"slices"

	"github.com/skeinhq/skein/thread"
)

// rules say, for each kind, what an entry does to the thread's state.
var rules = map[thread.Kind]func(w *writing, e *prepared, p *Placed) error{
	thread.MessageKind:  (*writing).message,
	thread.QueuedKind:   (*writing).queued,
	thread.ApprovalKind: func(*writing, *prepared, *Placed) error { return nil },
	thread.TitleKind:    (*writing).title,
	thread.CutKind:      (*writing).cut,
	thread.TurnKind:     (*writing).turn,
	thread.RewindKind:   (*writing).rewind,
	thread.ResetKind:    (*writing).reset,
}

// ownTurn stands, in a draft, for the seq of the draft's own begun entry.
const ownTurn = -1

func (w *writing) message(e *prepared, p *Placed) error {
	m := e.Message
	if e.QueueIfBusy && m.Queued == 0 && (w.next.Turn != 0 || len(w.next.Inbox) > 0) {
		return w.queue(e, p)
	}
	if m.Turn == ownTurn {
		if w.begun == 0 {
			return w.noTurn()
		}
		own := *m
		own.Turn = w.begun
		if err := p.encode(&own); err != nil {
			return err
		}
	}
	if m.Queued != 0 {
		i := slices.Index(w.next.Inbox, m.Queued)
		if i < 0 {
			return conflict(w.op, w.head, "read the thread again", "no queued entry %d waits in the inbox", m.Queued)
		}
		w.next.Inbox = without(w.next.Inbox, i)
	}
	p.Entry.Prev, p.Entry.Branch = w.next.Last, w.next.Branch
	if e.Inactive {
		return nil
	}
	p.Index, p.line = true, e.Line
	p.Entry.Index = w.next.Length
	w.next.Length++
	w.next.Last = p.Entry.Seq
	return nil
}

// queue makes a queued entry of a message said while a turn is open.
func (w *writing) queue(e *prepared, p *Placed) error {
	p.Entry.Kind = thread.QueuedKind
	p.Entry.Message, p.Entry.Queued = nil, &thread.Queued{When: e.When, Message: e.Message}
	body, err := p.Entry.EncodeBody()
	if err != nil {
		return err
	}
	p.Body, p.recoded = body, true
	return w.queued(e, p)
}

func (w *writing) queued(_ *prepared, p *Placed) error {
	w.next.Inbox = append(slices.Clip(w.next.Inbox), p.Entry.Seq)
	return nil
}

func (w *writing) title(e *prepared, _ *Placed) error {
	w.next.Title = e.Title.Title
	return nil
}

func (w *writing) cut(e *prepared, p *Placed) error {
	c := e.Cut
	switch {
	case c.Number != w.next.Cuts+1:
		return fail(thread.Invalid, w.op, w.head.ID, "", "the cut has number %d, but the next one is %d", c.Number, w.next.Cuts+1)
	case c.Prev != w.next.Cut:
		return fail(thread.Invalid, w.op, w.head.ID, "", "the cut follows the cut at entry %d, but the one in force is at %d", c.Prev, w.next.Cut)
	case c.Boundary < 0 || c.Boundary > w.next.Length:
		return fail(thread.Invalid, w.op, w.head.ID, "", "the cut's boundary %d is outside the thread's %d messages", c.Boundary, w.next.Length)
	}
	w.next.Cut, w.next.Cuts = p.Entry.Seq, c.Number
	return nil
}

func (w *writing) turn(e *prepared, p *Placed) error {
	t := *e.Turn
	if t.State == thread.TurnBegun {
		if w.next.Turn != 0 {
			return conflict(w.op, w.head, "", "the turn of entry %d is still open", w.next.Turn)
		}
		w.begun, w.next.Turn = p.Entry.Seq, p.Entry.Seq
	}
	if t.Turn == ownTurn {
		if w.begun == 0 {
			return w.noTurn()
		}
		t.Turn = w.begun
		if err := p.encode(&t); err != nil {
			return err
		}
	}
	switch t.State {
	case thread.TurnBegun:
	case thread.TurnStarted, thread.TurnEnded:
		if w.next.Turn == 0 || t.Turn != w.next.Turn {
			return conflict(w.op, w.head, "", "the turn of entry %d is not open", t.Turn)
		}
	default:
		return fail(thread.Invalid, w.op, w.head.ID, "", "%q is no state of a turn", t.State)
	}
	if t.State == thread.TurnEnded {
		w.next.Turn, w.next.Parked = 0, false
	}
	return nil
}

func (w *writing) noTurn() error {
	return fail(thread.Invalid, w.op, w.head.ID, "", "the draft refers to its own turn but begins none")
}

// rewind keeps the messages up to the one that the entry names and goes on in a
// branch of its own.
func (w *writing) rewind(e *prepared, _ *Placed) error {
	r := e.Rewind
	if r.Index < 0 || r.Index >= w.head.Length {
		return fail(thread.Invalid, w.op, w.head.ID, "", "there is no active message %d to go back to", r.Index)
	}
	if w.undone || len(w.placed) > 0 && w.next.Length != w.head.Length {
		return fail(thread.Invalid, w.op, w.head.ID, "write it alone", "a rewind must come before the messages of its draft")
	}
	at, _, err := place(w.tx, w.head, thread.Span{ID: r.Index, N: 1})
	if err != nil {
		return err
	}
	if at.Seq != r.To {
		return fail(thread.Invalid, w.op, w.head.ID, "", "message %d is entry %d, not %d", r.Index, at.Seq, r.To)
	}
	cut, err := cutAsOf(w.tx, w.head, at.Seq)
	if err != nil {
		return err
	}
	if cut != r.Cut {
		return fail(thread.Invalid, w.op, w.head.ID, "", "the cut in force at message %d is at entry %d, not %d", r.Index, cut, r.Cut)
	}
	w.goOn(r.Index+1, r.To, cut)
	return nil
}

// reset empties the active range.
func (w *writing) reset(*prepared, *Placed) error {
	if w.undone || len(w.placed) > 0 && w.next.Length != w.head.Length {
		return fail(thread.Invalid, w.op, w.head.ID, "write it alone", "a reset must come before the messages of its draft")
	}
	w.goOn(0, 0, 0)
	return nil
}

func (w *writing) goOn(length, last, cut int64) {
	w.undone = true
	w.next.Branch++
	w.next.Segments = w.next.Rewound(length, w.next.ID, w.next.Branch)
	w.next.Length, w.next.Last, w.next.Cut = length, last, cut
}

// encode makes v the entry's body.
func (p *Placed) encode(v any) error {
	body, err := thread.Encode(v)
	if err != nil {
		return err
	}
	p.Body, p.recoded = body, true
	return nil
}

// cutAsOf gives the seq of the cut in force when the active message at seq was
// the newest, 0 where there was none.
func cutAsOf(tx Tx, h *Head, seq int64) (int64, error) {
	at := h.Cut
	for at > seq {
		o, err := headOf(tx, h, h.OriginAt(at))
		if err != nil {
			return 0, err
		}
		e, err := tx.Entry(o, at)
		if err != nil {
			return 0, err
		}
		if e.Cut == nil {
			return 0, fail(thread.Storage, "read", h.ID, "run skein doctor", "entry %d should be a cut", at)
		}
		at = e.Cut.Prev
	}
	return at, nil
}

// without gives a new list that lacks the i-th, nil where none is left.
func without(seqs []int64, i int) []int64 {
	if len(seqs) == 1 {
		return nil
	}
	return slices.Delete(slices.Clone(seqs), i, i+1)
}
