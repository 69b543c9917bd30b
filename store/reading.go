package store

import (
	"slices"

	"github.com/skeinhq/skein/thread"
)

// mostListed is how many threads are listed by default.
const mostListed = 100

// Most is how many threads are listed.
func (q ThreadsQuery) Most() int {
	if q.Limit <= 0 {
		return mostListed
	}
	return q.Limit
}

// Stretch is a piece of t's log that lies in one thread: After < seq <= Upto.
type Stretch struct {
	Thread      string
	After, Upto int64
}

// Stretches says where the entries that q asks for lie, in the order in which
// they are read.
func (q EntriesQuery) Stretches(t *thread.Thread) []Stretch {
	var out []Stretch
	low := int64(0)
	for _, o := range t.Lineage {
		high := o.Upto
		if high == 0 {
			high = t.Tip
		}
		s := Stretch{Thread: o.Thread, After: max(low, q.After), Upto: high}
		if q.Before > 0 {
			s.Upto = min(s.Upto, q.Before-1)
		}
		if s.After < s.Upto {
			out = append(out, s)
		}
		low = high
	}
	if q.Newest {
		slices.Reverse(out)
	}
	return out
}

// Wants says whether an entry that lies in the thread origin is among those
// asked for.
func (q EntriesQuery) Wants(t *thread.Thread, origin string, e *thread.Entry) bool {
	if q.Kinds != nil && !slices.Contains(q.Kinds, e.Kind) {
		return false
	}
	return q.Inactive || e.Kind != thread.MessageKind || t.Active(origin, e.Branch, e.Index)
}

// Run is a stretch of active messages that lies on one branch of one thread:
// From <= index < To.
type Run struct {
	Origin   string
	Branch   int64
	From, To int64
}

// Runs says where t's active messages [from, to) lie.
func Runs(t *thread.Thread, from, to int64) []Run {
	var out []Run
	from, to = max(from, 0), min(to, t.Length)
	for from < to {
		s, end := t.SegmentAt(from)
		end = min(end, to)
		out = append(out, Run{Origin: s.Origin, Branch: s.Branch, From: from, To: end})
		from = end
	}
	return out
}
