package modeltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// What the two APIs of OpenAI have in common: how they say what is wrong, tools,
// images, files, and the settings of the cache.

// openAILimit is the most bytes of a body.
const openAILimit = 50 << 20

var openAIWords = words{
	child: func(at, name string) string {
		if at == "" {
			return name
		}
		return at + "." + name
	},
	item: func(at string, i int) string { return fmt.Sprintf("%s[%d]", at, i) },
	missing: func(at string) problem {
		return problem{param: at, code: "missing_required_parameter", message: fmt.Sprintf("Missing required parameter: '%s'.", at)}
	},
	extra: func(at string) problem {
		return problem{param: at, code: "unknown_parameter", message: fmt.Sprintf("Unknown parameter: '%s'.", at)}
	},
	wrong: func(at, want string) problem {
		if want[0] == '\'' {
			return problem{param: at, code: "invalid_value", message: fmt.Sprintf("Invalid value for '%s'. Supported values are: %s.", at, want)}
		}
		return problem{param: at, code: "invalid_type", message: fmt.Sprintf("Invalid type for '%s': expected %s.", at, article(want))}
	},
}

func article(want string) string {
	if strings.ContainsRune("aeio", rune(want[0])) {
		return "an " + want
	}
	return "a " + want
}

// openAIReader reads a body of one of the two APIs.
type openAIReader struct {
	*reader
	*request
}

func newOpenAIReader() *openAIReader {
	return &openAIReader{&reader{words: openAIWords}, &request{}}
}

func (r *openAIReader) refuse(param, code, format string, args ...any) {
	r.fail(problem{param: param, code: code, message: fmt.Sprintf(format, args...)})
}

func openAIKey(h http.Header) (string, *problem) {
	key, ok := strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	if !ok || key == "" {
		return "", &problem{status: http.StatusUnauthorized, kind: "invalid_request_error", message: "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY). You can obtain an API key from https://platform.openai.com/account/api-keys."}
	}
	return key, nil
}

func openAIRefuse(w http.ResponseWriter, p problem) {
	if p.status == http.StatusBadGateway {
		gateway(w)
		return
	}
	switch {
	case p.status == http.StatusUnauthorized && p.kind == "":
		p.code, p.message = "invalid_api_key", "Incorrect API key provided: "+masked(p.message)+". You can find your API key at https://platform.openai.com/account/api-keys."
	case p.status == http.StatusRequestEntityTooLarge:
		p.message = "Request body is too large."
	}
	w.Header().Set("x-request-id", requestID)
	refused(w, p.status, fields{"error", p.openAI()})
}

// openAI is the problem in the shape of OpenAI's errors.
func (p problem) openAI() fields {
	orNull := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	kind := p.kind
	if kind == "" {
		kind = "invalid_request_error"
	}
	return fields{"message", p.message, "type", kind, "param", orNull(p.param), "code", orNull(p.code)}
}

// masked shows the ends of a key.
func masked(key string) string {
	if len(key) < 12 {
		return strings.Repeat("*", len(key))
	}
	return key[:4] + strings.Repeat("*", len(key)-8) + key[len(key)-4:]
}

func openAITrouble(t Trouble, r *request) problem {
	switch t {
	case RateLimit:
		return problem{status: 429, kind: "requests", code: "rate_limit_exceeded", message: fmt.Sprintf("Rate limit reached for %s in organization org-fake on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s. Visit https://platform.openai.com/account/rate-limits to learn more.", r.model)}
	case Quota:
		return problem{status: 429, kind: "insufficient_quota", code: "insufficient_quota", message: "You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors."}
	case Overloaded:
		return problem{status: 503, kind: "server_error", code: "server_is_overloaded", message: "Our servers are currently overloaded. Please try again later."}
	case Gateway:
		return problem{status: http.StatusBadGateway, kind: "server_error", message: "Bad gateway"}
	case Overflow:
		return problem{status: 400, kind: "invalid_request_error", code: "context_length_exceeded", param: "input", message: "Your input exceeds the context window of this model. Please adjust your input and try again."}
	case Forbidden:
		return problem{status: 403, kind: "invalid_request_error", code: "model_not_available", message: fmt.Sprintf("Project `proj_fake` does not have access to model `%s`.", r.model)}
	case Policy:
		return problem{status: 400, kind: "invalid_request_error", code: "invalid_prompt", message: "Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with a different prompt."}
	}
	return problem{status: 500, kind: "server_error", code: "server_error", message: "The server had an error while processing your request. Sorry about that!"}
}

// exact says whether a model caches at breakpoints: from GPT-5.6 on.
func exact(name string) bool {
	bare := base(name)
	return strings.HasPrefix(bare, "gpt-5.6") || strings.HasPrefix(bare, "gpt-6")
}

func openAIBill(s *Server, account string, r *request) bill {
	return s.cache.openAI(account, r, s.config.Now(), exact(r.model))
}

// reasons says whether a model is one that reasons.
func (r *openAIReader) reasons() bool { return r.rules.Thinking != model.ThinkingNone }

// sampling refuses what a reasoning model does not take.
func (r *openAIReader) sampling(top object, names ...string) {
	for _, name := range names {
		if r.reasons() && top.get(name).present() {
			r.refuse(name, "unsupported_parameter", "Unsupported parameter: '%s' is not supported with this model.", name)
		}
	}
}

var efforts = []string{"none", "minimal", "low", "medium", "high", "xhigh"}

func (r *openAIReader) effort(v value) {
	r.thinks = r.reasons()
	switch {
	case !v.present():
	case !r.reasons():
		r.refuse(v.at, "unsupported_parameter", "Unsupported parameter: '%s' is not supported with this model.", v.at)
	default:
		r.level = v.oneOf(efforts...)
		r.thinks = r.level != "none" && r.level != "minimal"
	}
}

// caching reads the settings of the cache.
func (r *openAIReader) caching(top object) {
	if v := top.get("prompt_cache_key"); v.present() {
		r.key = r.short(v)
	}
	if v := top.get("prompt_cache_retention"); v.present() {
		r.life = v.oneOf("in_memory", "24h")
	}
	if v := top.get("prompt_cache_options"); v.present() {
		if !exact(r.model) {
			r.refuse(v.at, "unsupported_parameter", "Unsupported parameter: '%s' is not supported with this model.", v.at)
		}
		o := v.object("mode", "ttl", "prewarm", "comparison_response_id")
		if m := o.get("mode"); m.present() {
			r.explicit = m.oneOf("implicit", "explicit") == "explicit"
		}
		if t := o.get("ttl"); t.present() {
			r.life = t.oneOf("30m", "12h")
		}
	}
}

// breakpoint reads a cache mark of a part.
func (r *openAIReader) breakpoint(o object) string {
	v := o.get("prompt_cache_breakpoint")
	if !v.present() {
		return ""
	}
	if !exact(r.model) {
		r.refuse(v.at, "unsupported_parameter", "Unsupported parameter: '%s' is not supported with this model.", v.at)
	}
	v.object("mode").get("mode").oneOf("explicit")
	return "30m"
}

// short is a text of at most 64 characters, as ids and names are.
func (r *openAIReader) short(v value) string {
	s := v.text()
	if len(s) > 64 {
		r.refuse(v.at, "string_above_max_length", "Invalid '%s': string too long. Expected a string with maximum length 64, but got a string with length %d instead.", v.at, len(s))
	}
	return s
}

var functionName = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

func (r *openAIReader) function(v value) string {
	name := r.short(v)
	if r.first == nil && !functionName.MatchString(name) {
		r.refuse(v.at, "invalid_value", "Invalid '%s': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", v.at)
	}
	return name
}

// readFunction reads a tool's definition.
func (r *openAIReader) readFunction(o object) {
	name, schema := r.function(o.get("name")), o.get("parameters")
	if r.first != nil {
		return
	}
	if slices.Contains(r.tools, name) {
		r.refuse(o.get("name").at, "invalid_value", "Duplicate function name: '%s'.", name)
	}
	raw := []byte(nil)
	if schema.present() {
		f := schema.open()
		kind := "None"
		if t := f.get("type"); t.present() {
			kind = strings.Trim(string(t.raw), `"`)
		}
		bad := func(why string) {
			r.refuse(schema.at, "invalid_function_parameters", "Invalid schema for function '%s': %s", name, why)
		}
		switch {
		case r.first != nil:
		case kind != "object":
			bad(fmt.Sprintf(`schema must be a JSON Schema of 'type: "object"', got 'type: "%s"'.`, kind))
		case !validSchema(schema.raw):
			bad("it is not a valid JSON Schema.")
		case o.get("strict").boolean():
			if why := notStrict(schema.raw); why != "" {
				bad(why)
			}
		}
		raw = canonical(schema.raw)
	}
	r.tools = append(r.tools, name)
	r.add(toolBlock(name, o.get("description").optional(), raw))
}

// notStrict says why a schema cannot be held strictly: each property must be
// required, and others forbidden.
func notStrict(raw []byte) string {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
		Additional *bool                      `json:"additionalProperties"`
	}
	if json.Unmarshal(raw, &s) != nil || s.Additional == nil || *s.Additional {
		return "In context=(), 'additionalProperties' is required to be supplied and to be false."
	}
	for name := range s.Properties {
		if !slices.Contains(s.Required, name) {
			return fmt.Sprintf("In context=(), 'required' is required to be supplied and to be an array including every key in properties. Missing '%s'.", name)
		}
	}
	return ""
}

// The limits of images, as documented.
const openAIImages = 500

// readURL reads an image given as a data URL.
func (r *openAIReader) readURL(v value) block {
	url := v.text()
	if r.first != nil {
		return block{}
	}
	media, data, ok := dataURL(url)
	r.images++
	switch pic := look(data); {
	case !ok:
		r.refuse(v.at, "invalid_value", "Invalid '%s'. Expected a base64-encoded data URL with an image MIME type (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got unsupported MIME type or an invalid URL.", v.at)
	case pic.kind == "":
		r.refuse(v.at, "image_parse_error", "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].")
	case r.images > openAIImages:
		r.refuse("input", "invalid_value", "Too many images in request. Expected at most %d.", openAIImages)
	case r.rules.Images.Bytes > 0 && int64(len(data)) > r.rules.Images.Bytes:
		r.refuse(v.at, "image_too_large", "Image is too large: %d bytes, at most %d.", len(data), r.rules.Images.Bytes)
	}
	return imageBlock(media, url)
}

// readFile reads a file given as a data URL.
func (r *openAIReader) readFile(name, v value) block {
	title, url := name.optional(), v.text()
	if r.first != nil {
		return block{}
	}
	r.files++
	media, data, ok := dataURL(url)
	switch {
	case title == "":
		r.refuse(name.at, "missing_required_parameter", "Missing required parameter: '%s'.", name.at)
	case !ok:
		r.refuse(v.at, "invalid_value", "Invalid '%s'. Expected a base64-encoded data URL.", v.at)
	case media != "application/pdf" || !bytes.HasPrefix(data, []byte("%PDF-")):
		r.refuse(v.at, "unsupported_file", "Invalid file data: '%s'. Expected a file with an application/pdf MIME type.", v.at)
	}
	return fileBlock(media, title, url, len(data))
}

func dataURL(url string) (media string, data []byte, ok bool) {
	rest, found := strings.CutPrefix(url, "data:")
	media, text, cut := strings.Cut(rest, ";base64,")
	data, decoded := unbase64(text)
	return media, data, found && cut && decoded
}

// overflow refuses a prompt that is over the model's window.
func (r *openAIReader) overflow() {
	if n := r.rules.Scale(r.tokens()); r.rules.Window > 0 && n > r.rules.Window {
		r.fail(openAITrouble(Overflow, r.request))
	}
}

// joined is the text of a message's parts.
func joined(parts []part) string {
	var texts []string
	for _, p := range parts {
		if p.kind == thread.TextPart {
			texts = append(texts, p.text)
		}
	}
	return strings.Join(texts, "\n")
}
