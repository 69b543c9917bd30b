package openai_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/modeltest"
	"github.com/skeinhq/skein/model/openai"
	"github.com/skeinhq/skein/thread"
)

// whole is a request with one of everything.
func whole() *model.Request {
	r := modeltest.WholeRequest("gpt-6-sol", thought)
	r.Marks = []model.Mark{{Name: "end", Message: 4}}
	return r
}

func TestTheBodyHoldsEverythingInItsOrder(t *testing.T) {
	s := serve(t, hello())
	if _, _, err := modeltest.Ask(t.Context(), s.open(t), whole()); err != nil {
		t.Fatal(err)
	}
	want := `{"model":"gpt-6-sol","stream":true,"store":false,"max_output_tokens":5000,"include":["reasoning.encrypted_content"],` +
		`"reasoning":{"effort":"high","summary":"auto"},"prompt_cache_key":"skein-1",` +
		`"tools":[{"type":"function","name":"zoom","description":"Opens a line.","parameters":` + modeltest.WholeSchema + `,"strict":false}],` +
		`"instructions":"You are north.","input":[` +
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"ana: look"},{"type":"input_image","image_url":"data:image/png;base64,AQID","detail":"auto"},` +
		`{"type":"input_file","filename":"file","file_data":"data:application/pdf;base64,JVBE"},{"type":"input_text","text":"ben: yes, look"}]},` +
		reasoned + `,{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]},` +
		`{"type":"function_call","call_id":"call_1","name":"zoom","arguments":"{\"z\":1,\"a\":2}"},{"type":"function_call","call_id":"call_2","name":"zoom","arguments":"{}"},` +
		`{"type":"function_call_output","call_id":"call_1","output":[{"type":"input_text","text":"ana: <hello>"},{"type":"input_image","image_url":"data:image/png;base64,AQID","detail":"auto"}]},` +
		`{"type":"function_call_output","call_id":"call_2","output":[{"type":"input_text","text":"The call failed:"},{"type":"input_text","text":"no such line"}]},` +
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"ana: and?"}]}]}`
	if diff := cmp.Diff(want, s.Body(0)); diff != "" {
		t.Errorf("the body differs (-want +got):\n%s", diff)
	}
	if got := s.Header(0).Get("Authorization"); got != "Bearer "+modeltest.RawKey {
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
		r := modeltest.Request(c.model)
		r.Thinking = c.effort
		if _, _, err := modeltest.Ask(t.Context(), s.open(t), r); err != nil {
			t.Fatalf("%s: %v", c.model, err)
		}
		if !strings.Contains(s.Body(0), c.want) {
			t.Errorf("%s with the effort %q sends %s, want it to hold %s", c.model, c.effort, s.Body(0), c.want)
		}
	}
}

func TestOptionsReachTheWire(t *testing.T) {
	s := serve(t, hello())
	m := s.open(t, func(o *openai.Options) {
		o.TTL, o.Name = "12h", "house"
		o.Headers = http.Header{"X-Team": {"loom"}}
	})
	if _, _, err := modeltest.Ask(t.Context(), m, modeltest.Request("house/gpt-6-sol")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`{"model":"gpt-6-sol",`, `"prompt_cache_options":{"ttl":"12h"}`} {
		if !strings.Contains(s.Body(0), want) {
			t.Errorf("%s does not hold %s", s.Body(0), want)
		}
	}
	if got := s.Header(0).Get("X-Team"); got != "loom" {
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
