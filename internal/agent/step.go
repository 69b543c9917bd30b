package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
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
	a := &answer{turn: t, live: live{ID: id.String(), Agent: t.Agent.Name, Model: t.Name, Turn: t.begun.Seq, Time: t.Now()}}
	event, err := a.stream(ctx, &p.Request)
	t.steps++
	switch {
	case err != nil && a.live.Text != "" && ctx.Err() != nil:
		event = model.Event{Parts: []thread.Part{thread.Text(a.live.Text)}, Stop: thread.StopAborted}
	case err != nil:
		t.partial = &a.live
		return false, err
	}
	stamp := p.Stamp
	stamp.Definition = definition
	m := thread.Message{
		Author: t.Agent.Name, To: t.asker(), Audience: t.audience(), Role: thread.Assistant, Parts: event.Parts, Turn: t.begun.Seq, Contexts: p.Told,
		Model: t.Name, Stop: event.Stop, Usage: &event.Usage, Request: &stamp,
	}
	if cost := t.Rules.Cost(event.Usage); event.Usage.Cost == 0 {
		m.Usage.Cost = cost
	}
	t.usage.Add(*m.Usage)
	usage.Requests++
	usage.Turns.Add(*m.Usage)
	usage.Tokens += int64(stamp.Tokens)
	usage.Same += int64(stamp.Same)
	if usage.Last == nil {
		usage.Last = map[string]*thread.Request{}
	}
	usage.Last[t.Agent.Name] = &stamp
	return t.commit(ctx, id.String(), m, usage)
}

// asker is who said the newest user message.
func (t *Turn) asker() []string {
	for _, e := range slices.Backward(t.said) {
		if e.Message != nil && e.Message.Role == thread.User {
			return []string{e.Message.Author}
		}
	}
	return nil
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
	data, err := t.Agent.Definition(t.Name, t.Zone, t.Tools).Encode()
	if err != nil {
		return "", err
	}
	return t.Log.Store.PutBlob(ctx, t.Log.Thread.Key, "application/json", data)
}

// commit writes the model's message, and the turn's end with it where it calls
// no tools. An answer that was stopped is committed all the same.
func (t *Turn) commit(ctx context.Context, id string, m thread.Message, usage Usage) (done bool, err error) {
	said := thread.Say(m)
	said.ID = id
	entries := []store.New{Compose(said)}
	if done = len(m.Calls()) == 0; done {
		entries = append(entries, event(thread.Turn{State: thread.TurnEnded, Turn: t.begun.Seq, Agent: t.Agent.Name, Reason: m.Stop, Usage: &t.usage, Steps: t.steps}))
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
			err = &thread.Error{Code: thread.Provider, Op: "model", Message: fmt.Sprintf("the model %s failed badly: %v", t.Name, p), Details: string(debug.Stack())}
		}
	}()
	for e, err := range t.Model.Stream(ctx, r) {
		if err != nil {
			return model.Event{}, typed(ctx, err)
		}
		piece := thread.Live{ID: a.live.ID, Author: a.live.Agent, Type: string(e.Type), Text: e.Text}
		switch e.Type {
		case model.Done:
			e.Usage = fit(e.Usage)
			return checked(e)
		case model.Retry:
			a.live.Text, a.live.Thinking = "", ""
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

// atOnce is how many read-only calls run at the same time.
const atOnce = 4

// answerCalls runs the open calls of the newest message, in order: neighbours
// that are read-only at once, others alone and marked as started first. Each
// result is committed.
func (t *Turn) answerCalls(ctx context.Context) error {
	past, err := t.Log.Recent.Load(ctx, t.Log.Store, &t.Log.Thread, 0)
	if err != nil {
		return err
	}
	var open []call
	for _, c := range openCalls(past.Messages) {
		if c.entry.Message.Turn == t.begun.Seq {
			open = append(open, c)
		}
	}
	for len(open) > 0 {
		group := t.nextGroup(open)
		open = open[len(group):]
		if err := t.runGroup(ctx, group); err != nil {
			return err
		}
	}
	return nil
}

func (t *Turn) nextGroup(open []call) []call {
	n := 0
	for n < len(open) && n < atOnce {
		if found, ok := tool.Find(t.Tools, open[n].part.Name); ok && !found.ReadOnly {
			break
		}
		n++
	}
	return open[:max(1, n)]
}

// runGroup runs the calls of a group at once and commits their results in the
// order of the calls.
func (t *Turn) runGroup(ctx context.Context, group []call) error {
	first := group[0].part
	if found, ok := tool.Find(t.Tools, first.Name); ok && !found.ReadOnly {
		mark := event(thread.Turn{State: thread.TurnStarted, Turn: t.begun.Seq, Agent: t.Agent.Name, Call: first.ID})
		if _, err := t.Log.Commit(ctx, []store.New{mark}); err != nil {
			return err
		}
	}
	*t.Seen = Seen{Thread: t.Log.Thread}
	if len(group[0].entry.Message.Audience) > 0 {
		t.Seen.Viewer = t.Agent.Name // what it opens stays among those who may see the answer
	}
	type outcome struct {
		result thread.Part
		err    error
	}
	outcomes := make([]chan outcome, len(group))
	for i, c := range group {
		outcomes[i] = make(chan outcome, 1)
		go func() {
			a, err := tool.Answer(ctx, t.Tools, c.part)
			outcomes[i] <- outcome{a.Result, err}
		}()
	}
	var failed error
	for i, c := range group {
		o := <-outcomes[i]
		if failed = errors.Join(failed, o.err); failed != nil {
			continue // wait for the others all the same
		}
		_, err := t.Log.Commit(ctx, []store.New{c.answered(t.begun.Seq, o.result)})
		failed = err
	}
	return failed
}
