package modeltest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/skeinhq/skein/model/modeltest"
)

// thought asks a model that thinks and gives the content of its answer.
func thought(t *testing.T, url, model string) []any {
	t.Helper()
	body := strings.Replace(asked("", `"thinking":{"type":"adaptive","display":"summarized"}`), "claude-opus-5-5", model, 1)
	status, got := post(t, url+"/v1/messages", body)
	content, _ := at(t, got, "content").([]any)
	if status != 200 || len(content) < 2 || at(t, got, "content", 0, "type") != "thinking" {
		t.Fatalf("no thought: %d %s", status, got)
	}
	return content
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestThinkingIsTakenBackAsItWas(t *testing.T) {
	_, url := modeltest.Start(t, modeltest.Config{})
	parts := thought(t, url, "claude-opus-5-5")
	back := func(messages string, headers ...string) (int, string) {
		return post(t, url+"/v1/messages", messages, headers...)
	}
	first, second := jsonOf(t, parts[0]), jsonOf(t, parts[1])
	whole := asked(assistantSays(first, second) + userSays(aText))
	const bound = "The block is bound to a different conversation"

	for name, c := range map[string]struct {
		body   string
		status int
		says   string
	}{
		"as it was":           {whole, 200, ""},
		"without its display": {strings.Replace(whole, `"tools"`, `"thinking":{"type":"adaptive"},"tools"`, 1), 200, ""},
		"with a mark before":  {strings.Replace(whole, `"content":"hello"`, `"content":[`+strings.Replace(marked, "well", "hello", 1)+`]`, 1), 200, ""},
		"left out":            {asked(assistantSays(second) + userSays(aText)), 200, ""},
		"altered":             {strings.Replace(whole, "They wrote", "She wrote", 1), 400, "Invalid `signature` in `thinking` block"},
		"after other words":   {strings.Replace(whole, `"hello"`, `"hello there"`, 1), 400, bound},
		"after another tool":  {strings.Replace(whole, "Opens.", "Opens it.", 1), 400, bound},
		"after a system":      {strings.Replace(whole, `"tools"`, `"system":"Be brief.","tools"`, 1), 400, bound},
		"moved behind":        {asked(assistantSays(second, first, aText) + userSays(aText)), 400, bound},
		"at the end":          {asked(assistantSays(second, first) + userSays(aText)), 400, "The final block in an assistant message cannot be `thinking`"},
	} {
		t.Run(name, func(t *testing.T) {
			status, got := back(c.body)
			if status != c.status || !strings.Contains(got, c.says) {
				t.Errorf("status %d: %s\nwant %d, %s", status, got, c.status, c.says)
			}
		})
	}

	t.Run("dropped where that is asked for", func(t *testing.T) {
		body := strings.Replace(strings.Replace(whole, `"hello"`, `"hello there"`, 1), `"tools"`, `"thinking":{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}},"tools"`, 1)
		status, got := back(body, "anthropic-beta", "thinking-binding-controls-2026-08-01")
		if status != 200 || at(t, got, "input_transformations", 0, "path") != "messages.1.content.0" || at(t, got, "input_transformations", 0, "reason") != "prefix_binding_mismatch" {
			t.Errorf("status %d: %s", status, got)
		}
	})
	t.Run("dropped where another model made it", func(t *testing.T) {
		status, got := back(strings.Replace(whole, "claude-opus-5-5", "claude-fable-5-2", 1))
		if status != 200 || at(t, got, "input_transformations", 0, "reason") != "model_binding_mismatch" {
			t.Errorf("status %d: %s", status, got)
		}
	})
	t.Run("known again by another server", func(t *testing.T) {
		_, other := modeltest.Start(t, modeltest.Config{})
		if status, got := post(t, other+"/v1/messages", whole); status != 200 {
			t.Errorf("status %d: %s", status, got)
		}
	})
	t.Run("not bound by an older model", func(t *testing.T) {
		parts := thought(t, url, "claude-opus-4-6")
		body := strings.Replace(asked(assistantSays(jsonOf(t, parts[0]), jsonOf(t, parts[1]))+userSays(aText)), "claude-opus-5-5", "claude-opus-4-6", 1)
		if status, got := back(strings.Replace(body, `"hello"`, `"hello there"`, 1)); status != 200 {
			t.Errorf("status %d: %s", status, got)
		}
	})
	t.Run("a second one is bound to the first", func(t *testing.T) {
		_, got := back(whole)
		next, _ := at(t, got, "content").([]any)
		long := asked(assistantSays(first, second) + userSays(aText) + assistantSays(jsonOf(t, next[0]), jsonOf(t, next[1])) + userSays(aText))
		if status, got := back(long); status != 200 {
			t.Errorf("both: status %d: %s", status, got)
		}
		if status, got := back(strings.Replace(long, first+",", "", 1)); status != 400 || !strings.Contains(got, bound) {
			t.Errorf("without the first: status %d: %s", status, got)
		}
	})
}

func TestReasoningIsTakenBackAsItWas(t *testing.T) {
	_, url := modeltest.Start(t, modeltest.Config{})
	ask := func(input string) string {
		return `{"model":"gpt-6-sol","store":false,"include":["reasoning.encrypted_content"],"reasoning":{"effort":"high","summary":"auto"},"tools":[{"type":"function","name":"zoom","parameters":{"type":"object"}}],"input":[{"role":"user","content":"please zoom 8 4"}` + input + `]}`
	}
	status, got := post(t, url+"/v1/responses", ask(""))
	if status != 200 || at(t, got, "output", 0, "type") != "reasoning" || at(t, got, "output", 2, "type") != "function_call" {
		t.Fatalf("status %d: %s", status, got)
	}
	items := func(places ...int) string {
		var b strings.Builder
		for _, i := range places {
			b.WriteString("," + jsonOf(t, at(t, got, "output", i)))
		}
		return b.String()
	}
	id := fmt.Sprint(at(t, got, "output", 0, "id"))
	call := fmt.Sprint(at(t, got, "output", 2, "call_id"))
	output := `,{"type":"function_call_output","call_id":"` + call + `","output":"found"}`
	bare := `,{"type":"function_call","call_id":"` + call + `","name":"zoom","arguments":"{}"}`
	for name, c := range map[string]struct {
		input  string
		status int
		says   string
	}{
		"as it was":                {items(0, 1, 2) + output, 200, ""},
		"without it":               {bare + output, 200, ""},
		"altered":                  {strings.Replace(items(0, 1, 2), "They wrote", "She wrote", 1) + output, 400, "could not be verified"},
		"its seal altered":         {strings.Replace(items(0, 1, 2), `"encrypted_content":"U2`, `"encrypted_content":"AA`, 1) + output, 400, "could not be verified"},
		"without its seal":         {`,{"type":"reasoning","id":"` + id + `","summary":[]}` + bare + output, 404, "Items are not persisted when `store` is set to false"},
		"without what it led to":   {items(0), 400, "was provided without its required following item"},
		"before a user's words":    {items(0) + `,{"role":"user","content":"well"}`, 400, "was provided without its required following item"},
		"what it led to, alone":    {items(2) + output, 400, "was provided without its required 'reasoning' item: '" + id + "'"},
		"twice":                    {items(0, 0, 1, 2) + output, 400, "Duplicate item found with id " + id},
		"a call without an output": {items(0, 1, 2), 400, "No tool output found for function call " + call},
		"an output without a call": {output, 400, "No tool call found for function call output with call_id " + call},
		"an output before":         {output + bare, 400, "No tool call found for function call output"},
		"an item kept elsewhere":   {`,{"type":"item_reference","id":"msg_1"}`, 404, "Item with id 'msg_1' not found"},
		"an id of another kind":    {strings.Replace(bare, `"call_id"`, `"id":"call_1","call_id"`, 1) + output, 400, "Expected an ID that begins with 'fc'"},
	} {
		t.Run(name, func(t *testing.T) {
			status, got := post(t, url+"/v1/responses", ask(c.input))
			if status != c.status || !strings.Contains(got, c.says) {
				t.Errorf("status %d: %s\nwant %d, %s", status, got, c.status, c.says)
			}
		})
	}
	t.Run("by another model", func(t *testing.T) {
		status, got := post(t, url+"/v1/responses", strings.Replace(ask(items(0, 1, 2)+output), "gpt-6-sol", "gpt-6-luna", 1))
		if status != 400 || at(t, got, "error", "code") != "invalid_encrypted_content" {
			t.Errorf("status %d: %s", status, got)
		}
	})
}
