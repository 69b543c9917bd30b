package line

import (
	"context"
	"slices"
	"time"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// item is a node to be written, with what it is made from.
type item struct {
	span thread.Span
	seq  int64     // of its last message
	time time.Time // of its last message

	// A leaf has its message (nil where it was erased), a merge its two halves and,
	// for the model to look at, the four lines below them.
	message     *thread.Message
	left, right thread.Node
	below       []thread.Node
}

func (it *item) isLeaf() bool { return it.span.N == 1 }

// sources are the texts that the node's anchors must occur in.
func (it *item) sources() []string {
	if it.isLeaf() {
		return []string{Leaf(it.message)}
	}
	return []string{it.left.Text, it.right.Text}
}

// node makes the node of that text.
func (it *item) node(text, by string, version int) thread.Node {
	return thread.Node{Span: it.span, Seq: it.seq, Text: text, By: by, Version: version, Time: it.time}
}

// short gives the node that needs no writer: a leaf or two lines that fit as
// they are.
func (it *item) short() (n thread.Node, ok bool) {
	if !it.isLeaf() {
		return thread.Join(it.left, it.right)
	}
	text, ok := Verbatim(it.message)
	return it.node(text, thread.ByVerbatim, 0), ok
}

// byRule writes the node with no model.
func (it *item) byRule() thread.Node {
	if n, ok := it.short(); ok {
		return n
	}
	if it.isLeaf() {
		return it.node(Extract(it.message), thread.ByExtractive, ExtractiveVersion)
	}
	return it.node(Merge(it.left.Text, it.right.Text), thread.ByExtractive, ExtractiveVersion)
}

// gather reads what the spans are made from. A span whose halves are not both
// there is left out: it is not ready.
func gather(ctx context.Context, s store.Store, t *thread.Thread, spans []thread.Span) ([]item, error) {
	at := map[thread.Span]*item{}
	if err := gatherLeaves(ctx, s, t, spans, at); err != nil {
		return nil, err
	}
	if err := gatherMerges(ctx, s, t, spans, at); err != nil {
		return nil, err
	}
	items := make([]item, 0, len(spans))
	for _, span := range spans {
		if it := at[span]; it != nil {
			items = append(items, *it)
		}
	}
	return items, nil
}

// gatherLeaves reads the messages, a run of neighbours at a time. Of a long
// message only what its leaf shows is kept.
func gatherLeaves(ctx context.Context, s store.Store, t *thread.Thread, spans []thread.Span, at map[thread.Span]*item) error {
	var ids []int64
	for _, span := range spans {
		if span.N == 1 {
			ids = append(ids, span.ID)
		}
	}
	slices.Sort(ids)
	for i := 0; i < len(ids); {
		n := 1
		for i+n < len(ids) && ids[i+n] == ids[i]+int64(n) {
			n++
		}
		for e, err := range s.Messages(ctx, t, ids[i], ids[i]+int64(n)) {
			if err != nil {
				return err
			}
			span := thread.Span{ID: e.Index, N: 1}
			at[span] = &item{span: span, seq: e.Seq, time: e.Time, message: e.Message}
		}
		i += n
	}
	return nil
}

// gatherMerges reads the halves of merges, and the lines below those.
func gatherMerges(ctx context.Context, s store.Store, t *thread.Thread, spans []thread.Span, at map[thread.Span]*item) error {
	var want []thread.Span
	for _, span := range spans {
		if span.N > 1 {
			left, right := span.Halves()
			want = append(want, left, right)
		}
	}
	if len(want) == 0 {
		return nil
	}
	nodes, err := nodesOf(ctx, s, t, want)
	if err != nil {
		return err
	}
	for _, span := range spans {
		if span.N == 1 {
			continue
		}
		if it, ok := merge(span, nodes); ok {
			at[span] = &it
		}
	}
	return nil
}

// above gathers the merges over nodes that were made, each from two that were: in
// this round, which adds to those known, or before.
func above(ctx context.Context, s store.Store, t *thread.Thread, made []thread.Node, known map[thread.Span]thread.Node) ([]item, error) {
	var want, spans []thread.Span
	for _, n := range made {
		known[n.Span] = n
	}
	for _, n := range made {
		over := n.Span.Parent()
		if over.End() > t.Length || slices.Contains(spans, over) {
			continue
		}
		spans = append(spans, over)
		left, right := over.Halves()
		for _, half := range []thread.Span{left, right} {
			if _, ok := known[half]; !ok {
				want = append(want, half)
			}
		}
	}
	if len(want) > 0 {
		nodes, err := s.Nodes(ctx, t, want)
		if err != nil {
			return nil, err
		}
		for _, n := range nodes {
			known[n.Span] = n
		}
	}
	var items []item
	for _, over := range spans {
		if it, ok := merge(over, known); ok {
			items = append(items, it)
		}
	}
	return items, nil
}

// merge is the item that is made of two nodes, where both are there.
func merge(span thread.Span, nodes map[thread.Span]thread.Node) (item, bool) {
	l, r := span.Halves()
	left, ok1 := nodes[l]
	right, ok2 := nodes[r]
	return item{span: span, seq: right.Seq, time: right.Time, left: left, right: right}, ok1 && ok2
}

// lookBelow reads the lines that the halves of merges were made from.
func lookBelow(ctx context.Context, s store.Store, t *thread.Thread, items []item) error {
	var want []thread.Span
	for i := range items {
		want = append(want, items[i].spansBelow()...)
	}
	if len(want) == 0 {
		return nil
	}
	nodes, err := nodesOf(ctx, s, t, want)
	if err != nil {
		return err
	}
	for i := range items {
		for _, span := range items[i].spansBelow() {
			if n, ok := nodes[span]; ok {
				items[i].below = append(items[i].below, n)
			}
		}
	}
	return nil
}

// spansBelow are the quarters of a merge of four messages or more.
func (it *item) spansBelow() []thread.Span {
	if it.span.N < 4 {
		return nil
	}
	left, right := it.span.Halves()
	a, b := left.Halves()
	c, d := right.Halves()
	return []thread.Span{a, b, c, d}
}

func nodesOf(ctx context.Context, s store.Store, t *thread.Thread, spans []thread.Span) (map[thread.Span]thread.Node, error) {
	nodes, err := s.Nodes(ctx, t, spans)
	if err != nil {
		return nil, err
	}
	m := make(map[thread.Span]thread.Node, len(nodes))
	for _, n := range nodes {
		m[n.Span] = n
	}
	return m, nil
}

// What of the lines before a model is shown: at most so many, of so many bytes.
const (
	linesBefore = 16
	bytesBefore = 2 << 10
)

// before reads the lines of the same level that stand before the span, newest
// last.
func before(ctx context.Context, s store.Store, t *thread.Thread, span thread.Span) ([]thread.Node, error) {
	var want []thread.Span
	for k := int64(linesBefore); k > 0; k-- {
		if id := span.ID - k*span.N; id >= 0 {
			want = append(want, thread.Span{ID: id, N: span.N})
		}
	}
	if len(want) == 0 {
		return nil, nil
	}
	nodes, err := s.Nodes(ctx, t, want)
	if err != nil {
		return nil, err
	}
	size := 0
	for i := len(nodes) - 1; i >= 0; i-- {
		if size += len(nodes[i].Line()) + 1; size > bytesBefore {
			return nodes[i+1:], nil
		}
	}
	return nodes, nil
}
