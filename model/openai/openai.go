package openai

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/wire"
	"github.com/skeinhq/skein/thread"
)

// Options say how the provider is reached. Only Key is required, and that only
// where no other server is named.
type Options struct {
	// Name is the provider's: a model may be named with it and a slash before its
	// own name, and thinking is kept under it. Default: openai.
	Name string

	// Key is the API key. Nothing is read from the environment.
	Key string

	// BaseURL is where the API is, with its version, as
	// https://api.openai.com/v1, which is the default.
	BaseURL string

	// Client sends the requests. Default: http.DefaultClient.
	Client *http.Client

	// TTL is how long a prompt stays in the provider's cache at the least: 30m or
	// 12h. Default: the provider's own; only models from gpt-5.6 on take another.
	TTL string

	// Headers are sent with each request, over those of the SDK.
	Headers http.Header

	// Rules is the rule table. Default: the built-in one.
	Rules *model.Table
}

// Model asks. It may be used from many goroutines.
type Model struct {
	name      string
	ttl       string
	rules     *model.Table
	place     model.Place
	secrets   model.Secrets
	responses responses.ResponseService
}

const (
	address = "https://api.openai.com/v1"
	shape   = "the base URL of this API stands with /v1, as " + address
)

// New makes a model of the provider. It fails with configuration.
func New(o Options) (*Model, error) {
	if o.Key == "" && o.BaseURL == "" {
		return nil, &thread.Error{Code: thread.Configuration, Op: "model", Message: "there is no key for OpenAI", Hint: "give one"}
	}
	if o.TTL != "" && o.TTL != "30m" && o.TTL != "12h" {
		return nil, &thread.Error{Code: thread.Configuration, Op: "model", Message: "OpenAI keeps no cache for " + o.TTL, Hint: "choose 30m or 12h"}
	}
	m := &Model{name: cmp.Or(o.Name, model.OpenAI), ttl: o.TTL, rules: o.Rules, place: model.Place{Address: cmp.Or(o.BaseURL, address), Shape: shape}}
	if err := model.CheckAddress(m.place.Address); err != nil {
		return nil, err
	}
	m.secrets = model.SecretsOf(m.name, o.Key, o.Headers)
	if m.rules == nil {
		m.rules = model.BuiltIn()
	}
	options := []option.RequestOption{
		option.WithBaseURL(strings.TrimRight(m.place.Address, "/") + "/"),
		option.WithMaxRetries(0), option.WithHTTPClient(wire.Client(o.Client)),
	}
	if o.Key != "" {
		options = append(options, option.WithAPIKey(o.Key))
	}
	for name, values := range o.Headers {
		options = append(options, option.WithHeaderDel(name))
		for _, v := range values {
			options = append(options, option.WithHeaderAdd(name, v))
		}
	}
	m.responses = responses.NewResponseService(options...)
	return m, nil
}
