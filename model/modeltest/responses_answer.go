package modeltest

import (
	"time"

	"github.com/skeinhq/skein/thread"
)

// responsesAPI is the Responses API of OpenAI.
var responsesAPI = api{
	vendor:  "call",
	limit:   openAILimit,
	key:     openAIKey,
	read:    (*Server).readResponses,
	reply:   (*Server).reply,
	bill:    openAIBill,
	trouble: openAITrouble,
	refuse:  openAIRefuse,
	whole: func(r *request, a answer, b bill, now time.Time) any {
		o := newOutput(a)
		var items []fields
		for _, p := range a.Parts {
			items = append(items, o.item(r, p, "completed"))
		}
		return response(r, a, &b, now, items)
	},
	stream: responsesStream,
	broken: responsesBroken,
}

// output numbers the items of an answer.
type output struct {
	answer
	place     int
	reasoning int // the place of the newest reasoning, counted from one
}

func newOutput(a answer) *output { return &output{answer: a} }

// item is a part of the answer as an item; status is in_progress for one that
// begins, which is still empty.
func (o *output) item(r *request, p thread.Part, status string) fields {
	f := o.started(r, p, status)
	o.place++
	return f
}

func (o *output) started(r *request, p thread.Part, status string) fields {
	done := status == "completed"
	switch p.Type {
	case thread.ThinkingPart:
		o.reasoning = o.place + 1
		f := fields{"id", itemID("rs", o.id, o.place, 0), "type", "reasoning", "summary", summaryOf(p, done)}
		if r.sealed && done {
			f = append(f, "encrypted_content", p.Signature)
		}
		return f
	case thread.CallPart:
		input := ""
		if done {
			input = string(p.Input)
		}
		return fields{"id", itemID("fc", o.id, o.place, o.reasoning), "type", "function_call", "status", status, "arguments", input, "call_id", p.ID, "name", p.Name}
	}
	content := []fields{}
	if done {
		content = append(content, o.content(p.Text))
	}
	return fields{"id", itemID("msg", o.id, o.place, o.reasoning), "type", "message", "status", status, "content", content, "role", "assistant"}
}

func summaryOf(p thread.Part, done bool) []fields {
	if !done || p.Text == "" {
		return []fields{}
	}
	return []fields{{"type", "summary_text", "text", p.Text}}
}

// content is the one piece that a message has.
func (o *output) content(text string) fields {
	if o.Stop == thread.StopRefusal {
		return fields{"type", "refusal", "refusal", text}
	}
	return fields{"type", "output_text", "annotations", []any{}, "logprobs", []any{}, "text", text}
}

// response is the object that an answer is. Without a bill it has only begun.
func response(r *request, a answer, b *bill, now time.Time, items []fields) fields {
	status, incomplete := "in_progress", any(nil)
	switch {
	case b == nil:
	case a.Stop == thread.StopLength:
		status, incomplete = "incomplete", fields{"reason", "max_output_tokens"}
	default:
		status = "completed"
	}
	if items == nil {
		items = []fields{}
	}
	instructions := any(nil)
	if r.system != "" {
		instructions = r.system
	}
	f := fields{
		"id", "resp_" + a.id, "object", "response", "created_at", now.Unix(), "status", status, "background", false, "error", nil,
		"incomplete_details", incomplete, "instructions", instructions, "max_output_tokens", orNull(r.maxOut), "model", r.model, "output", items,
		"parallel_tool_calls", true, "previous_response_id", nil, "prompt_cache_key", orNullText(r.key), "reasoning", fields{"effort", nil, "summary", nil},
		"service_tier", "default", "store", false, "temperature", 1.0, "tool_choice", "auto", "tools", []any{}, "top_p", 1.0, "truncation", "disabled",
		"usage", nil, "user", nil, "metadata", fields{},
	}
	if b != nil {
		f = append(f[:len(f)-6], "usage", responsesUsage(*b, a), "user", nil, "metadata", fields{})
	}
	return f
}

func orNull(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

func orNullText(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func responsesUsage(b bill, a answer) fields {
	in := b.input + b.read + b.write
	return fields{
		"input_tokens", in, "input_tokens_details", fields{"cached_tokens", b.read, "cache_write_tokens", b.write},
		"output_tokens", a.output, "output_tokens_details", fields{"reasoning_tokens", a.thought}, "total_tokens", in + a.output,
	}
}

// events sends the events of a stream of the Responses API, numbered.
type events struct {
	*call
	*output
	number int
}

func (e *events) emit(kind string, data ...any) {
	e.event(kind, append(append(fields{"type", kind}, data...), "sequence_number", e.number))
	e.number++
}

func responsesStream(c *call) error {
	e := &events{call: c, output: newOutput(c.ans)}
	e.emit("response.created", "response", response(c.req, c.ans, nil, c.now, nil))
	e.emit("response.in_progress", "response", response(c.req, c.ans, nil, c.now, nil))
	var items []fields
	for _, p := range c.ans.Parts {
		items = append(items, e.part(p))
	}
	if c.sent <= c.reply.After {
		c.piece("")
	}
	kind := "response.completed"
	if c.ans.Stop == thread.StopLength {
		kind = "response.incomplete"
	}
	e.emit(kind, "response", response(c.req, c.ans, &c.bill, c.now, items))
	return c.err
}

// part sends one item: that it begins, its pieces, that it is done.
func (e *events) part(p thread.Part) fields {
	place := e.place
	begun := e.started(e.req, p, "in_progress")
	id := begun[1]
	e.emit("response.output_item.added", "output_index", place, "item", begun)
	switch p.Type {
	case thread.ThinkingPart:
		e.summary(id, place, p.Text)
	case thread.CallPart:
		for _, t := range crumbs(string(p.Input)) {
			if e.piece(t) {
				e.emit("response.function_call_arguments.delta", "item_id", id, "output_index", place, "delta", t)
			}
		}
		e.emit("response.function_call_arguments.done", "item_id", id, "output_index", place, "name", p.Name, "arguments", string(p.Input))
	default:
		e.message(id, place, p.Text)
	}
	done := e.item(e.req, p, "completed")
	e.emit("response.output_item.done", "output_index", place, "item", done)
	return done
}

func (e *events) summary(id any, place int, text string) {
	if text == "" {
		e.piece("")
		return
	}
	at := func(more ...any) []any {
		return append([]any{"item_id", id, "output_index", place, "summary_index", 0}, more...)
	}
	e.emit("response.reasoning_summary_part.added", at("part", fields{"type", "summary_text", "text", ""})...)
	for _, t := range pieces(text) {
		if e.piece(t) {
			e.emit("response.reasoning_summary_text.delta", at("delta", t)...)
		}
	}
	e.emit("response.reasoning_summary_text.done", at("text", text)...)
	e.emit("response.reasoning_summary_part.done", at("part", fields{"type", "summary_text", "text", text})...)
}

func (e *events) message(id any, place int, text string) {
	at := func(more ...any) []any {
		return append([]any{"item_id", id, "output_index", place, "content_index", 0}, more...)
	}
	e.emit("response.content_part.added", at("part", e.content(""))...)
	for _, t := range pieces(text) {
		switch {
		case !e.piece(t):
		case e.ans.Stop == thread.StopRefusal:
			e.emit("response.refusal.delta", at("delta", t)...)
		default:
			e.emit("response.output_text.delta", at("delta", t, "logprobs", []any{})...)
		}
	}
	if e.ans.Stop == thread.StopRefusal {
		e.emit("response.refusal.done", at("refusal", text)...)
	} else {
		e.emit("response.output_text.done", at("text", text, "logprobs", []any{})...)
	}
	e.emit("response.content_part.done", at("part", e.content(text))...)
}

// responsesBroken ends a stream with an error: as an event of its own where the
// server is to blame, as a failed response where the request is.
func responsesBroken(c *call, p problem) {
	if p.status >= 500 {
		c.event("error", fields{"type", "error", "code", orNullText(p.code), "message", p.message, "param", nil, "sequence_number", c.sent + 2})
		return
	}
	failed := response(c.req, c.ans, nil, c.now, nil)
	for i := 0; i < len(failed); i += 2 {
		switch failed[i] {
		case "status":
			failed[i+1] = "failed"
		case "error":
			failed[i+1] = fields{"code", p.code, "message", p.message}
		}
	}
	c.event("response.failed", fields{"type", "response.failed", "response", failed, "sequence_number", c.sent + 2})
}
