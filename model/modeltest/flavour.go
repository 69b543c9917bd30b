package modeltest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/skeinhq/skein/model"
)

// flavour is a server that speaks Chat Completions in its own way.
type flavour struct {
	name      string
	base      string   // where it listens, up to /chat/completions
	models    []string // the models it has, besides the table's; they begin so
	thinksAs  string   // the field that what was thought comes in; empty: it is not shown
	sentAs    string   // the field that effort is asked with
	wholeCall bool     // a call comes in one piece
	numbered  bool     // an error's code is its status
	keyless   bool     // it takes any key, and none
	comments  bool     // it sends comments while it waits
	always    bool     // its stream ends with the usage, asked for or not
	cached    bool     // its usage tells what was read from the cache
	roles     bool     // each piece names the role
	callID    string   // what ids of calls begin with
}

// flavours are the servers whose ways are known.
var flavours = map[string]flavour{
	"openai":     {name: "openai", base: "/v1", sentAs: "reasoning_effort", cached: true, callID: "call"},
	"ollama":     {name: "ollama", base: "/ollama/v1", models: []string{"qwen3", "gpt-oss", "llama3.2"}, thinksAs: "reasoning", sentAs: "reasoning_effort", wholeCall: true, keyless: true, roles: true, callID: "call"},
	"vllm":       {name: "vllm", base: "/vllm/v1", models: []string{"Qwen/Qwen3", "openai/gpt-oss"}, thinksAs: "reasoning_content", sentAs: "reasoning_effort", numbered: true, keyless: true, cached: true, callID: "chatcmpl-tool"},
	"openrouter": {name: "openrouter", base: "/openrouter/api/v1", models: []string{"qwen/", "deepseek/", "meta-llama/"}, thinksAs: "reasoning", sentAs: "reasoning", numbered: true, comments: true, always: true, cached: true, callID: "call"},
}

// rulesOf finds a model of a flavour: one of its own has no rules but the
// shape's.
func (s *Server) rulesOf(f flavour, name string) (model.Rules, error) {
	bare := base(name)
	for _, m := range f.models {
		if strings.HasPrefix(bare, m) {
			return model.Rules{Model: bare, Family: model.OpenAI, Window: 131_072, Factor: 1, Thinking: model.ThinkingDropped, Images: model.Images{Types: []string{"image/png", "image/jpeg", "image/webp"}}}, nil
		}
	}
	if f.name == "openrouter" {
		rules, err := s.rules(name, model.OpenAI)
		if err != nil {
			rules, err = s.rules(name, model.Anthropic)
		}
		return rules, err
	}
	return s.rules(name, model.OpenAI)
}

func (f flavour) key(s *Server) func(http.Header) (string, *problem) {
	if !f.keyless {
		return openAIKey
	}
	return func(http.Header) (string, *problem) { return s.config.Key, nil }
}

// unknownModel is how a flavour says that it has no such model.
func (f flavour) unknownModel(name string) problem {
	p := problem{status: http.StatusNotFound, kind: "invalid_request_error", code: "model_not_found", message: "The model `" + name + "` does not exist or you do not have access to it."}
	switch f.name {
	case "ollama":
		p.kind, p.code, p.message = "not_found_error", "", `model "`+name+`" not found`
	case "vllm":
		p.kind, p.message = "NotFoundError", "The model `"+name+"` does not exist."
	case "openrouter":
		p.status, p.message = http.StatusBadRequest, name+" is not a valid model ID"
	}
	return p
}

// shape is a problem in the flavour's shape.
func (f flavour) shape(p problem) fields {
	switch f.name {
	case "openrouter":
		return fields{"message", p.message, "code", p.status, "metadata", fields{}}
	case "vllm":
		kind := p.kind
		if !strings.HasSuffix(kind, "Error") {
			kind = map[bool]string{true: "InternalServerError", false: "BadRequestError"}[p.status >= 500]
		}
		return fields{"message", p.message, "type", kind, "param", orNullText(p.param), "code", p.status}
	}
	return p.openAI()
}

func (f flavour) refuse(w http.ResponseWriter, p problem) {
	if !slices.Contains([]string{"vllm", "openrouter"}, f.name) || p.status == http.StatusBadGateway {
		openAIRefuse(w, p)
		return
	}
	if p.status == http.StatusUnauthorized {
		p.message = "No auth credentials found"
	}
	refused(w, p.status, fields{"error", f.shape(p)})
}

// trouble is how a flavour tells of a trouble: where it is short of money,
// OpenRouter has a status of its own.
func (f flavour) trouble(t Trouble, r *request) problem {
	p := openAITrouble(t, r)
	switch {
	case f.name == "openrouter" && t == Quota:
		p.status, p.message = http.StatusPaymentRequired, "Insufficient credits. Add more using https://openrouter.ai/settings/credits"
	case f.name == "openrouter" && t == RateLimit:
		p.message = "Rate limit exceeded: free-models-per-min."
	case t == Overflow:
		p.param = "messages"
		p.message = "This model's maximum context length is " + count(r.rules.Window) + " tokens. However, your messages resulted in " + count(r.rules.Window+1) + " tokens. Please reduce the length of the messages."
	}
	return p
}
