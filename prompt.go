package skein

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/skeinhq/skein/internal/agent"
	"github.com/skeinhq/skein/internal/prompt"
	"github.com/skeinhq/skein/thread"
)

// Prompt is what would be sent: by sections, with its weight, cache marks and
// ledger. Its Print writes it for people.
type Prompt = prompt.Prompt

// Prompt builds what the agent would be sent now; an empty name means whoever
// would answer. Between turns the clock is that of the newest message, so the
// same log gives the same bytes.
func (t *Thread) Prompt(ctx context.Context, agentName string) (*Prompt, error) {
	state, err := t.State(ctx)
	if err != nil {
		return nil, err
	}
	var s Settings
	if err := agent.ReadDoc(ctx, t.engine.store, state.Key, thread.SettingsDoc, &s); err != nil {
		return nil, err
	}
	var usage Usage
	if err := agent.ReadDoc(ctx, t.engine.store, state.Key, thread.UsageDoc, &usage); err != nil {
		return nil, err
	}
	var to []string
	if agentName != "" {
		if _, err := t.engine.agent(agentName); err != nil {
			return nil, err
		}
		to = []string{agentName}
	}
	c, err := t.engine.cast(ctx, eyes{}, s, to)
	if err != nil {
		return nil, err
	}
	past, err := t.past(ctx, &state, c)
	if err != nil {
		return nil, err
	}
	in := t.engine.guide(c, nil)
	definition, err := t.engine.define(ctx, c, s, in)
	if err != nil {
		return nil, err
	}
	contexts, err := c.agent.Contexts(ctx, past, c.skills, in)
	if err != nil {
		return nil, err
	}
	return agent.Prompt(agent.Input{
		Thread: &state, Past: past, Usage: usage, Marks: c.marks, Contexts: contexts,
		Definition: definition, Time: clock(past), Rules: c.rules,
	})
}

// past gives what of the thread is sent, for looking at it: of a thread that is far
// behind its outline only the newest messages.
func (t *Thread) past(ctx context.Context, state *thread.Thread, c cast) (agent.Past, error) {
	t.engine.keepWarm(t)
	base, limit := agent.BaseOf(c.chain), 2*c.marks.Tail.Hard
	if !base.Outlined() {
		limit = 0
	}
	return t.recent.Load(ctx, t.engine.store, state, base, limit)
}

// PromptAt builds the prompt that the active answer at seq was made from, byte
// for byte as it was sent, cache marks aside: the log and the nodes hold all that it
// takes. (A mark stands where the request before ended, which may have been undone
// since.)
//
// Errors: not-found (no active answer there), configuration (its model is not in
// the rule table any more), storage.
func (t *Thread) PromptAt(ctx context.Context, seq int64) (*Prompt, error) {
	state, err := t.State(ctx)
	if err != nil {
		return nil, err
	}
	e, err := t.engine.store.Entry(ctx, &state, seq)
	if err != nil {
		return nil, err
	}
	if e.Message == nil || e.Message.Request == nil || !state.Active(state.OriginAt(seq), e.Branch, e.Index) {
		return nil, &thread.Error{Code: thread.NotFound, Op: "prompt", Thread: t.id, Message: fmt.Sprintf("entry %d is no active answer", seq), Hint: "skein show lists the log"}
	}
	request := e.Message.Request
	_, data, err := t.engine.store.Blob(ctx, state.Key, request.Definition)
	if err != nil {
		return nil, err
	}
	def, err := prompt.DecodeDefinition(data)
	if err != nil {
		return nil, err
	}
	rules, err := t.engine.cfg.Rules.Rules(def.Model)
	if err != nil {
		return nil, err
	}
	state.Length = e.Index
	if state.Cut, err = t.cutNumbered(ctx, &state, request.Cut); err != nil {
		return nil, err
	}
	past, err := (&agent.Recent{}).Load(ctx, t.engine.store, &state, agent.Base(def.Strategy), 0)
	if err != nil {
		return nil, err
	}
	return agent.Prompt(agent.Input{
		Thread: &state, Past: past, Usage: Usage{Requests: request.Number - 1}, Contexts: toldBesides(e.Message.Contexts),
		Definition: def, Time: request.Time, Rules: rules, Marks: agent.MarksFor(Settings{}, Agent{}, rules),
	})
}

// toldBesides are the contexts that were told with an answer, without the day,
// which its time says.
func toldBesides(contexts []thread.Context) []thread.Context {
	return slices.DeleteFunc(slices.Clone(contexts), func(c thread.Context) bool { return c.Name == prompt.Today })
}

// cutNumbered gives the seq of the active cut of that number; 0 for number 0.
func (t *Thread) cutNumbered(ctx context.Context, state *thread.Thread, number int64) (int64, error) {
	for seq := state.Cut; seq != 0 && number != 0; {
		e, err := t.engine.store.Entry(ctx, state, seq)
		if err != nil {
			return 0, err
		}
		if e.Cut == nil || e.Cut.Number < number {
			break
		}
		if e.Cut.Number == number {
			return seq, nil
		}
		seq = e.Cut.Prev
	}
	if number == 0 {
		return 0, nil
	}
	return 0, &thread.Error{Code: thread.Storage, Op: "prompt", Thread: t.id, Message: fmt.Sprintf("cut %d is not in the log", number), Hint: "run skein doctor"}
}

// clock is the time of the newest message.
func clock(past agent.Past) time.Time {
	if n := len(past.Messages); n > 0 {
		return past.Messages[n-1].Time
	}
	return time.Time{}
}

// Outline is a thread's outline with the state of its tail.
type Outline struct {
	Thread   string `json:"thread"`
	Messages int64  `json:"messages"` // active ones
	Boundary int64  `json:"boundary"` // index of the first whole message
	Cut      int64  `json:"cut"`      // number of the cut in force, 0 before the first
	Lines    []Line `json:"lines"`
	Tail     Tail   `json:"tail"`
	Backlog  int64  `json:"backlog"` // lines due and not built
	Error    string `json:"error,omitempty"`
	Strategy string `json:"strategy,omitempty"` // where it is not the outline alone
}

// Line is one line of the outline.
type Line struct {
	ID   int64  `json:"id"`
	N    int64  `json:"n"`
	Text string `json:"text"`
}

// Tail is the whole messages' start, their weight and the marks, in tokens.
type Tail struct {
	From   int64 `json:"from"`
	Weight int   `json:"weight"`
	Low    int   `json:"low"`
	High   int   `json:"high"`
}

// Outline reads the thread's outline.
func (t *Thread) Outline(ctx context.Context) (Outline, error) {
	state, err := t.State(ctx)
	if err != nil {
		return Outline{}, err
	}
	c, err := t.engine.castOf(ctx, state.Key)
	if err != nil {
		return Outline{}, err
	}
	past, err := t.past(ctx, &state, c)
	if err != nil {
		return Outline{}, err
	}
	out := Outline{Thread: t.id, Messages: state.Length, Boundary: past.Boundary(), Lines: []Line{}, Backlog: state.Backlog}
	if past.Cut != nil {
		out.Cut = past.Cut.Number
	}
	if base := agent.BaseOf(c.chain); base != agent.OutlineStrategy {
		out.Strategy = string(base)
	}
	for _, n := range past.Outline {
		out.Lines = append(out.Lines, Line{ID: n.Span.ID, N: n.Span.N, Text: thread.OneLine(n.Text)})
	}
	out.Tail = Tail{From: past.From, Low: c.marks.Tail.Low, High: c.marks.Tail.High}
	whole := past.Whole()
	for i := range whole {
		out.Tail.Weight += agent.Weight(&whole[i])
	}
	status, err := t.engine.lines.Status(ctx, state.Key)
	if status.Err != nil {
		out.Error = status.Err.Error()
	}
	return out, err
}
