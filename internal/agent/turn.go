package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/skeinhq/skein/internal/prompt"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

// Turn is one answer to what was said: steps until the model calls no more
// tools.
type Turn struct {
	Log   *Log
	Seen  *Seen // set before tools run: what the history tools look at
	Agent Agent
	Name  string // of the model, as in the rule table
	Model model.Model
	Rules model.Rules
	Tools []tool.Tool
	Zone  string
	Marks Marks
	Live  func(thread.Live) // hears of an answer being made; may drop
	Now   func() time.Time

	begun    thread.Entry
	said     []thread.Entry // the whole messages that the newest prompt was made from
	partial  *live          // of an answer that failed in the middle
	steps    int
	overflow error // of a prompt that is too large, while a cut is tried
	usage    thread.Usage
	lastSave time.Time
}

// Seen is what the history tools look at: the thread's state, for whom.
type Seen struct {
	Thread thread.Thread
	Viewer string
}

// audience is who may see the turn's answer: everybody, or, where something that
// it answers was said to some only, those, its author and the agent.
func (t *Turn) audience() []string {
	var names []string
	for _, e := range slices.Backward(t.said) {
		m := e.Message
		if m == nil || m.Turn == t.begun.Seq {
			continue
		}
		if m.Role == thread.Assistant {
			break
		}
		if m.Role == thread.User && len(m.Audience) > 0 {
			names = append(append(names, m.Author, t.Agent.Name), m.Audience...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// lookBack is how many of the newest messages are looked at for one that no
// agent has answered.
const lookBack = 64

// Unanswered gives what waits for an answer, oldest first: what is queued, else
// the messages since the newest answer.
func (l *Log) Unanswered(ctx context.Context) ([]*thread.Message, error) {
	var out []*thread.Message
	for _, seq := range l.Thread.Inbox {
		e, err := l.Store.Entry(ctx, &l.Thread, seq)
		if err != nil {
			return nil, err
		}
		if e.Queued != nil {
			out = append(out, e.Queued.Message)
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	for e, err := range l.Store.Messages(ctx, &l.Thread, max(0, l.Thread.Length-lookBack), l.Thread.Length) {
		switch {
		case err != nil:
			return nil, err
		case e.Message == nil:
		case e.Message.Role == thread.Assistant:
			out = out[:0]
		default:
			out = append(out, e.Message)
		}
	}
	return out, nil
}

// Place makes messages of what is queued, without a turn: where no agent may see
// it, nobody answers.
func (l *Log) Place(ctx context.Context) error {
	return l.Anew(ctx, func() error {
		taken, err := l.taken(ctx)
		if err != nil || len(taken) == 0 {
			return err
		}
		_, err = l.Commit(ctx, taken)
		return err
	})
}

// taken makes the messages of what is queued.
func (l *Log) taken(ctx context.Context) ([]store.New, error) {
	var entries []store.New
	for _, seq := range l.Thread.Inbox {
		e, err := l.Store.Entry(ctx, &l.Thread, seq)
		if err != nil {
			return nil, err
		}
		if e.Queued == nil {
			continue // erased
		}
		m := *e.Queued.Message
		m.Queued = seq
		entries = append(entries, Compose(thread.Say(m)))
	}
	return entries, nil
}

// Run begins the turn, or goes on with the open one, and ends it. What it was
// stopped by, if by anything, is logged and returned.
func (t *Turn) Run(ctx context.Context) error {
	if err := t.Log.Anew(ctx, func() error { return t.begin(ctx) }); err != nil {
		return err
	}
	reason, err := t.run(ctx)
	if err != nil && thread.CodeOf(err) == "" {
		err = typed(ctx, err)
	}
	if err == nil && reason == "" {
		return nil // the last message's commit has ended the turn
	}
	return errors.Join(err, t.end(ctx, reason, err))
}

// begin commits the turn's first entry, after what was queued.
func (t *Turn) begin(ctx context.Context) error {
	l := t.Log
	if l.Thread.Turn != 0 {
		e, err := l.Store.Entry(ctx, &l.Thread, l.Thread.Turn)
		t.begun = e
		return err
	}
	entries, err := l.taken(ctx)
	if err != nil {
		return err
	}
	entries = append(entries, event(thread.Turn{State: thread.TurnBegun, Agent: t.Agent.Name}))
	w, err := l.Commit(ctx, entries)
	if err != nil {
		return err
	}
	t.begun = w.Entries[len(w.Entries)-1]
	return nil
}

// run makes steps until one ends the turn. It gives no reason where the turn's
// end stands in the log already.
func (t *Turn) run(ctx context.Context) (thread.Stop, error) {
	limit := t.Agent.MaxSteps
	if limit == 0 {
		limit = DefaultMaxSteps
	}
	moment := InsideTurn
	for {
		if err := ctx.Err(); err != nil {
			return thread.StopAborted, aborted(err)
		}
		if err := t.answerCalls(ctx); err != nil {
			return t.reason(ctx), err
		}
		if t.steps >= limit {
			return thread.StopError, &thread.Error{Code: thread.Limit, Op: "turn", Thread: t.Log.Thread.ID, Message: fmt.Sprintf("the turn reached its limit of %d steps", limit), Hint: "say something to go on"}
		}
		cuts := t.Log.Thread.Cuts
		if _, err := t.Log.Cut(ctx, t.Marks, moment); err != nil {
			return t.reason(ctx), err
		}
		if moment == Overflowing && t.Log.Thread.Cuts == cuts {
			return t.reason(ctx), t.overflow // nothing could leave
		}
		done, err := t.step(ctx)
		switch {
		case tooLarge(err) && moment != Overflowing:
			moment, t.overflow, t.partial = Overflowing, err, nil
		case err != nil:
			return t.reason(ctx), err
		case done:
			return "", nil
		default:
			moment = InsideTurn
		}
	}
}

// tooLarge says whether a prompt does not go into the model's window, by our own
// count or by the provider's.
func tooLarge(err error) bool {
	var e *thread.Error
	if errors.As(err, &e) {
		if _, ours := e.Details.(prompt.Overflow); ours {
			return true
		}
	}
	return model.Overflows(err)
}

func (t *Turn) reason(ctx context.Context) thread.Stop {
	if ctx.Err() != nil {
		return thread.StopAborted
	}
	return thread.StopError
}

func aborted(err error) error {
	return &thread.Error{Code: thread.Aborted, Op: "turn", Message: "the turn was stopped", Err: err}
}

// end commits the turn's last entry where the last message did not bring it. It
// outlives the context that stopped the turn.
func (t *Turn) end(ctx context.Context, reason thread.Stop, cause error) error {
	if code := thread.CodeOf(cause); code == thread.Conflict || code == thread.Storage {
		return nil // somebody else owns the turn now, or nothing can be written: it stays open
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	ended := thread.Turn{State: thread.TurnEnded, Turn: t.begun.Seq, Agent: t.Agent.Name, Reason: reason, Usage: &t.usage, Steps: t.steps}
	var typed *thread.Error
	if errors.As(cause, &typed) {
		ended.Error = &thread.Error{Code: typed.Code, Op: typed.Op, Message: typed.Error(), Hint: typed.Hint}
	}
	entries := t.abandoned()
	if t.partial != nil {
		if kept, ok := unfinished(*t.partial, thread.StopError); ok {
			entries = append(entries, kept)
		}
	}
	entries = append(entries, event(ended))
	_, err := t.Log.Commit(ctx, entries, thread.Doc{Name: thread.LiveDoc})
	return err
}

// abandoned closes calls of the turn that will not run any more.
func (t *Turn) abandoned() []store.New {
	past, err := t.Log.Recent.Load(context.Background(), t.Log.Store, &t.Log.Thread, 0)
	if err != nil {
		return nil // the next owner's repair closes them
	}
	var out []store.New
	for _, c := range openCalls(past.Messages) {
		out = append(out, c.answered(t.begun.Seq, thread.Result(c.part.ID, c.part.Name, neverRan, true)))
	}
	return out
}

// prompt builds the prompt of the turn's next request.
func (t *Turn) prompt(ctx context.Context, usage Usage) (*prompt.Prompt, error) {
	past, err := t.Log.Recent.Load(ctx, t.Log.Store, &t.Log.Thread, 0)
	if err != nil {
		return nil, err
	}
	t.said = past.Messages
	p, err := Prompt(Input{
		Thread: &t.Log.Thread, Past: past, Usage: usage, Marks: t.Marks,
		Definition: t.Agent.Definition(t.Name, t.Zone, t.Tools), Time: t.begun.Time, Rules: t.Rules,
	})
	if err != nil {
		return nil, err
	}
	return p, prompt.Validate(&p.Request, t.Rules)
}
