package skein

import (
	"context"
	"iter"

	"github.com/skeinhq/skein/internal/agent"
	"github.com/skeinhq/skein/thread"
)

// stopAsked is the document by which another process is asked to stop a turn.
type stopAsked struct {
	Turn int64 `json:"turn"` // seq of the turn's first entry
}

// Stop stops the thread's turn: what has come of an answer is kept, marked as
// aborted. Where another process runs the turn it is asked to, and does within
// about a third of the lease. Where no turn is open it only takes back what was
// promised.
func (t *Thread) Stop(ctx context.Context) error {
	e := t.engine
	state, err := t.State(ctx)
	if err != nil {
		return err
	}
	if err := e.release(ctx, state.Key); err != nil {
		return err
	}
	e.mu.Lock()
	stop := e.stops[t.id]
	e.mu.Unlock()
	if stop != nil {
		stop(errStopped(t.id))
		return nil
	}
	if state.Turn == 0 {
		return nil
	}
	if state.Lease.Held(e.cfg.Now()) {
		data, err := thread.Encode(stopAsked{state.Turn})
		if err != nil {
			return err
		}
		return e.store.PutDocs(ctx, state.Key, []thread.Doc{{Name: thread.StopDoc, Data: data}})
	}
	return t.own(ctx, refuse, func(ctx context.Context, log *agent.Log) error {
		if log.Thread.Turn == 0 {
			return nil
		}
		turn := &agent.Turn{Log: log, Now: e.cfg.Now}
		return turn.Abort(ctx)
	})
}

func errStopped(id string) error {
	return &thread.Error{Code: thread.Aborted, Op: "turn", Thread: id, Message: "the turn was stopped"}
}

// stoppable lets Stop end what this process runs on the thread, until the function
// that it gives is called.
func (t *Thread) stoppable(stop context.CancelCauseFunc) (done func()) {
	e := t.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stops[t.id] = stop
	if e.drained {
		stop(agent.ErrLeft)
	}
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.stops, t.id)
	}
}

// askedToStop says whether another process has asked to stop the open turn. What
// cannot be read now is read again a little later.
func (t *Thread) askedToStop(ctx context.Context, key thread.Key) bool {
	var asked stopAsked
	if err := agent.ReadDoc(ctx, t.engine.store, key, thread.StopDoc, &asked); err != nil || asked.Turn == 0 {
		return false
	}
	state, err := t.State(ctx)
	return err == nil && state.Turn == asked.Turn
}

// Regenerate undoes the newest answer and has what it answered answered again.
//
// Errors: not-found (there is no answer), conflict (a turn runs), those of Reply.
func (t *Thread) Regenerate(ctx context.Context, by string) error {
	if err := t.rewindAnswer(ctx, by); err != nil {
		return err
	}
	return t.Reply(ctx)
}

// rewindAnswer undoes the newest answer, unless no turn may begin here.
func (t *Thread) rewindAnswer(ctx context.Context, by string) error {
	to, err := t.asked(ctx)
	if err != nil {
		return err
	}
	if begins := t.engine.cfg.Begins; begins != nil {
		state, err := t.State(ctx)
		if err != nil {
			return err
		}
		c, err := t.engine.castOf(ctx, state.Key)
		if err != nil {
			return err
		}
		if err := begins(ctx, t, c.agent); err != nil {
			return err
		}
	}
	return t.Rewind(ctx, to, by)
}

// StreamRegenerate is Regenerate, piece by piece, as Stream is Ask.
func (t *Thread) StreamRegenerate(ctx context.Context, by string) iter.Seq2[Piece, error] {
	return t.stream(ctx, func() (thread.Entry, error) {
		if err := t.rewindAnswer(ctx, by); err != nil {
			return thread.Entry{}, err
		}
		state, err := t.State(ctx)
		return thread.Entry{Seq: state.Tip}, err
	})
}

// asked gives the index of the message before the newest answer.
func (t *Thread) asked(ctx context.Context) (int64, error) {
	state, err := t.State(ctx)
	if err != nil {
		return 0, err
	}
	turn := int64(0)
	for i := state.Length - 1; i >= 0; i-- {
		e, err := t.at(ctx, &state, i)
		if err != nil {
			return 0, err
		}
		m := e.Message
		switch {
		case m == nil || turn == 0 && m.Role != thread.Assistant:
		case turn == 0:
			turn = m.Turn
		case m.Turn != turn && m.Role == thread.User && e.Seq < turn:
			return i, nil
		}
	}
	return 0, &thread.Error{Code: thread.NotFound, Op: "regenerate", Thread: t.id, Message: "there is no answer to make again"}
}

// Compact lets the thread's strategies act now, as if the prompt were too large:
// the outline halves what is sent whole, the others do what they do.
//
// Errors: conflict (a turn runs), those of the strategies.
func (t *Thread) Compact(ctx context.Context) error {
	return t.own(ctx, refuse, func(ctx context.Context, log *agent.Log) error {
		turn, err := t.engine.newTurn(ctx, log)
		if err != nil {
			return err
		}
		return turn.Shrink(ctx, agent.Asking)
	})
}
