package openai_test

import (
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
	{Raw: modeltest.Raw{Status: 400, Body: refusal("invalid_request_error", "context_length_exceeded", "Your input exceeds the context window of this model.")}, Code: thread.Limit, Overflow: true},
	{Raw: modeltest.Raw{Status: 401, Body: refusal("invalid_request_error", "invalid_api_key", "Incorrect API key provided")}, Code: thread.Configuration},
	{Raw: modeltest.Raw{Status: 403, Body: refusal("invalid_request_error", "", "no")}, Code: thread.Configuration},
	{Raw: modeltest.Raw{Status: 404, Body: refusal("invalid_request_error", "model_not_found", "no such model")}, Code: thread.Configuration},
	{Raw: modeltest.Raw{Status: 413, Body: "too large"}, Code: thread.Limit, Overflow: true},
	{Raw: modeltest.Raw{Status: 429, Body: refusal("requests", "rate_limit_exceeded", "slower")}, Code: thread.Quota, Again: true},
	{Raw: modeltest.Raw{Status: 429, Body: refusal("insufficient_quota", "insufficient_quota", "You exceeded your current quota")}, Code: thread.Quota},
	{Raw: modeltest.Raw{Status: 500, Body: refusal("server_error", "", "oops")}, Code: thread.Provider, Again: true},
	{Raw: modeltest.Raw{Status: 503, Body: "<html>away</html>"}, Code: thread.Provider, Again: true},
	{Raw: modeltest.TypedEvents(started, `{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"oops"}}}`), Code: thread.Provider, Again: true},
	{Raw: modeltest.TypedEvents(started, `{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"slower"}}}`), Code: thread.Quota, Again: true},
	{Raw: modeltest.TypedEvents(started, `{"type":"error","code":"context_length_exceeded","message":"too long","param":null}`), Code: thread.Limit, Overflow: true},
	{Raw: modeltest.TypedEvents(started, `{"type":"error","error":{"type":"tokens","code":"rate_limit_exceeded","message":"slower"}}`), Code: thread.Quota, Again: true},
}

func TestAgainstRawBytes(t *testing.T) {
	modeltest.RunRaw(t, modeltest.Adapter{
		Name: "openai", Model: "gpt-6-sol", Path: "/v1/responses",
		Open:     func(t *testing.T, url string) model.Model { return openAt(t, url) },
		Hello:    hello(),
		Complete: len(hello().Body) - 2,
		Begun:    modeltest.TypedEvents(append([]string{started}, said(0, "hello")...)...).Body,
		Garbage:  modeltest.TypedEvents(started, `{"type":"response.output_text.delta","delta":}`),
		Refusals: refusals,
		Slower:   refusal("requests", "rate_limit_exceeded", "slower"), RequestID: "x-request-id",
		Lost:  []string{refusal("invalid_request_error", "", "Invalid URL (POST /responses)")},
		Shape: "with /v1",
		Whole: whole, Tail: "]}",
		Environment: map[string]string{"OPENAI_API_KEY": modeltest.RawStray, "OPENAI_ADMIN_KEY": modeltest.RawStray, "OPENAI_ORG_ID": modeltest.RawStray, "OPENAI_PROJECT_ID": modeltest.RawStray},
	})
}
