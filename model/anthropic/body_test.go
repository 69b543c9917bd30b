package anthropic_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/anthropic"
	"github.com/skeinhq/skein/model/modeltest"
	"github.com/skeinhq/skein/thread"
)

// whole is a request with one of everything.
func whole() *model.Request {
	thought := thread.Part{Type: thread.ThinkingPart, Text: "a < b & c", Signature: "Eq/+==", Provider: "anthropic", Model: "claude-opus-5-5"}
	hidden := thread.Part{Type: thread.ThinkingPart, Redacted: true, Signature: "c2VjcmV0", Provider: "anthropic", Model: "claude-opus-5-5"}
	r := modeltest.WholeRequest("claude-opus-5-5", thought, hidden)
	r.Messages[0].Parts[2].Name = "lease.pdf"
	r.Marks = []model.Mark{{Name: "instructions", Message: -1}, {Name: "previous", Message: 1}, {Name: "end", Message: 3, Part: 1}}
	return r
}

func TestTheBodyHoldsEverythingInItsOrder(t *testing.T) {
	s := serve(t, hello())
	if _, _, err := modeltest.Ask(t.Context(), s.open(t), whole()); err != nil {
		t.Fatal(err)
	}
	want := `{"model":"claude-opus-5-5","max_tokens":5000,"stream":true,` +
		`"thinking":{"type":"adaptive","display":"summarized","block_binding":{"prefix_mismatch_behavior":"drop_block"}},"output_config":{"effort":"high"},` +
		`"tools":[{"name":"zoom","description":"Opens a line.","input_schema":` + modeltest.WholeSchema + `}],` +
		`"system":[{"type":"text","text":"You are north.","cache_control":{"type":"ephemeral"}}],"messages":[` +
		`{"role":"user","content":[{"type":"text","text":"ana: look"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AQID"}},` +
		`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBE"},"title":"lease.pdf"},{"type":"text","text":"ben: yes, look","cache_control":{"type":"ephemeral"}}]},` +
		`{"role":"assistant","content":[{"type":"thinking","thinking":"a < b & c","signature":"Eq/+=="},{"type":"redacted_thinking","data":"c2VjcmV0"},{"type":"text","text":"I look."},` +
		`{"type":"tool_use","id":"call_1","name":"zoom","input":{"z":1,"a":2}},{"type":"tool_use","id":"call_2","name":"zoom","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":[{"type":"text","text":"ana: <hello>"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AQID"}}]},` +
		`{"type":"tool_result","tool_use_id":"call_2","is_error":true,"content":[{"type":"text","text":"no such line"}],"cache_control":{"type":"ephemeral"}},{"type":"text","text":"ana: and?"}]}]}`
	if diff := cmp.Diff(want, s.Body(0)); diff != "" {
		t.Errorf("the body differs (-want +got):\n%s", diff)
	}
	if got := s.Header(0).Get("anthropic-beta"); got != "thinking-binding-controls-2026-08-01" {
		t.Errorf("the beta header is %q", got)
	}
	if got := s.Header(0).Get("Authorization"); got != "Bearer "+modeltest.RawKey {
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
		r := modeltest.Request(c.model)
		r.Thinking, r.MaxOutput = c.effort, 10_000
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
	m := s.open(t, func(o *anthropic.Options) {
		o.TTL, o.Name = "1h", "house"
		o.Headers = http.Header{"X-Team": {"loom"}, "anthropic-beta": {"other-beta"}}
	})
	r := whole()
	r.Model, r.Messages, r.Marks, r.MaxOutput = "house/claude-opus-5-5", []model.Message{modeltest.User("ana: hello")}, r.Marks[:1], 0
	if _, _, err := modeltest.Ask(t.Context(), m, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`{"model":"claude-opus-5-5","max_tokens":128000,`, `"cache_control":{"type":"ephemeral","ttl":"1h"}`} {
		if !strings.Contains(s.Body(0), want) {
			t.Errorf("%s does not hold %s", s.Body(0), want)
		}
	}
	if got := s.Header(0).Get("X-Team"); got != "loom" {
		t.Errorf("X-Team is %q", got)
	}
	if got := s.Header(0).Get("anthropic-beta"); got != "thinking-binding-controls-2026-08-01,other-beta" {
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

var marksOnTheWire = regexp.MustCompile(`,"cache_control":\{[^}]*\}`)
