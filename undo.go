package skein

import (
	"context"
	"fmt"

	"github.com/skeinhq/skein/internal/agent"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// Rewind undoes every message after the active one at index, which it keeps,
// and restores the thread as of it. What was undone stays readable. What was promised
// an answer and stays is still to be answered.
//
// Errors: not-found (no active message there), conflict (a turn runs).
func (t *Thread) Rewind(ctx context.Context, index int64, by string) error {
	return t.undo(ctx, func(ctx context.Context, log *agent.Log) error {
		at, err := t.at(ctx, &log.Thread, index)
		if err != nil {
			return err
		}
		if index == log.Thread.Length-1 && log.Thread.Turn == 0 {
			return nil
		}
		cut, err := cutAsOf(ctx, log, at.Seq)
		if err != nil {
			return err
		}
		left, err := t.engine.owed(ctx, &log.Thread, at.Seq)
		if err != nil {
			return err
		}
		d, err := left.doc()
		if err != nil {
			return err
		}
		_, err = log.Commit(ctx, append(closing(log), store.New{Entry: thread.Entry{
			Kind: thread.RewindKind, Index: thread.NoIndex,
			Rewind: &thread.Rewind{To: at.Seq, Index: index, Cut: cut, By: by, Undid: log.Thread.Length - 1 - index},
		}}), d)
		return err
	})
}

// Reset empties the thread's active range. Instructions and settings stay, and
// what was said stays readable.
func (t *Thread) Reset(ctx context.Context, by string) error {
	return t.undo(ctx, func(ctx context.Context, log *agent.Log) error {
		if log.Thread.Length == 0 && log.Thread.Turn == 0 {
			return nil
		}
		_, err := log.Commit(ctx, append(closing(log), store.New{Entry: thread.Entry{
			Kind: thread.ResetKind, Index: thread.NoIndex,
			Reset: &thread.Reset{By: by, Undid: log.Thread.Length},
		}}), kept)
		return err
	})
}

// undo does work as the owner of the turn, which must be free.
func (t *Thread) undo(ctx context.Context, work func(context.Context, *agent.Log) error) error {
	return t.own(ctx, refuse, func(ctx context.Context, log *agent.Log) error {
		return log.Anew(ctx, func() error { return work(ctx, log) })
	})
}

// Fork makes a thread that sees this one's past up to and with the active
// message at index, and goes on by itself.
//
// Errors: not-found (no active message there), conflict (the id is taken).
func (t *Thread) Fork(ctx context.Context, index int64, id, title string) (*Thread, error) {
	if err := agent.CheckName(id); err != nil {
		return nil, err
	}
	state, err := t.State(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := t.at(ctx, &state, index); err != nil {
		return nil, err
	}
	fork, err := t.engine.store.Fork(ctx, &state, index, id, clean(title))
	if err != nil {
		return nil, err
	}
	t.engine.mindLines(&fork)
	return t.engine.handle(id), nil
}

// at reads the active message at an index.
func (t *Thread) at(ctx context.Context, state *thread.Thread, index int64) (thread.Entry, error) {
	if index >= 0 && index < state.Length {
		for e, err := range t.engine.store.Messages(ctx, state, index, index+1) {
			return e, err
		}
	}
	return thread.Entry{}, &thread.Error{
		Code: thread.NotFound, Op: "message", Thread: t.id,
		Message: fmt.Sprintf("No message %d.", index), Hint: extent(state.Length),
	}
}

// extent says which messages there are.
func extent(length int64) string {
	if length == 0 {
		return "the thread is empty"
	}
	return fmt.Sprintf("the thread has 0 to %d", length-1)
}

// cutAsOf gives the seq of the cut that was in force when the entry seq was
// written.
func cutAsOf(ctx context.Context, log *agent.Log, seq int64) (int64, error) {
	cut := log.Thread.Cut
	for cut > seq {
		e, err := log.Store.Entry(ctx, &log.Thread, cut)
		if err != nil {
			return 0, err
		}
		if e.Cut == nil {
			return 0, &thread.Error{Code: thread.Storage, Op: "rewind", Thread: log.Thread.ID, Message: fmt.Sprintf("entry %d should be a cut", cut), Hint: "run skein doctor"}
		}
		cut = e.Cut.Prev
	}
	return cut, nil
}

// closing ends the turn that a dead process left open.
func closing(log *agent.Log) []store.New {
	if log.Thread.Turn == 0 {
		return nil
	}
	return []store.New{{Entry: thread.Entry{
		Kind: thread.TurnKind, Index: thread.NoIndex,
		Turn: &thread.Turn{State: thread.TurnEnded, Turn: log.Thread.Turn, Reason: thread.StopAborted},
	}}}
}
