package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// saveEvery is how often an answer being made is saved beside the log.
const saveEvery = time.Second

// step asks the model once and commits its message before its tools run. It
// says whether that message has ended the turn.
func (t *Turn) step(ctx context.Context) (done bool, err error) {
	var usage Usage
	if err := ReadDoc(ctx, t.Log.Store, t.Log.Thread.Key, thread.UsageDoc, &usage); err != nil {
		return false, err
	}
	p, err := t.prompt(ctx, usage)
	if err != nil {
		return false, err
	}
	definition, err := t.keepDefinition(ctx)
	if err != nil {
		return false, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return false, err
	}
	p.Request.Blob = func(ctx context.Context, hash string) ([]byte, error) {
		_, data, err := t.Log.Store.Blob(ctx, t.Log.Thread.Key, hash)
		return data, err
	}
	a := &answer{turn: t, live: live{ID: id.String(), Agent: t.Agent.Name, Model: t.Name, Turn: t.begun.Seq, Time: t.Now(), Audience: t.heard.audience}}
	t.took.steps++
	if err := t.tellRequest(&p.Request); err != nil {
		return false, err
	}
	event, err := a.stream(ctx, &p.Request)
	t.tellResponse(id.String(), event, err)
	switch {
	case err != nil && a.live.Text != "" && ctx.Err() != nil && !left(ctx):
		event = model.Event{Parts: []thread.Part{thread.Text(a.live.Text)}, Stop: thread.StopAborted}
	case err != nil:
		t.partial = &a.live
		return false, err
	}
	stamp := p.Stamp
	stamp.Definition = definition
	m := thread.Message{
		Author: t.Agent.Name, To: t.heard.to(), Audience: t.heard.audience, Role: thread.Assistant, Parts: event.Parts, Turn: t.begun.Seq, Contexts: p.Told,
		Model: t.Name, Stop: event.Stop, Usage: &event.Usage, Request: &stamp,
	}
	if cost := t.Rules.Cost(event.Usage); event.Usage.Cost == 0 {
		m.Usage.Cost = cost
	}
	t.took.usage.Add(*m.Usage)
	usage.Requests++
	usage.count(&usage.Turns, t.Agent.Name, *m.Usage)
	usage.Tokens += int64(stamp.Tokens)
	usage.Same += int64(stamp.Same)
	if usage.Last == nil {
		usage.Last = map[string]*thread.Request{}
	}
	usage.Last[t.Agent.Name] = &stamp
	return t.commit(ctx, id.String(), m, usage)
}

// fit makes what a provider says it billed usable: nothing negative, nothing
// beyond reason, no cost that is no number.
func fit(u thread.Usage) thread.Usage {
	const most = 1 << 40
	for _, n := range []*int64{&u.Input, &u.CacheRead, &u.CacheWrite, &u.Output, &u.Reasoning} {
		*n = min(max(*n, 0), most)
	}
	if !(u.Cost >= 0 && u.Cost < most) {
		u.Cost = 0
	}
	return u
}

// keepDefinition keeps what the prompt was made from as a blob, so that it can
// be shown again.
func (t *Turn) keepDefinition(ctx context.Context) (hash string, err error) {
	data, err := t.Definition.Encode()
	if err != nil {
		return "", err
	}
	return t.Log.Store.PutBlob(ctx, t.Log.Thread.Key, "application/json", data)
}

// tellRequest tells observers of a step and what the model is asked.
func (t *Turn) tellRequest(r *model.Request) error {
	t.tell(thread.Event{Type: thread.StepEvent})
	e := thread.Event{Type: thread.RequestEvent, Model: t.Name}
	if t.Verbose {
		var err error
		if e.Request, err = thread.Encode(r); err != nil {
			return err
		}
	}
	t.tell(e)
	return nil
}

// tellResponse tells observers what the model answered.
func (t *Turn) tellResponse(id string, answer model.Event, err error) {
	e := thread.Event{Type: thread.ResponseEvent, ID: id, Model: t.Name, Stop: answer.Stop, Usage: &answer.Usage}
	if t.Verbose {
		e.Parts = answer.Parts
	}
	if err != nil {
		e = thread.Event{Type: thread.ModelErrorEvent, ID: id, Model: t.Name, Error: told(err)}
	}
	t.tell(e)
}

// told is an error as it stands in the log and is told of: its cause is in its words,
// unless that says nothing but that a context ended, or is a panic's.
func told(err error) *thread.Error {
	var e *thread.Error
	if !errors.As(err, &e) {
		e = &thread.Error{Code: thread.Provider, Message: "something failed", Err: err}
	}
	out := &thread.Error{Code: e.Code, Op: e.Op, Message: e.Message, Hint: e.Hint}
	if c := e.Err; c == nil || errors.Is(c, context.Canceled) || errors.Is(c, context.DeadlineExceeded) || thread.FaultOf(c) != nil {
		return out
	}
	out.Message = (&thread.Error{Message: e.Message, Err: e.Err}).Error()
	return out
}

// commit writes the model's message, and the turn's end with it where it calls
// no tools and nobody has said anything meanwhile that is for this turn. An answer
// that was stopped is committed all the same.
func (t *Turn) commit(ctx context.Context, id string, m thread.Message, usage Usage) (done bool, err error) {
	said := thread.Say(m)
	said.ID = id
	entries := []store.New{Compose(said)}
	if done, err = t.done(ctx, m); err != nil {
		return false, err
	}
	if done {
		entries = append(entries, event(thread.Turn{State: thread.TurnEnded, Turn: t.begun.Seq, Agent: t.Agent.Name, Reason: m.Stop, Usage: &t.took.usage, Steps: t.took.steps}))
	}
	d, err := doc(thread.UsageDoc, usage)
	if err != nil {
		return false, err
	}
	keep, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_, err = t.Log.Commit(keep, entries, d, thread.Doc{Name: thread.LiveDoc})
	return done, err
}

// done says whether a message ends the turn.
func (t *Turn) done(ctx context.Context, m thread.Message) (bool, error) {
	if len(m.Calls()) > 0 {
		return false, nil
	}
	if m.Stop == thread.StopAborted {
		return true, nil
	}
	waiting, err := t.steers(ctx)
	if err != nil || len(waiting) == 0 {
		return true, err
	}
	t.tell(thread.Event{Type: thread.PreventedEvent, Reason: "somebody said something that is for this turn"})
	return false, nil
}

// answer is an answer being made.
type answer struct {
	turn *Turn
	live live
}

// stream asks the model, tells of each piece, saves what there is at most once
// a second, and gives the event that ended it.
func (a *answer) stream(ctx context.Context, r *model.Request) (last model.Event, err error) {
	t := a.turn
	defer func() {
		if p := recover(); p != nil {
			err = &thread.Error{Code: thread.Provider, Op: "model", Message: "the model " + t.Name + " failed badly", Err: thread.Caught(p)}
		}
	}()
	for e, err := range t.Model.Stream(ctx, r) {
		if err != nil {
			return model.Event{}, typed(ctx, err)
		}
		piece := thread.Live{ID: a.live.ID, Author: a.live.Agent, Type: string(e.Type), Text: e.Text, Audience: a.live.Audience}
		switch e.Type {
		case model.Done:
			e.Usage = fit(e.Usage)
			return checked(e)
		case model.Retry:
			a.live.Text, a.live.Thinking = "", ""
			t.tell(thread.Event{Type: thread.RetryEvent, Model: t.Name, Reason: e.Text})
		case model.TextDelta:
			piece.Offset = len(a.live.Text)
			a.live.Text += e.Text
		case model.ThinkingDelta:
			piece.Offset = len(a.live.Thinking)
			a.live.Thinking += e.Text
		}
		t.Live(piece)
		if now := t.Now(); now.Sub(t.lastSave) >= saveEvery {
			t.lastSave = now
			d, err := doc(thread.LiveDoc, a.live)
			if err != nil {
				return model.Event{}, err
			}
			if err := t.Log.Store.PutDocs(ctx, t.Log.Thread.Key, []thread.Doc{d}); err != nil {
				return model.Event{}, err
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return model.Event{}, aborted(err)
	}
	return model.Event{}, &thread.Error{Code: thread.Response, Op: "model", Message: "the model's answer ended without saying so"}
}

// typed makes sure that a model's failure has a code.
func typed(ctx context.Context, err error) error {
	switch {
	case thread.CodeOf(err) != "":
		return err
	case ctx.Err() != nil:
		return aborted(err)
	}
	return &thread.Error{Code: thread.Provider, Op: "model", Message: "the model failed", Err: err}
}

// checked refuses an answer that cannot stand in the log: nothing to read, parts
// that no answer has, calls that no result could name.
func checked(e model.Event) (model.Event, error) {
	seen := map[string]bool{}
	said := false
	for i, p := range e.Parts {
		wrong := ""
		switch p.Type {
		case thread.CallPart:
			switch {
			case p.ID == "" || p.Name == "":
				wrong = "is a call without a name or an id"
			case seen[p.ID]:
				wrong = "is a second call with the id " + p.ID
			case !json.Valid(p.Input):
				wrong = "is a call whose input is not JSON"
			}
			seen[p.ID], said = true, true
		case thread.TextPart:
			said = said || strings.TrimSpace(p.Text) != ""
		case thread.ThinkingPart:
			said = said || p.Text != "" || p.Signature != ""
		default:
			wrong = fmt.Sprintf("is of the type %q, which no answer has", p.Type)
		}
		if wrong != "" {
			return model.Event{}, &thread.Error{Code: thread.Response, Op: "model", Message: fmt.Sprintf("part %d of the model's answer %s", i+1, wrong)}
		}
	}
	if !said {
		return model.Event{}, &thread.Error{Code: thread.Response, Op: "model", Message: "the model answered nothing"}
	}
	return e, nil
}
