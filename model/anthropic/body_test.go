package anthropic_test

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/anthropic"
	"github.com/skeinhq/skein/thread"
)

// whole is a request with one of everything.
func whole() *model.Request {
	thought := thread.Part{Type: thread.ThinkingPart, Text: "a < b & c", Signature: "Eq/+==", Provider: "anthropic", Model: "claude-opus-5-5"}
	hidden := thread.Part{Type: thread.ThinkingPart, Redacted: true, Signature: "c2VjcmV0", Provider: "anthropic", Model: "claude-opus-5-5"}
	image := thread.Part{Type: thread.BlobPart, Name: "plan.png", Hash: "1", MediaType: "image/png", Size: 3}
	file := thread.Part{Type: thread.BlobPart, Name: "lease.pdf", Hash: "2", MediaType: "application/pdf", Size: 3}
	result := thread.Result("toolu_1", "zoom", "ana: <hello>", false)
	result.Parts = append(result.Parts, image)
	return &model.Request{
		Model: "claude-opus-5-5", MaxOutput: 5000, Thinking: "high", Number: 3, CacheKey: "skein-1",
		Tools:  []model.Tool{{Name: "zoom", Description: "Opens a line.", Schema: json.RawMessage(`{"type":"object","properties":{"z":{"type":"integer"},"a":{"type":"integer"}},"required":["z"]}`)}},
		System: []string{"You are north."},
		Messages: []model.Message{
			{Role: thread.User, Parts: []thread.Part{thread.Text("ana: look"), image, file}},
			user("ben: yes, look"),
			{Role: thread.Assistant, Parts: []thread.Part{thought, hidden, thread.Text("I look."), thread.Call("toolu_1", "zoom", []byte(`{"z":1,"a":2}`)), thread.Call("toolu_2", "zoom", []byte(`{}`))}},
			{Role: thread.Tool, Parts: []thread.Part{result, thread.Result("toolu_2", "zoom", "no such line", true)}},
			user("ana: and?"),
		},
		Marks: []model.Mark{{Name: "instructions", Message: -1}, {Name: "previous", Message: 1}, {Name: "end", Message: 3, Part: 1}},
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
	want := `{"model":"claude-opus-5-5","max_tokens":5000,"stream":true,` +
		`"thinking":{"type":"adaptive","display":"summarized","block_binding":{"prefix_mismatch_behavior":"drop_block"}},"output_config":{"effort":"high"},` +
		`"tools":[{"name":"zoom","description":"Opens a line.","input_schema":{"type":"object","properties":{"z":{"type":"integer"},"a":{"type":"integer"}},"required":["z"]}}],` +
		`"system":[{"type":"text","text":"You are north.","cache_control":{"type":"ephemeral"}}],"messages":[` +
		`{"role":"user","content":[{"type":"text","text":"ana: look"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AQID"}},` +
		`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBE"},"title":"lease.pdf"},{"type":"text","text":"ben: yes, look","cache_control":{"type":"ephemeral"}}]},` +
		`{"role":"assistant","content":[{"type":"thinking","thinking":"a < b & c","signature":"Eq/+=="},{"type":"redacted_thinking","data":"c2VjcmV0"},{"type":"text","text":"I look."},` +
		`{"type":"tool_use","id":"toolu_1","name":"zoom","input":{"z":1,"a":2}},{"type":"tool_use","id":"toolu_2","name":"zoom","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"ana: <hello>"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AQID"}}]},` +
		`{"type":"tool_result","tool_use_id":"toolu_2","is_error":true,"content":[{"type":"text","text":"no such line"}],"cache_control":{"type":"ephemeral"}},{"type":"text","text":"ana: and?"}]}]}`
	if diff := cmp.Diff(want, s.bodies[0]); diff != "" {
		t.Errorf("the body differs (-want +got):\n%s", diff)
	}
	if got := s.headers[0].Get("anthropic-beta"); got != "thinking-binding-controls-2026-08-01" {
		t.Errorf("the beta header is %q", got)
	}
	if got := s.headers[0].Get("Authorization"); got != "Bearer key-of-a-test" {
		t.Errorf("the key sent is %q", got)
	}
}

func TestEffortIsAskedForAsTheModelTakesIt(t *testing.T) {
	for _, c := range []struct{ model, effort, want string }{
		{"claude-opus-5-5", "", `"thinking":{"type":"adaptive","display":"summarized","block_binding":{"prefix_mismatch_behavior":"drop_block"}},"system"`},
		{"claude-opus-4-8", "", `"stream":true,"system"`},
		{"claude-opus-4-8", "low", `"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"low"}`},
		{"claude-haiku-4-5", "", `"stream":true,"system"`},
		{"claude-haiku-4-5", "low", `"thinking":{"type":"enabled","budget_tokens":4000}`},
		{"claude-haiku-4-5", "high", `"thinking":{"type":"enabled","budget_tokens":5000}`},
		{"anthropic/claude-haiku-4-5", "", `{"model":"claude-haiku-4-5",`},
	} {
		s := serve(t, hello())
		r := request(c.model)
		r.Thinking, r.MaxOutput = c.effort, 10_000
		if _, _, err := ask(t.Context(), s.open(t), r); err != nil {
			t.Fatalf("%s: %v", c.model, err)
		}
		if !strings.Contains(s.bodies[0], c.want) {
			t.Errorf("%s with the effort %q sends %s, want it to hold %s", c.model, c.effort, s.bodies[0], c.want)
		}
	}
}

func TestOptionsReachTheWire(t *testing.T) {
	s := serve(t, hello())
	m := s.open(t, func(o *anthropic.Options) {
		o.TTL, o.Name = "1h", "house"
		o.Headers = http.Header{"X-Team": {"loom"}, "anthropic-beta": {"other-beta"}}
	})
	r := whole()
	r.Model, r.Messages, r.Marks, r.MaxOutput = "house/claude-opus-5-5", []model.Message{user("ana: hello")}, r.Marks[:1], 0
	if _, _, err := ask(t.Context(), m, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`{"model":"claude-opus-5-5","max_tokens":128000,`, `"cache_control":{"type":"ephemeral","ttl":"1h"}`} {
		if !strings.Contains(s.bodies[0], want) {
			t.Errorf("%s does not hold %s", s.bodies[0], want)
		}
	}
	if got := s.headers[0].Get("X-Team"); got != "loom" {
		t.Errorf("X-Team is %q", got)
	}
	if got := s.headers[0].Get("anthropic-beta"); got != "thinking-binding-controls-2026-08-01,other-beta" {
		t.Errorf("the beta header is %q", got)
	}
}

func TestWrongOptionsAreRefused(t *testing.T) {
	for _, o := range []anthropic.Options{{}, {Key: "k", TTL: "2h"}} {
		if _, err := anthropic.New(o); thread.CodeOf(err) != thread.Configuration {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestNothingIsTakenFromTheEnvironment(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "of-the-environment")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "of-the-environment")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Stray: yes")
	s := serve(t, hello())
	if _, _, err := ask(t.Context(), s.open(t), request("claude-opus-5-5")); err != nil {
		t.Fatal(err)
	}
	for name, values := range s.headers[0] {
		if strings.Contains(strings.Join(values, ""), "of-the-environment") || name == "X-Stray" {
			t.Errorf("the environment gave %s: %v", name, values)
		}
	}
}

var marksOnTheWire = regexp.MustCompile(`,"cache_control":\{[^}]*\}`)

// What was sent before is the start of what is sent next, but for the brackets
// that close it, and marks.
func TestARequestThatGoesOnStartsWithTheOneBefore(t *testing.T) {
	s := serve(t, hello(), hello(), hello())
	m := s.open(t)
	first, again, next := whole(), whole(), whole()
	next.Number++
	next.Messages = append(next.Messages, model.Message{Role: thread.Assistant, Parts: []thread.Part{thread.Text("So.")}}, user("ana: good"))
	next.Marks = []model.Mark{{Name: "instructions", Message: -1}, {Name: "previous", Message: 3, Part: 1}, {Name: "end", Message: 6}}
	for _, r := range []*model.Request{first, again, next} {
		if _, _, err := ask(t.Context(), m, r); err != nil {
			t.Fatal(err)
		}
	}
	if s.bodies[0] != s.bodies[1] {
		t.Errorf("equal requests differ:\n%s\n%s", s.bodies[0], s.bodies[1])
	}
	before := strings.TrimSuffix(marksOnTheWire.ReplaceAllString(s.bodies[0], ""), "]}]}")
	if after := marksOnTheWire.ReplaceAllString(s.bodies[2], ""); !strings.HasPrefix(after, before) {
		t.Errorf("the next request\n%s\ndoes not start with\n%s", after, before)
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
	strange := request("claude-opus-5-5", model.Message{Role: thread.User, Parts: []thread.Part{{Type: thread.RawPart}}})
	for _, c := range []struct {
		code thread.Code
		r    *model.Request
	}{{thread.NotFound, lost}, {thread.Configuration, blind}, {thread.Configuration, strange}, {thread.Configuration, request("claudine")}} {
		if _, _, err := ask(t.Context(), s.open(t), c.r); thread.CodeOf(err) != c.code {
			t.Errorf("the error is %v, want code %s", err, c.code)
		}
	}
}
