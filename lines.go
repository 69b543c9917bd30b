package skein

import (
	"context"
	"iter"

	"github.com/skeinhq/skein/internal/line"
	"github.com/skeinhq/skein/thread"
)

// spansAtOnce is how many lines are read at once.
const spansAtOnce = 256

// Lines yields every line that is built for the thread's active messages: those
// of single messages first, then those of pairs, and so on up.
func (t *Thread) Lines(ctx context.Context) iter.Seq2[thread.Node, error] {
	return func(yield func(thread.Node, error) bool) {
		state, err := t.State(ctx)
		if err != nil {
			yield(thread.Node{}, err)
			return
		}
		for spans := range spansOf(state.Length) {
			nodes, err := t.engine.store.Nodes(ctx, &state, spans)
			if err != nil {
				yield(thread.Node{}, err)
				return
			}
			for _, n := range nodes {
				if !yield(n, nil) {
					return
				}
			}
		}
	}
}

// spansOf gives all spans of that many messages, level by level, some at a time.
func spansOf(length int64) iter.Seq[[]thread.Span] {
	return func(yield func([]thread.Span) bool) {
		for n := int64(1); n <= length; n *= 2 {
			var spans []thread.Span
			for id := int64(0); id+n <= length; id += n {
				spans = append(spans, thread.Span{ID: id, N: n})
				if len(spans) == spansAtOnce || id+2*n > length {
					if !yield(spans) {
						return
					}
					spans = nil
				}
			}
		}
	}
}

// LineEstimate is about what the missing lines of a thread would take if a model
// wrote them. Cost is in dollars by the rule table, 0 where it has no price.
type LineEstimate struct {
	Model string `json:"model"`
	line.Estimate
	Cost float64 `json:"cost"`
}

// EstimateLines says about what it would take if the model of that name wrote
// all lines that are missing, without asking it. Errors: configuration (no such
// model in the rule table), storage.
func (t *Thread) EstimateLines(ctx context.Context, modelName string) (LineEstimate, error) {
	out := LineEstimate{Model: modelName}
	rules, err := t.engine.cfg.Rules.Rules(modelName)
	if err != nil {
		return out, err
	}
	state, err := t.State(ctx)
	if err != nil {
		return out, err
	}
	for spans := range spansOf(state.Length) {
		nodes, err := t.engine.store.Nodes(ctx, &state, spans)
		if err != nil {
			return out, err
		}
		for _, s := range missing(spans, nodes) {
			if s.N > 1 {
				out.AddMerge()
				continue
			}
			e, err := t.at(ctx, &state, s.ID)
			if err != nil {
				return out, err
			}
			out.AddLeaf(e.Message)
		}
	}
	out.Cost = rules.Cost(thread.Usage{Input: out.Input, Output: out.Output})
	return out, nil
}

// missing gives the spans that have no node; nodes are in the spans' order.
func missing(spans []thread.Span, nodes []thread.Node) []thread.Span {
	var out []thread.Span
	for _, s := range spans {
		if len(nodes) > 0 && nodes[0].Span == s {
			nodes = nodes[1:]
			continue
		}
		out = append(out, s)
	}
	return out
}
