package modeltest

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/skeinhq/skein/thread"
)

// readResponses reads and checks a body of the Responses API.
func (s *Server) readResponses(_ http.Header, body []byte) (*request, *problem) {
	r := newOpenAIReader()
	top := value{r.reader, "", body}.object("model", "input", "instructions", "max_output_tokens", "tools", "tool_choice", "parallel_tool_calls",
		"reasoning", "include", "store", "stream", "stream_options", "text", "temperature", "top_p", "top_logprobs", "truncation", "metadata", "user",
		"service_tier", "safety_identifier", "prompt_cache_key", "prompt_cache_retention", "prompt_cache_options", "previous_response_id", "background", "max_tool_calls")
	r.model = top.get("model").text()
	if r.first != nil {
		return nil, r.first
	}
	rules, err := s.rules(r.model, "openai")
	if err != nil {
		return nil, &problem{param: "model", code: "model_not_found", message: fmt.Sprintf("The requested model '%s' does not exist.", r.model)}
	}
	r.rules = rules
	i := &inputReader{openAIReader: r, stored: !top.get("store").present() || top.get("store").boolean(), ids: map[string]bool{}}
	i.settle(top)
	if v := top.get("tools"); v.present() {
		for _, t := range v.list() {
			o := t.object("type", "name", "description", "parameters", "strict", "async", "defer_loading", "allowed_callers", "output_schema")
			o.get("type").oneOf("function")
			r.readFunction(o)
		}
	}
	if r.system = top.get("instructions").optional(); r.system != "" {
		r.add(systemBlock(r.system))
	}
	i.input(top.get("input"))
	if r.first == nil {
		i.check()
	}
	if r.first == nil {
		r.overflow()
	}
	return r.request, r.first
}

// inputReader reads the items of an input.
type inputReader struct {
	*openAIReader
	stored bool
	ids    map[string]bool // of items
	items  []item
}

// item is one item of an input.
type item struct {
	at, kind, role, id, call string
}

func (r *inputReader) settle(top object) {
	r.stream = top.get("stream").boolean()
	if v := top.get("max_output_tokens"); v.present() {
		if r.maxOut = v.number(); r.maxOut < 16 {
			r.refuse(v.at, "integer_below_min_value", "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got %d instead.", r.maxOut)
		}
	}
	r.sampling(top, "temperature", "top_p")
	r.thinks = r.reasons()
	if v := top.get("reasoning"); v.present() {
		o := v.object("effort", "summary", "generate_summary", "mode", "context")
		r.effort(o.get("effort"))
		if s := o.get("summary"); s.present() {
			r.shown = s.oneOf("auto", "concise", "detailed") != ""
		}
	}
	if v := top.get("include"); v.present() {
		for _, item := range v.list() {
			if item.oneOf("reasoning.encrypted_content", "message.output_text.logprobs", "message.input_image.image_url") == "reasoning.encrypted_content" {
				r.sealed = true
			}
		}
	}
	switch {
	case r.sealed && !r.reasons():
		r.refuse("include", "", "Encrypted content is not supported with this model.")
	case top.get("stream_options").present() && !r.stream:
		r.refuse("stream_options", "invalid_value", "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
	case top.get("previous_response_id").present():
		r.fail(problem{param: "previous_response_id", code: "previous_response_not_found", message: fmt.Sprintf("Previous response with id '%s' not found.", top.get("previous_response_id").optional())})
	}
	r.caching(top)
}

func (r *inputReader) input(v value) {
	if v.isText() {
		text := v.text()
		b := textBlock("user", text)
		b.ends = true
		r.messages = append(r.messages, spoken{role: "user", at: v.at, parts: []part{{kind: thread.TextPart, at: v.at, text: text, block: r.add(b)}}})
		return
	}
	for _, item := range v.list() {
		if r.first != nil {
			return
		}
		r.item(item)
	}
	if len(r.messages) == 0 {
		r.refuse("input", "missing_required_parameter", "Missing required parameter: 'input'.")
	}
}

func (r *inputReader) item(v value) {
	o := v.open()
	kind := "message"
	if t := o.get("type"); t.present() {
		kind = t.oneOf("message", "function_call", "function_call_output", "reasoning", "item_reference")
	}
	if r.first != nil {
		return
	}
	read := map[string]func(object) item{"message": r.message, "function_call": r.call, "function_call_output": r.output, "reasoning": r.reasoning, "item_reference": r.reference}[kind]
	it := read(o)
	it.at, it.kind = v.at, kind
	if it.id != "" && r.ids[it.id] {
		r.refuse("input", "", "Duplicate item found with id %s. Remove duplicate items from your input and try again.", it.id)
	}
	r.ids[it.id] = true
	r.items = append(r.items, it)
}

// id reads an item's id, which may be absent.
func (r *inputReader) id(o object, prefix string) string {
	v := o.get("id")
	id := v.optional()
	if id != "" && !strings.HasPrefix(id, prefix) {
		r.refuse(v.at, "invalid_value", "Invalid '%s': '%s'. Expected an ID that begins with '%s'.", v.at, id, prefix)
	}
	return id
}

func (r *inputReader) reference(o object) item {
	id := o.get("id").optional()
	r.fail(problem{status: http.StatusNotFound, param: "input", message: fmt.Sprintf("Item with id '%s' not found.", id)})
	return item{id: id}
}

func (r *inputReader) message(o object) item {
	o.only("type", "role", "content", "id", "status", "phase")
	role := o.get("role").oneOf("user", "assistant", "system", "developer")
	m := spoken{role: role, at: o.at}
	content := o.get("content")
	if content.isText() {
		text := content.text()
		m.parts = append(m.parts, part{kind: thread.TextPart, at: content.at, text: text, block: r.add(textBlock(role, text))})
	} else {
		for _, p := range content.list() {
			m.parts = append(m.parts, r.part(role, p))
		}
	}
	r.end(role, m)
	return item{role: role, id: r.id(o, "msg")}
}

// end ends a message: a breakpoint may follow one that the model did not say.
func (r *inputReader) end(role string, m spoken) {
	if n := len(r.blocks); n > 0 && role != "assistant" {
		r.blocks[n-1].ends = true
	}
	r.messages = append(r.messages, m)
}

func (r *inputReader) part(role string, v value) part {
	allowed := []string{"input_text", "input_image", "input_file"}
	if role == "assistant" {
		allowed = []string{"output_text", "refusal"}
	}
	o := v.open()
	kind := o.get("type").oneOf(allowed...)
	if r.first != nil {
		return part{}
	}
	p, b := part{kind: thread.BlobPart, at: v.at}, block{}
	switch kind {
	case "input_text":
		o.only("type", "text", "prompt_cache_breakpoint")
		p.kind, p.text = thread.TextPart, o.get("text").text()
		b = textBlock(role, p.text)
	case "output_text":
		o.only("type", "text", "annotations", "logprobs")
		p.kind, p.text = thread.TextPart, o.get("text").text()
		b = textBlock(role, p.text)
	case "refusal":
		o.only("type", "refusal")
		p.kind, p.text = thread.TextPart, o.get("refusal").text()
		b = textBlock(role, p.text)
	case "input_image":
		o.only("type", "image_url", "detail", "file_id", "prompt_cache_breakpoint")
		b = r.readURL(o.get("image_url"))
	case "input_file":
		o.only("type", "filename", "file_data", "file_id", "file_url", "detail", "prompt_cache_breakpoint")
		b = r.readFile(o.get("filename"), o.get("file_data"))
	}
	b.mark = r.breakpoint(o)
	p.block = r.add(b)
	return p
}

func (r *inputReader) call(o object) item {
	o.only("type", "id", "call_id", "name", "arguments", "status", "async", "namespace", "caller")
	call, name, input := r.short(o.get("call_id")), r.function(o.get("name")), o.get("arguments").text()
	p := part{kind: thread.CallPart, at: o.at, id: call, name: name, block: r.add(callBlock(call, name, []byte(input)))}
	r.messages = append(r.messages, spoken{role: "assistant", at: o.at, parts: []part{p}})
	return item{role: "assistant", id: r.id(o, "fc"), call: call}
}

func (r *inputReader) output(o object) item {
	o.only("type", "id", "call_id", "output", "status", "name", "namespace", "caller")
	call, out := r.short(o.get("call_id")), o.get("output")
	p := part{kind: thread.ResultPart, at: o.at, id: call}
	var blocks []block
	if out.isText() {
		p.text = out.text()
		blocks = append(blocks, textBlock("user", p.text))
	} else {
		from := len(r.blocks)
		var parts []part
		for _, v := range out.list() {
			parts = append(parts, r.part("user", v))
		}
		p.text = joined(parts)
		blocks = append(blocks, r.blocks[from:]...)
		r.blocks = r.blocks[:from]
	}
	p.block = r.add(resultBlock(call, false, blocks))
	r.end("tool", spoken{role: "tool", at: o.at, parts: []part{p}})
	return item{role: "tool", call: call}
}

func (r *inputReader) reasoning(o object) item {
	o.only("type", "id", "summary", "encrypted_content", "content", "status")
	if !o.get("id").present() {
		r.fail(openAIWords.missing(o.at + ".id"))
	}
	id, sealed := r.id(o, "rs"), o.get("encrypted_content").optional()
	var summary []string
	for _, v := range o.get("summary").list() {
		t := v.object("type", "text")
		t.get("type").oneOf("summary_text")
		summary = append(summary, t.get("text").text())
	}
	if r.first != nil {
		return item{}
	}
	text := strings.Join(summary, "\n\n")
	switch s, ok := open(sealed); {
	case !r.reasons():
		r.refuse("input", "", "Reasoning input items can only be provided to a reasoning or computer use model. Remove reasoning items from your input and try again.")
	case sealed == "" && !r.stored:
		r.fail(problem{status: http.StatusNotFound, param: "input", message: fmt.Sprintf("Item with id '%s' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.", id)})
	case sealed == "":
		r.fail(problem{status: http.StatusNotFound, param: "input", message: fmt.Sprintf("Item with id '%s' not found.", id)})
	case !ok || !s.fits(text) || s.model != r.model:
		r.refuse("", "invalid_encrypted_content", "The encrypted content for item %s could not be verified. Reason: Encrypted content could not be decrypted or parsed.", id)
	}
	p := part{kind: thread.ThinkingPart, at: o.at, text: text, proof: sealed, block: r.add(thinkingBlock(thread.ThinkingPart, text, sealed))}
	r.messages = append(r.messages, spoken{role: "assistant", at: o.at, parts: []part{p}})
	return item{role: "assistant", id: id}
}

// check holds what concerns items as a whole: calls and outputs belong together,
// and reasoning stands before what it led to.
func (r *inputReader) check() {
	open, seen := map[string]bool{}, map[string]bool{}
	var order []string
	for i, it := range r.items {
		switch it.kind {
		case "function_call":
			if seen[it.call] {
				r.refuse("input", "invalid_value", "Duplicate function call with call_id '%s'.", it.call)
			}
			seen[it.call], open[it.call] = true, true
			order = append(order, it.call)
		case "function_call_output":
			if !open[it.call] {
				r.refuse("input", "", "No tool call found for function call output with call_id %s.", it.call)
			}
			delete(open, it.call)
		case "reasoning":
			if i == len(r.items)-1 || r.items[i+1].role != "assistant" {
				r.refuse("input", "", "Item '%s' of type 'reasoning' was provided without its required following item.", it.id)
			}
		}
		if need := reasonOf(it.id); need != "" && it.kind != "reasoning" && !r.ids[need] {
			r.refuse("input", "", "Item '%s' of type '%s' was provided without its required 'reasoning' item: '%s'.", it.id, it.kind, need)
		}
	}
	for _, call := range order {
		if open[call] {
			r.refuse("input", "", "No tool output found for function call %s.", call)
		}
	}
}

// An item's id says which reasoning it needs: the answer's id, the item's place
// in the answer, and the place of the reasoning before it, counted from one.

func itemID(prefix, answer string, place, reasoning int) string {
	return fmt.Sprintf("%s_%s%02x%02x", prefix, answer, place, reasoning)
}

// reasonOf is the id of the reasoning that an item needs, empty for none and for
// an id that is not the server's.
func reasonOf(id string) string {
	_, rest, _ := strings.Cut(id, "_")
	var place, reasoning int
	if len(rest) != answerID+4 {
		return ""
	}
	if _, err := fmt.Sscanf(rest[answerID:], "%02x%02x", &place, &reasoning); err != nil || reasoning == 0 {
		return ""
	}
	return itemID("rs", rest[:answerID], reasoning-1, 0)
}
