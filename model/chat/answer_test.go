package chat_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/modeltest"
	"github.com/skeinhq/skein/thread"
)

// thought is thinking of the model that the tests ask.
func thought(text, signature string) thread.Part {
	return thread.Part{Type: thread.ThinkingPart, Text: text, Signature: signature, Provider: "house", Model: "house/m"}
}

// Each server has its way to send the same.
func TestAnswersOfManyServers(t *testing.T) {
	call := thread.Call("a", "zoom", []byte(`{"id": 8}`))
	for name, c := range map[string]struct {
		events   []string
		streamed string
		parts    []thread.Part
		stop     thread.Stop
	}{
		"text": {
			[]string{piece(`{"role":"assistant","content":"Wait: "}`), piece(`{"content":"ж"}`), closed("stop")},
			"text(Wait: )text(ж)", []thread.Part{thread.Text("Wait: ж")}, thread.StopEnd,
		},
		"a call in pieces": {
			[]string{piece(`{"content":null,"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"zoom","arguments":""}}]}`), piece(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"id\":"}}]}`), piece(`{"tool_calls":[{"index":0,"function":{"arguments":" 8}"}}]}`), closed("tool_calls")},
			"", []thread.Part{call}, thread.StopCalls,
		},
		"two calls in turns": {
			[]string{piece(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"zoom","arguments":"{\"id\":"}},{"index":1,"id":"b","function":{"name":"now","arguments":""}}]}`), piece(`{"tool_calls":[{"index":0,"function":{"arguments":" 8}"}}]}`), closed("tool_calls")},
			"", []thread.Part{call, thread.Call("b", "now", nil)}, thread.StopCalls,
		},
		"whole calls that all have the index 0 (Ollama)": {
			[]string{piece(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"zoom","arguments":"{\"id\": 8}"}}]}`), piece(`{"tool_calls":[{"index":0,"id":"b","function":{"name":"now","arguments":"{}"}}]}`), closed("stop")},
			"", []thread.Part{call, thread.Call("b", "now", nil)}, thread.StopCalls,
		},
		"calls without index and id": {
			[]string{piece(`{"tool_calls":[{"function":{"name":"zoom","arguments":"{\"id\": 8}"}}]}`), piece(`{"tool_calls":[{"function":{"name":"now","arguments":"{}"}}]}`), closed("stop")},
			"", []thread.Part{thread.Call("call-1-1", "zoom", []byte(`{"id": 8}`)), thread.Call("call-1-2", "now", nil)}, thread.StopCalls,
		},
		"reasoning_content (DeepSeek)": {
			[]string{piece(`{"role":"assistant","content":null,"reasoning_content":"I "}`), piece(`{"reasoning_content":"look"}`), piece(`{"content":"So."}`), closed("stop")},
			"thinking(I )thinking(look)text(So.)", []thread.Part{thought("I look", "reasoning_content"), thread.Text("So.")}, thread.StopEnd,
		},
		"reasoning (vLLM)": {
			[]string{piece(`{"reasoning":"I look"}`), piece(`{"content":"So."}`), closed("stop")},
			"thinking(I look)text(So.)", []thread.Part{thought("I look", "reasoning"), thread.Text("So.")}, thread.StopEnd,
		},
		"reasoning_details (OpenRouter)": {
			[]string{
				piece(`{"reasoning":"I ","reasoning_details":[{"type":"reasoning.text","text":"I ","format":"f","index":0}]}`),
				piece(`{"reasoning":"look","reasoning_details":[{"type":"reasoning.text","text":"look","format":"f","index":0}]}`),
				piece(`{"reasoning_details":[{"type":"reasoning.text","signature":"Eq/+<==","format":"f","index":0}]}`),
				piece(`{"reasoning_details":[{"type":"reasoning.encrypted","data":"gA","id":"rs_1","format":"f","index":1}]}`),
				piece(`{"content":"So."}`), closed("stop"),
			},
			"thinking(I )thinking(look)text(So.)",
			[]thread.Part{thought("I look", `[{"type":"reasoning.text","text":"I look","signature":"Eq/+<==","format":"f","index":0},{"type":"reasoning.encrypted","data":"gA","id":"rs_1","format":"f","index":1}]`), thread.Text("So.")}, thread.StopEnd,
		},
		"a list of pieces (Mistral)": {
			[]string{piece(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"I look"}]},{"type":"text","text":"So."}]}`), closed("stop")},
			"thinking(I look)text(So.)", []thread.Part{thought("I look", ""), thread.Text("So.")}, thread.StopEnd,
		},
		"a refusal": {
			[]string{piece(`{"refusal":"I cannot."}`), closed("stop")},
			"text(I cannot.)", []thread.Part{thread.Text("I cannot.")}, thread.StopRefusal,
		},
		"a filter": {
			[]string{piece(`{"content":""}`), closed("content_filter")},
			"", []thread.Part{thread.Text("(the model refused to answer)")}, thread.StopRefusal,
		},
		"cut off in a call": {
			[]string{piece(`{"content":"So."}`), piece(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"zoom","arguments":"{\"id\":"}}]}`), closed("length")},
			"text(So.)", []thread.Part{thread.Text("So.")}, thread.StopLength,
		},
		"another choice": {
			[]string{`{"choices":[{"index":1,"delta":{"content":"other"}},{"index":0,"delta":{"content":"So."}}]}`, closed("stop")},
			"text(So.)", []thread.Part{thread.Text("So.")}, thread.StopEnd,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, events(append(c.events, counted)...))
			streamed, done, err := modeltest.Ask(t.Context(), s.open(t), modeltest.Request("house/m"))
			if err != nil {
				t.Fatal(err)
			}
			if streamed != c.streamed {
				t.Errorf("streamed %s, want %s", streamed, c.streamed)
			}
			want := model.Event{Type: model.Done, Stop: c.stop, Parts: c.parts, Usage: thread.Usage{Input: 12, CacheRead: 700, CacheWrite: 30, Output: 44, Reasoning: 21, Cost: 0.25}}
			if diff := cmp.Diff(want, done); diff != "" {
				t.Errorf("the answer differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheEndMayLackItsMark(t *testing.T) {
	whole := hello().Body
	for _, body := range []string{
		whole[:len(whole)-len("data: [DONE]\n\n")],
		whole[:len(whole)-len("\n\ndata: [DONE]\n\n")],
		"data: " + piece(`{"content":"hello"}`) + "\n\ndata: [DONE]\n\n",
	} {
		s := serve(t, modeltest.Raw{Body: body})
		_, done, err := modeltest.Ask(t.Context(), s.open(t), modeltest.Request("house/m"))
		if err != nil || len(done.Parts) != 1 || done.Parts[0].Text != "hello" {
			t.Errorf("%q: %+v, %v", body, done, err)
		}
	}
}

func TestDeepSeeksCacheIsCounted(t *testing.T) {
	s := serve(t, events(piece(`{"content":"hi"}`), closed("stop"), `{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":2,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36}}`))
	_, done, err := modeltest.Ask(t.Context(), s.open(t), modeltest.Request("house/m"))
	if want := (thread.Usage{Input: 36, CacheRead: 64, Output: 2}); err != nil || done.Usage != want {
		t.Errorf("%+v, want %+v: %v", done.Usage, want, err)
	}
}

func TestACallThatCannotBeReadIsAResponseError(t *testing.T) {
	s := serve(t, events(piece(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"zoom","arguments":"{"}}]}`), closed("tool_calls")))
	if _, _, err := modeltest.Ask(t.Context(), s.open(t), modeltest.Request("house/m")); thread.CodeOf(err) != thread.Response {
		t.Errorf("got %v", err)
	}
}
