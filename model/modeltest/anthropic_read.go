package modeltest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/skeinhq/skein/thread"
)

// anthropicWords are how Anthropic names places and what is wrong at them.
var anthropicWords = words{
	child: func(at, name string) string {
		if at == "" {
			return name
		}
		return at + "." + name
	},
	item:    func(at string, i int) string { return at + "." + strconv.Itoa(i) },
	missing: func(at string) problem { return problem{message: at + ": Field required"} },
	extra:   func(at string) problem { return problem{message: at + ": Extra inputs are not permitted"} },
	wrong: func(at, want string) problem {
		if want[0] == '\'' {
			return problem{message: at + ": Input should be " + want}
		}
		return problem{message: at + ": Input should be a valid " + want}
	},
}

// bindingBeta is the beta that lets a request say what happens to thinking whose
// prompt has changed.
const bindingBeta = "thinking-binding-controls-2026-08-01"

// anthropicReader reads a body of the Messages API.
type anthropicReader struct {
	*reader
	*request
	claude  claude
	betas   string
	version string
	drops   bool   // thinking whose prompt has changed is dropped, not refused
	manual  bool   // thinking is on, by a budget
	mode    string // of thinking
	marks   []mark
}

// mark is a cache mark.
type mark struct{ at, life string }

// readMessages reads and checks a body of the Messages API.
func (s *Server) readMessages(h http.Header, body []byte) (*request, *problem) {
	r := &anthropicReader{reader: &reader{words: anthropicWords}, request: &request{}, betas: strings.Join(h.Values("anthropic-beta"), ","), version: h.Get("anthropic-version")}
	top := value{r.reader, "", body}.object("model", "messages", "max_tokens", "system", "tools", "tool_choice", "thinking",
		"output_config", "stream", "temperature", "top_p", "top_k", "stop_sequences", "metadata", "service_tier", "cache_control",
		"inference_geo", "container", "speed", "diagnostics", "context_management")
	if r.first == nil {
		r.head(top)
	}
	if r.first != nil {
		return nil, r.first
	}
	rules, err := s.rules(r.model, "anthropic")
	if err != nil {
		return nil, &problem{status: http.StatusNotFound, kind: "not_found_error", message: "model: " + r.model}
	}
	r.rules, r.claude = rules, claudeOf(base(r.model))
	r.settle(top)
	r.readTools(top.get("tools"))
	r.readSystem(top.get("system"))
	for _, m := range top.get("messages").list() {
		r.readMessage(m)
	}
	if r.first == nil {
		r.check()
	}
	if r.first == nil && top.get("cache_control").present() {
		r.markLast(top.get("cache_control"))
	}
	if r.first == nil {
		r.checkMarks()
	}
	if r.first == nil {
		r.checkThinking()
	}
	if r.images > 0 {
		r.settings += "\x00images"
	}
	if n := r.rules.Scale(r.tokens()); r.first == nil && r.rules.Window > 0 && n > r.rules.Window {
		r.fail(problem{message: fmt.Sprintf("prompt is too long: %d tokens > %d maximum", n, r.rules.Window)})
	}
	return r.request, r.first
}

// head reads what every request must have.
func (r *anthropicReader) head(top object) {
	r.model = top.get("model").text()
	r.maxOut = top.get("max_tokens").number()
	if r.maxOut < 0 {
		r.fail(problem{message: "max_tokens: Input should be greater than or equal to 0"})
	}
	r.warming = r.maxOut == 0
	r.stream = top.get("stream").boolean()
	if len(top.get("messages").list()) == 0 {
		r.fail(problem{message: "messages: at least one message is required"})
	}
}

// settle reads the settings: thinking, effort, sampling, the choice of tools.
func (r *anthropicReader) settle(top object) {
	if r.rules.MaxOutput > 0 && r.maxOut > r.rules.MaxOutput {
		r.fail(problem{message: fmt.Sprintf("max_tokens: %d > %d, which is the maximum allowed number of output tokens for %s", r.maxOut, r.rules.MaxOutput, r.model)})
	}
	r.readThinking(top.get("thinking"))
	if effort := top.get("output_config"); effort.present() {
		o := effort.object("effort", "format")
		if v := o.get("effort"); v.present() {
			r.level = v.oneOf("low", "medium", "high", "xhigh", "max")
			if r.claude.effort == "" {
				r.fail(problem{message: "This model does not support the effort parameter."})
			}
		}
	}
	for _, name := range []string{"temperature", "top_p", "top_k"} {
		switch v := top.get(name); {
		case !v.present():
		case r.version == withoutSampling:
			r.fail(anthropicWords.extra(name))
		case !r.claude.sampling:
			r.fail(problem{message: fmt.Sprintf("`%s` is deprecated for this model.", name)})
		}
	}
	choice := top.get("tool_choice")
	if choice.present() {
		o := choice.object("type", "name", "disable_parallel_tool_use")
		if kind := o.get("type").oneOf("auto", "any", "tool", "none"); r.claude.bound && (kind == "any" || kind == "tool") {
			r.fail(problem{message: "tool_choice: type \"tool\" and \"any\" are not supported for this model."})
		}
	}
	r.settings = fmt.Sprint(r.mode, "\x00", cmp.Or(r.level, r.claude.effort), "\x00", string(canonical(choice.raw)))
}

func (r *anthropicReader) readThinking(v value) {
	r.thinks, r.shown = r.claude.always, !r.claude.omitted
	if r.mode = "disabled"; r.thinks {
		r.mode = "adaptive"
	}
	if !v.present() {
		return
	}
	o := v.open()
	kind := o.get("type").oneOf("adaptive", "enabled", "disabled", "between_tools")
	if r.first != nil {
		return
	}
	if !contains(r.claude.thinking, kind) {
		if contains(r.claude.thinking, "adaptive") {
			r.fail(problem{message: fmt.Sprintf("\"thinking.type.%s\" is not supported for this model. Use \"thinking.type.adaptive\" and \"output_config.effort\" to control thinking behavior.", kind)})
		}
		r.fail(problem{message: fmt.Sprintf("%s thinking is not supported on this model", kind)})
		return
	}
	r.thinks, r.mode = kind == "adaptive" || kind == "enabled", kind
	o.at += "." + kind
	switch kind {
	case "adaptive":
		o.only("type", "display", "block_binding")
	case "enabled":
		o.only("type", "display", "block_binding", "budget_tokens")
		r.manual = true
		budget := o.get("budget_tokens").number()
		r.mode += " " + count(budget)
		switch {
		case budget < 1024:
			r.fail(problem{message: "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"})
		case budget >= r.maxOut && !r.warming:
			r.fail(problem{message: "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size"})
		}
	default:
		o.only("type")
	}
	if d := o.get("display"); d.present() {
		r.shown = d.oneOf("summarized", "omitted") == "summarized"
	}
	if b := o.get("block_binding"); b.present() {
		if !strings.Contains(r.betas, bindingBeta) {
			r.fail(problem{message: b.at + ": Extra inputs are not permitted"})
			return
		}
		r.drops = b.object("prefix_mismatch_behavior").get("prefix_mismatch_behavior").oneOf("error", "drop_block") == "drop_block"
	}
}

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)

func (r *anthropicReader) readTools(v value) {
	if !v.present() {
		return
	}
	for _, t := range v.list() {
		o := t.open()
		o.at += ".custom"
		o.only("name", "description", "input_schema", "type", "cache_control", "strict", "eager_input_streaming", "defer_loading", "allowed_callers", "input_examples")
		name, schema := o.get("name").text(), o.get("input_schema")
		fields := schema.open()
		if r.first != nil {
			return
		}
		switch kind := fields.get("type"); {
		case !toolName.MatchString(name):
			r.fail(problem{message: o.at + ".name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"})
		case contains(r.tools, name):
			r.fail(problem{message: "tools: Tool names must be unique."})
		case !kind.present():
			r.fail(anthropicWords.missing(kind.at))
		case kind.text() != "object":
			r.fail(problem{message: kind.at + ": Input should be 'object'"})
		case fields.get("oneOf").present() || fields.get("allOf").present() || fields.get("anyOf").present():
			r.fail(problem{message: schema.at + ": input_schema does not support oneOf, allOf, or anyOf at the top level"})
		case !validSchema(schema.raw):
			r.fail(problem{message: schema.at + ": JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12)."})
		}
		b := toolBlock(name, o.get("description").optional(), canonical(schema.raw))
		b.mark = r.readMark(o)
		r.tools = append(r.tools, name)
		r.add(b)
	}
}

func validSchema(raw json.RawMessage) bool {
	var s jsonschema.Schema
	if json.Unmarshal(raw, &s) != nil {
		return false
	}
	_, err := s.Resolve(nil)
	return err == nil
}

func (r *anthropicReader) readSystem(v value) {
	switch {
	case !v.present():
	case v.isText():
		if text := v.text(); text != "" {
			r.add(systemBlock(text))
		}
	default:
		for _, item := range v.list() {
			o := item.object("type", "text", "cache_control", "citations")
			o.get("type").oneOf("text")
			text := o.get("text").text()
			if blank(text) {
				r.fail(problem{message: "system: text content blocks must be non-empty"})
			}
			b := systemBlock(text)
			b.mark = r.readMark(o)
			r.add(b)
		}
	}
}

// readMark reads a block's cache mark and gives the life it asks for.
func (r *anthropicReader) readMark(o object) string {
	v := o.get("cache_control")
	if !v.present() {
		return ""
	}
	c := v.object("type", "ttl")
	c.get("type").oneOf("ephemeral")
	life := "5m"
	if ttl := c.get("ttl"); ttl.present() {
		life = ttl.oneOf("5m", "1h")
	}
	r.marks = append(r.marks, mark{v.at, life})
	return life
}

// markLast puts the mark that stands at the top of a request at its last block
// that can bear one.
func (r *anthropicReader) markLast(v value) {
	o := object{value: v, fields: map[string]json.RawMessage{"cache_control": v.raw}}
	o.at = ""
	life := r.readMark(o)
	for i := len(r.blocks) - 1; i >= 0; i-- {
		if b := &r.blocks[i]; !isThought(*b) {
			b.mark = life
			return
		}
	}
}

func isThought(b block) bool {
	return strings.HasPrefix(string(b.data), `["assistant","thinking"`) || strings.HasPrefix(string(b.data), `["assistant","redacted"`)
}

func (r *anthropicReader) readMessage(v value) {
	o := v.object("role", "content")
	m := spoken{role: o.get("role").oneOf("user", "assistant"), at: v.at}
	content := o.get("content")
	if content.isText() {
		text := content.text()
		if text == "" {
			r.fail(problem{message: v.at + ": " + emptyMessage(m.role)})
		}
		m.parts = []part{{kind: thread.TextPart, at: content.at, text: text, block: r.add(textBlock(m.role, text))}}
		r.messages = append(r.messages, m)
		return
	}
	items := content.list()
	if len(items) == 0 {
		r.fail(problem{message: v.at + ": " + emptyMessage(m.role)})
	}
	for _, item := range items {
		if r.first != nil {
			return
		}
		m.parts = append(m.parts, r.readPart(m.role, item))
	}
	r.messages = append(r.messages, m)
}

func emptyMessage(role string) string {
	if role == "user" {
		return "user messages must have non-empty content"
	}
	return "all messages must have non-empty content except for the optional final assistant message"
}

// readPart reads one block of a message.
func (r *anthropicReader) readPart(role string, v value) part {
	o := v.open()
	kinds := map[string]func(string, object) (part, block){
		"text": r.readText, "image": r.readImage, "document": r.readDocument, "tool_use": r.readCall,
		"tool_result": r.readResult, "thinking": r.readThought, "redacted_thinking": r.readThought,
	}
	kind := o.get("type").text()
	read := kinds[kind]
	if r.first == nil && read == nil {
		r.fail(problem{message: fmt.Sprintf("%s: Input tag '%s' found using 'type' does not match any of the expected tags: 'document', 'image', 'redacted_thinking', 'text', 'thinking', 'tool_result', 'tool_use'", v.at, kind)})
	}
	if r.first != nil {
		return part{}
	}
	if allowed := map[string]string{"tool_use": "assistant", "thinking": "assistant", "redacted_thinking": "assistant", "tool_result": "user", "image": "user", "document": "user"}[kind]; allowed != "" && allowed != role {
		r.fail(problem{message: fmt.Sprintf("%s: `%s` blocks can only be in `%s` messages", v.at, kind, allowed)})
	}
	o.at += "." + kind
	p, b := read(role, o)
	p.at = v.at
	if kind != "thinking" && kind != "redacted_thinking" {
		b.mark = r.readMark(o)
	}
	p.block = r.add(b)
	return p
}

func (r *anthropicReader) readText(role string, o object) (part, block) {
	o.only("type", "text", "cache_control", "citations")
	text := o.get("text").text()
	switch {
	case text == "" && o.get("cache_control").present():
		r.fail(problem{message: o.at + ": cache_control cannot be set for empty text blocks"})
	case text == "":
		r.fail(problem{message: "messages: text content blocks must be non-empty"})
	case blank(text):
		r.fail(problem{message: "messages: text content blocks must contain non-whitespace text"})
	}
	return part{kind: thread.TextPart, text: text}, textBlock(role, text)
}

func (r *anthropicReader) readCall(_ string, o object) (part, block) {
	o.only("type", "id", "name", "input", "cache_control", "caller", "toolset_name")
	id, name, input := r.id(o.get("id")), o.get("name").text(), o.get("input")
	input.open()
	if r.first == nil && !toolName.MatchString(name) {
		r.fail(problem{message: o.at + ".name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"})
	}
	return part{kind: thread.CallPart, id: id, name: name}, callBlock(id, name, canonical(input.raw))
}

var callID = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

func (r *anthropicReader) id(v value) string {
	id := v.text()
	if r.first == nil && !callID.MatchString(id) {
		r.fail(problem{message: v.at + ": String should match pattern '^[a-zA-Z0-9_-]+$'"})
	}
	return id
}

func (r *anthropicReader) readResult(_ string, o object) (part, block) {
	o.only("type", "tool_use_id", "content", "is_error", "cache_control", "toolset_name")
	id, failed, content := r.id(o.get("tool_use_id")), o.get("is_error").boolean(), o.get("content")
	p := part{kind: thread.ResultPart, id: id}
	var blocks []block
	switch {
	case content.isText():
		p.text = content.text()
		if p.text != "" {
			blocks = append(blocks, textBlock("user", p.text))
		}
	case content.present():
		for _, item := range content.list() {
			in := item.open()
			kind := in.get("type").oneOf("text", "image", "document")
			if r.first != nil {
				return p, block{}
			}
			in.at += "." + kind
			read := map[string]func(string, object) (part, block){"text": r.readText, "image": r.readImage, "document": r.readDocument}[kind]
			q, b := read("user", in)
			if p.text != "" && q.text != "" {
				p.text += "\n"
			}
			p.text += q.text
			blocks = append(blocks, b)
		}
	}
	if failed && len(blocks) == 0 {
		r.fail(problem{message: o.at + ": content cannot be empty if `is_error` is true"})
	}
	return p, resultBlock(id, failed, blocks)
}

// readThought reads a thinking block. Whether its signature holds is checked
// when the prompt before it is known.
func (r *anthropicReader) readThought(_ string, o object) (part, block) {
	p := part{kind: thread.ThinkingPart}
	if strings.HasSuffix(o.at, "redacted_thinking") {
		o.only("type", "data")
		p.kind, p.proof = redactedPart, o.get("data").text()
	} else {
		o.only("type", "thinking", "signature")
		p.text, p.proof = o.get("thinking").text(), o.get("signature").text()
	}
	return p, thinkingBlock(p.kind, p.text, p.proof)
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

func contains(list []string, s string) bool {
	for _, have := range list {
		if have == s {
			return true
		}
	}
	return false
}
