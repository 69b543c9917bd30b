package skein

import (
	"context"

	"github.com/skeinhq/skein/internal/line"
	"github.com/skeinhq/skein/internal/recall"
	"github.com/skeinhq/skein/thread"
)

// What the way back gives. Each result has a String, which is what the model
// reads.
type (
	// Zoomed is a line opened: Span, and Lines (two) or Message (a page of it).
	Zoomed = recall.Zoomed
	// Reading is messages whole: Messages, and Next, where to go on.
	Reading = recall.Reading
	// SearchQuery is Text (the words), Limit (hits; 10, at most 100), Before and
	// After (lines around each hit; at most 20), Inactive (undone messages too).
	SearchQuery = recall.Query
	// Results are Words (as looked for), Hits (best first), Capped.
	Results = recall.Results
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
