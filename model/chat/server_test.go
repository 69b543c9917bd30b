package chat_test

import (
	"strings"
	"testing"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/chat"
	"github.com/skeinhq/skein/model/modeltest"
)

// server is a server of raw answers.
type server struct{ *modeltest.RawServer }

func serve(t *testing.T, answers ...modeltest.Raw) server {
	t.Helper()
	return server{modeltest.ServeRaw(t, "/v1/chat/completions", answers...)}
}

func (s server) open(t *testing.T, change ...func(*chat.Options)) *chat.Model {
	t.Helper()
	return openAt(t, s.URL, change...)
}

// openAt opens the adapter for a server at that URL.
func openAt(t *testing.T, url string, change ...func(*chat.Options)) *chat.Model {
	t.Helper()
	o := chat.Options{Name: "house", Rules: rules(t), Key: modeltest.RawKey, BaseURL: url + "/v1"}
	for _, c := range change {
		c(&o)
	}
	m, err := chat.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// events writes a stream: each argument is an event's data.
func events(data ...string) modeltest.Raw {
	return modeltest.Raw{Body: ": waiting\n\ndata: " + strings.Join(append(data, "[DONE]"), "\n\ndata: ") + "\n\n"}
}

func piece(delta string) string {
	return `{"id":"c1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}`
}

func closed(reason string) string {
	return `{"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

const counted = `{"id":"c1","choices":[],"usage":{"prompt_tokens":742,"completion_tokens":44,"total_tokens":786,"prompt_tokens_details":{"cached_tokens":700,"cache_write_tokens":30},"completion_tokens_details":{"reasoning_tokens":21},"cost":0.25}}`

func hello() modeltest.Raw {
	return events(piece(`{"role":"assistant","content":""}`), piece(`{"content":"hel"}`), piece(`{"content":"lo"}`), closed("stop"), counted)
}

// rules is a table in which the models of house are whatever they are.
func rules(t *testing.T) *model.Table {
	t.Helper()
	table, err := model.BuiltIn().Extend([]byte(`{"models": [
		{"model": "house/*", "family": "openai", "window": 32000, "maxOutput": 4000},
		{"model": "house/plain*", "family": "openai", "window": 32000, "maxOutput": 4000, "thinking": "none"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	return table
}
