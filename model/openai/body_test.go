package openai_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/openai"
	"github.com/skeinhq/skein/thread"
)

// whole is a request with one of everything.
func whole() *model.Request {
	image := thread.Part{Type: thread.BlobPart, Name: "plan.png", Hash: "1", MediaType: "image/png", Size: 3}
	file := thread.Part{Type: thread.BlobPart, Hash: "2", MediaType: "application/pdf", Size: 3}
	result := thread.Result("call_1", "zoom", "ana: <hello>", false)
	result.Parts = append(result.Parts, image)
	return &model.Request{
		Model: "gpt-6-sol", MaxOutput: 5000, Thinking: "high", Number: 3, CacheKey: "skein-1",
		Tools:  []model.Tool{{Name: "zoom", Description: "Opens a line.", Schema: json.RawMessage(`{"type":"object","properties":{"z":{"type":"integer"},"a":{"type":"integer"}}}`)}},
		System: []string{"You are north."},
		Messages: []model.Message{
			{Role: thread.User, Parts: []thread.Part{thread.Text("ana: look"), image, file}},
			user("ben: yes, look"),
			{Role: thread.Assistant, Parts: []thread.Part{thought, thread.Text("I look."), thread.Call("call_1", "zoom", []byte(`{"z":1,"a":2}`)), thread.Call("call_2", "zoom", []byte(`{}`))}},
			{Role: thread.Tool, Parts: []thread.Part{result, thread.Result("call_2", "zoom", "no such line", true)}},
			user("ana: and?"),
		},
		Marks: []model.Mark{{Name: "end", Message: 4}},
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
	want := `{"model":"gpt-6-sol","stream":true,"store":false,"max_output_tokens":5000,"include":["reasoning.encrypted_content"],` +
		`"reasoning":{"effort":"high","summary":"auto"},"prompt_cache_key":"skein-1",` +
		`"tools":[{"type":"function","name":"zoom","description":"Opens a line.","parameters":{"type":"object","properties":{"z":{"type":"integer"},"a":{"type":"integer"}}},"strict":false}],` +
		`"instructions":"You are north.","input":[` +
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"ana: look"},{"type":"input_image","image_url":"data:image/png;base64,AQID","detail":"auto"},` +
		`{"type":"input_file","filename":"file","file_data":"data:application/pdf;base64,JVBE"},{"type":"input_text","text":"ben: yes, look"}]},` +
		reasoned + `,{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]},` +
		`{"type":"function_call","call_id":"call_1","name":"zoom","arguments":"{\"z\":1,\"a\":2}"},{"type":"function_call","call_id":"call_2","name":"zoom","arguments":"{}"},` +
		`{"type":"function_call_output","call_id":"call_1","output":[{"type":"input_text","text":"ana: <hello>"},{"type":"input_image","image_url":"data:image/png;base64,AQID","detail":"auto"}]},` +
		`{"type":"function_call_output","call_id":"call_2","output":[{"type":"input_text","text":"The call failed:"},{"type":"input_text","text":"no such line"}]},` +
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"ana: and?"}]}]}`
	if diff := cmp.Diff(want, s.bodies[0]); diff != "" {
		t.Errorf("the body differs (-want +got):\n%s", diff)
	}
	if got := s.headers[0].Get("Authorization"); got != "Bearer key-of-a-test" {
		t.Errorf("the key sent is %q", got)
	}
}

func TestEffortIsAskedOnlyOfModelsThatThink(t *testing.T) {
	for _, c := range []struct{ model, effort, want string }{
		{"gpt-6-sol", "", `"max_output_tokens":1000,"include":["reasoning.encrypted_content"],"instructions"`},
		{"gpt-6-sol", "low", `"reasoning":{"effort":"low","summary":"auto"}`},
		{"gpt-4.1", "low", `"max_output_tokens":1000,"instructions"`},
		{"openai/gpt-4.1", "", `{"model":"gpt-4.1",`},
	} {
		s := serve(t, hello())
		r := request(c.model)
		r.Thinking = c.effort
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
	m := s.open(t, func(o *openai.Options) {
		o.TTL, o.Name = "12h", "house"
		o.Headers = http.Header{"X-Team": {"loom"}}
	})
	if _, _, err := ask(t.Context(), m, request("house/gpt-6-sol")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`{"model":"gpt-6-sol",`, `"prompt_cache_options":{"ttl":"12h"}`} {
		if !strings.Contains(s.bodies[0], want) {
			t.Errorf("%s does not hold %s", s.bodies[0], want)
		}
	}
	if got := s.headers[0].Get("X-Team"); got != "loom" {
		t.Errorf("X-Team is %q", got)
	}
}

func TestWrongOptionsAreRefused(t *testing.T) {
	for _, o := range []openai.Options{{}, {Key: "k", TTL: "2h"}} {
		if _, err := openai.New(o); thread.CodeOf(err) != thread.Configuration {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestNothingIsTakenFromTheEnvironment(t *testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"} {
		t.Setenv(name, "of-the-environment")
	}
	s := serve(t, hello())
	if _, _, err := ask(t.Context(), s.open(t), request("gpt-6-sol")); err != nil {
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
	strange := request("gpt-6-sol", model.Message{Role: thread.User, Parts: []thread.Part{{Type: thread.RawPart}}})
	for _, c := range []struct {
		code thread.Code
		r    *model.Request
	}{{thread.NotFound, lost}, {thread.Configuration, blind}, {thread.Configuration, strange}, {thread.Configuration, request("claudine")}} {
		if _, _, err := ask(t.Context(), s.open(t), c.r); thread.CodeOf(err) != c.code {
			t.Errorf("the error is %v, want code %s", err, c.code)
		}
	}
}
