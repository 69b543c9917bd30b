package skein

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/skeinhq/skein/internal/agent"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// DefaultLease is how long a lease on a turn lasts; it is renewed three times
// in that. So long after its owner's death another process takes the turn over.
const DefaultLease = 5 * time.Second

// lookAgain is how often a process that waits for another's turn looks.
const lookAgain = 50 * time.Millisecond

// Ask says something and waits for the answer, whose text it gives. Where
// another process runs the thread's turn, that one answers, and Ask waits for
// it.
//
// Errors: those of Say and Reply.
func (t *Thread) Ask(ctx context.Context, author, text string, options ...SayOption) (string, error) {
	said, err := t.Say(ctx, author, text, options...)
	if err != nil {
		return "", err
	}
	if err := t.Reply(ctx); err != nil {
		return "", err
	}
	answer, err := t.answerTo(ctx, said)
	return answer.Text, err
}

// Piece is a piece of an answer being made: some text, or a tool call. ID tells
// one answer from the next. Where Retry is set it says why the answer starts
// again: what came of it so far is void. Where Stop is set the answer has ended
// before it was complete: by its length, or since the model refused. Where Result
// is set it is what a call gave: Author is the tool then, and To who called it.
type Piece struct {
	ID     string
	Author string
	To     string
	Text   string
	Retry  string
	Call   *thread.Part
	Result *thread.Part
	Stop   thread.Stop
}

// PiecesOf gives the calls, the results and the ending of an entry, as Stream
// yields them; its text has come before.
func PiecesOf(e *thread.Entry) []Piece {
	m := e.Message
	if m == nil {
		return nil
	}
	var out []Piece
	if m.Role == thread.Tool {
		to := ""
		if len(m.To) > 0 {
			to = m.To[0]
		}
		for _, r := range m.Results() {
			out = append(out, Piece{ID: e.ID, Author: m.Author, To: to, Result: &r})
		}
	}
	if m.Role != thread.Assistant {
		return out
	}
	for _, c := range m.Calls() {
		out = append(out, Piece{ID: e.ID, Author: m.Author, Call: &c})
	}
	if s := m.Stop; s == thread.StopLength || s == thread.StopRefusal {
		out = append(out, Piece{ID: e.ID, Author: m.Author, Stop: s})
	}
	return out
}

// Stream is Ask, piece by piece: it yields the answer as it comes. Leaving the
// loop stops the answer; what came until then is kept.
func (t *Thread) Stream(ctx context.Context, author, text string, options ...SayOption) iter.Seq2[Piece, error] {
	return t.stream(ctx, func() (thread.Entry, error) { return t.Say(ctx, author, text, options...) })
}

// StreamReply is Reply, piece by piece, as Stream is Ask.
func (t *Thread) StreamReply(ctx context.Context) iter.Seq2[Piece, error] {
	return t.stream(ctx, func() (thread.Entry, error) {
		state, err := t.State(ctx)
		return thread.Entry{Seq: state.Tip}, err
	})
}

// stream yields the answers to what waits for one once say has said it.
func (t *Thread) stream(ctx context.Context, say func() (thread.Entry, error)) iter.Seq2[Piece, error] {
	return func(yield func(Piece, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		batches := t.Watch(ctx)
		said, err := say()
		if err != nil {
			yield(Piece{}, err)
			return
		}
		ended := make(chan error, 1)
		go func() {
			defer stop()
			ended <- t.Reply(ctx)
		}()
		streamed, left := false, false
		for b, err := range batches {
			for _, p := range piecesOf(b) {
				streamed = true
				if left = left || !yield(p, nil); left {
					break
				}
			}
			if err != nil || left {
				break // a watcher that is let go has fallen behind; the answer is in the log
			}
		}
		if left {
			stop()
		}
		err = <-ended
		switch {
		case left:
		case err != nil:
			yield(Piece{}, err)
		case !streamed: // another process has answered
			if p, err := t.answerTo(context.WithoutCancel(ctx), said); p != (Piece{}) || err != nil {
				yield(p, err)
			}
		}
	}
}

func piecesOf(b thread.Batch) []Piece {
	if l := b.Live; l != nil {
		switch model.EventType(l.Type) {
		case model.TextDelta:
			return []Piece{{ID: l.ID, Author: l.Author, Text: l.Text}}
		case model.Retry:
			return []Piece{{ID: l.ID, Author: l.Author, Retry: l.Text}}
		}
		return nil
	}
	var out []Piece
	for i := range b.Entries {
		out = append(out, PiecesOf(&b.Entries[i])...)
	}
	return out
}

// answerTo gives the newest answer that follows what was said.
func (t *Thread) answerTo(ctx context.Context, said thread.Entry) (Piece, error) {
	for e, err := range t.Entries(ctx, store.EntriesQuery{After: said.Seq, Kinds: []thread.Kind{thread.MessageKind}, Newest: true}) {
		if err != nil {
			return Piece{}, err
		}
		if e.Message != nil && e.Message.Role == thread.Assistant && e.Message.Stop != thread.StopCalls {
			return Piece{ID: e.ID, Author: e.Message.Author, Text: e.Message.PlainText()}, nil
		}
	}
	return Piece{}, nil
}

// Reply answers whatever waits for an answer: an open turn that a dead process
// left, what was queued, the newest message. It does nothing where nothing
// waits. While another process owns the turn it waits for that one.
//
// Errors: those of the model (provider, quota, limit, response, timeout),
// aborted where ctx ends, configuration, storage. What was said stays; Reply
// again tries again.
func (t *Thread) Reply(ctx context.Context) error { return t.answer(ctx, t.engine.waiting) }

// Resume is Reply for who was not asked just now, such as a server that finds what
// another has left: it answers what is due alone, see [Engine.Promised]. What was
// stopped, or has failed, while it waited for the turn it leaves alone.
//
// Errors: those of Reply.
func (t *Thread) Resume(ctx context.Context) error { return t.answer(ctx, t.engine.due) }

// answer answers as long as there is something to answer.
func (t *Thread) answer(ctx context.Context, more patience) error {
	return t.own(ctx, more, func(ctx context.Context, log *agent.Log) error {
		for {
			waiting, err := more(ctx, log)
			if err != nil {
				return err
			}
			if !waiting {
				return log.Place(ctx)
			}
			turn, err := t.engine.newTurn(ctx, log)
			if err != nil {
				return err
			}
			if begins := t.engine.cfg.Begins; begins != nil {
				if err := begins(ctx, t, turn.Agent); err != nil {
					return err
				}
			}
			if turn.Model, err = t.engine.cfg.Models(turn.Name); err != nil {
				return err
			}
			if err := turn.Run(ctx); err != nil {
				return err
			}
			if err := t.engine.cut(ctx, log, turn.Marks); err != nil {
				return err
			}
			if err := log.Refresh(ctx); err != nil {
				return err
			}
		}
	})
}

// newTurn chooses the agent, its model, tools and marks, and resolves its
// instructions. The model itself is still to be opened: not all that is done needs
// one.
func (e *Engine) newTurn(ctx context.Context, log *agent.Log) (*agent.Turn, error) {
	var s Settings
	if err := agent.ReadDoc(ctx, e.store, log.Thread.Key, thread.SettingsDoc, &s); err != nil {
		return nil, err
	}
	to, err := e.addressees(ctx, log)
	if err != nil {
		return nil, err
	}
	if log.Thread.Turn != 0 {
		if to, err = e.began(ctx, log); err != nil {
			return nil, err
		}
	}
	key := log.Thread.Key // tools tell of things while the log moves on
	tell := func(ev thread.Event) {
		e.hub.publish(thread.Batch{Thread: thread.Thread{Key: key}, Events: []thread.Event{ev}})
	}
	t := &agent.Turn{Log: log, Seen: &agent.Seen{}, Tell: tell, Verbose: slices.ContainsFunc(e.cfg.Observers, func(o Observer) bool { return o.Verbose }), Now: e.cfg.Now, Models: e.modelOf}
	t.Live = func(l thread.Live) { e.hub.publish(thread.Batch{Thread: log.Thread, Live: &l}) }
	c, err := e.cast(ctx, eyes{
		look:   func(context.Context) (thread.Thread, string, error) { return t.Seen.Thread, t.Seen.Viewer, nil },
		loaded: t.Loaded,
	}, s, to)
	if err != nil {
		return nil, err
	}
	t.Agent, t.Name, t.Rules, t.Tools, t.Skills, t.Chain, t.Marks = c.agent, c.model, c.rules, c.tools, c.skills, c.chain, c.marks
	t.Guide = e.guide(c, func(text string) {
		tell(thread.Event{Type: thread.WarningEvent, Time: e.cfg.Now().UTC(), Thread: key.ID, Agent: c.agent.Name, Reason: text})
	})
	t.Definition, err = e.define(ctx, c, s, t.Guide)
	return t, err
}

// began names the agent that began the open turn. Nobody else goes on with it: what
// it was allowed, and what was decided, is that agent's.
func (e *Engine) began(ctx context.Context, log *agent.Log) ([]string, error) {
	begun, err := e.store.Entry(ctx, &log.Thread, log.Thread.Turn)
	if err != nil || begun.Turn == nil {
		return nil, err
	}
	_, err = e.agent(begun.Turn.Agent)
	return []string{begun.Turn.Agent}, err
}

// waiting says whether there is anything for an agent to answer: an open turn, or
// a message that one of them may see.
func (e *Engine) waiting(ctx context.Context, log *agent.Log) (bool, error) {
	if log.Thread.Turn != 0 {
		return true, nil
	}
	waiting, err := log.Unanswered(ctx)
	return slices.ContainsFunc(waiting, e.seen), err
}

// due says whether there is anything for an agent to answer that is due.
func (e *Engine) due(ctx context.Context, log *agent.Log) (bool, error) {
	due, err := e.Promised(ctx, log.Thread)
	if err != nil || !due {
		return false, err
	}
	return e.waiting(ctx, log)
}

// seen says whether any agent may see a message.
func (e *Engine) seen(m *thread.Message) bool {
	return slices.ContainsFunc(e.cfg.Agents, func(a Agent) bool { return m.VisibleTo(a.Name) })
}

// addressees are whom the newest message is for that an agent may see, and only
// those who may see it.
func (e *Engine) addressees(ctx context.Context, log *agent.Log) ([]string, error) {
	waiting, err := log.Unanswered(ctx)
	if err != nil {
		return nil, err
	}
	for _, m := range slices.Backward(waiting) {
		if !e.seen(m) {
			continue
		}
		if len(m.Audience) == 0 {
			return m.To, nil
		}
		return slices.DeleteFunc(slices.Concat(m.To, e.Agents()), func(name string) bool { return !m.VisibleTo(name) }), nil
	}
	return nil, nil
}

// patience says whether there still is something to do, and so to wait for while
// somebody else owns the turn.
type patience func(context.Context, *agent.Log) (bool, error)

// refuse is no patience: where somebody else owns the turn it is a conflict.
var refuse patience

// own runs work as the owner of the thread's turn: what a dead owner left is
// repaired first, the lease is renewed meanwhile, and work's context ends where
// the lease is lost.
func (t *Thread) own(ctx context.Context, p patience, work func(context.Context, *agent.Log) error) (err error) {
	leave, err := t.enter(ctx, p)
	if err != nil {
		return err
	}
	defer leave()
	state, lease, err := t.acquire(ctx, p)
	if err != nil || lease.Fence == 0 {
		return err
	}
	ctx, lose := context.WithCancelCause(ctx)
	defer t.stoppable(lose)()
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		t.renew(ctx, state.Key, lease, lose)
	}()
	var log *agent.Log
	defer func() { // also where work panics
		lose(nil)
		<-renewed
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		released := t.engine.store.Release(last, state.Key, lease.Fence, log != nil && log.Parked && log.Thread.Turn != 0)
		if err == nil {
			err = released // else a lease that could not be released runs out
		}
	}()
	e := t.engine
	e.keepWarm(t)
	log = &agent.Log{
		Store: e.store, Thread: state, Fence: lease.Fence, Recent: &t.recent,
		Lines: e.lines, ByRule: e.cfg.LineModel == "", Published: e.committed,
	}
	log.Parked = state.Parked
	if log.Base, log.ForgetSkills, err = e.base(ctx, state.Key); err == nil {
		err = log.Refresh(ctx)
	}
	if err == nil {
		err = log.Repair(ctx)
	}
	if err == nil {
		err = work(ctx, log)
	}
	if cause := context.Cause(ctx); thread.CodeOf(cause) == thread.Conflict {
		err = cause
	}
	return err
}

// base says whose cuts a thread goes on from. Where its agent or its strategies
// are not known here, those of the outline do: what does not answer needs no more.
func (e *Engine) base(ctx context.Context, key thread.Key) (base agent.Base, forget bool, err error) {
	var s Settings
	if err := agent.ReadDoc(ctx, e.store, key, thread.SettingsDoc, &s); err != nil {
		return "", false, err
	}
	c, a, err := e.chain(s)
	if err != nil {
		return agent.OutlineStrategy, false, nil
	}
	return agent.BaseOf(c), a.ForgetSkills, nil
}

// enter lets one goroutine of this process at a time own the thread's turn.
func (t *Thread) enter(ctx context.Context, p patience) (leave func(), err error) {
	e := t.engine
	for {
		e.mu.Lock()
		if e.closed || e.drained {
			e.mu.Unlock()
			return nil, errClosed()
		}
		running, busy := e.turns[t.id]
		if !busy {
			mine := make(chan struct{})
			e.turns[t.id] = mine
			e.work.Add(1)
			e.mu.Unlock()
			return func() {
				e.mu.Lock()
				delete(e.turns, t.id)
				e.mu.Unlock()
				close(mine)
				e.work.Done()
			}, nil
		}
		e.mu.Unlock()
		if p == nil {
			return nil, t.busy()
		}
		select {
		case <-running:
		case <-ctx.Done():
			return nil, &thread.Error{Code: thread.Aborted, Op: "reply", Thread: t.id, Message: "the wait for the turn was stopped", Err: ctx.Err()}
		}
	}
}

func (t *Thread) busy() error {
	return &thread.Error{Code: thread.Conflict, Op: "turn", Thread: t.id, Message: "the thread's turn is running", Hint: "stop it or wait for its end"}
}

// acquire takes the lease. The zero lease without an error means that the owner
// who was waited for has answered everything.
func (t *Thread) acquire(ctx context.Context, p patience) (thread.Thread, thread.Lease, error) {
	for {
		state, err := t.State(ctx)
		if err != nil {
			return state, thread.Lease{}, err
		}
		if !state.Deleted.IsZero() {
			return state, thread.Lease{}, &thread.Error{Code: thread.NotFound, Op: "turn", Thread: t.id, Message: "the thread was deleted"}
		}
		lease, err := t.engine.store.Acquire(ctx, state.Key, t.engine.owner, t.engine.cfg.Lease)
		if err == nil {
			return state, lease, nil
		}
		if thread.CodeOf(err) != thread.Conflict {
			return state, thread.Lease{}, err
		}
		if p == nil {
			return state, thread.Lease{}, t.busy()
		}
		if err := model.Wait(ctx, lookAgain); err != nil {
			return state, thread.Lease{}, err
		}
		log := &agent.Log{Store: t.engine.store, Thread: state}
		if err := log.Refresh(ctx); err != nil {
			return state, thread.Lease{}, err
		}
		more, err := p(ctx, log)
		if err != nil || !more {
			return state, thread.Lease{}, err
		}
	}
}

// renew keeps the lease until ctx ends, and ends it where the lease is lost or
// the engine closes.
func (t *Thread) renew(ctx context.Context, key thread.Key, lease thread.Lease, lose context.CancelCauseFunc) {
	tick := time.NewTicker(t.engine.cfg.Lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.engine.ctx.Done():
			lose(errClosed())
			return
		case <-tick.C:
		}
		if t.askedToStop(ctx, key) {
			lose(errStopped(t.id))
			return
		}
		now, err := t.engine.store.Acquire(ctx, key, t.engine.owner, t.engine.cfg.Lease)
		if ctx.Err() != nil {
			return
		}
		if err == nil && now.Fence == lease.Fence {
			continue
		}
		lose(&thread.Error{Code: thread.Conflict, Op: "turn", Thread: t.id, Message: "another process took the turn over", Err: err})
		return
	}
}
