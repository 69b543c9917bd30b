package modeltest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skeinhq/skein/model/modeltest"
)

func TestResponsesRefusesWhatOpenAIRefuses(t *testing.T) {
	ask := func(fields ...string) string {
		return `{"model":"gpt-6-sol",` + strings.Join(append(fields, `"input":"hello"`), ",") + `}`
	}
	input := func(items string) string { return `{"model":"gpt-6-sol","store":false,"input":[` + items + `]}` }
	part := func(p string) string { return input(`{"role":"user","content":[` + p + `]}`) }
	tool := func(def string) string { return ask(`"tools":[` + def + `]`) }
	for name, c := range map[string]struct {
		body   string
		status int
		code   any
		says   string
	}{
		"no JSON":               {`hello`, 400, "invalid_type", "expected an object"},
		"no model":              {`{"input":"hi"}`, 400, "missing_required_parameter", "Missing required parameter: 'model'."},
		"no input":              {`{"model":"gpt-6-sol"}`, 400, "missing_required_parameter", "Missing required parameter: 'input'."},
		"an unknown field":      {ask(`"max_tokens":5`), 400, "unknown_parameter", "Unknown parameter: 'max_tokens'."},
		"an unknown model":      {`{"model":"gpt-nobody","input":"hi"}`, 400, "model_not_found", "The requested model 'gpt-nobody' does not exist."},
		"too few tokens":        {ask(`"max_output_tokens":5`), 400, "integer_below_min_value", "Expected a value >= 16, but got 5"},
		"sampling":              {ask(`"temperature":1`), 400, "unsupported_parameter", "'temperature' is not supported with this model"},
		"an unknown effort":     {ask(`"reasoning":{"effort":"huge"}`), 400, "invalid_value", "reasoning.effort"},
		"effort it lacks":       {strings.Replace(ask(`"reasoning":{"effort":"low"}`), "gpt-6-sol", "gpt-4.1", 1), 400, "unsupported_parameter", "'reasoning.effort' is not supported with this model"},
		"a seal it lacks":       {strings.Replace(ask(`"include":["reasoning.encrypted_content"]`), "gpt-6-sol", "gpt-4.1", 1), 400, nil, "Encrypted content is not supported with this model"},
		"a long cache key":      {ask(`"prompt_cache_key":"` + strings.Repeat("k", 65) + `"`), 400, "string_above_max_length", "maximum length 64"},
		"options of no stream":  {ask(`"stream_options":{}`), 400, "invalid_value", "only allowed when 'stream' is enabled"},
		"an earlier response":   {ask(`"previous_response_id":"resp_1"`), 400, "previous_response_not_found", "'resp_1' not found"},
		"breakpoints too early": {strings.Replace(ask(`"prompt_cache_options":{"mode":"explicit"}`), "gpt-6-sol", "gpt-5", 1), 400, "unsupported_parameter", "prompt_cache_options"},
		"an unknown role":       {input(`{"role":"tool","content":"hi"}`), 400, "invalid_value", "input[0].role"},
		"an unknown item":       {input(`{"type":"thought"}`), 400, "invalid_value", "input[0].type"},
		"a user's output_text":  {part(`{"type":"output_text","text":"a"}`), 400, "invalid_value", "input[0].content[0].type"},
		"a part's field":        {part(`{"type":"input_text","text":"a","name":"b"}`), 400, "unknown_parameter", "Unknown parameter: 'input[0].content[0].name'."},
		"an image of no URL":    {part(`{"type":"input_image","image_url":"plan.png"}`), 400, "invalid_value", "Expected a base64-encoded data URL"},
		"no image":              {part(`{"type":"input_image","image_url":"data:image/png;base64,aGVsbG8="}`), 400, "image_parse_error", "unsupported image"},
		"too many images":       {part(strings.TrimSuffix(strings.Repeat(`{"type":"input_image","image_url":"data:image/png;base64,`+picture(t, 1, 1)+`"},`, 501), ",")), 400, "invalid_value", "Too many images"},
		"a file of no name":     {part(`{"type":"input_file","file_data":"data:application/pdf;base64,JVBERi0="}`), 400, "missing_required_parameter", "filename"},
		"a file of no PDF":      {part(`{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,aGVsbG8="}`), 400, "unsupported_file", "application/pdf"},
		"a call's long id":      {input(`{"type":"function_call","call_id":"` + strings.Repeat("c", 65) + `","name":"zoom","arguments":"{}"}`), 400, "string_above_max_length", "input[0].call_id"},
		"two calls of an id":    {input(strings.Repeat(`{"type":"function_call","call_id":"c","name":"zoom","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"a"},`, 2) + `{"role":"user","content":"hi"}`), 400, "invalid_value", "Duplicate function call with call_id 'c'"},
		"a tool's bad name":     {tool(`{"type":"function","name":"my zoom","parameters":{"type":"object"}}`), 400, "invalid_value", "does not match pattern"},
		"two tools of a name":   {tool(`{"type":"function","name":"a"},{"type":"function","name":"a"}`), 400, "invalid_value", "Duplicate function name"},
		"a schema of a list":    {tool(`{"type":"function","name":"a","parameters":{"type":"array"}}`), 400, "invalid_function_parameters", "Invalid schema for function 'a'"},
		"a schema not strict":   {tool(`{"type":"function","name":"a","strict":true,"parameters":{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}}`), 400, "invalid_function_parameters", "Missing 'n'"},
		"too long a prompt":     {`{"model":"gpt-4o","input":"` + strings.Repeat("word ", 110_000) + `"}`, 400, "context_length_exceeded", "exceeds the context window"},
	} {
		t.Run(name, func(t *testing.T) {
			_, url := modeltest.Start(t, modeltest.Config{})
			status, got := post(t, url+"/v1/responses", c.body)
			if message := fmt.Sprint(at(t, got, "error", "message")); status != c.status || at(t, got, "error", "code") != c.code || at(t, got, "error", "type") != "invalid_request_error" || !strings.Contains(message, c.says) {
				t.Errorf("status %d: %s\nwant %d, %v, …%s…", status, got, c.status, c.code, c.says)
			}
		})
	}
}

func TestChatRefusesWhatOpenAIRefuses(t *testing.T) {
	ask := func(messages string, fields ...string) string {
		return `{` + strings.Join(append(fields, `"model":"gpt-6-sol"`, `"messages":[`+messages+`]`), ",") + `}`
	}
	const (
		hello = `{"role":"user","content":"hi"}`
		call  = `,{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"zoom","arguments":"{}"}}]}`
		out   = `,{"role":"tool","tool_call_id":"c1","content":"found"}`
	)
	for name, c := range map[string]struct {
		body   string
		status int
		code   any
		says   string
	}{
		"no messages":             {ask(``), 400, "empty_array", "Invalid 'messages': empty array"},
		"an unknown field":        {ask(hello, `"max_output_tokens":5`), 400, "unknown_parameter", "'max_output_tokens'"},
		"an unknown model":        {strings.Replace(ask(hello), "gpt-6-sol", "gpt-nobody", 1), 404, "model_not_found", "The model `gpt-nobody` does not exist"},
		"an old limit":            {ask(hello, `"max_tokens":5`), 400, "unsupported_parameter", "Use 'max_completion_tokens' instead"},
		"options of no stream":    {ask(hello, `"stream_options":{"include_usage":true}`), 400, nil, "only allowed when 'stream' is enabled"},
		"a choice of no tools":    {ask(hello, `"tool_choice":"auto"`), 400, nil, "only allowed when 'tools' are specified"},
		"no tools at all":         {ask(hello, `"tools":[]`), 400, "empty_array", "Invalid 'tools': empty array"},
		"an unknown role":         {ask(`{"role":"north","content":"hi"}`), 400, "invalid_value", "messages[0].role"},
		"no content":              {ask(`{"role":"user","content":null}`), 400, nil, "expected a string, got null"},
		"reasoning sent back":     {ask(hello + `,{"role":"assistant","content":"a","reasoning_content":"b"},` + hello), 400, "unknown_parameter", "messages[1].reasoning_content"},
		"an image said by itself": {ask(hello + `,{"role":"assistant","content":[{"type":"image_url","image_url":{"url":"a"}}]}`), 400, "invalid_value", "messages[1].content[0].type"},
		"an image in a result":    {ask(hello + call + `,{"role":"tool","tool_call_id":"c1","content":[{"type":"image_url","image_url":{"url":"a"}}]}`), 400, "invalid_value", "messages[2].content[0].type"},
		"a call without a result": {ask(hello + call + `,` + hello), 400, nil, "The following tool_call_ids did not have response messages: c1"},
		"a call at the end":       {ask(hello + call), 400, nil, "must be followed by tool messages"},
		"a result without a call": {ask(hello + out), 400, nil, "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'"}, //nolint:misspell // as OpenAI writes it
		"a result too late":       {ask(hello + call + `,` + hello + out), 400, nil, "did not have response messages: c1"},
		"a result twice":          {ask(hello + call + out + out), 400, nil, "messages with role 'tool' must be a response"},
		"a call's id twice":       {ask(hello + call + out + call + out), 400, nil, "Duplicate value for 'tool_call_id' of 'c1'"},
		"a mark of Anthropic's":   {ask(`{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}`), 400, "unknown_parameter", "cache_control"},
	} {
		t.Run(name, func(t *testing.T) {
			_, url := modeltest.Start(t, modeltest.Config{})
			status, got := post(t, url+"/v1/chat/completions", c.body)
			if message := fmt.Sprint(at(t, got, "error", "message")); status != c.status || at(t, got, "error", "code") != c.code || !strings.Contains(message, c.says) {
				t.Errorf("status %d: %s\nwant %d, %v, …%s…", status, got, c.status, c.code, c.says)
			}
		})
	}
}

func TestOpenAIWantsAKey(t *testing.T) {
	_, url := modeltest.Start(t, modeltest.Config{})
	for _, c := range []struct{ path, body string }{
		{"/v1/responses", `{"model":"gpt-6-sol","input":"hi"}`},
		{"/v1/chat/completions", `{"model":"gpt-6-sol","messages":[{"role":"user","content":"hi"}]}`},
	} {
		status, got := post(t, url+c.path, c.body, "Authorization", "Bearer sk-of-another-account")
		if status != 401 || at(t, got, "error", "code") != "invalid_api_key" || strings.Contains(got, "another") {
			t.Errorf("%s: status %d: %s", c.path, status, got)
		}
		status, got = post(t, url+c.path, c.body, "Authorization", "")
		if status != 401 || !strings.Contains(got, "You didn't provide an API key") {
			t.Errorf("%s: status %d: %s", c.path, status, got)
		}
	}
}

func TestCompatibleServersSpeakInTheirOwnWays(t *testing.T) {
	_, url := modeltest.Start(t, modeltest.Config{})
	ask := func(model string, fields ...string) string {
		return `{` + strings.Join(append(fields, `"model":"`+model+`"`, `"messages":[{"role":"user","content":"hi"}]`), ",") + `}`
	}
	for name, c := range map[string]struct {
		path, body string
		status     int
		says       string
	}{
		"Ollama shows its reasoning":            {"/ollama/v1", ask("qwen3:8b", `"stream":true`), 200, `"reasoning":"They "`},
		"Ollama knows no such model":            {"/ollama/v1", ask("nobody"), 404, `{"error":{"message":"model \"nobody\" not found"`},
		"vLLM has its field":                    {"/vllm/v1", ask("Qwen/Qwen3-8B", `"stream":true`), 200, `"reasoning_content":"They "`},
		"vLLM counts its errors":                {"/vllm/v1", ask("nobody"), 404, `"type":"NotFoundError","param":"","code":404`},
		"OpenRouter comments while it waits":    {"/openrouter/api/v1", ask("anthropic/claude-opus-5-5", `"stream":true`), 200, ": OPENROUTER PROCESSING\n\n"},
		"OpenRouter always tells the cost":      {"/openrouter/api/v1", ask("openai/gpt-6-sol", `"stream":true`), 200, `"cost":`},
		"OpenRouter details its reasoning":      {"/openrouter/api/v1", ask("qwen/qwen3", `"stream":true`), 200, `"reasoning_details":[{"type":"reasoning.text"`},
		"OpenRouter's errors are numbers":       {"/openrouter/api/v1", ask("nobody"), 400, `{"error":{"message":"nobody is not a valid model ID","code":400`},
		"OpenRouter wants effort its own way":   {"/openrouter/api/v1", ask("qwen/qwen3", `"reasoning":{"effort":"low","exclude":true}`), 200, `"content":"You said: hi"`},
		"OpenRouter ends badly in the middle":   {"/openrouter/api/v1", ask("qwen/qwen3-fake-error", `"stream":true`), 200, `"finish_reason":"error"`},
		"a usage comes only where it is wanted": {"/v1", ask("gpt-4.1", `"stream":true`, `"stream_options":{"include_usage":true}`), 200, `"choices":[],"usage":{"prompt_tokens":1,`},
	} {
		t.Run(name, func(t *testing.T) {
			status, got := post(t, url+c.path+"/chat/completions", c.body)
			if c.says = strings.Replace(c.says, `"param":""`, `"param":null`, 1); status != c.status || !strings.Contains(got, c.says) {
				t.Errorf("status %d: %s\nwant %d, %s", status, got, c.status, c.says)
			}
		})
	}
}
