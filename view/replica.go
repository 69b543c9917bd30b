package view

import (
	"cmp"
	"slices"
)

// Replica is what a client holds of a thread: the view that a watch keeps up,
// and what it was shown or has fetched besides. The zero value holds nothing and
// waits for a snapshot. It is used by one goroutine at a time.
type Replica struct {
	view View
	held []Entry // older than the window, ascending; a hole is where neighbours do not follow each other
}

// Range is a run of messages that follow each other.
type Range struct {
	Before  int64 // seq of the active message before the first; 0: there is none
	Entries []Entry
}

// Hole is where messages lie that the client does not hold: After < seq < Before.
type Hole struct {
	After, Before int64
}

// View gives the view as of the last batch. It stays what it is.
func (r *Replica) View() View { return r.view }

// Applied changes the replica by a batch. On a [Fault] it is as it was: call
// Resume and watch again.
func (r *Replica) Applied(b Batch) error {
	held, epoch := r.held, r.view.Thread.Epoch
	err := apply(&r.view, b, func(dropped []Entry) {
		if n := len(held); n > 0 && held[n-1].Seq == dropped[0].Prev {
			held = append(held, dropped...)
		}
	}, func(old *View) {
		held = merge(held, old.Entries)
	})
	if err != nil {
		return err
	}
	r.held = held
	if snapshot := slices.ContainsFunc(b.Ops, func(o Op) bool { return o.Code == ReplaceOp }); snapshot {
		if r.view.Fresh || r.view.Thread.Epoch != epoch {
			r.held = nil
		}
		r.tidy()
	}
	return nil
}

// Resume gives what to watch again with, after a link was lost or a batch was a
// fault: the seq after the last one seen, and the epoch that it is of. The next
// batch must then begin with a snapshot.
func (r *Replica) Resume() (from int64, epoch string) {
	r.view.N = 0
	from = r.view.From
	if n := len(r.view.Entries); n > 0 {
		from = r.view.Entries[n-1].Seq + 1
	}
	return from, r.view.Thread.Epoch
}

// Fetched adds a page. It fails with a [Fault] of code stale where the page is
// of another epoch or branch than the view: fetch it again once the view has
// moved on. Messages that are undone, or lie before a reset, are passed over.
func (r *Replica) Fetched(p Page) error {
	if p.Epoch != r.view.Thread.Epoch || p.Branch != r.view.Thread.Branch {
		return fault(Stale, "the page is of another branch of the thread than the view")
	}
	var add []Entry
	for _, e := range p.Items {
		if !e.Undone && !e.Past && e.Seq <= r.view.Before {
			add = append(add, e)
		}
	}
	slices.SortFunc(add, func(a, b Entry) int { return cmp.Compare(a.Seq, b.Seq) })
	r.held = merge(r.held, add)
	r.tidy()
	return nil
}

// Ranges gives all that the client holds, the oldest first. The window is, or
// ends, the last one. Between two there is a hole.
func (r *Replica) Ranges() []Range {
	var out []Range
	for _, e := range slices.Concat(r.held, r.view.Entries) {
		n := len(out) - 1
		if n < 0 || out[n].Entries[len(out[n].Entries)-1].Seq != e.Prev {
			out = append(out, Range{Before: e.Prev})
			n++
		}
		out[n].Entries = append(out[n].Entries, e)
	}
	if len(r.view.Entries) == 0 && r.view.Before != 0 && (len(r.held) == 0 || r.held[len(r.held)-1].Seq != r.view.Before) {
		out = append(out, Range{Before: r.view.Before})
	}
	return out
}

// Holes gives the holes between what the client holds, the oldest first. What
// lies before all of it is none: see Earlier.
func (r *Replica) Holes() []Hole {
	var out []Hole
	ranges := r.Ranges()
	for i, next := range ranges[min(1, len(ranges)):] {
		last := ranges[i].Entries
		before := next.Before + 1
		if len(next.Entries) > 0 {
			before = next.Entries[0].Seq
		}
		out = append(out, Hole{After: last[len(last)-1].Seq, Before: before})
	}
	return out
}

// Forget lets go of all that is older than the window: what was fetched, and what has
// left the window since.
func (r *Replica) Forget() { r.held = nil }

// Earlier gives the seq of the active message before all that the client holds,
// 0 where there is none.
func (r *Replica) Earlier() int64 {
	if len(r.held) > 0 {
		return r.held[0].Prev
	}
	return r.view.Before
}

// tidy drops what was undone: each message, and the window's start, says which
// active one came before it, so that none can lie between the two.
func (r *Replica) tidy() {
	before := r.view.Before
	kept := make([]Entry, 0, len(r.held))
	for _, e := range slices.Backward(r.held) {
		if e.Seq <= before {
			kept = append(kept, e)
			before = e.Prev
		}
	}
	slices.Reverse(kept)
	r.held = kept
}

// merge joins two ascending lists; where both have a message, b's counts.
func merge(a, b []Entry) []Entry {
	out := make([]Entry, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch c := cmp.Compare(a[0].Seq, b[0].Seq); {
		case c < 0:
			out, a = append(out, a[0]), a[1:]
		case c > 0:
			out, b = append(out, b[0]), b[1:]
		default:
			out, a, b = append(out, b[0]), a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}
