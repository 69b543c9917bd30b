package modeltest_test

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skeinhq/skein/model/modeltest"
)

// apis are a body of each API that says "say" and may zoom.
var apis = map[string]struct{ path, body string }{
	"messages":  {"/v1/messages", `{"model":"claude-opus-5-5MORE","max_tokens":500,"stream":true,"tools":[{"name":"zoom","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"SAY"}]}`},
	"responses": {"/v1/responses", `{"model":"gpt-6-solMORE","stream":true,"reasoning":{"summary":"auto"},"include":["reasoning.encrypted_content"],"tools":[{"type":"function","name":"zoom","parameters":{"type":"object"}}],"input":[{"role":"user","content":"SAY"}]}`},
	"chat":      {"/vllm/v1/chat/completions", `{"model":"Qwen/Qwen3-8BMORE","stream":true,"tools":[{"type":"function","function":{"name":"zoom","parameters":{"type":"object"}}}],"messages":[{"role":"user","content":"SAY"}]}`},
}

func bodyOf(api, say, more string) string {
	return strings.NewReplacer("SAY", say, "MORE", more).Replace(apis[api].body)
}

func TestAnAnswerIsAFunctionOfItsRequest(t *testing.T) {
	fixed := func() time.Time { return time.Date(2026, 11, 30, 16, 1, 0, 0, time.UTC) }
	for name, api := range apis {
		t.Run(name, func(t *testing.T) {
			_, one := modeltest.Start(t, modeltest.Config{Now: fixed})
			_, other := modeltest.Start(t, modeltest.Config{Now: fixed})
			_, first := post(t, one+api.path, bodyOf(name, "please zoom 0 1 and zoom 4 4", ""))
			if _, second := post(t, other+api.path, bodyOf(name, "please zoom 0 1 and zoom 4 4", "")); second != first {
				t.Errorf("the answers differ:\n%s\n%s", first, second)
			}
			ids := regexp.MustCompile(`"(?:toolu|call|chatcmpl-tool)_[0-9a-f]{22}"`).FindAllString(first, -1)
			slices.Sort(ids)
			if ids = slices.Compact(ids); len(ids) != 2 {
				t.Errorf("the calls have the ids %v in\n%s", ids, first)
			}
			if _, third := post(t, one+api.path, bodyOf(name, "please zoom 0 1 and then zoom 4 4", "")); strings.Contains(third, ids[0]) {
				t.Error("another request has the same ids")
			}
		})
	}
}

func TestAModelsNameAsksForMore(t *testing.T) {
	_, url := modeltest.Start(t, modeltest.Config{})
	for more, want := range map[string]map[string]string{
		"-fake-refusal":     {"messages": `"stop_reason":"refusal"`, "responses": `"type":"response.refusal.done"`, "chat": `"delta":{"refusal":"I "}`},
		"-fake-length":      {"messages": `"stop_reason":"max_tokens"`, "responses": `"type":"response.incomplete"`, "chat": `"finish_reason":"length"`},
		"-fake-thinking":    {"messages": `"type":"signature_delta"`, "responses": `"type":"response.reasoning_summary_text.delta"`, "chat": `"reasoning_content":"Let "`},
		"-fake-redacted":    {"messages": `"type":"redacted_thinking"`, "responses": `"summary":[],"encrypted_content"`, "chat": `"content":"I "`},
		"-fake-rate-limit":  {"messages": `"rate_limit_error"`, "responses": `"rate_limit_exceeded"`, "chat": `"code":429`},
		"-fake-quota":       {"messages": `credit balance is too low`, "responses": `"insufficient_quota"`, "chat": `exceeded your current quota`},
		"-fake-overloaded":  {"messages": `"overloaded_error"`, "responses": `"server_is_overloaded"`, "chat": `"code":503`},
		"-fake-servererror": {"messages": `"api_error"`, "responses": `"server_error"`, "chat": `"InternalServerError"`},
		"-fake-gateway":     {"messages": `<html>`, "responses": `<html>`, "chat": `<html>`},
		"-fake-overflow":    {"messages": `prompt is too long`, "responses": `"context_length_exceeded"`, "chat": `maximum context length`},
		"-fake-error":       {"messages": "event: error\n", "responses": "event: error\n", "chat": `data: {"error":`},
		"-fake-garbage":     {"messages": `<html>`, "responses": `<html>`, "chat": `<html>`},
		"-fake-truncated":   {"messages": `answer `, "responses": `answer `, "chat": `answer `},
		"-fake-nonsense":    {"messages": `not_found_error`, "responses": `model_not_found`, "chat": `NotFoundError`},
	} {
		for api, says := range want {
			if more == "-fake-nonsense" && api == "chat" {
				continue // a server of one's own has whatever begins as its models do
			}
			if _, got := post(t, url+apis[api].path, bodyOf(api, "hello", more)); !strings.Contains(got, says) {
				t.Errorf("%s of %s: %s", more, api, got)
			}
		}
	}
}

func TestAHeaderIsStrongerThanAScript(t *testing.T) {
	s, url := modeltest.Start(t, modeltest.Config{})
	s.Script(modeltest.Say("scripted"))
	body := `{"model":"claude-haiku-4-5","max_tokens":50,"messages":[{"role":"user","content":"hello"}]}`
	for _, c := range []struct{ header, want string }{
		{`{"parts":[{"type":"text","text":"headed"}]}`, "headed"},
		{"", "scripted"},
		{"", "You said: hello"},
	} {
		if _, got := post(t, url+"/v1/messages", body, modeltest.ReplyHeader, c.header); at(t, got, "content", 0, "text") != c.want {
			t.Errorf("want %s: %s", c.want, got)
		}
	}
	if status, got := post(t, url+"/v1/messages", body, modeltest.ReplyHeader, "{"); status != 400 {
		t.Errorf("a header that is no reply: %d %s", status, got)
	}
}

func TestTokensAreCountedBeforeTheyAreAskedFor(t *testing.T) {
	s, url := modeltest.Start(t, modeltest.Config{})
	status, got := post(t, url+"/v1/messages/count_tokens", `{"model":"claude-opus-5-5","system":"`+word("s", 10)+`","messages":[{"role":"user","content":"`+word("a", 7)+`"}]}`)
	if status != 200 || at(t, got, "input_tokens") != 17.0 {
		t.Errorf("%d %s", status, got)
	}
	s.Script(modeltest.Say("still there"))
	post(t, url+"/v1/messages/count_tokens", `{"model":"claude-opus-5-5","messages":[{"role":"user","content":"hi"}]}`)
	if _, got := post(t, url+"/v1/messages", asked("")); at(t, got, "content", 0, "text") != "still there" {
		t.Errorf("counting took the script's reply: %s", got)
	}
}

func TestAStreamThatIsLeftIsGivenUp(t *testing.T) {
	s, url := modeltest.Start(t, modeltest.Config{Pace: 1})
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", url+"/v1/messages", strings.NewReader(bodyOf("messages", strings.Repeat("word ", 200), "")))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("x-api-key", modeltest.DefaultKey)
	r.Header.Set("anthropic-version", "2023-06-01")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if n := s.Running(); n != 1 {
		t.Errorf("%d requests run", n)
	}
	leave()
	resp.Body.Close()
	for range 500 {
		if s.Running() == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("it goes on")
}

func TestManyAskAtOnce(t *testing.T) {
	s, url := modeltest.Start(t, modeltest.Config{})
	var all sync.WaitGroup
	for i := range 8 {
		for name, api := range apis {
			all.Go(func() {
				for range 5 {
					if status, got := post(t, url+api.path, bodyOf(name, word(string('a'+rune(i)), 100), "")); status != 200 {
						t.Errorf("%s: %d %s", name, status, got)
					}
				}
			})
		}
	}
	all.Wait()
	if n := len(s.Exchanges()); n != 8*5*len(apis) {
		t.Errorf("%d exchanges", n)
	}
}

func TestOnlyTheLoopbackIsListenedOn(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "example.com:80", "127.0.0.1"} {
		if l, err := modeltest.Listen(http.NotFoundHandler(), addr); err == nil {
			t.Errorf("%s: it listens at %s", addr, l.URL)
		}
	}
	l, err := modeltest.Listen(http.NotFoundHandler(), "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := modeltest.Listen(http.NotFoundHandler(), strings.TrimPrefix(l.URL, "http://")); err == nil {
		t.Error("an address is taken twice")
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
