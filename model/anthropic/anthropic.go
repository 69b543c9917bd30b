package anthropic

import (
	"cmp"
	"net/http"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/wire"
	"github.com/skeinhq/skein/thread"
)

// Options say how the provider is reached. Only Key is required, and that only
// where no other server is named.
type Options struct {
	// Name is the provider's: a model may be named with it and a slash before its
	// own name, and thinking is kept under it. Default: anthropic.
	Name string

	// Key is the API key. Nothing is read from the environment.
	Key string

	// BaseURL is where the API is, without its version: a /v1 at its end is left
	// out. Default: https://api.anthropic.com.
	BaseURL string

	// Client sends the requests. Default: http.DefaultClient.
	Client *http.Client

	// TTL is how long what is marked stays in the provider's cache: 5m or 1h.
	// Default: 5m.
	TTL string

	// Headers are sent with each request, over those of the SDK.
	Headers http.Header

	// Rules is the rule table. Default: the built-in one.
	Rules *model.Table
}

// Model asks. It may be used from many goroutines.
type Model struct {
	name     string
	ttl      string // as sent: empty for the provider's default
	rules    *model.Table
	place    model.Place
	secrets  model.Secrets
	messages sdk.MessageService
	beta     []string // of the caller's own headers
}

const (
	address = "https://api.anthropic.com"
	shape   = "the base URL of this API stands without /v1, as " + address
)

// New makes a model of the provider. It fails with configuration.
func New(o Options) (*Model, error) {
	if o.Key == "" && o.BaseURL == "" {
		return nil, &thread.Error{Code: thread.Configuration, Op: "model", Message: "there is no key for Anthropic", Hint: "give one"}
	}
	m := &Model{name: cmp.Or(o.Name, model.Anthropic), rules: o.Rules, place: model.Place{Address: cmp.Or(o.BaseURL, address), Shape: shape}}
	if err := model.CheckAddress(m.place.Address); err != nil {
		return nil, err
	}
	m.place.Address = bare(m.place.Address)
	m.secrets = model.SecretsOf(m.name, o.Key, o.Headers)
	switch o.TTL {
	case "", "5m":
	case "1h":
		m.ttl = o.TTL
	default:
		return nil, &thread.Error{Code: thread.Configuration, Op: "model", Message: "Anthropic keeps no cache for " + o.TTL, Hint: "choose 5m or 1h"}
	}
	if m.rules == nil {
		m.rules = model.BuiltIn()
	}
	options := []option.RequestOption{
		option.WithoutEnvironmentDefaults(), option.WithMaxRetries(0), option.WithBaseURL(m.place.Address),
		option.WithHTTPClient(wire.Client(o.Client)),
	}
	if o.Key != "" {
		options = append(options, option.WithAPIKey(o.Key))
	}
	for name, values := range o.Headers {
		if http.CanonicalHeaderKey(name) == betaHeader {
			m.beta = values
			continue
		}
		options = append(options, option.WithHeaderDel(name))
		for _, v := range values {
			options = append(options, option.WithHeaderAdd(name, v))
		}
	}
	m.messages = sdk.NewClient(options...).Messages
	return m, nil
}

// bare is a base URL without the version at its end, which the SDK adds.
func bare(address string) string {
	address = strings.TrimRight(address, "/")
	return strings.TrimRight(strings.TrimSuffix(address, "/v1"), "/")
}
