package outline

import (
	"container/heap"

	"github.com/skeinhq/skein/thread"
)

// Line is one line of an outline, by the span it stands for and its weight.
type Line struct {
	Span   thread.Span
	Weight int
}

// Outline is the lines that stand for messages [0, Boundary), oldest first.
// Merging says that it was on its way down to LOW and is not there yet.
type Outline struct {
	Lines    []Line
	Boundary int64
	Merging  bool
}

// Marks are the two weights between which an outline or a tail is held.
type Marks struct {
	Low  int `json:"low"`
	High int `json:"high"`
}

// Weigher gives the weight of a span's line; ok is false where it is not built.
type Weigher func(thread.Span) (weight int, ok bool)

// Weight is the sum of the lines' weights.
func (o Outline) Weight() int {
	w := 0
	for _, l := range o.Lines {
		w += l.Weight
	}
	return w
}

// Grow moves the boundary to the given index and then merges where it must. The
// lines of all messages up to there must be built; where one is not, Grow stops
// before it. It says how many pairs were merged.
func (o Outline) Grow(boundary int64, m Marks, weigh Weigher) (grown Outline, merged int) {
	lines := append(make([]Line, 0, len(o.Lines)+int(max(0, boundary-o.Boundary))), o.Lines...)
	at := o.Boundary
	for ; at < boundary; at++ {
		s := thread.Span{ID: at, N: 1}
		w, ok := weigh(s)
		if !ok {
			break
		}
		lines = append(lines, Line{s, w})
	}
	grown = Outline{Lines: lines, Boundary: at, Merging: o.Merging}
	weight := grown.Weight()
	if weight > m.High {
		grown.Merging = true
	}
	if grown.Merging {
		grown.Lines, weight, merged = mergeDown(lines, at, m.Low, weight, weigh)
		grown.Merging = weight > m.Low
	}
	return grown, merged
}

// pair is two neighbouring siblings whose parent is built. left is the position
// of the first in the list; used marks a pair that a merge has overtaken.
type pair struct {
	left   int
	parent Line
	last   int64
	level  int
}

// mergeDown merges the most due pairs, one after the other, until the lines
// weigh at most low or no pair is left. Lines are a linked list while it runs,
// so that a large batch costs n log n.
func mergeDown(lines []Line, boundary int64, low, weight int, weigh Weigher) ([]Line, int, int) {
	next := make([]int, len(lines))
	prev := make([]int, len(lines))
	for i := range lines {
		prev[i], next[i] = i-1, i+1
	}
	q := &dueQueue{boundary: boundary}
	consider := func(left int) {
		if left < 0 || next[left] >= len(lines) {
			return
		}
		l, r := lines[left].Span, lines[next[left]].Span
		if l.N != r.N || l.IsRight() {
			return
		}
		parent := l.Parent()
		if w, ok := weigh(parent); ok {
			heap.Push(q, pair{left: left, parent: Line{parent, w}, last: r.Last(), level: l.Level()})
		}
	}
	for i := range lines {
		consider(i)
	}
	merged := 0
	for weight > low && q.Len() > 0 {
		p := heap.Pop(q).(pair)
		right := next[p.left]
		weight += p.parent.Weight - lines[p.left].Weight - lines[right].Weight
		lines[p.left] = p.parent
		next[p.left] = next[right]
		if next[right] < len(lines) {
			prev[next[right]] = p.left
		}
		lines[right].Span.N = 0 // gone
		merged++
		if p.parent.Span.IsRight() {
			consider(prev[p.left])
		} else {
			consider(p.left)
		}
	}
	kept := lines[:0]
	for i := range lines {
		if lines[i].Span.N != 0 {
			kept = append(kept, lines[i])
		}
	}
	return kept, weight, merged
}

// dueQueue is a heap of pairs, the most due first, ties to the oldest.
type dueQueue struct {
	boundary int64
	pairs    []pair
}

func (q *dueQueue) Len() int { return len(q.pairs) }
func (q *dueQueue) Less(i, j int) bool {
	a, b := q.pairs[i], q.pairs[j]
	switch compareDue(q.boundary-a.last, a.level, q.boundary-b.last, b.level) {
	case 1:
		return true
	case -1:
		return false
	}
	return a.last < b.last
}
func (q *dueQueue) Swap(i, j int) { q.pairs[i], q.pairs[j] = q.pairs[j], q.pairs[i] }
func (q *dueQueue) Push(x any)    { q.pairs = append(q.pairs, x.(pair)) }
func (q *dueQueue) Pop() any {
	p := q.pairs[len(q.pairs)-1]
	q.pairs = q.pairs[:len(q.pairs)-1]
	return p
}

// compareDue compares a/2^la with b/2^lb exactly, in integers that do not
// overflow: where la < lb, a·2^(lb−la) > b just when a > b>>(lb−la).
func compareDue(a int64, la int, b int64, lb int) int {
	if la > lb {
		return -compareDue(b, lb, a, la)
	}
	d := lb - la
	switch high := b >> d; {
	case a > high:
		return 1
	case a < high:
		return -1
	case b&(1<<d-1) != 0:
		return -1
	}
	return 0
}
