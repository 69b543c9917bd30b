package openai_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/modeltest"
	"github.com/skeinhq/skein/thread"
)

// reasoned is a reasoning item as the API tells of it when it is whole.
const reasoned = `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"I look it up <now>"},{"type":"summary_text","text":"and then"}],"encrypted_content":"gAAA+/=="}`

// thought is the part that it becomes.
var thought = thread.Part{
	Type: thread.ThinkingPart, Text: "I look it up <now>\n\nand then", Signature: "gAAA+/==", Provider: "openai", Model: "gpt-6-sol",
	Raw: []byte(`{"id":"rs_1","summary":[{"type":"summary_text","text":"I look it up <now>"},{"type":"summary_text","text":"and then"}]}`),
}

func TestReasoningTextAndCallsComeAsParts(t *testing.T) {
	all := []string{started,
		`{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gA"}}`,
		`{"type":"response.reasoning_summary_part.added","item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}}`,
		`{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"I look it up <now>"}`,
		`{"type":"response.reasoning_summary_part.added","item_id":"rs_1","output_index":0,"summary_index":1,"part":{"type":"summary_text","text":""}}`,
		`{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":1,"delta":"and then"}`,
		`{"type":"response.output_item.done","output_index":0,"item":` + reasoned + `}`,
		`{"type":"response.output_item.done","output_index":2,"item":{"id":"fc_1","type":"function_call","status":"completed","call_id":"call_1","name":"zoom","arguments":"{\"id\": 8}"}}`,
		`{"type":"response.output_item.done","output_index":3,"item":{"id":"fc_2","type":"function_call","status":"completed","call_id":"call_2","name":"now","arguments":""}}`,
	}
	all = append(all, said(1, "Wait: ж")...)
	s := serve(t, modeltest.TypedEvents(append(all, closed("completed", ""))...))
	streamed, done, err := modeltest.Ask(t.Context(), s.open(t), modeltest.Request("gpt-6-sol"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "thinking(I look it up <now>)thinking(\n\n)thinking(and then)text(Wait: ж)"; streamed != want {
		t.Errorf("streamed %q, want %q", streamed, want)
	}
	want := model.Event{
		Type: model.Done, Stop: thread.StopCalls,
		Parts: []thread.Part{
			thought,
			thread.Text("Wait: ж"),
			thread.Call("call_1", "zoom", []byte(`{"id": 8}`)),
			thread.Call("call_2", "now", nil),
		},
		Usage: thread.Usage{Input: 12, CacheRead: 700, CacheWrite: 30, Output: 44, Reasoning: 21},
	}
	if diff := cmp.Diff(want, done); diff != "" {
		t.Errorf("the answer differs (-want +got):\n%s", diff)
	}
}

func TestReasoningThatCannotBeReadAgainIsNotForSending(t *testing.T) {
	all := append([]string{started, `{"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]}}`}, said(1, "hello")...)
	s := serve(t, modeltest.TypedEvents(append(all, closed("completed", ""))...))
	_, done, err := modeltest.Ask(t.Context(), s.open(t), modeltest.Request("gpt-6-sol"))
	if err != nil || done.Parts[0].Text != "hm" || done.Parts[0].Signature != "" {
		t.Errorf("%+v: %v", done.Parts, err)
	}
}

func TestStopReasons(t *testing.T) {
	for _, c := range []struct {
		status, reason string
		want           thread.Stop
	}{
		{"completed", "", thread.StopEnd},
		{"incomplete", "max_output_tokens", thread.StopLength},
		{"incomplete", "content_filter", thread.StopRefusal},
	} {
		all := append([]string{started}, said(0, "hello")...)
		s := serve(t, modeltest.TypedEvents(append(all, closed(c.status, c.reason))...))
		_, done, err := modeltest.Ask(t.Context(), s.open(t), modeltest.Request("gpt-6-sol"))
		if err != nil || done.Stop != c.want || len(done.Parts) != 1 {
			t.Errorf("%s %s: stop %q, want %q; parts %v; %v", c.status, c.reason, done.Stop, c.want, done.Parts, err)
		}
	}
}

func TestARefusalIsMarked(t *testing.T) {
	s := serve(t, modeltest.TypedEvents(started,
		`{"type":"response.refusal.delta","item_id":"msg_0","output_index":0,"content_index":0,"delta":"I cannot."}`,
		`{"type":"response.output_item.done","output_index":0,"item":{"id":"msg_0","type":"message","status":"completed","role":"assistant","content":[{"type":"refusal","refusal":"I cannot."}]}}`,
		closed("completed", "")))
	streamed, done, err := modeltest.Ask(t.Context(), s.open(t), modeltest.Request("gpt-6-sol"))
	if err != nil || streamed != "text(I cannot.)" || done.Stop != thread.StopRefusal || done.Parts[0].Text != "I cannot." {
		t.Errorf("%s %+v: %v", streamed, done, err)
	}
	s = serve(t, modeltest.TypedEvents(started, closed("incomplete", "content_filter")))
	_, done, err = modeltest.Ask(t.Context(), s.open(t), modeltest.Request("gpt-6-sol"))
	if err != nil || done.Stop != thread.StopRefusal || done.Parts[0].Text != "(the model refused to answer)" {
		t.Errorf("%+v: %v", done, err)
	}
}

func TestACallCutOffByTheLengthIsLeftOut(t *testing.T) {
	for status, code := range map[string]thread.Code{"incomplete": "", "completed": thread.Response} {
		all := append([]string{started}, said(0, "hello")...)
		all = append(all, `{"type":"response.output_item.done","output_index":1,"item":{"id":"fc_1","type":"function_call","status":"`+status+`","call_id":"call_1","name":"zoom","arguments":"{\"id\":"}}`)
		s := serve(t, modeltest.TypedEvents(append(all, closed(status, "max_output_tokens"))...))
		_, done, err := modeltest.Ask(t.Context(), s.open(t), modeltest.Request("gpt-6-sol"))
		if thread.CodeOf(err) != code {
			t.Errorf("%s: the error is %v, want code %q", status, err, code)
		}
		if code == "" && (len(done.Parts) != 1 || done.Stop != thread.StopLength) {
			t.Errorf("%s: %+v", status, done)
		}
	}
}
