package anthropic

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// body is a request as it is sent. The order of the fields is that of the bytes:
// what changes least comes first.
type body struct {
	Model     string    `json:"model"`
	MaxTokens int       `json:"max_tokens"`
	Stream    bool      `json:"stream"`
	Thinking  *thinking `json:"thinking,omitempty"`
	Output    *output   `json:"output_config,omitempty"`
	Tools     []tool    `json:"tools,omitempty"`
	System    []block   `json:"system,omitempty"`
	Messages  []message `json:"messages"`
}

type thinking struct {
	Type    string   `json:"type"`
	Budget  int      `json:"budget_tokens,omitempty"`
	Display string   `json:"display,omitempty"`
	Binding *binding `json:"block_binding,omitempty"`
}

type binding struct {
	Mismatch string `json:"prefix_mismatch_behavior"`
}

type output struct {
	Effort string `json:"effort"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema"`
}

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

// block is any block of content; which fields are set follows from Type.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature string          `json:"signature,omitempty"`
	Data      string          `json:"data,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUse   string          `json:"tool_use_id,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
	Content   []block         `json:"content,omitempty"`
	Source    *source         `json:"source,omitempty"`
	Title     string          `json:"title,omitempty"`
	Cache     *cache          `json:"cache_control,omitempty"`
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      any    `json:"data"` // []byte, which is written in base64, or a text
}

type cache struct {
	Type string `json:"type"`
	TTL  string `json:"ttl,omitempty"`
}

// body makes the request's body. bound says that the model binds its thinking,
// which takes a header of its own.
func (m *Model) body(ctx context.Context, r *model.Request) (b *body, bound bool, err error) {
	rules, err := m.rules.Rules(r.Model)
	if err != nil {
		return nil, false, err
	}
	b = &body{Model: model.NameAt(m.name, r.Model), MaxTokens: r.MaxOutput, Stream: true}
	if b.MaxTokens == 0 {
		b.MaxTokens = rules.MaxOutput
	}
	b.think(r.Thinking, rules)
	for _, t := range r.Tools {
		b.Tools = append(b.Tools, tool(t))
	}
	for _, s := range r.System {
		b.System = append(b.System, block{Type: "text", Text: s})
	}
	w := writer{ctx: ctx, read: r.Blob}
	places := make([][]place, len(r.Messages))
	for i := range r.Messages {
		if places[i], err = b.add(&w, &r.Messages[i]); err != nil {
			return nil, false, err
		}
	}
	for _, mark := range r.Marks {
		if bearer := b.at(mark, places); bearer != nil {
			bearer.Cache = &cache{Type: "ephemeral", TTL: m.ttl}
		}
	}
	return b, rules.Effort == model.EffortBound, nil
}

// budgets are the tokens of thinking for a level, where the model is not asked
// for the level itself.
var budgets = map[string]int{"low": 4_000, "medium": 16_000, "high": 32_000}

// leastBudget is the smallest that is taken.
const leastBudget = 1_024

// think asks for thinking. A model that binds its thinking is told to leave out
// what does not fit, never to fail; it thinks in any case.
func (b *body) think(effort string, rules model.Rules) {
	switch {
	case rules.Thinking == model.ThinkingNone:
	case rules.Effort == model.EffortBound:
		b.Thinking = &thinking{Type: "adaptive", Display: "summarized", Binding: &binding{Mismatch: "drop_block"}}
	case effort == "":
	case rules.Effort == model.EffortBudget:
		// Thinking counts as output, and something must be left to answer with.
		if n := min(budgets[effort], b.MaxTokens/2); n >= leastBudget {
			b.Thinking = &thinking{Type: "enabled", Budget: n}
		}
	case rules.Effort == model.EffortAdaptive:
		b.Thinking = &thinking{Type: "adaptive", Display: "summarized"}
	}
	if b.Thinking != nil && b.Thinking.Type == "adaptive" && effort != "" {
		b.Output = &output{Effort: effort}
	}
}

// place is where a part of the request stands in the body.
type place struct{ message, block int }

// add puts a message into the body. Tool results count as user's words; one
// side's messages in a row are one.
func (b *body) add(w *writer, m *model.Message) ([]place, error) {
	role := "user"
	if m.Role == thread.Assistant {
		role = "assistant"
	}
	if n := len(b.Messages); n == 0 || b.Messages[n-1].Role != role {
		b.Messages = append(b.Messages, message{Role: role})
	}
	at := len(b.Messages) - 1
	into := &b.Messages[at]
	places := make([]place, len(m.Parts))
	for i := range m.Parts {
		made, err := w.block(&m.Parts[i])
		if err != nil {
			return nil, err
		}
		places[i] = place{at, len(into.Content)}
		into.Content = append(into.Content, made)
	}
	return places, nil
}

// at is the block that a mark stands at.
func (b *body) at(m model.Mark, places [][]place) *block {
	if m.Message < 0 {
		if len(b.System) == 0 {
			return nil
		}
		return &b.System[len(b.System)-1]
	}
	if m.Message >= len(places) || m.Part >= len(places[m.Message]) {
		return nil
	}
	p := places[m.Message][m.Part]
	return &b.Messages[p.message].Content[p.block]
}

// writer makes blocks of parts.
type writer struct {
	ctx  context.Context
	read model.BlobReader
}

func (w *writer) block(p *thread.Part) (block, error) {
	switch p.Type {
	case thread.TextPart:
		return block{Type: "text", Text: p.Text}, nil
	case thread.ThinkingPart:
		if p.Redacted {
			return block{Type: "redacted_thinking", Data: p.Signature}, nil
		}
		return block{Type: "thinking", Thinking: &p.Text, Signature: p.Signature}, nil
	case thread.CallPart:
		return block{Type: "tool_use", ID: p.ID, Name: p.Name, Input: p.Input}, nil
	case thread.ResultPart:
		return w.result(p)
	case thread.BlobPart:
		return w.blob(p)
	}
	return block{}, untaken(fmt.Sprintf("a part of the type %q", p.Type))
}

func (w *writer) result(p *thread.Part) (block, error) {
	out := block{Type: "tool_result", ToolUse: p.Call, IsError: p.IsError}
	for i := range p.Parts {
		inner, err := w.block(&p.Parts[i])
		if err != nil {
			return block{}, err
		}
		out.Content = append(out.Content, inner)
	}
	return out, nil
}

func (w *writer) blob(p *thread.Part) (block, error) {
	if w.read == nil {
		return block{}, untaken("a file without its bytes")
	}
	data, err := w.read(w.ctx, p.Hash)
	if err != nil {
		return block{}, err
	}
	switch {
	case strings.HasPrefix(p.MediaType, "image/"):
		return block{Type: "image", Source: &source{"base64", p.MediaType, data}}, nil
	case p.MediaType == "application/pdf":
		return block{Type: "document", Source: &source{"base64", p.MediaType, data}, Title: p.Name}, nil
	case strings.HasPrefix(p.MediaType, "text/"):
		return block{Type: "document", Source: &source{"text", "text/plain", strings.ToValidUTF8(string(data), "\uFFFD")}, Title: p.Name}, nil
	}
	return block{}, untaken("a file of the type " + p.MediaType)
}

func untaken(what string) error {
	return &thread.Error{Code: thread.Configuration, Op: "model", Message: "Anthropic does not take " + what, Hint: "correct the model table's images and files"}
}
