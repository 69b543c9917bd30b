package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// took is what a turn has taken so far, over all the processes that ran it.
type took struct {
	steps  int
	calls  int
	usage  thread.Usage
	waited time.Duration // for approvals
}

// Reached gives the figures of a limit that a turn has reached, as Details of
// the error.
type Reached struct {
	Limit string  `json:"limit"` // steps, calls, tokens, cost or time
	Most  float64 `json:"most"`
	Took  float64 `json:"took"`
}

// resume counts what the open turn has taken before this process ran it. From a
// question on it has waited, until it has done anything again.
func (t *Turn) resume(ctx context.Context) error {
	l := t.Log
	q := store.EntriesQuery{After: t.begun.Seq, Kinds: []thread.Kind{thread.MessageKind, thread.CutKind, thread.ApprovalKind, thread.TurnKind}}
	var asked time.Time
	t.took = took{}
	for e, err := range l.Store.Entries(ctx, &l.Thread, q) {
		if err == nil && e.Approval == nil && e.Cut == nil && !asked.IsZero() {
			t.took.waited += e.Time.Sub(asked) // the turn was gone on with
			asked = time.Time{}
		}
		switch {
		case err != nil:
			return err
		case e.Approval != nil && asked.IsZero():
			asked = e.Time
		case e.Approval != nil:
		case e.Cut != nil && e.Cut.Usage != nil:
			t.took.usage.Add(*e.Cut.Usage)
		case e.Message == nil || e.Message.Turn != t.begun.Seq:
		case e.Message.Role == thread.Assistant:
			t.took.steps++
			if u := e.Message.Usage; u != nil {
				t.took.usage.Add(*u)
			}
		default:
			t.took.calls += len(e.Message.Results())
		}
	}
	if !asked.IsZero() {
		t.took.waited += t.Now().Sub(asked)
	}
	return nil
}

// limit says whether one of the turn's limits is reached, by what it has taken
// and by the calls that are to run next.
func (t *Turn) limit(calls int) error {
	m := t.Agent.Limits
	if m.Steps == 0 {
		m.Steps = DefaultSteps
	}
	u := t.took.usage
	switch tokens := u.Input + u.CacheRead + u.CacheWrite + u.Output; {
	case calls == 0 && t.took.steps >= m.Steps:
		return t.reached("steps", float64(m.Steps), float64(t.took.steps), many(m.Steps, "step", "steps"))
	case m.Calls > 0 && t.took.calls+calls > m.Calls:
		return t.reached("calls", float64(m.Calls), float64(t.took.calls+calls), many(m.Calls, "call of a tool", "calls of tools"))
	case m.Tokens > 0 && tokens >= m.Tokens:
		return t.reached("tokens", float64(m.Tokens), float64(tokens), fmt.Sprintf("%d tokens", m.Tokens))
	case m.Cost > 0 && u.Cost >= m.Cost:
		return t.reached("cost", m.Cost, u.Cost, fmt.Sprintf("$%.2f", m.Cost))
	}
	return nil
}

func many(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

func (t *Turn) reached(limit string, most, took float64, words string) error {
	return &thread.Error{
		Code: thread.Limit, Op: "turn", Thread: t.Log.Thread.ID, Message: "the turn reached its limit of " + words,
		Hint: "say something to go on; limits stand in the agent's file", Details: Reached{limit, most, took},
	}
}

// within gives the context that ends when the turn's time is over.
func (t *Turn) within(ctx context.Context) (context.Context, context.CancelFunc) {
	most := t.Agent.Limits.Time
	if most == 0 {
		return ctx, func() {}
	}
	left := most - (t.Now().Sub(t.begun.Time) - t.took.waited)
	out := t.reached("time", most.Seconds(), most.Seconds(), most.String())
	return context.WithTimeoutCause(ctx, max(left, 0), out)
}
