package modeltest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/skeinhq/skein/model/modeltest"
)

// post sends a body as its vendor's clients do and gives what came back.
func post(t *testing.T, url, body string, headers ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequest("POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if strings.HasSuffix(url, "/messages") || strings.HasSuffix(url, "count_tokens") {
		r.Header.Set("x-api-key", modeltest.DefaultKey)
		r.Header.Set("anthropic-version", "2023-06-01")
	} else {
		r.Header.Set("Authorization", "Bearer "+modeltest.DefaultKey)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("the answer broke off: %v after %s", err, data)
	}
	return resp.StatusCode, string(data)
}

// at reads a value of a JSON text by its path.
func at(t *testing.T, text string, path ...any) any {
	t.Helper()
	var v any
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("no JSON: %v\n%s", err, text)
	}
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				t.Fatalf("%v is not there in\n%s", path, text)
			}
			v = l[p]
		}
	}
	return v
}

func TestThePlainAnswerSaysBackWhatItHeard(t *testing.T) {
	_, url := modeltest.Start(t, modeltest.Config{})
	for name, c := range map[string]struct {
		path, body string
		answer     []any
	}{
		"messages":  {"/v1/messages", `{"model":"claude-haiku-4-5","max_tokens":100,"messages":[{"role":"user","content":"ana: hello"}]}`, []any{"content", 0, "text"}},
		"responses": {"/v1/responses", `{"model":"gpt-4.1","input":"ana: hello"}`, []any{"output", 0, "content", 0, "text"}},
		"chat":      {"/v1/chat/completions", `{"model":"gpt-4.1","messages":[{"role":"user","content":"ana: hello"}]}`, []any{"choices", 0, "message", "content"}},
		"ollama":    {"/ollama/v1/chat/completions", `{"model":"qwen3:8b","messages":[{"role":"user","content":"ana: hello"}]}`, []any{"choices", 0, "message", "content"}},
	} {
		t.Run(name, func(t *testing.T) {
			status, body := post(t, url+c.path, c.body)
			if got := at(t, body, c.answer...); status != 200 || got != "You said: ana: hello" {
				t.Errorf("status %d, answer %v in\n%s", status, got, body)
			}
			status, body = post(t, url+c.path, strings.Replace(c.body, "{", `{"stream":true,`, 1))
			if status != 200 || !strings.HasPrefix(body, "event: ") && !strings.HasPrefix(body, "data: ") {
				t.Errorf("status %d\n%s", status, body)
			}
			t.Log(body)
		})
	}
}
