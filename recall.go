package skein

import (
	"context"

	"github.com/skeinhq/skein/internal/line"
	"github.com/skeinhq/skein/internal/recall"
	"github.com/skeinhq/skein/thread"
)

// What the way back gives. Each has a String, which is what the model reads.
type (
	Zoomed      = recall.Zoomed  // a line opened: two lines, or a page of a message
	Reading     = recall.Reading // messages whole
	SearchQuery = recall.Query   // what to search for
	Results     = recall.Results // the hits, best first
)

// Zoom opens the line of a span as the viewer sees it: the two lines that it
// was made from or, for a single message, the given page of it, from 1. Any past
// line opens, not only those that the outline shows.
//
// Errors: not-found ("No line id+n."), storage.
func (t *Thread) Zoom(ctx context.Context, viewer string, span thread.Span, page int) (Zoomed, error) {
	state, err := t.State(ctx)
	if err != nil {
		return Zoomed{}, err
	}
	return recall.Zoom(ctx, t.engine.store, &state, viewer, span, page)
}

// Read gives count messages whole, from the one at index on, as the viewer sees
// them, as many as fit in an answer; it says where to go on.
func (t *Thread) Read(ctx context.Context, viewer string, index, count int64) (Reading, error) {
	state, err := t.State(ctx)
	if err != nil {
		return Reading{}, err
	}
	return recall.Read(ctx, t.engine.store, &state, viewer, index, count)
}

// Search finds messages that hold the query's words, the best first.
func (t *Thread) Search(ctx context.Context, viewer string, q SearchQuery) (Results, error) {
	state, err := t.State(ctx)
	if err != nil {
		return Results{}, err
	}
	return recall.Search(ctx, t.engine.store, &state, viewer, q)
}

// Leaf is a message as one line would say it, whole: author → addressee: text.
func Leaf(m *thread.Message) string { return line.Leaf(m) }
