package anthropic_test

import (
	"testing"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/anthropic"
	"github.com/skeinhq/skein/model/modeltest"
	"github.com/skeinhq/skein/thread"
)

func refusal(kind, message string) string {
	return `{"type":"error","error":{"type":"` + kind + `","message":"` + message + `"},"request_id":"req_1"}`
}

var refusals = []modeltest.Refusal{
	{Raw: modeltest.Raw{Status: 400, Body: refusal("invalid_request_error", "messages: roles must alternate")}, Code: thread.Provider},
	{Raw: modeltest.Raw{Status: 400, Body: refusal("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")}, Code: thread.Limit, Overflow: true},
	{Raw: modeltest.Raw{Status: 400, Body: refusal("invalid_request_error", "Your credit balance is too low")}, Code: thread.Quota},
	{Raw: modeltest.Raw{Status: 401, Body: refusal("authentication_error", "invalid x-api-key")}, Code: thread.Configuration},
	{Raw: modeltest.Raw{Status: 402, Body: refusal("billing_error", "pay")}, Code: thread.Quota},
	{Raw: modeltest.Raw{Status: 403, Body: refusal("permission_error", "no")}, Code: thread.Configuration},
	{Raw: modeltest.Raw{Status: 404, Body: refusal("not_found_error", "model: claude-x")}, Code: thread.Configuration},
	{Raw: modeltest.Raw{Status: 413, Body: refusal("request_too_large", "too many bytes")}, Code: thread.Limit, Overflow: true},
	{Raw: modeltest.Raw{Status: 429, Body: refusal("rate_limit_error", "slower")}, Code: thread.Quota, Again: true},
	{Raw: modeltest.Raw{Status: 500, Body: refusal("api_error", "oops")}, Code: thread.Provider, Again: true},
	{Raw: modeltest.Raw{Status: 502, Body: "<html>bad gateway</html>"}, Code: thread.Provider, Again: true},
	{Raw: modeltest.Raw{Status: 504, Body: refusal("timeout_error", "late")}, Code: thread.Timeout, Again: true},
	{Raw: modeltest.Raw{Status: 529, Body: refusal("overloaded_error", "Overloaded")}, Code: thread.Provider, Again: true},
	{Raw: modeltest.TypedEvents(started, refusal("overloaded_error", "Overloaded")), Code: thread.Provider, Again: true},
	{Raw: modeltest.TypedEvents(started, refusal("rate_limit_error", "slower")), Code: thread.Quota, Again: true},
}

func TestAgainstRawBytes(t *testing.T) {
	modeltest.RunRaw(t, modeltest.Adapter{
		Name: "anthropic", Model: "claude-opus-5-5", Path: "/v1/messages",
		Open:     func(t *testing.T, url string) model.Model { return openAt(t, url) },
		Hello:    hello(),
		Complete: len(hello().Body) - 2,
		Begun:    modeltest.TypedEvents(append([]string{started}, said("hello")...)...).Body,
		Garbage:  modeltest.TypedEvents(started, `{"type":"content_block_start","index":}`),
		Refusals: refusals,
		Slower:   refusal("rate_limit_error", "slower"), RequestID: "request-id",
		Lost:  []string{refusal("not_found_error", "Not Found")},
		Shape: "without /v1",
		Whole: whole, Tail: "]}]}",
		Next:        []model.Mark{{Name: "instructions", Message: -1}, {Name: "previous", Message: 3, Part: 1}, {Name: "end", Message: 6}},
		Unmarked:    func(body string) string { return marksOnTheWire.ReplaceAllString(body, "") },
		Environment: map[string]string{"ANTHROPIC_API_KEY": modeltest.RawStray, "ANTHROPIC_AUTH_TOKEN": modeltest.RawStray, "ANTHROPIC_CUSTOM_HEADERS": "X-Stray: " + modeltest.RawStray},
	})
}

func TestTheVersionInTheBaseURLIsLeftOut(t *testing.T) {
	for _, tail := range []string{"", "/", "/v1", "/v1/"} {
		s := serve(t, hello())
		m := s.open(t, func(o *anthropic.Options) { o.BaseURL += tail })
		if _, done, err := modeltest.Ask(t.Context(), m, modeltest.Request("claude-opus-5-5")); err != nil || done.Type != model.Done {
			t.Errorf("with %q: %+v, %v", tail, done, err)
		}
	}
}
