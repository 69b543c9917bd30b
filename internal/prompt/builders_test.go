package prompt_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/skeinhq/skein/internal/prompt"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// monday is 30 November 2026, 16:01.
var monday = time.Date(2026, 11, 30, 16, 1, 0, 0, time.UTC)

// tools are those of the agent in these tests.
var tools = []model.Tool{
	{Name: "zoom", Description: "Opens a line.", Schema: json.RawMessage(`{"type": "object", "properties": {"id": {"type": "integer"}}}`)},
	{Name: "search", Description: "Finds messages.", Schema: json.RawMessage(`{"type":"object"}`)},
}

// north is the definition of the agent in these tests.
func north(modelName string) prompt.Definition {
	return prompt.Definition{Agent: "north", Model: modelName, Instructions: "You are north.", Tools: tools}
}

// tester is a *testing.T, *testing.B or *rapid.T.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// rulesOf gives the rules of a model in the built-in table.
func rulesOf(t tester, name string) model.Rules {
	t.Helper()
	r, err := model.BuiltIn().Rules(name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// log is a thread as these tests write it.
type log struct {
	now      time.Time
	messages []thread.Entry // all of them, from index 0
	boundary int64
	cut      *thread.Cut
	outline  []thread.Node
	requests int64
	previous *thread.Request
}

func newLog() *log { return &log{now: monday} }

func (l *log) add(m thread.Message) *log {
	e := thread.Say(m)
	e.Index = int64(len(l.messages))
	e.Seq, e.Prev, e.Time = e.Index+1, e.Index, l.now
	l.messages = append(l.messages, e)
	return l
}

func (l *log) say(author, text string, more ...thread.Part) *log {
	return l.add(thread.Message{Author: author, Role: thread.User, Parts: append([]thread.Part{thread.Text(text)}, more...)})
}

func (l *log) reply(parts ...thread.Part) *log {
	return l.add(thread.Message{Author: "north", Role: thread.Assistant, Parts: parts})
}

// answer adds a reply that was made from a prompt.
func (l *log) answer(p *prompt.Prompt, parts ...thread.Part) *log {
	stamp := p.Stamp
	l.requests, l.previous = stamp.Number, &stamp
	return l.add(thread.Message{Author: "north", Role: thread.Assistant, Parts: parts, Contexts: p.Told, Request: &stamp, Model: p.Request.Model})
}

func (l *log) result(call, name, text string) *log {
	return l.add(thread.Message{Author: name, To: []string{"north"}, Role: thread.Tool, Parts: []thread.Part{thread.Result(call, name, text, false)}})
}

// cutAt puts every message before the index under a line of its own.
func (l *log) cutAt(boundary int64) *log {
	number := int64(1)
	if l.cut != nil {
		number = l.cut.Number + 1
	}
	l.boundary, l.cut = boundary, &thread.Cut{Number: number, Strategy: "outline", Boundary: boundary}
	l.outline = nil
	for _, e := range l.messages[:boundary] {
		text := "(private)"
		if len(e.Message.Audience) == 0 {
			text = e.Message.Author + ": " + e.Message.PlainText()
		}
		l.outline = append(l.outline, thread.Node{Span: thread.Span{ID: e.Index, N: 1}, Seq: e.Seq, Text: text, By: thread.ByVerbatim, Time: e.Time})
	}
	return l
}

// shortenAt shortens the results of the message at the index, as a strategy does.
func (l *log) shortenAt(index int64) *log {
	m := *l.messages[index].Message
	r := m.Parts[0]
	m.Parts = []thread.Part{thread.Result(r.Call, r.Name, "shortened", r.IsError)}
	l.messages[index].Message = &m
	return l
}

func (l *log) past() prompt.Past {
	messages := l.messages
	if len(messages) > 0 && messages[0].Index < l.boundary {
		messages = messages[l.boundary:]
	}
	return prompt.Past{
		Thread: "t1", Length: l.boundary + int64(len(messages)), Requests: l.requests,
		Cut: l.cut, Boundary: l.boundary, Outline: l.outline, Messages: messages, Previous: l.previous,
	}
}

func (l *log) build(t tester, def prompt.Definition) *prompt.Prompt {
	t.Helper()
	p, err := prompt.Build(def, l.past(), prompt.Turn{Time: l.now}, rulesOf(t, def.Model))
	if err != nil {
		t.Fatalf("%v\n%s", err, show(l.messages))
	}
	return p
}

func call(id, name, input string) thread.Part { return thread.Call(id, name, json.RawMessage(input)) }

func thought(text, signature, modelName string) thread.Part {
	return thread.Part{Type: thread.ThinkingPart, Text: text, Signature: signature, Provider: "echo", Model: modelName}
}

func image(name string, size int64) thread.Part {
	return thread.Part{Type: thread.BlobPart, Hash: "hash-of-" + name, MediaType: "image/png", Name: name, Size: size}
}

// show writes anything as JSON, a failing test's conversation above all.
func show(v any) string {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return fmt.Sprintf("%+v", v)
	}
	return string(data)
}

// lines writes a request's messages, one a line.
func lines(messages []model.Message) string {
	var b strings.Builder
	for _, m := range messages {
		b.WriteString(string(m.Role))
		for _, p := range m.Parts {
			data, err := thread.Encode(p)
			if err != nil {
				return err.Error()
			}
			b.WriteString(" " + string(data))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// violation gives the details of a validator's error.
func violation(t tester, err error) prompt.Violation {
	t.Helper()
	e, ok := err.(*thread.Error)
	if !ok || e.Code != thread.Configuration {
		t.Fatalf("not a violation: %v", err)
	}
	return e.Details.(prompt.Violation)
}

func manyImages(n int) []thread.Part {
	var out []thread.Part
	for range n {
		out = append(out, image("many.png", 10))
	}
	return out
}

func largeImages(n int) []thread.Part {
	var out []thread.Part
	for range n {
		out = append(out, image("large.png", 3_900_000))
	}
	return out
}
