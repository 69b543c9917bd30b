package chat

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// The fields in which thinking comes as a text. They are kept as its signature,
// so that it goes back in the same one.
const (
	reasoningField = "reasoning"
	thoughtField   = "reasoning_content"
)

// chunk is one event of the stream.
type chunk struct {
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Index  int    `json:"index"`
	Delta  delta  `json:"delta"`
	Finish string `json:"finish_reason"`
}

type delta struct {
	Content   json.RawMessage `json:"content"` // a text, or a list of pieces
	Refusal   string          `json:"refusal"`
	Reasoning string          `json:"reasoning"`
	Thought   string          `json:"reasoning_content"`
	Details   []detail        `json:"reasoning_details"`
	Calls     []callPiece     `json:"tool_calls"`
}

type callPiece struct {
	Index    *int      `json:"index"`
	ID       string    `json:"id"`
	Function arguments `json:"function"`
}

// detail is a piece of thinking as OpenRouter gives it and wants it back.
type detail struct {
	Type      string `json:"type"`
	Text      string `json:"text,omitempty"`
	Summary   string `json:"summary,omitempty"`
	Data      string `json:"data,omitempty"`
	Signature string `json:"signature,omitempty"`
	ID        string `json:"id,omitempty"`
	Format    string `json:"format,omitempty"`
	Index     int    `json:"index"`
}

type usage struct {
	Prompt     int64   `json:"prompt_tokens"`
	Completion int64   `json:"completion_tokens"`
	Cost       float64 `json:"cost"`
	Hit        int64   `json:"prompt_cache_hit_tokens"`
	In         struct {
		Read  int64 `json:"cached_tokens"`
		Write int64 `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	Out struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// counts makes counts of a usage: what the cache gave and took stands apart.
func (u usage) counts() thread.Usage {
	read := max(u.In.Read, u.Hit)
	return thread.Usage{
		Input: max(0, u.Prompt-read-u.In.Write), CacheRead: read, CacheWrite: u.In.Write,
		Output: u.Completion, Reasoning: u.Out.Reasoning, Cost: u.Cost,
	}
}

// answer gathers the pieces of one answer.
type answer struct {
	provider string
	model    string // as the request names it
	number   int64  // of the request: it makes ids

	text    strings.Builder
	thought strings.Builder
	field   string // in which thinking came as a text
	details []detail
	calls   []*open
	current *open // the call that pieces without an index go to
	refused bool
	finish  string
	ended   bool // the server has said so
	usage   thread.Usage
}

// open is a call while it comes.
type open struct {
	index     int
	id, name  string
	arguments strings.Builder
}

// take takes one event and gives what there is to tell.
func (a *answer) take(c *chunk) []model.Event {
	if c.Usage != nil {
		a.usage = c.Usage.counts()
	}
	var out []model.Event
	for i := range c.Choices {
		choice := &c.Choices[i]
		if choice.Index != 0 {
			continue
		}
		out = append(out, a.think(&choice.Delta)...)
		out = append(out, a.say(&choice.Delta)...)
		for _, p := range choice.Delta.Calls {
			a.call(p)
		}
		if choice.Finish != "" {
			a.finish, a.ended = choice.Finish, true
		}
	}
	return out
}

func (a *answer) say(d *delta) (out []model.Event) {
	text, thought := pieces(d.Content)
	if thought != "" {
		a.thought.WriteString(thought)
		out = append(out, model.Event{Type: model.ThinkingDelta, Text: thought})
	}
	if d.Refusal != "" {
		a.refused = true
		text += d.Refusal
	}
	if text != "" {
		a.text.WriteString(text)
		out = append(out, model.Event{Type: model.TextDelta, Text: text})
	}
	return out
}

// pieces reads content: a text, or a list of texts and of thinking.
func pieces(raw json.RawMessage) (text, thought string) {
	if len(raw) == 0 || json.Unmarshal(raw, &text) == nil {
		return text, ""
	}
	var list []struct {
		Text     string          `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return "", ""
	}
	for _, p := range list {
		text += p.Text
		if len(p.Thinking) > 0 {
			inner, _ := pieces(p.Thinking)
			thought += inner
		}
	}
	return text, thought
}

func (a *answer) think(d *delta) []model.Event {
	a.detail(d.Details)
	text, field := d.Reasoning, reasoningField
	if d.Thought != "" {
		text, field = d.Thought, thoughtField
	}
	if text == "" {
		return nil
	}
	a.field = field
	a.thought.WriteString(text)
	return []model.Event{{Type: model.ThinkingDelta, Text: text}}
}

// detail puts together what comes in pieces: those of one index and type follow
// each other.
func (a *answer) detail(pieces []detail) {
	for _, p := range pieces {
		n := len(a.details)
		if n == 0 || a.details[n-1].Index != p.Index || a.details[n-1].Type != p.Type {
			a.details = append(a.details, p)
			continue
		}
		last := &a.details[n-1]
		last.Text += p.Text
		last.Summary += p.Summary
		last.Data += p.Data
		last.Signature += p.Signature
		if p.ID != "" {
			last.ID = p.ID
		}
		if p.Format != "" {
			last.Format = p.Format
		}
	}
}

// call takes a piece of a call. It belongs to the call with its index; servers
// that give none send whole calls, or the pieces of one after the other.
func (a *answer) call(p callPiece) {
	o := a.current
	if p.Index != nil {
		o = nil
		for _, have := range a.calls {
			if have.index == *p.Index {
				o = have
			}
		}
	}
	if o == nil || p.ID != "" && o.id != "" && p.ID != o.id || p.Index == nil && p.Function.Name != "" {
		o = &open{index: len(a.calls)}
		if p.Index != nil && o.index < *p.Index {
			o.index = *p.Index
		}
		a.calls = append(a.calls, o)
	}
	a.current = o
	if p.ID != "" {
		o.id = p.ID
	}
	if p.Function.Name != "" {
		o.name = p.Function.Name
	}
	o.arguments.WriteString(p.Function.Arguments)
}

// stops says what the servers' reasons mean. Where there are calls they are the
// reason, whatever else is said.
var stops = map[string]thread.Stop{
	"length": thread.StopLength, "max_tokens": thread.StopLength, "content_filter": thread.StopRefusal, "refusal": thread.StopRefusal,
}

// done makes the event that ends the answer. A call that the length cut off is
// left out; any other must be readable.
func (a *answer) done() (model.Event, error) {
	e := model.Event{Type: model.Done, Stop: stops[a.finish], Usage: a.usage}
	if a.refused {
		e.Stop = thread.StopRefusal
	}
	thinking, err := a.thinking()
	if err != nil {
		return model.Event{}, err
	}
	e.Parts = thinking
	if a.text.Len() > 0 {
		e.Parts = append(e.Parts, thread.Text(a.text.String()))
	}
	for i, o := range a.calls {
		input := strings.TrimSpace(o.arguments.String())
		if input != "" && !json.Valid([]byte(input)) {
			if e.Stop == thread.StopLength {
				continue
			}
			return model.Event{}, fmt.Errorf("the input of the call of %s is no JSON", o.name)
		}
		if o.id == "" {
			o.id = fmt.Sprintf("call-%d-%d", a.number, i+1)
		}
		e.Parts = append(e.Parts, thread.Call(o.id, o.name, json.RawMessage(input)))
	}
	if e.Stop == "" {
		e.Stop = thread.StopEnd
		if slices.ContainsFunc(e.Parts, func(p thread.Part) bool { return p.Type == thread.CallPart }) {
			e.Stop = thread.StopCalls
		}
	}
	if e.Stop == thread.StopRefusal && a.text.Len() == 0 {
		e.Parts = append(e.Parts, thread.Text("(the model refused to answer)"))
	}
	return e, nil
}

// thinking makes the part of what was thought, if anything was.
func (a *answer) thinking() ([]thread.Part, error) {
	p := thread.Part{Type: thread.ThinkingPart, Text: a.thought.String(), Signature: a.field, Provider: a.provider, Model: a.model}
	if len(a.details) > 0 {
		data, err := thread.Encode(a.details)
		if err != nil {
			return nil, err
		}
		p.Signature = string(data)
		if p.Text == "" {
			for _, d := range a.details {
				p.Text += d.Text + d.Summary
			}
		}
	}
	if p.Text == "" && p.Signature == "" {
		return nil, nil
	}
	return []thread.Part{p}, nil
}
