package chat

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
	Model         string    `json:"model"`
	Stream        bool      `json:"stream"`
	StreamOptions options   `json:"stream_options"`
	MaxTokens     int       `json:"max_tokens,omitempty"`
	MaxCompletion int       `json:"max_completion_tokens,omitempty"` // the newest name of the same
	Effort        string    `json:"reasoning_effort,omitempty"`
	CacheKey      string    `json:"prompt_cache_key,omitempty"`
	Tools         []tool    `json:"tools,omitempty"`
	Messages      []message `json:"messages"`
}

type options struct {
	Usage bool `json:"include_usage"`
}

type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// message is one message. Its content is a text, or a list where it holds more
// than texts or bears a mark: not every server takes lists.
type message struct {
	Role      string          `json:"role"`
	Call      string          `json:"tool_call_id,omitempty"`
	Content   any             `json:"content"`
	Reasoning string          `json:"reasoning,omitempty"`
	Thought   string          `json:"reasoning_content,omitempty"`
	Details   json.RawMessage `json:"reasoning_details,omitempty"`
	Calls     []call          `json:"tool_calls,omitempty"`

	parts []content
}

type call struct {
	ID       string    `json:"id"`
	Type     string    `json:"type"`
	Function arguments `json:"function"`
}

type arguments struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type content struct {
	Type  string `json:"type"`
	Text  string `json:"text,omitempty"`
	Image *image `json:"image_url,omitempty"`
	File  *file  `json:"file,omitempty"`
	Cache *cache `json:"cache_control,omitempty"`
}

type image struct {
	URL string `json:"url"`
}

type file struct {
	Name string `json:"filename"`
	Data string `json:"file_data"`
}

type cache struct {
	Type string `json:"type"`
	TTL  string `json:"ttl,omitempty"`
}

// body makes the request's body.
func (m *Model) body(ctx context.Context, r *model.Request) (*body, error) {
	rules, err := m.rules.Rules(r.Model)
	if err != nil {
		return nil, err
	}
	b := &body{Model: model.NameAt(m.name, r.Model), Stream: true, StreamOptions: options{Usage: true}, CacheKey: r.CacheKey}
	if m.newest || vendors(b.Model) {
		b.MaxCompletion = r.MaxOutput
	} else {
		b.MaxTokens = r.MaxOutput
	}
	if rules.Thinking != model.ThinkingNone {
		b.Effort = r.Thinking
	}
	for _, t := range r.Tools {
		b.Tools = append(b.Tools, tool{"function", function{t.Name, t.Description, t.Schema}})
	}
	w := writer{ctx: ctx, read: r.Blob, marks: r.Marks, cache: &cache{Type: "ephemeral", TTL: m.ttl}}
	for _, s := range r.System {
		w.say("system", content{Type: "text", Text: s})
	}
	if len(r.System) > 0 && len(r.Marks) > 0 && r.Marks[0].Message < 0 {
		w.mark()
	}
	for i := range r.Messages {
		if err := w.message(i, &r.Messages[i]); err != nil {
			return nil, err
		}
	}
	for i := range w.messages {
		w.messages[i].Content = w.content(w.messages[i].parts)
	}
	b.Messages = w.messages
	return b, nil
}

// vendors says whether a model is one of OpenAI's own that thinks, wherever it is
// asked: those take only the newest name of the largest output.
func vendors(name string) bool {
	rules, err := model.BuiltIn().Rules(name)
	return err == nil && rules.Family == model.OpenAI && rules.Model != "gpt-*" && rules.Thinking != model.ThinkingNone
}

// writer makes messages of a request's.
type writer struct {
	ctx      context.Context
	read     model.BlobReader
	marks    []model.Mark
	cache    *cache
	messages []message
}

// content gives the parts as a text where they are texts without a mark.
func (w *writer) content(parts []content) any {
	if len(parts) == 0 {
		return nil
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		if p.Type != "text" || len(w.marks) > 0 {
			return parts
		}
		texts[i] = p.Text
	}
	return strings.Join(texts, "\n\n")
}

// say adds to the last message, or begins the next where the side changes.
func (w *writer) say(role string, c content) {
	if n := len(w.messages); n == 0 || w.messages[n-1].Role != role {
		w.messages = append(w.messages, message{Role: role})
	}
	last := &w.messages[len(w.messages)-1]
	last.parts = append(last.parts, c)
}

// mark marks what was said last.
func (w *writer) mark() {
	last := &w.messages[len(w.messages)-1]
	if n := len(last.parts); n > 0 {
		last.parts[n-1].Cache = w.cache
	}
}

func (w *writer) message(at int, m *model.Message) error {
	if m.Role == thread.Tool {
		return w.results(at, m)
	}
	if m.Role == thread.Assistant {
		w.messages = append(w.messages, message{Role: "assistant"})
	}
	for i := range m.Parts {
		if err := w.part(m.Role, &m.Parts[i]); err != nil {
			return err
		}
		w.markAt(at, i)
	}
	return nil
}

func (w *writer) markAt(message, part int) {
	for _, m := range w.marks {
		if m.Message == message && m.Part == part {
			w.mark()
		}
	}
}

func (w *writer) part(role thread.Role, p *thread.Part) error {
	switch p.Type {
	case thread.TextPart:
		w.say(string(role), content{Type: "text", Text: p.Text})
	case thread.BlobPart:
		c, err := w.blob(p)
		if err != nil {
			return err
		}
		w.say(string(role), c)
	case thread.ThinkingPart:
		w.messages[len(w.messages)-1].think(p)
	case thread.CallPart:
		last := &w.messages[len(w.messages)-1]
		last.Calls = append(last.Calls, call{p.ID, "function", arguments{p.Name, string(p.Input)}})
	default:
		return untaken(fmt.Sprintf("a part of the type %q", p.Type))
	}
	return nil
}

// think puts thinking into the field in which it came: its signature is that
// field's name, or the details themselves.
func (m *message) think(p *thread.Part) {
	switch p.Signature {
	case reasoningField:
		m.Reasoning += p.Text
	case thoughtField:
		m.Thought += p.Text
	default:
		m.Details = json.RawMessage(p.Signature)
	}
}

// results adds a message for each result. These hold texts alone: what else a
// result carries is said after them, as the user's words.
func (w *writer) results(at int, m *model.Message) error {
	var rest []content
	for i := range m.Parts {
		p := &m.Parts[i]
		out := message{Role: "tool", Call: p.Call}
		if p.IsError {
			out.parts = append(out.parts, content{Type: "text", Text: "The call failed:"})
		}
		for j := range p.Parts {
			q := &p.Parts[j]
			if q.Type == thread.TextPart {
				out.parts = append(out.parts, content{Type: "text", Text: q.Text})
				continue
			}
			c, err := w.blob(q)
			if err != nil {
				return err
			}
			out.parts = append(out.parts, content{Type: "text", Text: "(what it gave besides follows the results)"})
			rest = append(rest, content{Type: "text", Text: "From " + p.Name + ", call " + p.Call + ":"}, c)
		}
		w.messages = append(w.messages, out)
		w.markAt(at, i)
	}
	for _, c := range rest {
		w.say("user", c)
	}
	return nil
}

func (w *writer) blob(p *thread.Part) (content, error) {
	if p.Type != thread.BlobPart {
		return content{}, untaken(fmt.Sprintf("a part of the type %q", p.Type))
	}
	if w.read == nil {
		return content{}, untaken("a file without its bytes")
	}
	data, err := w.read(w.ctx, p.Hash)
	if err != nil {
		return content{}, err
	}
	address := "data:" + p.MediaType + ";base64," + base64.StdEncoding.EncodeToString(data)
	if strings.HasPrefix(p.MediaType, "image/") {
		return content{Type: "image_url", Image: &image{address}}, nil
	}
	name := p.Name
	if name == "" {
		name = "file"
	}
	return content{Type: "file", File: &file{name, address}}, nil
}

func untaken(what string) error {
	return &thread.Error{Code: thread.Configuration, Op: "model", Message: "Chat Completions do not take " + what, Hint: "correct the model table's images and files"}
}
