package anthropic_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/modeltest"
	"github.com/skeinhq/skein/thread"
)

func TestThinkingTextAndCallsComeAsParts(t *testing.T) {
	s := serve(t, modeltest.TypedEvents(started,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"I look "}}`,
		`{"type":"ping"}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"it up"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"Eq/+=="}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"c2VjcmV0"}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Wait: "}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"ж"}}`,
		`{"type":"content_block_stop","index":2}`,
		`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"zoom","input":{}}}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"id\":"}}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":" 8, \"n\": 4}"}}`,
		`{"type":"content_block_stop","index":3}`,
		`{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"toolu_2","name":"now","input":{}}}`,
		`{"type":"content_block_stop","index":4}`,
		ended("tool_use"), stopped))
	streamed, done, err := modeltest.Ask(t.Context(), s.open(t), modeltest.Request("claude-opus-5-5"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "thinking(I look )thinking(it up)text(Wait: )text(ж)"; streamed != want {
		t.Errorf("streamed %s, want %s", streamed, want)
	}
	want := model.Event{
		Type: model.Done, Stop: thread.StopCalls,
		Parts: []thread.Part{
			{Type: thread.ThinkingPart, Text: "I look it up", Signature: "Eq/+==", Provider: "anthropic", Model: "claude-opus-5-5"},
			{Type: thread.ThinkingPart, Redacted: true, Signature: "c2VjcmV0", Provider: "anthropic", Model: "claude-opus-5-5"},
			thread.Text("Wait: ж"),
			thread.Call("toolu_1", "zoom", []byte(`{"id": 8, "n": 4}`)),
			thread.Call("toolu_2", "now", nil),
		},
		Usage: thread.Usage{Input: 12, CacheRead: 700, CacheWrite: 30, Output: 44, Reasoning: 21},
	}
	if diff := cmp.Diff(want, done); diff != "" {
		t.Errorf("the answer differs (-want +got):\n%s", diff)
	}
}

func TestStopReasons(t *testing.T) {
	for reason, want := range map[string]thread.Stop{
		"end_turn": thread.StopEnd, "stop_sequence": thread.StopEnd, "pause_turn": thread.StopEnd,
		"max_tokens": thread.StopLength, "model_context_window_exceeded": thread.StopLength,
		"refusal": thread.StopRefusal, "unheard_of": thread.StopEnd, "tool_use": thread.StopEnd, // without a call
	} {
		all := append([]string{started}, said("hello")...)
		s := serve(t, modeltest.TypedEvents(append(all, ended(reason), stopped)...))
		_, done, err := modeltest.Ask(t.Context(), s.open(t), modeltest.Request("claude-opus-5-5"))
		if err != nil || done.Stop != want || len(done.Parts) != 1 {
			t.Errorf("%s: stop %q, want %q; parts %v; %v", reason, done.Stop, want, done.Parts, err)
		}
	}
}

func TestARefusalBeforeAnyWordSaysWhy(t *testing.T) {
	s := serve(t, modeltest.TypedEvents(started, `{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","category":"cyber","explanation":"not\nthis"}},"usage":{"output_tokens":0}}`, stopped))
	_, done, err := modeltest.Ask(t.Context(), s.open(t), modeltest.Request("claude-opus-5-5"))
	if err != nil {
		t.Fatal(err)
	}
	if done.Stop != thread.StopRefusal || len(done.Parts) != 1 || done.Parts[0].Text != "(the model refused to answer: not this)" {
		t.Errorf("stop %q, parts %+v", done.Stop, done.Parts)
	}
}

func TestACallCutOffByTheLengthIsLeftOut(t *testing.T) {
	cut := []string{
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"zoom","input":{}}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"id\":"}}`,
		`{"type":"content_block_stop","index":1}`,
	}
	for reason, code := range map[string]thread.Code{"max_tokens": "", "tool_use": thread.Response} {
		all := append([]string{started}, said("hello")...)
		all = append(all, cut...)
		s := serve(t, modeltest.TypedEvents(append(all, ended(reason), stopped)...))
		_, done, err := modeltest.Ask(t.Context(), s.open(t), modeltest.Request("claude-opus-5-5"))
		if thread.CodeOf(err) != code {
			t.Errorf("%s: the error is %v, want code %q", reason, err, code)
		}
		if code == "" && (len(done.Parts) != 1 || done.Stop != thread.StopLength) {
			t.Errorf("%s: %+v", reason, done)
		}
	}
}

func TestAWriteForAnHourCostsMore(t *testing.T) {
	long := `{"type":"message_start","message":{"usage":{"input_tokens":0,"cache_creation_input_tokens":1000000,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":1000000},"output_tokens":0}}}`
	all := append([]string{long}, said("hello")...)
	s := serve(t, modeltest.TypedEvents(append(all, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":0}}`, stopped)...))
	_, done, err := modeltest.Ask(t.Context(), s.open(t), modeltest.Request("claude-opus-5-5"))
	if err != nil || done.Usage.CacheWrite != 1_000_000 || done.Usage.Cost != 8 {
		t.Errorf("usage %+v, want a cost of 8: %v", done.Usage, err)
	}
}

func TestManyPiecesAreGatheredInOnePass(t *testing.T) {
	all := []string{started, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"so: "}}`}
	for range 30_000 {
		all = append(all, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"0123456789"}}`)
	}
	s := serve(t, modeltest.TypedEvents(append(all, `{"type":"content_block_stop","index":0}`, ended("end_turn"), stopped)...))
	var before, after runtime.MemStats
	var done model.Event
	runtime.ReadMemStats(&before)
	for e, err := range s.open(t).Stream(t.Context(), modeltest.Request("claude-opus-5-5")) {
		if err != nil {
			t.Fatal(err)
		}
		done = e
	}
	runtime.ReadMemStats(&after)
	if len(done.Parts) != 1 || len(done.Parts[0].Text) != 300_004 || !strings.HasPrefix(done.Parts[0].Text, "so: 0") {
		t.Errorf("%d parts", len(done.Parts))
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 2<<30 {
		t.Errorf("%d MB were allocated for 300 KB of text", took>>20)
	}
}
