package long

import (
	"context"
	"fmt"
	"time"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/store/sqlite"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/transcript"
)

// Ending is how many messages at their end all long threads share.
const Ending = 64

// The seeds of the conversations.
const (
	Seed       = 1
	endingSeed = 2
)

// Small are marks so low that a thread of a hundred messages has been cut, and
// so high that the outline of a million messages fits.
func Small() skein.Settings {
	var s skein.Settings
	s.Tail.Low, s.Tail.High = 2000, 4000
	s.Outline.Low, s.Outline.High = 2000, 3000
	return s
}

// Open opens the database at path for an engine with the built-in agent.
func Open(ctx context.Context, path string) (*skein.Engine, error) {
	st, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return nil, err
	}
	e, err := skein.Open(ctx, skein.Config{Store: st})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return e, nil
}

// Make makes a thread of n messages, more than Ending.
func Make(ctx context.Context, e *skein.Engine, id string, n int64, seed uint64, s skein.Settings) (*skein.Thread, error) {
	if n <= Ending {
		return nil, fmt.Errorf("a long thread has more than %d messages, not %d", Ending, n)
	}
	t, err := e.Create(ctx, id, fmt.Sprintf("%d messages", n), s)
	if err != nil {
		return nil, err
	}
	begin := time.Date(2020, 1, 1, 8, 0, 0, 0, time.UTC)
	body := &source{name: id + "-body", seed: seed, count: n - Ending, begin: begin}
	ending := &source{name: id + "-ending", seed: endingSeed, count: Ending, begin: begin.AddDate(6, 0, 0)}
	for _, piece := range []*source{body, ending} {
		report, err := t.Import(ctx, piece, transcript.Options{User: "ana", Agent: "north"})
		if err != nil {
			return nil, err
		}
		if int64(report.Added) != piece.count {
			return nil, fmt.Errorf("%s: %d messages of %d were added", piece.name, report.Added, piece.count)
		}
	}
	return t, Settle(ctx, t)
}

// Settle waits until all that was said is in the search index, so that nothing
// is left to be done beside what is measured.
func Settle(ctx context.Context, t *skein.Thread) error {
	for {
		state, err := t.State(ctx)
		if err != nil || state.Indexed >= state.Tip {
			return err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Weight is what an outline's lines weigh, in tokens.
func Weight(o skein.Outline) int {
	w := 0
	for _, l := range o.Lines {
		w += thread.Weight(thread.Span{ID: l.ID, N: l.N}.String() + "|" + l.Text)
	}
	return w
}
