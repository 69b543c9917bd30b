package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

// Asked is a call that waits for somebody to allow or deny it.
type Asked struct {
	ID       string          `json:"id"`   // of the entry that asks: it names this question and no other
	Seq      int64           `json:"seq"`  // of the same
	Call     string          `json:"call"` // the call's id, which a model may use again
	Agent    string          `json:"agent"`
	Tool     string          `json:"tool"`
	Input    json.RawMessage `json:"input"`
	Question string          `json:"question"`
	Reason   string          `json:"reason,omitempty"` // of the rule that asks
}

// Waiting is the Details of the error that parks a turn, whose code is
// permission.
type Waiting struct {
	Asked []Asked `json:"asked"`
}

// waits says whether err parks the turn.
func waits(err error) bool {
	var e *thread.Error
	if !errors.As(err, &e) {
		return false
	}
	_, ok := e.Details.(Waiting)
	return ok
}

// waiting is the error that parks the turn.
func (t *Turn) waiting(ctx context.Context) error {
	w, err := t.Log.Pending(ctx)
	if err != nil {
		return err
	}
	return Waits(t.Log.Thread.ID, w)
}

// Waits makes the error that says what a parked turn waits for.
func Waits(id string, w Waiting) error {
	var questions []string
	for _, a := range w.Asked {
		questions = append(questions, a.Question)
	}
	return &thread.Error{
		Code: thread.Permission, Op: "turn", Thread: id, Message: "the turn waits for an approval: " + strings.Join(questions, "; "),
		Hint: "somebody has to allow or deny it", Details: w,
	}
}

func (c call) asked(q question) Asked {
	return Asked{ID: q.entry, Seq: q.seq, Call: c.part.ID, Agent: c.entry.Message.Author, Tool: c.part.Name, Input: c.part.Input, Question: q.words, Reason: q.rule}
}

// judged is a call and what is to happen to it: it is refused, it waits, or it
// runs.
type judged struct {
	call
	refusal string                 // why it is not run
	waits   bool                   // for an approval
	changes bool                   // it is not read-only, and runs
	hidden  func(path string) bool // what it must not show; nil: nothing
}

// judge says of each open call what is to happen to it: first the skills, then
// the permissions, then what was decided. What has to be asked is asked, in
// writing and once.
func (t *Turn) judge(ctx context.Context, past Past, open []call) ([]judged, error) {
	decided, err := t.Log.decisions(ctx, open[0].entry.Seq)
	if err != nil {
		return nil, err
	}
	var allowed tool.Allowed
	if err := ReadDoc(ctx, t.Log.Store, t.Log.Thread.Key, thread.AllowedDoc, &allowed); err != nil {
		return nil, err
	}
	loaded := past.before(open[0].entry.Seq).Loaded(t.Agent.Name)
	var out []judged
	var ask []store.New
	for _, c := range open {
		j := judged{call: c}
		found, known := tool.Find(t.Tools, c.part.Name)
		if !known || found.CheckInput(c.part.Input) != nil {
			out = append(out, j) // running it says what is wrong
			continue
		}
		asked := decided[c.part.ID]
		if why, locked := t.Skills.Denied(c.part.Name, loaded); locked && asked.State == "" {
			j.refusal = why // what was asked about was open then
			out = append(out, j)
			continue
		}
		v, err := t.Agent.Permissions.Decide(found, c.part.Input)
		if v.Rule == 0 && history(c.part.Name) {
			v.Decision = tool.Allow // it shows what the conversation says already
		}
		switch {
		case err != nil:
			j.refusal = err.Error()
		case v.Decision == tool.Deny:
			j.refusal = denied + because(v.Reason, "the permissions do not allow this")
		case asked.State == thread.ApprovalDenied:
			j.refusal = denied + because(asked.Reason, fmt.Sprintf("%s does not want this", because(asked.By, "somebody")))
		case v.Decision != tool.Ask || asked.State == thread.ApprovalAllowed || allowed.Has(found, v.Resources):
		default:
			j.waits = true
			if asked.State == "" {
				ask = append(ask, approval(thread.Approval{Call: c.part.ID, State: thread.ApprovalAsked, Question: v.Question(found, c.part.Input), Reason: v.Reason}))
			}
		}
		if asked.State == thread.ApprovalAllowed && asked.Scope == thread.ScopeThread && !allowed.Has(found, v.Resources) {
			allowed = allowed.With(found, v.Resources)
			d, err := doc(thread.AllowedDoc, allowed)
			if err != nil {
				return nil, err
			}
			if err := t.Log.Store.PutDocs(ctx, t.Log.Thread.Key, []thread.Doc{d}); err != nil {
				return nil, err
			}
		}
		j.hidden = t.Agent.Permissions.Hides(found, v, allowed)
		j.changes = !found.ReadOnly && j.refusal == "" && !j.waits
		out = append(out, j)
	}
	if len(ask) > 0 {
		if _, err := t.Log.Commit(ctx, ask); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func history(name string) bool {
	return name == thread.ZoomTool || name == thread.ReadTool || name == thread.SearchTool
}

func because(reason, otherwise string) string {
	if reason != "" {
		return reason
	}
	return otherwise
}

func approval(a thread.Approval) store.New {
	return store.New{Entry: thread.Entry{Kind: thread.ApprovalKind, Index: thread.NoIndex, Approval: &a}}
}

// question is what was asked about a call, and, where somebody has decided, what.
type question struct {
	thread.Approval
	entry string // the id of the entry that asks
	seq   int64  // its seq
	words string // of the question
	rule  string // the reason of the rule that asks
}

// decisions gives, by the call's id, what was asked and decided since an entry. A
// decision is of the entry that asked, since models use ids again; the first one
// counts.
func (l *Log) decisions(ctx context.Context, since int64) (map[string]question, error) {
	out := map[string]question{}
	q := store.EntriesQuery{After: since, Kinds: []thread.Kind{thread.ApprovalKind}}
	for e, err := range l.Store.Entries(ctx, &l.Thread, q) {
		if err != nil {
			return nil, err
		}
		a := e.Approval
		if a == nil {
			continue
		}
		was, known := out[a.Call]
		switch {
		case a.State == thread.ApprovalAsked && !known:
			out[a.Call] = question{*a, e.ID, e.Seq, a.Question, a.Reason}
		case a.State != thread.ApprovalAsked && known && was.State == thread.ApprovalAsked && a.Asked == was.seq:
			was.Approval = *a
			out[a.Call] = was
		}
	}
	return out, nil
}

// Pending gives the calls of the open turn that were asked about and not decided.
func (l *Log) Pending(ctx context.Context) (Waiting, error) {
	var w Waiting
	if l.Thread.Turn == 0 {
		return w, nil
	}
	past, err := l.past(ctx)
	if err != nil {
		return w, err
	}
	open := openCalls(past.Whole())
	if len(open) == 0 {
		return w, nil
	}
	decided, err := l.decisions(ctx, open[0].entry.Seq)
	if err != nil {
		return w, err
	}
	for _, c := range open {
		if q := decided[c.part.ID]; q.State == thread.ApprovalAsked {
			w.Asked = append(w.Asked, c.asked(q))
		}
	}
	return w, nil
}

// before gives the past as it was before the entry of that seq.
func (p Past) before(seq int64) Past {
	for i := range p.Messages {
		if p.Messages[i].Seq >= seq {
			p.Messages = p.Messages[:i]
			break
		}
	}
	for i := range p.Kept {
		if p.Kept[i].Seq >= seq {
			p.Kept, p.Messages = p.Kept[:i], nil
			break
		}
	}
	return p
}
