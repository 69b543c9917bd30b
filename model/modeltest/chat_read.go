package modeltest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/skeinhq/skein/thread"
)

// chatReader reads a body of Chat Completions.
type chatReader struct {
	*openAIReader
	ways flavour
}

func (f flavour) read(s *Server, _ http.Header, body []byte) (*request, *problem) {
	r := &chatReader{newOpenAIReader(), f}
	known := []string{"model", "messages", "max_tokens", "max_completion_tokens", "tools", "tool_choice", "parallel_tool_calls", "reasoning_effort", "stream",
		"stream_options", "temperature", "top_p", "n", "stop", "seed", "user", "metadata", "store", "service_tier", "response_format", "verbosity", "safety_identifier",
		"prompt_cache_key", "prompt_cache_retention", "prompt_cache_options", "frequency_penalty", "presence_penalty", "logprobs", "top_logprobs"}
	if f.sentAs == "reasoning" {
		known = append(known, "reasoning", "usage", "provider", "transforms")
	}
	top := value{r.reader, "", body}.object(known...)
	r.model = top.get("model").text()
	messages := top.get("messages").list()
	if r.first == nil && len(messages) == 0 {
		r.refuse("messages", "empty_array", "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.")
	}
	if r.first != nil {
		return nil, r.first
	}
	rules, err := s.rulesOf(f, r.model)
	if err != nil {
		p := f.unknownModel(r.model)
		return nil, &p
	}
	r.rules = rules
	r.settle(top)
	if v := top.get("tools"); v.present() {
		for _, t := range v.list() {
			o := t.object("type", "function")
			o.get("type").oneOf("function")
			r.readFunction(o.get("function").object("name", "description", "parameters", "strict"))
		}
	}
	for _, m := range messages {
		if r.first == nil {
			r.message(m)
		}
	}
	if r.first == nil {
		r.check()
	}
	if n := r.rules.Scale(r.tokens()); r.first == nil && r.rules.Window > 0 && n > r.rules.Window {
		r.fail(f.trouble(Overflow, r.request))
	}
	return r.request, r.first
}

func (r *chatReader) settle(top object) {
	r.stream = top.get("stream").boolean()
	for _, name := range []string{"max_tokens", "max_completion_tokens"} {
		if v := top.get(name); v.present() {
			r.maxOut = v.number()
		}
	}
	r.effort(top.get("reasoning_effort"))
	r.shown = r.ways.thinksAs != ""
	if v := top.get("reasoning"); v.present() {
		o := v.object("effort", "max_tokens", "exclude", "enabled", "summary")
		r.effort(o.get("effort"))
		r.shown = !o.get("exclude").boolean()
	}
	options := top.get("stream_options")
	if options.present() {
		r.usage = options.object("include_usage", "include_obfuscation").get("include_usage").boolean()
	}
	r.usage = r.usage || r.ways.always
	tools := top.get("tools").present()
	if r.ways.name == "openai" {
		r.sampling(top, "temperature", "top_p")
		if r.reasons() && top.get("max_tokens").present() {
			r.refuse("max_tokens", "unsupported_parameter", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
		}
	}
	switch {
	case options.present() && !r.stream:
		r.refuse("stream_options", "", "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
	case top.get("parallel_tool_calls").present() && !tools:
		r.refuse("parallel_tool_calls", "", "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.")
	case top.get("tool_choice").present() && !tools:
		r.refuse("tool_choice", "", "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.")
	case tools && string(canonical(top.fields["tools"])) == "[]":
		r.refuse("tools", "empty_array", "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.")
	}
	r.caching(top)
}

// fieldsOf are the fields a role's message may have.
var fieldsOf = map[string][]string{
	"system": {"role", "content", "name"}, "developer": {"role", "content", "name"}, "user": {"role", "content", "name"},
	"assistant": {"role", "content", "name", "tool_calls", "refusal", "audio"},
	"tool":      {"role", "content", "tool_call_id", "name"},
}

func (r *chatReader) message(v value) {
	o := v.open()
	role := o.get("role").oneOf("system", "developer", "user", "assistant", "tool")
	if r.first != nil {
		return
	}
	known := fieldsOf[role]
	if role == "assistant" && r.ways.thinksAs != "" {
		known = append(slices.Clone(known), "reasoning", "reasoning_content", "reasoning_details")
	}
	o.only(known...)
	m := spoken{role: role, at: v.at}
	if role == "tool" {
		r.result(o, m)
		return
	}
	for _, name := range []string{"reasoning", "reasoning_content"} {
		if t := o.get(name); t.present() {
			text := t.text()
			m.parts = append(m.parts, part{kind: thread.ThinkingPart, at: t.at, text: text, block: r.add(thinkingBlock(thread.ThinkingPart, text, ""))})
		}
	}
	content := o.get("content")
	calls := o.get("tool_calls")
	switch {
	case content.isText():
		if text := content.text(); text != "" || !calls.present() {
			b := textBlock(role, text)
			if role == "system" || role == "developer" {
				b = systemBlock(text)
			}
			m.parts = append(m.parts, part{kind: thread.TextPart, at: content.at, text: text, block: r.add(b)})
		}
	case content.present():
		items := content.list()
		if len(items) == 0 {
			r.refuse(content.at, "empty_array", "Invalid '%s': empty array. Expected an array with minimum length 1, but got an empty array instead.", content.at)
		}
		for _, p := range items {
			m.parts = append(m.parts, r.part(role, p))
		}
	case role != "assistant" || !calls.present() && !o.get("refusal").present():
		r.refuse(content.at, "", "Invalid value for 'content': expected a string, got null.")
	}
	if calls.present() {
		m.parts = append(m.parts, r.calls(calls)...)
	}
	r.end(m)
}

func (r *chatReader) end(m spoken) {
	if n := len(r.blocks); n > 0 && m.role != "assistant" {
		r.blocks[n-1].ends = true
	}
	r.messages = append(r.messages, m)
}

func (r *chatReader) part(role string, v value) part {
	allowed := map[string][]string{"user": {"text", "image_url", "file"}, "assistant": {"text", "refusal"}}[role]
	if allowed == nil {
		allowed = []string{"text"}
	}
	o := v.open()
	kind := o.get("type").oneOf(allowed...)
	if r.first != nil {
		return part{}
	}
	p, b := part{kind: thread.BlobPart, at: v.at}, block{}
	switch kind {
	case "text":
		o.only("type", "text", "prompt_cache_breakpoint", "cache_control")
		p.kind, p.text = thread.TextPart, o.get("text").text()
		if b = textBlock(role, p.text); role == "system" || role == "developer" {
			b = systemBlock(p.text)
		}
	case "refusal":
		o.only("type", "refusal")
		p.kind, p.text = thread.TextPart, o.get("refusal").text()
		b = textBlock(role, p.text)
	case "image_url":
		o.only("type", "image_url", "prompt_cache_breakpoint", "cache_control")
		b = r.readURL(o.get("image_url").object("url", "detail").get("url"))
	case "file":
		o.only("type", "file", "prompt_cache_breakpoint")
		f := o.get("file").object("filename", "file_data", "file_id")
		b = r.readFile(f.get("filename"), f.get("file_data"))
	}
	b.mark = r.breakpoint(o)
	if o.get("cache_control").present() && r.ways.name != "openrouter" {
		r.fail(openAIWords.extra(o.at + ".cache_control"))
	}
	p.block = r.add(b)
	return p
}

func (r *chatReader) calls(v value) []part {
	items := v.list()
	if len(items) == 0 {
		r.refuse(v.at, "empty_array", "Invalid '%s': empty array. Expected an array with minimum length 1, but got an empty array instead.", v.at)
	}
	var parts []part
	for _, c := range items {
		o := c.object("id", "type", "function", "index")
		o.get("type").oneOf("function")
		f := o.get("function").object("name", "arguments")
		id, name, input := r.short(o.get("id")), r.function(f.get("name")), f.get("arguments").text()
		parts = append(parts, part{kind: thread.CallPart, at: c.at, id: id, name: name, block: r.add(callBlock(id, name, []byte(input)))})
	}
	return parts
}

func (r *chatReader) result(o object, m spoken) {
	id, content := r.short(o.get("tool_call_id")), o.get("content")
	p := part{kind: thread.ResultPart, at: o.at, id: id}
	var blocks []block
	if content.isText() {
		p.text = content.text()
		blocks = append(blocks, textBlock("user", p.text))
	} else {
		from := len(r.blocks)
		var parts []part
		for _, v := range content.list() {
			parts = append(parts, r.part("tool", v))
		}
		p.text = joined(parts)
		blocks = append(blocks, r.blocks[from:]...)
		r.blocks = r.blocks[:from]
	}
	p.block = r.add(resultBlock(id, false, blocks))
	m.parts = []part{p}
	r.end(m)
}

// check asks that each message with calls is followed by one tool message for
// each of them and by nothing else before.
func (r *chatReader) check() {
	var open []string
	asked := 0
	seen := map[string]bool{}
	unanswered := func(i int) {
		r.refuse(fmt.Sprintf("messages.[%d].role", i), "", "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s", strings.Join(open, ", "))
	}
	for i, m := range r.messages {
		if m.role == "tool" {
			id := m.parts[0].id
			at := slices.Index(open, id)
			if at < 0 {
				r.refuse(fmt.Sprintf("messages.[%d].role", i), "", "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.") //nolint:misspell // as OpenAI writes it
				return
			}
			open = slices.Delete(open, at, at+1)
			continue
		}
		if len(open) > 0 {
			unanswered(asked)
			return
		}
		asked = i
		for _, p := range m.parts {
			if p.kind != thread.CallPart {
				continue
			}
			if seen[p.id] {
				r.refuse(p.at+".id", "", "Duplicate value for 'tool_call_id' of '%s'.", p.id)
			}
			seen[p.id] = true
			open = append(open, p.id)
		}
	}
	if len(open) > 0 {
		unanswered(asked)
	}
}
