package chat

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/wire"
	"github.com/skeinhq/skein/thread"
)

// Options say how the server is reached. BaseURL is required.
type Options struct {
	// Name is the server's: a model may be named with it and a slash before its own
	// name, and thinking is kept under it. Default: chat.
	Name string

	// BaseURL is where the API is, with its version, as
	// https://openrouter.ai/api/v1.
	BaseURL string

	// Key is the API key; empty where the server wants none. Nothing is read from
	// the environment.
	Key string

	// Client sends the requests. Default: http.DefaultClient.
	Client *http.Client

	// TTL is how long what is marked stays in the server's cache, where it takes
	// marks: 5m or 1h. Default: the server's own.
	TTL string

	// Headers are sent with each request.
	Headers http.Header

	// Rules is the rule table. Default: the built-in one.
	Rules *model.Table
}

// Model asks. It may be used from many goroutines.
type Model struct {
	name    string
	address string
	place   model.Place
	secrets model.Secrets
	key     string
	client  *http.Client
	ttl     string
	headers http.Header
	rules   *model.Table
	newest  bool // OpenAI's own, which wants the newest names of fields
}

const shape = "the base URL of this API stands with its version, mostly /v1, as http://localhost:11434/v1"

// New makes a model of the server. It fails with configuration.
func New(o Options) (*Model, error) {
	name := cmp.Or(o.Name, "chat")
	bad := func(message, hint string) (*Model, error) {
		return nil, &thread.Error{Code: thread.Configuration, Op: "model", Message: message, Hint: hint}
	}
	if o.BaseURL == "" {
		return bad("the server "+name+" has no address", "give its base URL, as http://localhost:11434/v1")
	}
	if err := model.CheckAddress(o.BaseURL); err != nil {
		return nil, err
	}
	u, err := url.Parse(o.BaseURL)
	if err != nil {
		return bad("the address of "+name+" cannot be read", "give its base URL, as http://localhost:11434/v1")
	}
	if o.TTL != "" && o.TTL != "5m" && o.TTL != "1h" {
		return bad("no cache is kept for "+o.TTL, "choose 5m or 1h")
	}
	m := &Model{
		name: name, address: strings.TrimRight(o.BaseURL, "/") + "/chat/completions", key: o.Key, client: wire.Client(o.Client),
		place: model.Place{Address: o.BaseURL, Shape: shape}, secrets: model.SecretsOf(name, o.Key, o.Headers),
		ttl: o.TTL, headers: o.Headers.Clone(), rules: o.Rules, newest: u.Hostname() == "api.openai.com",
	}
	if m.rules == nil {
		m.rules = model.BuiltIn()
	}
	return m, nil
}
