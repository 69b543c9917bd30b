package main

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/skeinhq/skein/internal/agent"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/anthropic"
	completions "github.com/skeinhq/skein/model/chat"
	"github.com/skeinhq/skein/model/openai"
	"github.com/skeinhq/skein/thread"
)

// provider is where models are asked.
type provider struct {
	name     string
	optional bool // its server may want no key

	Kind      string            `yaml:"kind"`       // anthropic, openai or chat
	URL       string            `yaml:"url"`        // empty: the vendor's own
	KeyEnv    string            `yaml:"key_env"`    // the environment variable that holds the key
	TTL       string            `yaml:"ttl"`        // how long prompts stay in its cache
	Headers   map[string]string `yaml:"headers"`    // sent with each request
	Window    int               `yaml:"window"`     // tokens, of models that no table knows
	MaxOutput int               `yaml:"max_output"` // the same, of the largest answer
}

// kinds say how a provider of a kind is asked.
var kinds = map[string]func(p provider, rules *model.Table) (model.Model, error){
	model.Anthropic: func(p provider, rules *model.Table) (model.Model, error) {
		return anthropic.New(anthropic.Options{Name: p.name, Key: p.key(), BaseURL: p.URL, TTL: p.TTL, Headers: p.headers(), Rules: rules})
	},
	model.OpenAI: func(p provider, rules *model.Table) (model.Model, error) {
		return openai.New(openai.Options{Name: p.name, Key: p.key(), BaseURL: p.URL, TTL: p.TTL, Headers: p.headers(), Rules: rules})
	},
	chatKind: func(p provider, rules *model.Table) (model.Model, error) {
		return completions.New(completions.Options{Name: p.name, Key: p.key(), BaseURL: p.URL, TTL: p.TTL, Headers: p.headers(), Rules: rules})
	},
}

// kindNames are the kinds as people are told of them.
const kindNames = "anthropic, openai or chat"

// chatKind is a server that speaks Chat Completions.
const chatKind = "chat"

// What is taken for a model of such a server where nothing is said. Local
// servers often have less.
const (
	chatWindow    = 32_000
	chatMaxOutput = 4_000
)

func (p provider) key() string {
	if p.KeyEnv == "" {
		return ""
	}
	return os.Getenv(p.KeyEnv)
}

func (p provider) headers() http.Header {
	h := http.Header{}
	for name, value := range p.Headers {
		h.Set(name, value)
	}
	return h
}

// keyless says that a key is wanted, and there is none. A provider wants one
// where a variable is named for it, and where it is the vendor itself.
func (p provider) keyless() bool {
	vendor := p.Kind != chatKind && p.URL == ""
	wanted := !p.optional && !p.signed() && (p.KeyEnv != "" || vendor)
	return wanted && p.key() == ""
}

// signed says that the headers hold what else a key is for.
func (p provider) signed() bool {
	h := p.headers()
	return h.Get("Authorization") != "" || h.Get("X-Api-Key") != ""
}

// noKey makes the error of a provider whose key is not there.
func (p provider) noKey() error {
	hint := "set " + p.KeyEnv + ", or choose another --model"
	if p.KeyEnv == "" {
		hint = "name the variable of its key as key_env of that provider in skein.yaml"
	}
	return &thread.Error{Code: thread.Configuration, Op: "model", Message: "there is no key for " + p.name, Hint: hint}
}

// providers are those that are there without any file, over them those of the
// settings file, the built-in ones first.
func (a *app) providers() ([]provider, error) {
	all := []provider{
		{name: model.Anthropic, Kind: model.Anthropic, URL: a.flags.AnthropicURL, KeyEnv: "ANTHROPIC_API_KEY"},
		{name: model.OpenAI, Kind: model.OpenAI, URL: a.flags.OpenAIURL, KeyEnv: "OPENAI_API_KEY"},
		{name: chatKind, Kind: chatKind, URL: a.flags.ChatURL, KeyEnv: "CHAT_API_KEY", optional: true},
	}
	named, err := a.file.providers()
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		p := named[name]
		p.name = name
		i := slices.IndexFunc(all, func(have provider) bool { return have.name == name })
		if i >= 0 {
			all[i] = all[i].over(p)
			continue
		}
		if err := p.check(); err != nil {
			return nil, a.file.bad(err)
		}
		all = append(all, p)
	}
	return all, nil
}

// over gives a built-in provider with what the file says of it. A flag's
// address stays.
func (p provider) over(file provider) provider {
	file.name, file.Kind = p.name, p.Kind
	file.optional = p.optional && file.KeyEnv == ""
	if p.URL != "" {
		file.URL = p.URL
	}
	if file.KeyEnv == "" {
		file.KeyEnv = p.KeyEnv
	}
	return file
}

// check says what is wrong with a provider of the settings file.
func (p provider) check() error {
	switch {
	case agent.CheckName(p.name) != nil || slices.Contains(model.Families, p.name):
		return fmt.Errorf("%q cannot be a provider's name", p.name)
	case p.Kind == "":
		return fmt.Errorf("the provider %s has no kind (%s)", p.name, kindNames)
	case kinds[p.Kind] == nil:
		return fmt.Errorf("the provider %s has the kind %q, not %s", p.name, p.Kind, kindNames)
	case p.Kind == chatKind && p.URL == "":
		return fmt.Errorf("the provider %s has no url", p.name)
	}
	return nil
}

// providers reads what the settings file has under "providers".
func (f *configFile) providers() (map[string]provider, error) {
	var named map[string]provider
	v, ok := f.values[providersKey]
	if !ok {
		return named, nil
	}
	data, err := yaml.Marshal(v)
	if err == nil {
		err = yaml.UnmarshalWithOptions(data, &named, yaml.Strict())
	}
	if err != nil {
		return nil, f.bad(errors.New(strings.SplitN(err.Error(), "\n", 2)[0]))
	}
	return named, nil
}

// providersKey is where the settings file has providers.
const providersKey = "providers"

func (f *configFile) bad(err error) error {
	return &thread.Error{Code: thread.Configuration, Op: "config", Message: fmt.Sprintf("the providers of the settings file %s are wrong", f.path), Err: err}
}
