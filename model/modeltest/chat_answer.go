package modeltest

import (
	"fmt"
	"strings"
	"time"

	"github.com/skeinhq/skein/thread"
)

// chatAPI is Chat Completions in the way of a flavour.
func chatAPI(s *Server, f flavour) api {
	return api{
		vendor:  f.callID,
		limit:   openAILimit,
		key:     f.key(s),
		read:    f.read,
		reply:   (*Server).reply,
		bill:    f.bill,
		trouble: f.trouble,
		refuse:  f.refuse,
		whole:   f.whole,
		stream:  f.stream,
		broken:  f.broken,
	}
}

// chatStops are the reasons for which an answer ends.
var chatStops = map[thread.Stop]string{
	thread.StopEnd: "stop", thread.StopCalls: "tool_calls", thread.StopLength: "length", thread.StopRefusal: "stop",
}

// said joins the parts of one kind.
func (a answer) said(kind thread.PartType) string {
	var b strings.Builder
	for _, p := range a.Parts {
		if p.Type == kind {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// bill charges what a flavour's usage can tell.
func (f flavour) bill(s *Server, account string, r *request) bill {
	if !f.cached {
		return bill{input: r.tokens()}
	}
	return openAIBill(s, account, r)
}

func (f flavour) whole(r *request, a answer, b bill, now time.Time) any {
	text := a.said(thread.TextPart)
	m := fields{"role", "assistant", "content", orNullText(text), "refusal", nil}
	if a.Stop == thread.StopRefusal {
		m = fields{"role", "assistant", "content", nil, "refusal", text}
	}
	if thought := a.said(thread.ThinkingPart); thought != "" && f.thinksAs != "" {
		m = append(m, f.thinksAs, thought)
	}
	var calls []fields
	for _, p := range a.Parts {
		if p.Type == thread.CallPart {
			calls = append(calls, fields{"id", p.ID, "type", "function", "function", fields{"name", p.Name, "arguments", string(p.Input)}})
		}
	}
	if calls != nil {
		m = append(m, "tool_calls", calls)
	}
	return fields{
		"id", "chatcmpl-" + a.id, "object", "chat.completion", "created", now.Unix(), "model", r.model,
		"choices", []fields{{"index", 0, "message", m, "logprobs", nil, "finish_reason", chatStops[a.Stop]}},
		"usage", f.usageOf(r, a, b), "service_tier", "default",
	}
}

func (f flavour) usageOf(r *request, a answer, b bill) fields {
	in := b.input + b.read + b.write
	u := fields{"prompt_tokens", in, "completion_tokens", a.output, "total_tokens", in + a.output}
	if f.cached {
		u = append(u, "prompt_tokens_details", fields{"cached_tokens", b.read, "cache_write_tokens", b.write, "audio_tokens", 0})
		u = append(u, "completion_tokens_details", fields{"reasoning_tokens", a.thought, "audio_tokens", 0})
	}
	if f.name == "openrouter" {
		u = append(u, "cost", r.rules.Cost(thread.Usage{Input: int64(b.input), CacheRead: int64(b.read), CacheWrite: int64(b.write), Output: int64(a.output)}), "is_byok", false)
	}
	return u
}

// chunks sends the pieces of one answer.
type chunks struct {
	*call
	ways flavour
}

// chunk is one piece of a stream.
func (c chunks) chunk(choices []fields, usage any) {
	f := fields{"id", "chatcmpl-" + c.ans.id, "object", "chat.completion.chunk", "created", c.now.Unix(), "model", c.req.model}
	if c.ways.name == "openrouter" {
		f = append(f, "provider", "Fake")
	}
	f = append(f, "service_tier", "default", "system_fingerprint", "fp_fake", "choices", choices)
	if c.req.usage || usage != nil {
		f = append(f, "usage", usage)
	}
	c.data(f)
}

func (c chunks) delta(delta fields, finish any) {
	if c.ways.roles && len(delta) > 0 {
		delta = append(fields{"role", "assistant"}, delta...)
	}
	choice := fields{"index", 0, "delta", delta, "logprobs", nil, "finish_reason", finish}
	if c.ways.name == "openrouter" {
		choice = append(choice, "native_finish_reason", finish)
	}
	c.chunk([]fields{choice}, nil)
}

func (f flavour) stream(call *call) error {
	c := chunks{call, f}
	if f.comments {
		c.raw(": OPENROUTER PROCESSING\n\n")
	}
	if !f.roles {
		c.delta(fields{"role", "assistant", "content", "", "refusal", nil}, nil)
	}
	n := 0
	for _, p := range c.ans.Parts {
		switch p.Type {
		case thread.ThinkingPart:
			c.thought(p.Text)
		case thread.CallPart:
			c.tool(n, p)
			n++
		default:
			c.text(p.Text)
		}
	}
	if c.sent <= c.reply.After {
		c.piece("")
	}
	c.delta(fields{}, chatStops[c.ans.Stop])
	if c.req.usage {
		c.chunk([]fields{}, f.usageOf(c.req, c.ans, c.bill))
	}
	c.raw("data: [DONE]\n\n")
	return c.err
}

func (c chunks) thought(text string) {
	if c.ways.thinksAs == "" {
		return
	}
	for _, t := range pieces(text) {
		if !c.piece(t) {
			return
		}
		d := fields{"content", "", c.ways.thinksAs, t}
		if c.ways.name == "openrouter" {
			d = append(d, "reasoning_details", []fields{{"type", "reasoning.text", "text", t, "format", "unknown", "index", 0}})
		}
		c.delta(d, nil)
	}
}

func (c chunks) text(text string) {
	field := "content"
	if c.ans.Stop == thread.StopRefusal {
		field = "refusal"
	}
	for _, t := range pieces(text) {
		if c.piece(t) {
			c.delta(fields{field, t}, nil)
		}
	}
}

func (c chunks) tool(i int, p thread.Part) {
	start := func(input string) fields {
		return fields{"tool_calls", []fields{{"index", i, "id", p.ID, "type", "function", "function", fields{"name", p.Name, "arguments", input}}}}
	}
	if c.ways.wholeCall {
		if c.piece(string(p.Input)) {
			c.delta(start(string(p.Input)), nil)
		}
		return
	}
	c.delta(start(""), nil)
	for _, t := range crumbs(string(p.Input)) {
		if c.piece(t) {
			c.delta(fields{"tool_calls", []fields{{"index", i, "function", fields{"arguments", t}}}}, nil)
		}
	}
}

// broken ends a stream with an error, as a piece that is one.
func (f flavour) broken(call *call, p problem) {
	c := chunks{call, f}
	if f.name != "openrouter" {
		c.data(fields{"error", f.shape(p)})
		if f.name == "vllm" {
			c.raw("data: [DONE]\n\n")
		}
		return
	}
	c.data(fields{
		"id", "chatcmpl-" + c.ans.id, "object", "chat.completion.chunk", "created", c.now.Unix(), "model", c.req.model, "provider", "Fake",
		"error", fields{"code", fmt.Sprint(p.code), "message", p.message},
		"choices", []fields{{"index", 0, "delta", fields{"content", ""}, "finish_reason", "error", "native_finish_reason", "error"}},
	})
}
