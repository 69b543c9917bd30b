package agent

import (
	"context"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// steer makes messages of what was said meanwhile for this turn.
func (t *Turn) steer(ctx context.Context) error {
	said, err := t.steers(ctx)
	if err != nil || len(said) == 0 {
		return err
	}
	var entries []store.New
	for _, e := range said {
		entries = append(entries, takenFrom(e))
	}
	if _, err := t.Log.Commit(ctx, entries); err != nil {
		return err
	}
	for _, e := range said {
		m := e.Queued.Message
		t.hear(m)
		t.tell(thread.Event{Type: thread.SteerEvent, Seq: e.Seq, By: m.Author, Text: m.PlainText()})
	}
	return nil
}

// steers gives the queued entries that are for this turn, as the log is now.
func (t *Turn) steers(ctx context.Context) ([]thread.Entry, error) {
	state, err := t.Log.Store.Thread(ctx, t.Log.Thread.Space, t.Log.Thread.ID)
	if err != nil {
		return nil, err
	}
	var out []thread.Entry
	for _, seq := range state.Inbox {
		if t.later[seq] {
			continue
		}
		e, err := t.Log.Store.Entry(ctx, &state, seq)
		if err != nil {
			return nil, err
		}
		if e.Queued != nil && e.Queued.When == thread.WhenNow {
			out = append(out, e)
			continue
		}
		if t.later == nil {
			t.later = map[int64]bool{}
		}
		t.later[seq] = true
	}
	return out, nil
}
