package chat_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/chat"
	"github.com/skeinhq/skein/model/modeltest"
	"github.com/skeinhq/skein/thread"
)

// whole is a request with one of everything.
func whole() *model.Request {
	return modeltest.WholeRequest("house/m", thread.Part{Type: thread.ThinkingPart, Text: "I look it up", Signature: "reasoning_content", Provider: "house", Model: "house/m"})
}

func TestTheBodyHoldsEverythingInItsOrder(t *testing.T) {
	s := serve(t, hello())
	if _, _, err := modeltest.Ask(t.Context(), s.open(t), whole()); err != nil {
		t.Fatal(err)
	}
	want := `{"model":"m","stream":true,"stream_options":{"include_usage":true},"max_tokens":5000,"reasoning_effort":"high","prompt_cache_key":"skein-1",` +
		`"tools":[{"type":"function","function":{"name":"zoom","description":"Opens a line.","parameters":` + modeltest.WholeSchema + `}}],"messages":[` +
		`{"role":"system","content":"You are north."},` +
		`{"role":"user","content":[{"type":"text","text":"ana: look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AQID"}},` +
		`{"type":"file","file":{"filename":"file","file_data":"data:application/pdf;base64,JVBE"}},{"type":"text","text":"ben: yes, look"}]},` +
		`{"role":"assistant","content":"I look.","reasoning_content":"I look it up","tool_calls":[{"id":"call_1","type":"function","function":{"name":"zoom","arguments":"{\"z\":1,\"a\":2}"}},{"id":"call_2","type":"function","function":{"name":"zoom","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"call_1","content":"ana: <hello>\n\n(what it gave besides follows the results)"},` +
		`{"role":"tool","tool_call_id":"call_2","content":"The call failed:\n\nno such line"},` +
		`{"role":"user","content":[{"type":"text","text":"From zoom, call call_1:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AQID"}},{"type":"text","text":"ana: and?"}]}]}`
	if diff := cmp.Diff(want, s.Body(0)); diff != "" {
		t.Errorf("the body differs (-want +got):\n%s", diff)
	}
	if got := s.Header(0).Get("Authorization"); got != "Bearer "+modeltest.RawKey {
		t.Errorf("the key sent is %q", got)
	}
}

func TestThinkingGoesBackInItsField(t *testing.T) {
	for signature, want := range map[string]string{
		"reasoning_content": `"reasoning_content":"I look it up"`,
		"reasoning":         `"reasoning":"I look it up"`,
		`[{"type":"reasoning.text","text":"I look it up","signature":"Eq/+<=="}]`: `"reasoning_details":[{"type":"reasoning.text","text":"I look it up","signature":"Eq/+<=="}]`,
	} {
		s := serve(t, hello())
		r := whole()
		r.Messages[2].Parts[0].Signature = signature
		if _, _, err := modeltest.Ask(t.Context(), s.open(t), r); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(s.Body(0), `{"role":"assistant","content":"I look.",`+want+`,"tool_calls"`) {
			t.Errorf("%s does not hold %s", s.Body(0), want)
		}
	}
}

func TestEffortIsAskedOnlyOfModelsThatThink(t *testing.T) {
	s := serve(t, hello())
	r := modeltest.Request("house/plain-1")
	r.Thinking = "low"
	if _, _, err := modeltest.Ask(t.Context(), s.open(t), r); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(s.Body(0), "effort") {
		t.Errorf("%s asks for thinking", s.Body(0))
	}
}

func TestTheLargestOutputHasTheNameThatTheModelTakes(t *testing.T) {
	for name, want := range map[string]string{
		"house/m": "max_tokens", "gpt-4.1": "max_tokens", "gpt-oss-20b": "max_tokens",
		"gpt-6-sol": "max_completion_tokens", "openai/gpt-6-sol": "max_completion_tokens",
	} {
		s := serve(t, hello())
		if _, _, err := modeltest.Ask(t.Context(), s.open(t), modeltest.Request(name)); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(s.Body(0), `"`+want+`":1000,`) {
			t.Errorf("%s: %s does not hold %s", name, s.Body(0), want)
		}
	}
}

func TestMarksAreSetWhereTheModelTakesThem(t *testing.T) {
	s := serve(t, hello())
	r := whole()
	r.Marks = []model.Mark{{Name: "instructions", Message: -1}, {Name: "previous", Message: 3, Part: 1}, {Name: "end", Message: 4}}
	m := s.open(t, func(o *chat.Options) { o.TTL = "1h" })
	if _, _, err := modeltest.Ask(t.Context(), m, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"role":"system","content":[{"type":"text","text":"You are north.","cache_control":{"type":"ephemeral","ttl":"1h"}}]}`,
		`{"type":"text","text":"no such line","cache_control":{"type":"ephemeral","ttl":"1h"}}`,
		`{"type":"text","text":"ana: and?","cache_control":{"type":"ephemeral","ttl":"1h"}}`,
	} {
		if !strings.Contains(s.Body(0), want) {
			t.Errorf("%s does not hold %s", s.Body(0), want)
		}
	}
}

func TestWrongOptionsAreRefused(t *testing.T) {
	for _, o := range []chat.Options{{}, {BaseURL: "localhost:11434"}, {BaseURL: "http://localhost:11434/v1", TTL: "2h"}} {
		if _, err := chat.New(o); thread.CodeOf(err) != thread.Configuration {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestHeadersAreSentAndNoKeyWhereThereIsNone(t *testing.T) {
	s := serve(t, hello())
	m := s.open(t, func(o *chat.Options) { o.Key, o.Headers = "", http.Header{"x-title": {"Skein"}} })
	if _, _, err := modeltest.Ask(t.Context(), m, modeltest.Request("house/m")); err != nil {
		t.Fatal(err)
	}
	if h := s.Header(0); h.Get("X-Title") != "Skein" || h.Get("Authorization") != "" {
		t.Errorf("headers %v", h)
	}
}
