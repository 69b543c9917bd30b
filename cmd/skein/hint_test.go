package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/skeinhq/skein/model"
)

func TestOnlyASilentProviderMayHaveAWrongAddress(t *testing.T) {
	p := provider{name: "house", Kind: chatKind, URL: "http://house.example/v1"}
	cause := errors.New("broken")
	for _, c := range []struct {
		name  string
		err   error
		wrong bool
	}{
		{"no answer", model.Unreachable(context.Background(), "house", cause), true},
		{"an answer that broke off", model.BrokenOff(context.Background(), "house", cause), false},
		{"overloaded", model.Refused("house", "m", model.Failure{Status: 529}, ""), false},
		{"overloaded in the middle of an answer", model.Refused("house", "m", model.Failure{Type: "overloaded_error"}, "Overloaded"), false},
		{"failed in the middle of an answer", model.Refused("house", "m", model.Failure{}, ""), false},
	} {
		if got := p.hinted(c.err).Error(); strings.Contains(got, p.URL) != c.wrong {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

func TestAKeyIsWantedWhereOneIsNamed(t *testing.T) {
	t.Setenv("SET_KEY", "k")
	t.Setenv("UNSET_KEY", "")
	for _, c := range []struct {
		p    provider
		want bool
	}{
		{provider{Kind: model.Anthropic, KeyEnv: "UNSET_KEY"}, true},
		{provider{Kind: model.Anthropic, KeyEnv: "UNSET_KEY", URL: "http://x"}, true},
		{provider{Kind: model.Anthropic, KeyEnv: "SET_KEY", URL: "http://x"}, false},
		{provider{Kind: model.OpenAI, URL: "http://x"}, false},
		{provider{Kind: model.OpenAI}, true},
		{provider{Kind: model.OpenAI, KeyEnv: "UNSET_KEY", Headers: map[string]string{"authorization": "Bearer k"}}, false},
		{provider{Kind: chatKind, URL: "http://x"}, false},
		{provider{Kind: chatKind, URL: "http://x", KeyEnv: "UNSET_KEY"}, true},
		{provider{Kind: chatKind, URL: "http://x", KeyEnv: "UNSET_KEY", optional: true}, false},
	} {
		if got := c.p.keyless(); got != c.want {
			t.Errorf("%+v: %v", c.p, got)
		}
	}
}
