package modeltest

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/skeinhq/skein/thread"
)

// messagesAPI is the Messages API of Anthropic.
var messagesAPI = api{
	vendor: "toolu",
	limit:  anthropicLimit,
	key:    anthropicKey,
	read:   (*Server).readMessages,
	reply:  (*Server).reply,
	bill: func(s *Server, account string, r *request) bill {
		return s.cache.anthropic(account, r, s.config.Now())
	},
	trouble: anthropicTrouble,
	refuse:  anthropicRefuse,
	whole:   anthropicWhole,
	stream:  anthropicStream,
	broken: func(c *call, p problem) {
		c.event("error", fields{"type", "error", "error", fields{"type", p.kind, "message", p.message}, "request_id", requestID})
	},
}

const anthropicLimit = 32 << 20 // bytes of a body

const requestID = "req_011fakefakefakefakefake0"

// anthropicVersions are the versions of the API, the newest last. The newest has
// no sampling any more.
var anthropicVersions = []string{"2023-01-01", "2023-06-01", withoutSampling}

const withoutSampling = "2026-10-21"

func anthropicKey(h http.Header) (string, *problem) {
	switch {
	case h.Get("anthropic-version") == "":
		return "", &problem{message: "anthropic-version: header is required"}
	case !contains(anthropicVersions, h.Get("anthropic-version")):
		return "", &problem{message: `anthropic-version: "` + h.Get("anthropic-version") + `" is not a valid version`}
	}
	// The key may stand in either header.
	key, _ := strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	if key = cmp.Or(h.Get("x-api-key"), key); key == "" {
		return "", &problem{status: http.StatusUnauthorized, kind: "authentication_error", message: "x-api-key header is required"}
	}
	return key, nil
}

// anthropicKinds are the types of errors by status.
var anthropicKinds = map[int]string{
	http.StatusBadRequest: "invalid_request_error", http.StatusUnauthorized: "authentication_error", http.StatusForbidden: "permission_error",
	http.StatusNotFound: "not_found_error", http.StatusRequestEntityTooLarge: "request_too_large", http.StatusTooManyRequests: "rate_limit_error",
	http.StatusInternalServerError: "api_error", 529: "overloaded_error",
}

func anthropicRefuse(w http.ResponseWriter, p problem) {
	if p.status == http.StatusBadGateway {
		gateway(w)
		return
	}
	switch {
	case p.status == http.StatusUnauthorized && p.kind == "":
		p.message = "invalid x-api-key"
	case p.status == http.StatusRequestEntityTooLarge:
		p.message = "Request exceeds the maximum size"
	}
	if p.kind == "" {
		p.kind = anthropicKinds[p.status]
	}
	w.Header().Set("request-id", requestID)
	refused(w, p.status, fields{"type", "error", "error", fields{"type", p.kind, "message", p.message}, "request_id", requestID})
}

// refused sends an error. Whoever asked may have gone, which is no matter here.
func refused(w http.ResponseWriter, status int, body fields) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(encode(body), '\n'))
}

// gateway is the page of a proxy that could not reach the provider.
func gateway(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(http.StatusBadGateway)
	_, _ = w.Write([]byte("<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n</body>\r\n</html>\r\n"))
}

func anthropicTrouble(t Trouble, r *request) problem {
	switch t {
	case RateLimit:
		return problem{status: 429, kind: "rate_limit_error", message: "This request would exceed your organization's rate limit of 50 requests per minute. For details, refer to: https://docs.claude.com/en/api/rate-limits."}
	case Quota:
		return problem{status: 400, kind: "invalid_request_error", message: "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}
	case Overloaded:
		return problem{status: 529, kind: "overloaded_error", message: "Overloaded"}
	case Gateway:
		return problem{status: http.StatusBadGateway, kind: "api_error", message: "Bad gateway"}
	case Overflow:
		return problem{status: 400, kind: "invalid_request_error", message: "prompt is too long: " + count(r.rules.Window+1) + " tokens > " + count(r.rules.Window) + " maximum"}
	case Forbidden:
		return problem{status: 403, kind: "permission_error", message: "Your API key does not have permission to use the specified resource."}
	case Policy:
		return problem{status: 400, kind: "invalid_request_error", message: "Output blocked by content filtering policy"}
	}
	return problem{status: 500, kind: "api_error", message: "Internal server error"}
}

// anthropicStops are the stop reasons.
var anthropicStops = map[thread.Stop]string{
	thread.StopEnd: "end_turn", thread.StopCalls: "tool_use", thread.StopLength: "max_tokens", thread.StopRefusal: "refusal",
}

func (a answer) anthropicStop() fields {
	var details any
	if a.Stop == thread.StopRefusal {
		details = fields{"type", "refusal", "category", nil, "explanation", "The request was declined."}
	}
	return fields{"stop_reason", anthropicStops[a.Stop], "stop_sequence", nil, "stop_details", details}
}

// anthropicBlock is a part of an answer; started is how its stream begins.
func anthropicBlock(p thread.Part) (whole, started fields) {
	switch {
	case p.Type == thread.ThinkingPart && p.Redacted:
		f := fields{"type", "redacted_thinking", "data", p.Signature}
		return f, f
	case p.Type == thread.ThinkingPart:
		return fields{"type", "thinking", "thinking", p.Text, "signature", p.Signature}, fields{"type", "thinking", "thinking", "", "signature", ""}
	case p.Type == thread.CallPart:
		f := func(input []byte) fields {
			return fields{"type", "tool_use", "id", p.ID, "name", p.Name, "input", json.RawMessage(input)}
		}
		return f(p.Input), f([]byte("{}"))
	}
	return fields{"type", "text", "text", p.Text}, fields{"type", "text", "text", ""}
}

// anthropicUsage is what is billed, with the output so far.
func anthropicUsage(b bill, output, thought int) fields {
	return fields{
		"input_tokens", b.input, "cache_creation_input_tokens", b.write, "cache_read_input_tokens", b.read,
		"cache_creation", fields{"ephemeral_5m_input_tokens", b.write - b.writeHour, "ephemeral_1h_input_tokens", b.writeHour},
		"output_tokens", output, "output_tokens_details", fields{"thinking_tokens", thought}, "service_tier", "standard",
	}
}

// transformations are the changes that the server made to a request.
func (r *request) transformations() []fields {
	var out []fields
	for _, c := range r.changes {
		out = append(out, fields{"type", "thinking_dropped", "path", c.Path, "reason", c.Reason})
	}
	return out
}

func anthropicWhole(r *request, a answer, b bill, _ time.Time) any {
	content := []fields{}
	for _, p := range a.Parts {
		if whole, _ := anthropicBlock(p); p.Type != thread.TextPart || p.Text != "" {
			content = append(content, whole)
		}
	}
	m := fields{"id", "msg_" + a.id, "type", "message", "role", "assistant", "model", r.model, "content", content}
	m = append(append(m, a.anthropicStop()...), "usage", anthropicUsage(b, a.output, a.thought))
	if t := r.transformations(); t != nil {
		m = append(m, "input_transformations", t)
	}
	return m
}

// anthropicStream sends an answer as it is made: message_start, each block's
// start, deltas and stop, message_delta, message_stop.
func anthropicStream(c *call) error {
	start := fields{"id", "msg_" + c.ans.id, "type", "message", "role", "assistant", "model", c.req.model, "content", []fields{}, "stop_reason", nil, "stop_sequence", nil, "usage", anthropicUsage(c.bill, 1, 0)}
	if t := c.req.transformations(); t != nil {
		start = append(start, "input_transformations", t)
	}
	c.event("message_start", fields{"type", "message_start", "message", start})
	c.event("ping", fields{"type", "ping"})
	index := 0
	for _, p := range c.ans.Parts {
		if p.Type == thread.TextPart && p.Text == "" {
			continue
		}
		_, started := anthropicBlock(p)
		c.event("content_block_start", fields{"type", "content_block_start", "index", index, "content_block", started})
		c.anthropicDeltas(index, p)
		c.event("content_block_stop", fields{"type", "content_block_stop", "index", index})
		index++
	}
	if c.sent <= c.reply.After {
		c.piece("") // a trouble that was to come after more than was said
	}
	usage := fields{"input_tokens", c.bill.input, "cache_creation_input_tokens", c.bill.write, "cache_read_input_tokens", c.bill.read, "output_tokens", c.ans.output, "output_tokens_details", fields{"thinking_tokens", c.ans.thought}}
	c.event("message_delta", fields{"type", "message_delta", "delta", c.ans.anthropicStop(), "usage", usage})
	c.event("message_stop", fields{"type", "message_stop"})
	return c.err
}

func (c *call) anthropicDeltas(index int, p thread.Part) {
	delta := func(kind, field, text string) {
		c.event("content_block_delta", fields{"type", "content_block_delta", "index", index, "delta", fields{"type", kind, field, text}})
	}
	switch {
	case p.Type == thread.ThinkingPart && p.Redacted:
	case p.Type == thread.ThinkingPart:
		for _, t := range pieces(p.Text) {
			if c.piece(t) {
				delta("thinking_delta", "thinking", t)
			}
		}
		delta("signature_delta", "signature", p.Signature)
	case p.Type == thread.CallPart:
		delta("input_json_delta", "partial_json", "")
		for _, t := range crumbs(string(p.Input)) {
			if c.piece(t) {
				delta("input_json_delta", "partial_json", t)
			}
		}
	default:
		for _, t := range pieces(p.Text) {
			if c.piece(t) {
				delta("text_delta", "text", t)
			}
		}
	}
}

// countAPI counts tokens, as the Messages API does before it is asked.
var countAPI = api{
	limit: anthropicLimit,
	key:   anthropicKey,
	read: func(s *Server, h http.Header, body []byte) (*request, *problem) {
		var sent map[string]json.RawMessage
		if json.Unmarshal(body, &sent) == nil && sent["max_tokens"] == nil {
			sent["max_tokens"] = json.RawMessage("1")
			body = encode(sent)
		}
		r, p := s.readMessages(h, body)
		if r != nil {
			r.stream = false
		}
		return r, p
	},
	reply:   func(*Server, string, *request) (Reply, *problem) { return Reply{}, nil },
	bill:    func(*Server, string, *request) bill { return bill{} },
	trouble: anthropicTrouble,
	refuse:  anthropicRefuse,
	whole: func(r *request, _ answer, _ bill, _ time.Time) any {
		return fields{"input_tokens", r.tokens()}
	},
}
