package chat_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/chat"
	"github.com/skeinhq/skein/thread"
)

// whole is a request with one of everything.
func whole() *model.Request {
	thought := thread.Part{Type: thread.ThinkingPart, Text: "I look it up", Signature: "reasoning_content", Provider: "house", Model: "house/m"}
	image := thread.Part{Type: thread.BlobPart, Name: "plan.png", Hash: "1", MediaType: "image/png", Size: 3}
	file := thread.Part{Type: thread.BlobPart, Hash: "2", MediaType: "application/pdf", Size: 3}
	result := thread.Result("call_1", "zoom", "ana: <hello>", false)
	result.Parts = append(result.Parts, image)
	return &model.Request{
		Model: "house/m", MaxOutput: 5000, Thinking: "high", Number: 3, CacheKey: "skein-1",
		Tools:  []model.Tool{{Name: "zoom", Description: "Opens a line.", Schema: json.RawMessage(`{"type":"object","properties":{"z":{"type":"integer"},"a":{"type":"integer"}}}`)}},
		System: []string{"You are north."},
		Messages: []model.Message{
			{Role: thread.User, Parts: []thread.Part{thread.Text("ana: look"), image, file}},
			user("ben: yes, look"),
			{Role: thread.Assistant, Parts: []thread.Part{thought, thread.Text("I look."), thread.Call("call_1", "zoom", []byte(`{"z":1,"a":2}`)), thread.Call("call_2", "zoom", []byte(`{}`))}},
			{Role: thread.Tool, Parts: []thread.Part{result, thread.Result("call_2", "zoom", "no such line", true)}},
			user("ana: and?"),
		},
		Blob: func(_ context.Context, hash string) ([]byte, error) {
			return map[string][]byte{"1": {1, 2, 3}, "2": []byte("%PD")}[hash], nil
		},
	}
}

func TestTheBodyHoldsEverythingInItsOrder(t *testing.T) {
	s := serve(t, hello())
	if _, _, err := ask(t.Context(), s.open(t), whole()); err != nil {
		t.Fatal(err)
	}
	want := `{"model":"m","stream":true,"stream_options":{"include_usage":true},"max_tokens":5000,"reasoning_effort":"high","prompt_cache_key":"skein-1",` +
		`"tools":[{"type":"function","function":{"name":"zoom","description":"Opens a line.","parameters":{"type":"object","properties":{"z":{"type":"integer"},"a":{"type":"integer"}}}}}],"messages":[` +
		`{"role":"system","content":"You are north."},` +
		`{"role":"user","content":[{"type":"text","text":"ana: look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AQID"}},` +
		`{"type":"file","file":{"filename":"file","file_data":"data:application/pdf;base64,JVBE"}},{"type":"text","text":"ben: yes, look"}]},` +
		`{"role":"assistant","content":"I look.","reasoning_content":"I look it up","tool_calls":[{"id":"call_1","type":"function","function":{"name":"zoom","arguments":"{\"z\":1,\"a\":2}"}},{"id":"call_2","type":"function","function":{"name":"zoom","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"call_1","content":"ana: <hello>\n\n(what it gave besides follows the results)"},` +
		`{"role":"tool","tool_call_id":"call_2","content":"The call failed:\n\nno such line"},` +
		`{"role":"user","content":[{"type":"text","text":"From zoom, call call_1:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AQID"}},{"type":"text","text":"ana: and?"}]}]}`
	if diff := cmp.Diff(want, s.bodies[0]); diff != "" {
		t.Errorf("the body differs (-want +got):\n%s", diff)
	}
	if got := s.headers[0].Get("Authorization"); got != "Bearer key-of-a-test" {
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
		if _, _, err := ask(t.Context(), s.open(t), r); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(s.bodies[0], `{"role":"assistant","content":"I look.",`+want+`,"tool_calls"`) {
			t.Errorf("%s does not hold %s", s.bodies[0], want)
		}
	}
}

func TestEffortIsAskedOnlyOfModelsThatThink(t *testing.T) {
	s := serve(t, hello())
	r := request("house/plain-1")
	r.Thinking = "low"
	if _, _, err := ask(t.Context(), s.open(t), r); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(s.bodies[0], "effort") {
		t.Errorf("%s asks for thinking", s.bodies[0])
	}
}

func TestTheLargestOutputHasTheNameThatTheModelTakes(t *testing.T) {
	for name, want := range map[string]string{
		"house/m": "max_tokens", "gpt-4.1": "max_tokens", "gpt-oss-20b": "max_tokens",
		"gpt-6-sol": "max_completion_tokens", "openai/gpt-6-sol": "max_completion_tokens",
	} {
		s := serve(t, hello())
		if _, _, err := ask(t.Context(), s.open(t), request(name)); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(s.bodies[0], `"`+want+`":1000,`) {
			t.Errorf("%s: %s does not hold %s", name, s.bodies[0], want)
		}
	}
}

func TestMarksAreSetWhereTheModelTakesThem(t *testing.T) {
	s := serve(t, hello())
	r := whole()
	r.Marks = []model.Mark{{Name: "instructions", Message: -1}, {Name: "previous", Message: 3, Part: 1}, {Name: "end", Message: 4}}
	m := s.open(t, func(o *chat.Options) { o.TTL = "1h" })
	if _, _, err := ask(t.Context(), m, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"role":"system","content":[{"type":"text","text":"You are north.","cache_control":{"type":"ephemeral","ttl":"1h"}}]}`,
		`{"type":"text","text":"no such line","cache_control":{"type":"ephemeral","ttl":"1h"}}`,
		`{"type":"text","text":"ana: and?","cache_control":{"type":"ephemeral","ttl":"1h"}}`,
	} {
		if !strings.Contains(s.bodies[0], want) {
			t.Errorf("%s does not hold %s", s.bodies[0], want)
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
	if _, _, err := ask(t.Context(), m, request("house/m")); err != nil {
		t.Fatal(err)
	}
	if h := s.headers[0]; h.Get("X-Title") != "Skein" || h.Get("Authorization") != "" {
		t.Errorf("headers %v", h)
	}
}

func TestNothingIsTakenFromTheEnvironment(t *testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"} {
		t.Setenv(name, "of-the-environment")
	}
	s := serve(t, hello())
	if _, _, err := ask(t.Context(), s.open(t), request("house/m")); err != nil {
		t.Fatal(err)
	}
	for name, values := range s.headers[0] {
		if strings.Contains(strings.Join(values, ""), "of-the-environment") {
			t.Errorf("the environment gave %s: %v", name, values)
		}
	}
}

// What was sent before is the start of what is sent next, but for the brackets
// that close it.
func TestARequestThatGoesOnStartsWithTheOneBefore(t *testing.T) {
	s := serve(t, hello(), hello(), hello())
	m := s.open(t)
	first, again, next := whole(), whole(), whole()
	next.Number++
	next.Messages = append(next.Messages, model.Message{Role: thread.Assistant, Parts: []thread.Part{thread.Text("So.")}}, user("ana: good"))
	for _, r := range []*model.Request{first, again, next} {
		if _, _, err := ask(t.Context(), m, r); err != nil {
			t.Fatal(err)
		}
	}
	if s.bodies[0] != s.bodies[1] {
		t.Errorf("equal requests differ:\n%s\n%s", s.bodies[0], s.bodies[1])
	}
	if before := strings.TrimSuffix(s.bodies[0], "]}"); !strings.HasPrefix(s.bodies[2], before) {
		t.Errorf("the next request\n%s\ndoes not start with\n%s", s.bodies[2], before)
	}
}

func TestWhatCannotBeSentIsAnErrorBeforeAnythingIsSent(t *testing.T) {
	s := serve(t)
	lost := whole()
	lost.Blob = func(context.Context, string) ([]byte, error) {
		return nil, &thread.Error{Code: thread.NotFound, Message: "there is no such blob"}
	}
	blind := whole()
	blind.Blob = nil
	strange := request("house/m", model.Message{Role: thread.User, Parts: []thread.Part{{Type: thread.RawPart}}})
	for _, c := range []struct {
		code thread.Code
		r    *model.Request
	}{{thread.NotFound, lost}, {thread.Configuration, blind}, {thread.Configuration, strange}, {thread.Configuration, request("claudine")}} {
		if _, _, err := ask(t.Context(), s.open(t), c.r); thread.CodeOf(err) != c.code {
			t.Errorf("the error is %v, want code %s", err, c.code)
		}
	}
}
