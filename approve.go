package skein

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skeinhq/skein/internal/agent"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

// Asked is a call that waits for somebody to allow or deny it: ID (of the entry that
// asks, and of this question alone), Call (the call's id, which a model may use
// again), Agent, Tool, Input, Question (for people), Reason (of the rule that asks).
type Asked = agent.Asked

// Waiting is the Details of the error, with the code permission, that Reply gives
// where the turn waits for an approval: Asked are the calls.
type Waiting = agent.Waiting

// Pending gives the calls that wait for somebody to allow or deny them.
func (t *Thread) Pending(ctx context.Context) ([]Asked, error) {
	log, err := t.reading(ctx)
	if err != nil {
		return nil, err
	}
	w, err := log.Pending(ctx)
	return w.Asked, err
}

// reading is the thread's log for who only reads it.
func (t *Thread) reading(ctx context.Context) (*agent.Log, error) {
	state, err := t.State(ctx)
	if err != nil {
		return nil, err
	}
	log := &agent.Log{Store: t.engine.store, Thread: state, Recent: &t.recent}
	log.Base, _, err = t.engine.base(ctx, state.Key)
	return log, err
}

// Approve allows a call that waits, named by the ID of the question or by the call's
// own; an empty text is the only one that does. Who has shown the question to
// somebody gives its ID, so that nothing else is allowed than was looked at. The turn
// goes on with Reply, on any process: it is not run here.
//
// Errors: not-found (no such call waits that by may see), invalid (several wait and none is
// named), conflict (somebody has decided otherwise meanwhile).
func (t *Thread) Approve(ctx context.Context, by, call string) error {
	return t.decide(ctx, call, thread.Approval{State: thread.ApprovalAllowed, Scope: thread.ScopeOnce, By: by})
}

// ApproveAlways allows a call that waits, and every such call in this thread from
// then on: those of the same tool, and of a tool that runs commands those with the
// same command.
func (t *Thread) ApproveAlways(ctx context.Context, by, call string) error {
	return t.decide(ctx, call, thread.Approval{State: thread.ApprovalAllowed, Scope: thread.ScopeThread, By: by})
}

// Deny denies a call that waits; the reason is for the model.
func (t *Thread) Deny(ctx context.Context, by, call, reason string) error {
	return t.decide(ctx, call, thread.Approval{State: thread.ApprovalDenied, By: by, Reason: clean(reason)})
}

func (t *Thread) decide(ctx context.Context, call string, a thread.Approval) error {
	if err := agent.CheckName(a.By); err != nil {
		return err
	}
	asked, err := t.Pending(ctx)
	if err != nil {
		return err
	}
	if asked, err = t.shown(ctx, asked, a.By); err != nil {
		return err
	}
	question, err := t.one(asked, call)
	if err != nil {
		return err
	}
	a.Call, a.Asked = question.Call, question.Seq
	state, err := t.State(ctx)
	if err != nil {
		return err
	}
	// The key lets only one decision about a question into the log.
	e := thread.Entry{Kind: thread.ApprovalKind, Index: thread.NoIndex, Approval: &a, Key: "decision/" + question.ID}
	w, err := t.engine.store.Append(ctx, state.Key, store.Draft{Entries: []store.New{{Entry: e}}})
	if thread.CodeOf(err) == thread.Conflict {
		return &thread.Error{Code: thread.Conflict, Op: "approval", Thread: t.id, Message: fmt.Sprintf("somebody has decided about %s already", question.Call), Err: err}
	}
	if err != nil {
		return err
	}
	t.engine.committed(w, nil)
	return nil
}

// shown gives the questions about calls of messages that somebody may see: nobody
// decides about the others, or learns that they are there.
func (t *Thread) shown(ctx context.Context, asked []Asked, by string) (out []Asked, err error) {
	for _, a := range asked {
		e, err := t.Caller(ctx, a.Call, a.Seq)
		if err != nil {
			return nil, err
		}
		if e.Message.VisibleTo(by) {
			out = append(out, a)
		}
	}
	return out, nil
}

// Caller gives the message that made a call: the newest with a call of that id
// before an entry of the log, such as the one that asks about it or decides. Undone
// messages count too.
//
// Errors: not-found (no message before the entry makes such a call).
func (t *Thread) Caller(ctx context.Context, call string, before int64) (thread.Entry, error) {
	q := store.EntriesQuery{Before: before, Newest: true, Inactive: true, Kinds: []thread.Kind{thread.MessageKind}}
	for e, err := range t.Entries(ctx, q) {
		if err != nil {
			return thread.Entry{}, err
		}
		if e.Message != nil && slices.ContainsFunc(e.Message.Calls(), func(p thread.Part) bool { return p.ID == call }) {
			return e, nil
		}
	}
	return thread.Entry{}, &thread.Error{Code: thread.NotFound, Op: "approval", Thread: t.id, Message: fmt.Sprintf("no message makes the call %q", call)}
}

// one gives the question that is meant.
func (t *Thread) one(asked []Asked, call string) (Asked, error) {
	var ids []string
	for _, a := range asked {
		if a.Call == call || a.ID == call || call == "" && len(asked) == 1 {
			return a, nil
		}
		ids = append(ids, a.Call)
	}
	switch {
	case len(asked) == 0:
		return Asked{}, &thread.Error{Code: thread.NotFound, Op: "approval", Thread: t.id, Message: "no call waits for an approval"}
	case call == "":
		return Asked{}, &thread.Error{Code: thread.Invalid, Op: "approval", Thread: t.id, Message: fmt.Sprintf("%d calls wait for an approval", len(asked)), Hint: "name one of " + strings.Join(ids, ", ")}
	}
	return Asked{}, &thread.Error{Code: thread.NotFound, Op: "approval", Thread: t.id, Message: fmt.Sprintf("no call %q waits for an approval", call), Hint: "waiting: " + strings.Join(ids, ", ")}
}

// Allowed gives what was allowed for the whole thread.
func (t *Thread) Allowed(ctx context.Context) (tool.Allowed, error) {
	state, err := t.State(ctx)
	if err != nil {
		return nil, err
	}
	var a tool.Allowed
	err = agent.ReadDoc(ctx, t.engine.store, state.Key, thread.AllowedDoc, &a)
	return a, err
}

// AskAgain takes back what was allowed of a tool for the whole thread; with a
// command only that one.
//
// Errors: not-found (nothing of it was allowed).
func (t *Thread) AskAgain(ctx context.Context, name, command string) error {
	state, err := t.State(ctx)
	if err != nil {
		return err
	}
	for {
		was, found, err := t.engine.store.Doc(ctx, state.Key, thread.AllowedDoc)
		if err != nil {
			return err
		}
		var a tool.Allowed
		if found {
			if err := agent.DecodeDoc(state.Key, thread.AllowedDoc, was, &a); err != nil {
				return err
			}
		}
		left := a.Without(name, command)
		if len(left) == len(a) {
			return &thread.Error{Code: thread.NotFound, Op: "approval", Thread: t.id, Message: fmt.Sprintf("nothing of %s was allowed for the thread", name)}
		}
		data, err := thread.Encode(left)
		if err != nil {
			return err
		}
		err = t.engine.store.SwapDoc(ctx, state.Key, thread.Doc{Name: thread.AllowedDoc, Data: data}, was)
		if thread.CodeOf(err) != thread.Conflict {
			return err
		}
	}
}

// lookForDecision is how often a process that waits for an approval looks.
const lookForDecision = 200 * time.Millisecond

// AwaitDecision waits until none of the thread's calls waits for an approval any
// more, whoever decides, in whatever process. Reply then goes on with the turn.
func (t *Thread) AwaitDecision(ctx context.Context) error {
	var tip int64
	for {
		log, err := t.reading(ctx)
		if err != nil {
			return err
		}
		if log.Thread.Tip != tip {
			tip = log.Thread.Tip
			w, err := log.Pending(ctx)
			if err != nil || len(w.Asked) == 0 {
				return err
			}
		}
		if err := model.Wait(ctx, lookForDecision); err != nil {
			return err
		}
	}
}
