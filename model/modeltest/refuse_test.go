package modeltest_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/skeinhq/skein/model/modeltest"
)

// refusal is a body that must be refused, with what must be said.
type refusal struct {
	body   string
	status int
	kind   string // the vendor's type of error
	says   string
}

func picture(t *testing.T, width, height int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// asked is a body of the Messages API with a user's words and then those
// messages.
func asked(messages string, more ...string) string {
	tools := `"tools":[{"name":"zoom","description":"Opens.","input_schema":{"type":"object","properties":{"id":{"type":"integer"}}}}]`
	return `{"model":"claude-opus-5-5","max_tokens":1000,` + strings.Join(append(more, tools, `"messages":[{"role":"user","content":"hello"}`+messages+`]`), ",") + `}`
}

func userSays(blocks ...string) string {
	return `,{"role":"user","content":[` + strings.Join(blocks, ",") + `]}`
}

func assistantSays(blocks ...string) string {
	return `,{"role":"assistant","content":[` + strings.Join(blocks, ",") + `]}`
}

const (
	aCall   = `{"type":"tool_use","id":"toolu_1","name":"zoom","input":{"id":1}}`
	aResult = `{"type":"tool_result","tool_use_id":"toolu_1","content":"found"}`
	aText   = `{"type":"text","text":"well"}`
	marked  = `{"type":"text","text":"well","cache_control":{"type":"ephemeral"}}`
)

func TestMessagesRefusesWhatAnthropicRefuses(t *testing.T) {
	images := func(n, side int) string {
		one := `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + picture(t, side, 1) + `"}}`
		return userSays(strings.TrimSuffix(strings.Repeat(one+",", n), ","))
	}
	tool := func(def string) string {
		return `{"model":"claude-opus-5-5","max_tokens":10,"messages":[{"role":"user","content":"hi"}],"tools":[` + def + `]}`
	}
	const bad = "invalid_request_error"
	for name, c := range map[string]refusal{
		"no JSON":              {`hello`, 400, bad, "valid object"},
		"no model":             {`{"max_tokens":1,"messages":[]}`, 400, bad, "model: Field required"},
		"no max_tokens":        {`{"model":"claude-opus-5-5","messages":[{"role":"user","content":"hi"}]}`, 400, bad, "max_tokens: Field required"},
		"too many max_tokens":  {`{"model":"claude-opus-5-5","max_tokens":900000,"messages":[{"role":"user","content":"hi"}]}`, 400, bad, "900000 > 128000, which is the maximum"},
		"no messages":          {`{"model":"claude-opus-5-5","max_tokens":1,"messages":[]}`, 400, bad, "at least one message"},
		"an unknown field":     {asked("", `"frequency_penalty":1`), 400, bad, "frequency_penalty: Extra inputs are not permitted"},
		"an unknown model":     {`{"model":"claude-nobody","max_tokens":1,"messages":[{"role":"user","content":"hi"}]}`, 404, "not_found_error", "model: claude-nobody"},
		"another's model":      {`{"model":"gpt-5","max_tokens":1,"messages":[{"role":"user","content":"hi"}]}`, 404, "not_found_error", "model: gpt-5"},
		"an unknown role":      {asked(`,{"role":"tool","content":"x"}`), 400, bad, "messages.1.role: Input should be 'user' or 'assistant'"},
		"the assistant first":  {`{"model":"claude-haiku-4-5","max_tokens":1,"messages":[{"role":"assistant","content":"hi"},{"role":"user","content":"hi"}]}`, 400, bad, `first message must use the "user" role`},
		"a prefill":            {asked(assistantSays(aText)), 400, bad, "does not support assistant message prefill"},
		"an empty message":     {asked(`,{"role":"user","content":[]}`), 400, bad, "messages.1: user messages must have non-empty content"},
		"an empty text":        {asked(userSays(`{"type":"text","text":""}`)), 400, bad, "text content blocks must be non-empty"},
		"a blank text":         {asked(userSays(`{"type":"text","text":" \n"}`)), 400, bad, "must contain non-whitespace text"},
		"an empty system":      {asked("", `"system":[{"type":"text","text":""}]`), 400, bad, "system: text content blocks must be non-empty"},
		"an empty marked text": {asked(userSays(`{"type":"text","text":"","cache_control":{"type":"ephemeral"}}`)), 400, bad, "cache_control cannot be set for empty text blocks"},
		"an unknown block":     {asked(userSays(`{"type":"video"}`)), 400, bad, "messages.1.content.0: Input tag 'video'"},
		"a field too much":     {asked(userSays(`{"type":"text","text":"a","name":"b"}`)), 400, bad, "messages.1.content.0.text.name: Extra inputs are not permitted"},
		"sampling":             {asked("", `"temperature":0.5`), 400, bad, "`temperature` is deprecated for this model."},

		"a call without a result":   {asked(assistantSays(aCall) + userSays(aText)), 400, bad, "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1."},
		"a call at the end":         {`{"model":"claude-haiku-4-5","max_tokens":1,"tools":[{"name":"zoom","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"hi"}` + assistantSays(aCall) + `]}`, 400, bad, "without `tool_result` blocks immediately after"},
		"a result not first":        {asked(assistantSays(aCall) + userSays(aText, aResult)), 400, bad, "without `tool_result` blocks immediately after"},
		"a result without a call":   {asked(userSays(aResult)), 400, bad, "unexpected `tool_use_id` found in `tool_result` blocks: toolu_1."},
		"a result twice":            {asked(assistantSays(aCall) + userSays(aResult, aResult)), 400, bad, "each tool_use must have a single result"},
		"a result too late":         {asked(assistantSays(aCall) + userSays(aResult) + assistantSays(aText) + userSays(aResult)), 400, bad, "unexpected `tool_use_id`"},
		"a call's id twice":         {asked(assistantSays(aCall) + userSays(aResult) + assistantSays(aCall) + userSays(aResult)), 400, bad, "`tool_use` ids must be unique"},
		"a call's id with spaces":   {asked(assistantSays(strings.Replace(aCall, "toolu_1", "a b", 1))), 400, bad, "tool_use.id: String should match pattern"},
		"a call without an input":   {asked(assistantSays(`{"type":"tool_use","id":"a","name":"zoom"}`)), 400, bad, "tool_use.input: Field required"},
		"an input that is a list":   {asked(assistantSays(`{"type":"tool_use","id":"a","name":"zoom","input":[]}`)), 400, bad, "tool_use.input: Input should be a valid object"},
		"calls without tools":       {`{"model":"claude-opus-5-5","max_tokens":1,"messages":[{"role":"user","content":"hi"}` + assistantSays(aCall) + userSays(aResult) + `]}`, 400, bad, "must define tools"},
		"a user's call":             {asked(userSays(aCall)), 400, bad, "`tool_use` blocks can only be in `assistant` messages"},
		"an assistant's result":     {asked(assistantSays(aResult) + userSays(aText)), 400, bad, "`tool_result` blocks can only be in `user` messages"},
		"an assistant's document":   {asked(assistantSays(`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"a"}}`) + userSays(aText)), 400, bad, "`document` blocks can only be in `user` messages"},
		"an empty failed result":    {asked(assistantSays(aCall) + userSays(`{"type":"tool_result","tool_use_id":"toolu_1","is_error":true}`)), 400, bad, "content cannot be empty if `is_error` is true"},
		"an empty text in a result": {asked(assistantSays(aCall) + userSays(`{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":""}]}`)), 400, bad, "text content blocks must be non-empty"},

		"a tool without a schema":  {tool(`{"name":"zoom"}`), 400, bad, "tools.0.custom.input_schema: Field required"},
		"a schema without a type":  {tool(`{"name":"zoom","input_schema":{}}`), 400, bad, "tools.0.custom.input_schema.type: Field required"},
		"a schema of a list":       {tool(`{"name":"zoom","input_schema":{"type":"array"}}`), 400, bad, "input_schema.type: Input should be 'object'"},
		"a schema of alternatives": {tool(`{"name":"zoom","input_schema":{"type":"object","oneOf":[]}}`), 400, bad, "does not support oneOf, allOf, or anyOf at the top level"},
		"a wrong schema":           {tool(`{"name":"zoom","input_schema":{"type":"object","required":7}}`), 400, bad, "JSON schema is invalid"},
		"a tool's unknown field":   {tool(`{"name":"zoom","input_schema":{"type":"object"},"parameters":{}}`), 400, bad, "tools.0.custom.parameters: Extra inputs are not permitted"},
		"a tool's bad name":        {tool(`{"name":"my zoom","input_schema":{"type":"object"}}`), 400, bad, "tools.0.custom.name: String should match pattern"},
		"two tools of a name":      {tool(`{"name":"zoom","input_schema":{"type":"object"}},{"name":"zoom","input_schema":{"type":"object"}}`), 400, bad, "Tool names must be unique"},
		"a forced tool":            {asked("", `"tool_choice":{"type":"any"}`), 400, bad, "are not supported for this model"},

		"five marks":              {asked(userSays(marked, marked, marked, marked, marked)), 400, bad, "A maximum of 4 blocks with cache_control may be provided. Found 5."},
		"a mark at the top":       {asked(userSays(marked, marked, marked, marked), `"cache_control":{"type":"ephemeral"}`), 400, bad, "Found 5."},
		"a mark of two hours":     {asked(userSays(strings.Replace(marked, `"ephemeral"`, `"ephemeral","ttl":"2h"`, 1))), 400, bad, "cache_control.ttl: Input should be '5m' or '1h'"},
		"an hour after less":      {asked(userSays(marked, strings.Replace(marked, `"ephemeral"`, `"ephemeral","ttl":"1h"`, 1))), 400, bad, "must not come after a ttl='5m'"},
		"a mark at a thought":     {asked(assistantSays(`{"type":"thinking","thinking":"a","signature":"b","cache_control":{"type":"ephemeral"}}`, aText) + userSays(aText)), 400, bad, "thinking.cache_control: Extra inputs are not permitted"},
		"thinking switched off":   {asked("", `"thinking":{"type":"disabled"}`), 400, bad, `"thinking.type.disabled" is not supported for this model.`},
		"thinking by a budget":    {asked("", `"thinking":{"type":"enabled","budget_tokens":2000}`), 400, bad, `"thinking.type.enabled" is not supported for this model.`},
		"binding without beta":    {asked("", `"thinking":{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}}`), 400, bad, "thinking.adaptive.block_binding: Extra inputs are not permitted"},
		"a small budget":          {`{"model":"claude-haiku-4-5","max_tokens":2000,"thinking":{"type":"enabled","budget_tokens":10},"messages":[{"role":"user","content":"hi"}]}`, 400, bad, "greater than or equal to 1024"},
		"a budget of all":         {`{"model":"claude-haiku-4-5","max_tokens":2000,"thinking":{"type":"enabled","budget_tokens":2000},"messages":[{"role":"user","content":"hi"}]}`, 400, bad, "`max_tokens` must be greater than `thinking.budget_tokens`"},
		"an unknown effort":       {asked("", `"output_config":{"effort":"huge"}`), 400, bad, "output_config.effort: Input should be"},
		"effort it lacks":         {`{"model":"claude-haiku-4-5","max_tokens":2000,"output_config":{"effort":"low"},"messages":[{"role":"user","content":"hi"}]}`, 400, bad, "does not support the effort parameter"},
		"a made-up thought":       {asked(assistantSays(`{"type":"thinking","thinking":"a","signature":"b"}`, aText) + userSays(aText)), 400, bad, "messages.1.content.0: Invalid `signature` in `thinking` block"},
		"a made-up redaction":     {asked(assistantSays(`{"type":"redacted_thinking","data":"b"}`, aText) + userSays(aText)), 400, bad, "Invalid `data` in `redacted_thinking` block"},
		"a user's thought":        {asked(userSays(`{"type":"thinking","thinking":"a","signature":"b"}`)), 400, bad, "`thinking` blocks can only be in `assistant` messages"},
		"a call without thinking": {`{"model":"claude-haiku-4-5","max_tokens":3000,"thinking":{"type":"enabled","budget_tokens":1024},"tools":[{"name":"zoom","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"hi"}` + assistantSays(aCall) + userSays(aResult) + `]}`, 400, bad, "Expected `thinking` or `redacted_thinking`, but found `tool_use`"},

		"an image of another type": {asked(userSays(`{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"` + picture(t, 2, 2) + `"}}`)), 400, bad, "appears to be a image/png image"},
		"no image":                 {asked(userSays(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGVsbG8="}}`)), 400, bad, "Could not process image"},
		"no base64":                {asked(userSays(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"%%%"}}`)), 400, bad, "invalid base64 data"},
		"an image of TIFF":         {asked(userSays(`{"type":"image","source":{"type":"base64","media_type":"image/tiff","data":"aGVsbG8="}}`)), 400, bad, "media_type: Input should be"},
		"a heavy image":            {asked(userSays(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + strings.Repeat("A", 5<<20+4) + `"}}`)), 400, bad, "image exceeds 5 MB maximum: 5242884 bytes > 5242880 bytes"},
		"a wide image":             {asked(images(1, 8001)), 400, bad, "max allowed size: 8000 pixels"},
		"many images, one wide":    {asked(images(20, 1) + images(1, 2001)), 400, bad, "many-image requests: 2000 pixels"},
		"too many images":          {asked(images(601, 1)), 400, bad, "601 images > 600 maximum"},
		"a PDF that is none":       {asked(userSays(`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"aGVsbG8="}}`)), 400, bad, "PDF specified was not valid"},

		"too long a prompt": {`{"model":"claude-haiku-4-5","max_tokens":1,"messages":[{"role":"user","content":"` + strings.Repeat("word ", 160_000) + `"}]}`, 400, bad, "prompt is too long: 220000 tokens > 200000 maximum"},
		"too large a body":  {asked(userSays(`{"type":"text","text":"` + strings.Repeat("a", 32<<20) + `"}`)), 413, "request_too_large", "maximum size"},
	} {
		t.Run(name, func(t *testing.T) {
			_, url := modeltest.Start(t, modeltest.Config{})
			status, got := post(t, url+"/v1/messages", c.body)
			message := fmt.Sprint(at(t, got, "error", "message"))
			if status != c.status || at(t, got, "type") != "error" || at(t, got, "error", "type") != c.kind || !strings.Contains(message, c.says) {
				t.Errorf("status %d, %s\nwant %d, %s, …%s…", status, got, c.status, c.kind, c.says)
			}
		})
	}
}

func TestMessagesTakesWhatAnthropicTakes(t *testing.T) {
	_, url := modeltest.Start(t, modeltest.Config{})
	for name, body := range map[string]string{
		"one side's messages in a row":      asked(userSays(aText) + userSays(aText) + assistantSays(aText) + assistantSays(aText) + userSays(aText)),
		"a result and then words":           asked(assistantSays(aText, aCall) + userSays(aResult, aText)),
		"a result and then another message": asked(assistantSays(aCall) + userSays(aResult) + userSays(aText)),
		"a result of nothing":               asked(assistantSays(aCall) + userSays(`{"type":"tool_result","tool_use_id":"toolu_1"}`)),
		"results in any order":              asked(assistantSays(aCall, strings.Replace(aCall, "_1", "_2", 1)) + userSays(strings.Replace(aResult, "_1", "_2", 1), aResult)),
		"four marks":                        asked(userSays(marked, marked, marked, marked)),
		"an hour and then less":             asked(userSays(strings.Replace(marked, `"ephemeral"`, `"ephemeral","ttl":"1h"`, 1), marked)),
		"adaptive thinking":                 asked("", `"thinking":{"type":"adaptive","display":"summarized"}`, `"output_config":{"effort":"max"}`),
		"a prefill of an older model":       `{"model":"claude-haiku-4-5","max_tokens":10,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"I"}]}`,
		"a text file":                       asked(userSays(`{"type":"document","title":"a.txt","source":{"type":"text","media_type":"text/plain","data":"hello"}}`)),
		"a system of one text":              asked("", `"system":"Be brief."`),
		"twenty wide images":                asked(userSays(strings.TrimSuffix(strings.Repeat(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"`+picture(t, 8000, 1)+`"}},`, 20), ","))),
	} {
		t.Run(name, func(t *testing.T) {
			if status, got := post(t, url+"/v1/messages", body); status != 200 {
				t.Errorf("status %d: %s", status, got)
			}
		})
	}
}

func TestMessagesWantsAKeyAndAVersion(t *testing.T) {
	_, url := modeltest.Start(t, modeltest.Config{})
	for name, c := range map[string]struct {
		header, value string
		refusal
	}{
		"a wrong key":          {"x-api-key", "wrong", refusal{status: 401, kind: "authentication_error", says: "invalid x-api-key"}},
		"no key":               {"x-api-key", "", refusal{status: 401, kind: "authentication_error", says: "x-api-key header is required"}},
		"no version":           {"anthropic-version", "", refusal{status: 400, kind: "invalid_request_error", says: "anthropic-version: header is required"}},
		"a version of the day": {"anthropic-version", "2026-11-30", refusal{status: 400, kind: "invalid_request_error", says: "is not a valid version"}},
	} {
		t.Run(name, func(t *testing.T) {
			status, got := post(t, url+"/v1/messages", asked(""), c.header, c.value)
			if message := fmt.Sprint(at(t, got, "error", "message")); status != c.status || at(t, got, "error", "type") != c.kind || !strings.Contains(message, c.says) {
				t.Errorf("status %d: %s", status, got)
			}
		})
	}
	if status, got := post(t, url+"/v1/messages", asked("", `"temperature":1`), "anthropic-version", "2026-10-21"); status != 400 || !strings.Contains(got, "temperature: Extra inputs") {
		t.Errorf("the newest version took a temperature: %d %s", status, got)
	}
	if status, got := post(t, url+"/v1/messages", asked(""), "x-api-key", "", "Authorization", "Bearer "+modeltest.DefaultKey); status != 200 {
		t.Errorf("the other header: %d %s", status, got)
	}
}
