package modeltest_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/skeinhq/skein/model/modeltest"
)

// FuzzServer sends any body to each API: it is answered or refused, as JSON or
// as a stream, and never breaks the server.
func FuzzServer(f *testing.F) {
	for _, body := range []string{
		asked(userSays(aText) + assistantSays(aText, aCall) + userSays(aResult)),
		asked(assistantSays(`{"type":"thinking","thinking":"a","signature":"b"}`, marked) + userSays(marked)),
		asked(userSays(`{"type":"image","source":{"type":"base64","media_type":"image/webp","data":"UklGRhYAAABXRUJQVlA4TAoAAAAvAAAAAAfQ//73vw=="}}`)),
		bodyOf("messages", "zoom 0 1", ""), bodyOf("responses", "zoom 0 1", ""), bodyOf("chat", "zoom 0 1", "-fake-refusal"),
		`{"model":"gpt-6-sol","input":[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"AA=="},{"type":"function_call_output","call_id":"a","output":[]}]}`,
		`{"model":"qwen3","messages":[{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"b","arguments":"{"}}]},{"role":"tool","tool_call_id":"a","content":[]}]}`,
		`{"model":"gpt-6-sol","input":"","tools":[{"type":"function","name":"a","parameters":{"type":"object","$ref":"#"}}]}`,
		`{"model":`, `null`, `[]`, `"a"`, ``, `{"model":null,"messages":{}}`,
	} {
		f.Add(body)
	}
	s := modeltest.NewServer(modeltest.Config{Keep: 1})
	f.Fuzz(func(t *testing.T, body string) {
		for _, path := range []string{"/v1/messages", "/v1/responses", "/v1/chat/completions", "/ollama/v1/chat/completions", "/openrouter/api/v1/chat/completions"} {
			if strings.Contains(body, "-fake-") && !strings.Contains(body, "-fake-refusal") {
				continue // it asks for trouble, which may take long
			}
			r := httptest.NewRequest("POST", path, strings.NewReader(body))
			r.Header.Set("x-api-key", modeltest.DefaultKey)
			r.Header.Set("anthropic-version", "2023-06-01")
			r.Header.Set("Authorization", "Bearer "+modeltest.DefaultKey)
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			got := w.Body.String()
			switch kind := w.Header().Get("Content-Type"); {
			case strings.HasPrefix(kind, "text/event-stream") && w.Code == 200:
			case kind == "application/json" && json.Valid([]byte(got)) && (w.Code == 200) != strings.Contains(got, `"error":{`):
			default:
				t.Errorf("%s: status %d, %s: %s", path, w.Code, kind, got)
			}
		}
	})
}
