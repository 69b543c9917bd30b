package chat_test

import (
	"strings"
	"testing"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/modeltest"
	"github.com/skeinhq/skein/thread"
)

func refusal(kind, code, message string) string {
	return `{"error":{"message":"` + message + `","type":"` + kind + `","param":null,"code":"` + code + `"}}`
}

var refusals = []modeltest.Refusal{
	{Raw: modeltest.Raw{Status: 400, Body: refusal("invalid_request_error", "invalid_value", "no")}, Code: thread.Provider},
	{Raw: modeltest.Raw{Status: 400, Body: refusal("invalid_request_error", "context_length_exceeded", "maximum context length is 8192 tokens")}, Code: thread.Limit, Overflow: true},
	{Raw: modeltest.Raw{Status: 400, Body: `{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","code":400}`}, Code: thread.Limit, Overflow: true},
	{Raw: modeltest.Raw{Status: 400, Body: `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}}`}, Code: thread.Limit, Overflow: true},
	{Raw: modeltest.Raw{Status: 401, Body: `{"detail":"Unauthorized"}`}, Code: thread.Configuration},
	{Raw: modeltest.Raw{Status: 402, Body: `{"error":{"code":402,"message":"Insufficient credits"}}`}, Code: thread.Quota},
	{Raw: modeltest.Raw{Status: 404, Body: `{"error":"model \"m\" not found, try pulling it first"}`}, Code: thread.Configuration},
	{Raw: modeltest.Raw{Status: 422, Body: `{"detail":[{"loc":["body"],"msg":"no"}]}`}, Code: thread.Provider},
	{Raw: modeltest.Raw{Status: 429, Body: `[{"error":{"code":429,"message":"slower","status":"RESOURCE_EXHAUSTED"}}]`}, Code: thread.Quota, Again: true},
	{Raw: modeltest.Raw{Status: 503, Body: "<html>away</html>"}, Code: thread.Provider, Again: true},
	{Raw: events(piece(`{"content":"h"}`), `{"error":{"code":502,"message":"upstream"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`), Code: thread.Provider, Again: true, Status: 502},
	{Raw: events(piece(`{"content":"h"}`), `{"error":{"code":429,"message":"slower"}}`), Code: thread.Quota, Again: true, Status: 429},
	{Raw: events(piece(`{"content":"h"}`), closed("error")), Code: thread.Provider, Again: true},
}

func TestAgainstRawBytes(t *testing.T) {
	modeltest.RunRaw(t, modeltest.Adapter{
		Name: "house", Model: "house/m", Path: "/v1/chat/completions",
		Open:     func(t *testing.T, url string) model.Model { return openAt(t, url) },
		Hello:    hello(),
		Complete: strings.Index(hello().Body, "stop"),
		Begun:    "data: " + piece(`{"content":"hello"}`) + "\n\n",
		Garbage:  events(`{"choices":}`),
		Refusals: refusals,
		Slower:   refusal("requests", "rate_limit_exceeded", "slower"), RequestID: "x-request-id",
		Lost:  []string{`{"detail":"Not Found"}`},
		Shape: "/v1",
		Whole: whole, Tail: "]}",
		Environment: map[string]string{"OPENAI_API_KEY": modeltest.RawStray, "OPENAI_ADMIN_KEY": modeltest.RawStray, "OPENAI_ORG_ID": modeltest.RawStray, "OPENAI_PROJECT_ID": modeltest.RawStray},
	})
}
