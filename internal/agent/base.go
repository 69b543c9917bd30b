package agent

import (
	"context"
	"strings"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/strategy"
	"github.com/skeinhq/skein/thread"
)

// Base names the strategies whose cuts a thread goes on from: a chain's names,
// joined by commas. Another base starts again from the log; but an outline goes on
// from the last cut that any outline made, whatever stands before it in the chain,
// so that a thread of any length may change to it or begin to have its results
// shortened.
type Base string

// BaseOf gives the base of a chain.
func BaseOf(c strategy.Chain) Base { return Base(c.String()) }

// Outlined says whether the chain ends in the outline.
func (b Base) Outlined() bool {
	return b == "" || b == OutlineStrategy || strings.HasSuffix(string(b), ","+OutlineStrategy)
}

// cut gives the active cut that a thread goes on from, nil where there is none.
func (b Base) cut(ctx context.Context, st store.Store, t *thread.Thread) (*thread.Cut, error) {
	for seq := t.Cut; seq != 0; {
		e, err := st.Entry(ctx, t, seq)
		if err != nil {
			return nil, err
		}
		if e.Cut == nil {
			return nil, &thread.Error{Code: thread.Storage, Op: "read", Thread: t.ID, Message: "the cut in force is not in the log", Hint: "run skein doctor"}
		}
		made := Base(e.Cut.Chain)
		switch {
		case !b.Outlined() && made != b:
			return nil, nil
		case b.Outlined() && !made.Outlined():
			seq = e.Cut.Prev
			continue
		case b == OutlineStrategy && e.Cut.Kept != nil:
			whole := *e.Cut
			whole.Kept, whole.Length = nil, 0 // nothing is shortened any more
			return &whole, nil
		}
		return e.Cut, nil
	}
	return nil, nil
}
