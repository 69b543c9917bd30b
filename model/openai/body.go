package openai

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// body is a request as it is sent. The order of the fields is that of the bytes:
// what changes least comes first.
type body struct {
	Model        string     `json:"model"`
	Stream       bool       `json:"stream"`
	Store        bool       `json:"store"`
	MaxOutput    int        `json:"max_output_tokens,omitempty"`
	Include      []string   `json:"include,omitempty"`
	Reasoning    *reasoning `json:"reasoning,omitempty"`
	CacheKey     string     `json:"prompt_cache_key,omitempty"`
	CacheOptions *caching   `json:"prompt_cache_options,omitempty"`
	Tools        []tool     `json:"tools,omitempty"`
	Instructions string     `json:"instructions,omitempty"`
	Input        []any      `json:"input"` // items
}

type reasoning struct {
	Effort  string `json:"effort"`
	Summary string `json:"summary"`
}

type caching struct {
	TTL string `json:"ttl"`
}

type tool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

// The items.
type message struct {
	Type    string    `json:"type"`
	Role    string    `json:"role"`
	Content []content `json:"content"`
}

type call struct {
	Type      string `json:"type"`
	ID        string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type result struct {
	Type   string    `json:"type"`
	ID     string    `json:"call_id"`
	Output []content `json:"output"`
}

type reasoned struct {
	Type string `json:"type"`
	thought
	Encrypted string `json:"encrypted_content"`
}

// thought is what of a reasoning item is kept beside its text and what is
// encrypted.
type thought struct {
	ID      string          `json:"id,omitempty"`
	Summary json.RawMessage `json:"summary"`
	Content json.RawMessage `json:"content,omitempty"`
}

type content struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	Image    string `json:"image_url,omitempty"`
	Detail   string `json:"detail,omitempty"`
	FileName string `json:"filename,omitempty"`
	File     string `json:"file_data,omitempty"`
}

// body makes the request's body.
func (m *Model) body(ctx context.Context, r *model.Request) (*body, error) {
	rules, err := m.rules.Rules(r.Model)
	if err != nil {
		return nil, err
	}
	b := &body{
		Model: model.NameAt(m.name, r.Model), Stream: true, MaxOutput: r.MaxOutput,
		CacheKey: r.CacheKey, Instructions: strings.Join(r.System, "\n\n"), Input: []any{},
	}
	if m.ttl != "" {
		b.CacheOptions = &caching{TTL: m.ttl}
	}
	if rules.Thinking != model.ThinkingNone {
		b.Include = []string{"reasoning.encrypted_content"}
		if r.Thinking != "" {
			b.Reasoning = &reasoning{Effort: r.Thinking, Summary: "auto"}
		}
	}
	for _, t := range r.Tools {
		b.Tools = append(b.Tools, tool{Type: "function", Name: t.Name, Description: t.Description, Parameters: t.Schema})
	}
	w := writer{ctx: ctx, read: r.Blob}
	for i := range r.Messages {
		if err := w.message(&r.Messages[i]); err != nil {
			return nil, err
		}
	}
	b.Input = w.items
	return b, nil
}

// writer makes items of messages.
type writer struct {
	ctx   context.Context
	read  model.BlobReader
	items []any
}

// message adds a message's items. What one side says in a row is one item, up
// to whatever stands between.
func (w *writer) message(m *model.Message) error {
	for i := range m.Parts {
		p := &m.Parts[i]
		switch p.Type {
		case thread.ThinkingPart:
			item := reasoned{Type: "reasoning", Encrypted: p.Signature}
			if err := json.Unmarshal(p.Raw, &item.thought); err != nil {
				return &thread.Error{Code: thread.Storage, Op: "model", Message: "what was thought cannot be read again", Err: err}
			}
			w.items = append(w.items, item)
		case thread.CallPart:
			w.items = append(w.items, call{Type: "function_call", ID: p.ID, Name: p.Name, Arguments: string(p.Input)})
		case thread.ResultPart:
			output, err := w.output(p)
			if err != nil {
				return err
			}
			w.items = append(w.items, output)
		default:
			c, err := w.content(p, m.Role)
			if err != nil {
				return err
			}
			w.say(string(m.Role), c)
		}
	}
	return nil
}

func (w *writer) say(role string, c content) {
	if n := len(w.items); n > 0 {
		if last, ok := w.items[n-1].(*message); ok && last.Role == role {
			last.Content = append(last.Content, c)
			return
		}
	}
	w.items = append(w.items, &message{Type: "message", Role: role, Content: []content{c}})
}

// output makes a result's item. The API has no mark for a failure: the text says
// it.
func (w *writer) output(p *thread.Part) (result, error) {
	out := result{Type: "function_call_output", ID: p.Call}
	if p.IsError {
		out.Output = append(out.Output, content{Type: "input_text", Text: "The call failed:"})
	}
	for i := range p.Parts {
		c, err := w.content(&p.Parts[i], thread.Tool)
		if err != nil {
			return result{}, err
		}
		out.Output = append(out.Output, c)
	}
	return out, nil
}

func (w *writer) content(p *thread.Part, role thread.Role) (content, error) {
	switch p.Type {
	case thread.TextPart:
		if role == thread.Assistant {
			return content{Type: "output_text", Text: p.Text}, nil
		}
		return content{Type: "input_text", Text: p.Text}, nil
	case thread.BlobPart:
		return w.blob(p)
	}
	return content{}, untaken(fmt.Sprintf("a part of the type %q", p.Type))
}

func (w *writer) blob(p *thread.Part) (content, error) {
	if w.read == nil {
		return content{}, untaken("a file without its bytes")
	}
	data, err := w.read(w.ctx, p.Hash)
	if err != nil {
		return content{}, err
	}
	address := "data:" + p.MediaType + ";base64," + base64.StdEncoding.EncodeToString(data)
	if strings.HasPrefix(p.MediaType, "image/") {
		return content{Type: "input_image", Image: address, Detail: "auto"}, nil
	}
	name := p.Name
	if name == "" {
		name = "file"
	}
	return content{Type: "input_file", FileName: name, File: address}, nil
}

func untaken(what string) error {
	return &thread.Error{Code: thread.Configuration, Op: "model", Message: "OpenAI does not take " + what, Hint: "correct the model table's images and files"}
}
