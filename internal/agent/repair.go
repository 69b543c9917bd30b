package agent

import (
	"context"
	"slices"
	"time"

	"github.com/skeinhq/skein/internal/line"
	"github.com/skeinhq/skein/internal/prompt"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// live is what is saved, at most once a second, of an answer being made.
type live struct {
	ID       string    `json:"id"`
	Agent    string    `json:"agent"`
	Model    string    `json:"model"`
	Turn     int64     `json:"turn"`
	Time     time.Time `json:"time"`
	Text     string    `json:"text,omitempty"`
	Thinking string    `json:"thinking,omitempty"`
	Audience []string  `json:"audience,omitempty"`
}

// The texts of the results that a repair writes.
const (
	outcomeUnknown = "The outcome of this call is unknown: the process that ran it ended before it could say. It was not run again."
	neverRan       = "This call was never run: its turn ended before it could be."
)

// Repair closes, in writing and once, what a dead owner left: what was saved of
// a cut-off answer becomes an inactive entry marked interrupted, and every call
// that will never get a result gets an error result. In a turn that is still
// open, calls that never started are left for the turn to run.
func (l *Log) Repair(ctx context.Context) error {
	return l.Anew(ctx, func() error { return l.repair(ctx) })
}

func (l *Log) repair(ctx context.Context) error {
	var fixes []store.New
	var docs []thread.Doc
	var saved live
	if err := ReadDoc(ctx, l.Store, l.Thread.Key, thread.LiveDoc, &saved); err != nil {
		return err
	}
	if saved.ID != "" {
		docs = append(docs, thread.Doc{Name: thread.LiveDoc})
		if partial, ok := unfinished(saved, thread.StopInterrupted); ok {
			fixes = append(fixes, partial)
		}
	}
	missing, err := l.closeCalls(ctx)
	if err != nil {
		return err
	}
	fixes = append(fixes, missing...)
	if len(fixes) == 0 && len(docs) == 0 {
		return nil
	}
	_, err = l.Commit(ctx, fixes, docs...)
	return err
}

// unfinished makes the inactive entry of an answer that came to no end.
func unfinished(saved live, why thread.Stop) (store.New, bool) {
	var parts []thread.Part
	if saved.Thinking != "" {
		parts = append(parts, thread.Part{Type: thread.ThinkingPart, Text: saved.Thinking, Model: saved.Model})
	}
	if saved.Text != "" {
		parts = append(parts, thread.Text(saved.Text))
	}
	if len(parts) == 0 {
		return store.New{}, false
	}
	n := Compose(thread.Say(thread.Message{
		Author: saved.Agent, Role: thread.Assistant, Parts: parts,
		Turn: saved.Turn, Model: saved.Model, Stop: why,
	}))
	n.Line, n.Inactive = "", true
	return n, true
}

// closeCalls makes the error results of calls that will never get one.
func (l *Log) closeCalls(ctx context.Context) ([]store.New, error) {
	past, err := l.past(ctx)
	if err != nil {
		return nil, err
	}
	open := openCalls(past.Whole())
	if len(open) == 0 {
		return nil, nil
	}
	started := map[string]bool{}
	if l.Thread.Turn != 0 {
		if started, err = l.started(ctx); err != nil {
			return nil, err
		}
	}
	var fixes []store.New
	for _, c := range open {
		text := outcomeUnknown
		switch {
		case started[c.part.ID]:
		case l.Thread.Turn != 0 && c.entry.Message.Turn == l.Thread.Turn:
			continue // the turn goes on and runs it
		default:
			text = prompt.NoResult // as the prompt has shown it, so that it stays the same
		}
		fixes = append(fixes, c.answered(c.entry.Message.Turn, thread.Result(c.part.ID, c.part.Name, text, true)))
	}
	return fixes, nil
}

// started gives the ids of the open turn's calls that were marked as started
// and have no result yet. An id may come again in a later step.
func (l *Log) started(ctx context.Context) (map[string]bool, error) {
	ids := map[string]bool{}
	q := store.EntriesQuery{After: l.Thread.Turn, Kinds: []thread.Kind{thread.TurnKind, thread.MessageKind}}
	for e, err := range l.Store.Entries(ctx, &l.Thread, q) {
		if err != nil {
			return nil, err
		}
		switch {
		case e.Turn != nil && e.Turn.State == thread.TurnStarted:
			ids[e.Turn.Call] = true
		case e.Message != nil:
			for _, r := range e.Message.Results() {
				delete(ids, r.Call)
			}
		}
	}
	return ids, nil
}

// call is a tool call and the message that made it.
type call struct {
	entry *thread.Entry
	part  thread.Part
}

// openCalls gives the calls among the messages that have no result, in order. A
// result answers the oldest open call of its id before it: models use ids again. A
// call that ran at the provider's has its result beside it.
func openCalls(messages []thread.Entry) []call {
	var open []call
	for i := range messages {
		m := messages[i].Message
		if m == nil {
			continue
		}
		for _, p := range m.Parts {
			switch {
			case p.Type == thread.ResultPart:
				if at := slices.IndexFunc(open, func(c call) bool { return c.part.ID == p.Call }); at >= 0 {
					open = slices.Delete(open, at, at+1)
				}
			case p.Type == thread.CallPart && m.Role == thread.Assistant:
				open = append(open, call{&messages[i], p})
			}
		}
	}
	return open
}

// answered makes the message that carries the call's result to its agent.
func (c call) answered(turn int64, result thread.Part) store.New {
	author := result.Name
	if author == "" {
		author = "tool"
	}
	return Compose(thread.Say(thread.Message{
		Author: author, To: []string{c.entry.Message.Author}, Audience: c.entry.Message.Audience,
		Role: thread.Tool, Parts: []thread.Part{result}, Turn: turn, Meta: line.Opened(c.part),
	}))
}
