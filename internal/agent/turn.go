package agent

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/skeinhq/skein/guide"
	"github.com/skeinhq/skein/internal/prompt"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/strategy"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

// Turn is one answer to what was said: steps until the model calls no more
// tools.
type Turn struct {
	Log        *Log
	Seen       *Seen // set before tools run: what the history tools look at
	Agent      Agent
	Definition prompt.Definition // resolved for this turn
	Chain      strategy.Chain
	Name       string // of the model, as in the rule table
	Model      model.Model
	Rules      model.Rules
	Models     func(name string) (model.Model, model.Rules, error) // for summaries
	Tools      []tool.Tool
	Skills     guide.Skills
	Guide      guide.Input
	Marks      Marks
	Live       func(thread.Live)  // hears of an answer being made; may drop
	Tell       func(thread.Event) // hears what no entry shows; may drop
	Verbose    bool               // requests and answers are told too
	Now        func() time.Time

	id       string // of the thread: tools tell of things while the log moves on
	begun    thread.Entry
	heard    heard
	skills   []string // that observers were told are open
	partial  *live    // of an answer that failed in the middle
	overflow error    // of a prompt that is too large, while a cut is tried
	took     took
	later    map[int64]bool // queued entries that are for a turn of their own
	lastSave time.Time
}

// Seen is what the history tools look at: the thread's state, for whom.
type Seen struct {
	Thread thread.Thread
	Viewer string
}

// lookBack is how many of the newest messages are looked at for one that no
// agent has answered.
const lookBack = 64

// Unanswered gives what waits for an answer, oldest first: what is queued, else
// the messages since the newest answer. Results that came before a turn was stopped
// do not: whoever stopped it wants no more of it.
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
	if slices.ContainsFunc(out, func(m *thread.Message) bool { return m.Role == thread.User }) {
		return out, nil
	}
	if stopped, err := l.stopped(ctx); err != nil || stopped {
		return nil, err
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
		entries = append(entries, takenFrom(e))
	}
	return entries, nil
}

func takenFrom(queued thread.Entry) store.New {
	m := *queued.Queued.Message
	m.Queued = queued.Seq
	return Compose(thread.Say(m))
}

// Run begins the turn, or goes on with the open one, and ends it; or it parks
// it, where a call waits for an approval: the error is then a [Waiting]'s. What
// it was stopped by, if by anything, is logged and returned.
func (t *Turn) Run(ctx context.Context) error {
	if err := t.Log.Anew(ctx, func() error { return t.begin(ctx) }); err != nil {
		return err
	}
	t.Log.Parked = false
	limited, cancel := t.within(ctx)
	defer cancel()
	reason, err := t.survive(limited)
	if waits(err) {
		t.Log.Parked = true
		return err
	}
	if out := context.Cause(limited); ctx.Err() == nil && thread.CodeOf(out) == thread.Limit {
		reason, err = thread.StopLimit, out // the turn's time is over
	}
	if err != nil && thread.CodeOf(err) == "" {
		err = typed(ctx, err)
	}
	if err != nil && left(ctx) {
		return err
	}
	if err == nil && reason == "" {
		return nil // the last message's commit has ended the turn
	}
	return errors.Join(err, t.end(ctx, reason, err))
}

// begin commits the turn's first entry, after what was queued, or finds what the
// open turn has taken so far.
func (t *Turn) begin(ctx context.Context) error {
	l := t.Log
	t.id = l.Thread.ID
	if l.Thread.Turn != 0 {
		e, err := l.Store.Entry(ctx, &l.Thread, l.Thread.Turn)
		if err != nil {
			return err
		}
		t.begun = e
		if err := t.listen(ctx); err != nil {
			return err
		}
		return t.resume(ctx)
	}
	entries, err := l.taken(ctx)
	if err != nil {
		return err
	}
	entries = append(entries, event(thread.Turn{State: thread.TurnBegun, Agent: t.Agent.Name}))
	w, err := l.Commit(ctx, entries, thread.Doc{Name: thread.PromiseDoc}) // the turn is what was promised
	if err != nil {
		return err
	}
	t.begun = w.Entries[len(w.Entries)-1]
	return t.listen(ctx)
}

// survive is run; one that panics has failed, and its turn ends.
func (t *Turn) survive(ctx context.Context) (reason thread.Stop, err error) {
	defer func() {
		if p := recover(); p != nil {
			reason, err = thread.StopError, &thread.Error{Code: thread.Response, Op: "turn", Thread: t.id, Message: "the turn failed badly", Hint: "what the program logged says more", Err: thread.Caught(p)}
		}
	}()
	return t.run(ctx)
}

// run makes steps until one ends the turn. It gives no reason where the turn's
// end stands in the log already.
func (t *Turn) run(ctx context.Context) (thread.Stop, error) {
	t.tell(thread.Event{Type: thread.ConversationEvent, Count: t.Log.Thread.Length})
	t.tell(thread.Event{Type: thread.InstructionsEvent, Count: t.Agent.instructions()})
	moment := InsideTurn
	for {
		if err := ctx.Err(); err != nil {
			return thread.StopAborted, aborted(err)
		}
		if err := t.answerCalls(ctx); err != nil {
			return t.reason(ctx, err), err
		}
		if err := t.steer(ctx); err != nil {
			return t.reason(ctx, err), err
		}
		if err := t.limit(0); err != nil {
			return thread.StopLimit, err
		}
		cuts := t.Log.Thread.Cuts
		if err := t.Shrink(ctx, moment); err != nil {
			return t.reason(ctx, err), err
		}
		if moment == Overflowing && t.Log.Thread.Cuts == cuts {
			return t.reason(ctx, t.overflow), t.overflow // nothing could leave
		}
		done, err := t.step(ctx)
		switch {
		case tooLarge(err) && moment != Overflowing:
			moment, t.overflow, t.partial = Overflowing, err, nil
		case err != nil:
			return t.reason(ctx, err), err
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

func (t *Turn) reason(ctx context.Context, err error) thread.Stop {
	if ctx.Err() != nil {
		return thread.StopAborted
	}
	var l *thread.Error
	if errors.As(err, &l) {
		if _, ours := l.Details.(Reached); ours {
			return thread.StopLimit
		}
	}
	return thread.StopError
}

// tell tells observers what no entry shows.
func (t *Turn) tell(e thread.Event) {
	e.Time, e.Thread, e.Turn, e.Agent = t.Now().UTC(), t.id, t.begun.Seq, t.Agent.Name
	if e.Step == 0 {
		e.Step = t.took.steps
	}
	t.Tell(e)
}

// ErrLeft is the cause that ends a turn's context where it is not over: it stays
// open in the log, as if its process had died, and whoever owns it next goes on
// with it.
var ErrLeft = &thread.Error{Code: thread.Aborted, Op: "turn", Message: "the process ends; the next one goes on with the turn"}

func left(ctx context.Context) bool { return errors.Is(context.Cause(ctx), ErrLeft) }

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
	ended := thread.Turn{State: thread.TurnEnded, Turn: t.begun.Seq, Agent: t.Agent.Name, Reason: reason, Usage: &t.took.usage, Steps: t.took.steps}
	if cause != nil {
		ended.Error = told(cause)
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
	past, err := t.Log.past(context.Background())
	if err != nil {
		return nil // the next owner's repair closes them
	}
	return t.unrun(openCalls(past.Whole()), neverRan)
}

// unrun answers calls that are not run, saying why.
func (t *Turn) unrun(open []call, why string) []store.New {
	var out []store.New
	for _, c := range open {
		out = append(out, c.answered(t.begun.Seq, thread.Result(c.part.ID, c.part.Name, why, true)))
	}
	return out
}

// prompt builds the prompt of the turn's next request.
func (t *Turn) prompt(ctx context.Context, usage Usage) (*prompt.Prompt, error) {
	past, err := t.Log.past(ctx)
	if err != nil {
		return nil, err
	}
	contexts, err := t.Agent.Contexts(ctx, past, t.Skills, t.Guide)
	if err != nil {
		return nil, err
	}
	if loaded := past.Loaded(t.Agent.Name); !slices.Equal(loaded, t.skills) {
		t.skills = loaded
		t.tell(thread.Event{Type: thread.SkillsEvent, Names: loaded})
	}
	p, err := Prompt(Input{
		Thread: &t.Log.Thread, Past: past, Usage: usage, Marks: t.Marks, Contexts: contexts,
		Definition: t.Definition, Time: t.begun.Time, Rules: t.Rules,
	})
	if err != nil {
		return nil, err
	}
	return p, prompt.Validate(&p.Request, t.Rules)
}

// Abort ends the open turn, which nobody runs, as stopped. It takes no more of the
// turn than Log and Now.
func (t *Turn) Abort(ctx context.Context) error {
	if err := t.begin(ctx); err != nil {
		return err
	}
	if b := t.begun.Turn; b != nil {
		t.Agent.Name = b.Agent
	}
	return t.end(ctx, thread.StopAborted, &thread.Error{Code: thread.Aborted, Op: "turn", Thread: t.Log.Thread.ID, Message: "the turn was stopped"})
}

// Loaded gives the skills that the turn's agent has open.
func (t *Turn) Loaded(ctx context.Context) ([]string, error) {
	state := t.Seen.Thread // as of the call: the log moves on while tools run
	past, err := t.Log.Recent.Load(ctx, t.Log.Store, &state, t.Log.Base, 0)
	return past.Loaded(t.Agent.Name), err
}
