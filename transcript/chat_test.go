package transcript_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/transcript"
)

func TestChatBody(t *testing.T) {
	l, report := read(t, `{
	"temperature": 0.5,
	"messages": [
		{"role":"system","content":"be terse"},
		{"role":"user","name":"ana","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk=","detail":"high"}}]},
		{"role":"assistant","content":null,"refusal":null,"tool_calls":[
			{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"path\": \".\"}"}},
			{"id":"c2","type":"function","index":1,"function":{"name":"cat","arguments":""}}]},
		{"role":"tool","tool_call_id":"c2","content":[{"type":"text","text":"meow"}]},
		{"role":"tool","tool_call_id":"c1","content":"a.go"},
		{"role":"developer","content":"now be kind"},
		{"role":"assistant","content":"ok","reasoning_content":"hm","annotations":[]},
		{"role":"assistant","content":null,"refusal":"no"}
	],
	"model": "gpt-x"}`)
	wantLog(t, l, `
user ana: see | blob image/png 6869
assistant assistant: call c1 ls {"path": "."} | call c2 cat {}
tool cat: result c2 meow
tool ls: result c1 a.go
user developer: now be kind
assistant assistant: thinks hm sig= | ok
assistant assistant: no`)
	wantNotes(t, report,
		`0: "temperature": a setting of the request, not kept`,
		"1: system message: instructions belong to the agent; the next message carries it in its meta")
	if o := origin(t, l.entries[0]); string(o.Before[0]) != `{"role":"system","content":"be terse"}` || string(o.Parts["1"]) != `{"image_url":{"detail":"high"}}` {
		t.Errorf("the first message carries %s and %s", o.Before, o.Parts)
	}
	if o := origin(t, l.entries[1]); string(o.Parts["call 1"]) != `{"index":1}` {
		t.Errorf("the calls leave %s", o.Parts)
	}
	if o := origin(t, l.entries[5]); string(o.Rest) != `{"annotations":[]}` {
		t.Errorf("the answer leaves %s", o.Rest)
	}
	if m := l.entries[1].Message; m.Model != "gpt-x" || m.Stop != thread.StopCalls {
		t.Errorf("model %q, stop %q", m.Model, m.Stop)
	}
	if m := l.entries[6].Message; m.Stop != thread.StopRefusal {
		t.Errorf("stop %q", m.Stop)
	}
}

func TestChatTraps(t *testing.T) {
	l, report := read(t, `[
		{"role":"user","content":""},
		null, 7,
		{"role":"critic","content":"meh"},
		{"role":"assistant","content":"","function_call":{"name":"old","arguments":"{\"a\":1}"}},
		{"role":"function","name":"old","content":"done"},
		{"role":"assistant","tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{broken"}},{"id":"y","type":"custom","custom":{"name":"g","input":"free text"}},{"odd":1}]},
		{"role":"tool","tool_call_id":"nobody","content":"lost"},
		{"role":"user","content":[{"type":"file","file":{"file_data":"data:text/plain;base64,aGk=","filename":"a.txt"}},{"type":"input_audio","input_audio":{"data":"aGk=","format":"wav"}},{"type":"image_url","image_url":{"url":"https://example.com/a.png"}},{"type":"smell"}]}
	]`)
	old := l.entries[1].Message.Calls()[0].ID
	wantLog(t, l, strings.ReplaceAll(`
user user:
assistant assistant: call OLD old {"a":1}
tool old: result OLD done
assistant assistant: call x f {"arguments":"{broken"} | call y g {"arguments":"free text"}
tool f [made result]: result x The transcript has no result of this call.
tool g [made result]: result y The transcript has no result of this call.
user tool [made note]: Result of a tool (its call is not in the transcript): | lost
user user: blob text/plain 6869 | blob audio/wav 6869 | raw {"type":"image_url","image_url":{"url":"https://example.com/a.png"}} | raw {"type":"smell"}`, "OLD", old))
	if report.Read != 9 || report.Kept != 6 || report.Skipped != 3 {
		t.Errorf("counts: %s", report)
	}
}

func TestChatBrokenSyntaxEndsTheReadingAndIsSaid(t *testing.T) {
	l, report := read(t, `{"messages":[{"role":"user","content":"one"},{"role":"user","content":`)
	wantLog(t, l, "user user: one")
	wantNotes(t, report, "2: the rest cannot be read: unexpected EOF")
}

func TestChatKeysDoNotDependOnIndentation(t *testing.T) {
	l, _ := read(t, `[{"role":"user","content":"one"}]`)
	_, added, err := l.load(strings.NewReader(`{"messages": [ {"role": "user", "content": "one"}, {"role":"assistant","content":"two"} ]}`), transcript.Options{})
	if err != nil || added != 1 {
		t.Errorf("the grown body adds %d entries: %v", added, err)
	}
}

func TestChatSample(t *testing.T) {
	l := &log{}
	if _, _, err := l.load(sample(t, "messages/openai-chat.json"), transcript.Options{Blob: keepBlob}); err != nil {
		t.Fatal(err)
	}
	wantLog(t, l, `
user user: What is in this? | blob image/png 89504e470d0a1a0a
assistant assistant: call call_1 ls {"path":"."}
tool ls: result call_1 a.go
b.go
assistant assistant: a.go, b.go`)
}

func TestOtherFormatsAreRefused(t *testing.T) {
	for name, source := range map[string]string{
		"empty":              "",
		"prose":              "hello, world",
		"another object":     `{"a":1}`,
		"anthropic system":   `{"system":"x","messages":[{"role":"user","content":"hi"}]}`,
		"anthropic parts":    `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}]}`,
		"gemini":             `{"sessionId":"x","messages":[{"type":"user","content":"hi"}]}`,
		"claude code":        `{"type":"user","sessionId":"x","uuid":"y","message":{"role":"user","content":"hi"}}`,
		"chatgpt":            `[{"mapping":{},"current_node":"x"}]`,
		"messages, no roles": `{"messages":[]}`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := transcript.Read(context.Background(), strings.NewReader(source), transcript.Options{})
			if thread.CodeOf(err) != thread.Invalid {
				t.Errorf("got %v, want an error of code invalid", err)
			}
		})
	}
}

func TestErrorsEndTheReading(t *testing.T) {
	source := lines(v1, flat(`{"role":"user","content":[{"type":"image","data":"aGk=","mimeType":"image/png"}]}`))
	refuse := func(string, string, []byte) (thread.Part, error) { return thread.Part{}, io.ErrShortWrite }
	if _, _, err := (&log{}).load(strings.NewReader(source), transcript.Options{Blob: refuse}); err != io.ErrShortWrite {
		t.Errorf("a blob that cannot be kept gives %v", err)
	}

	ctx, cancel := context.WithCancel(context.Background())
	r, err := transcript.Read(ctx, strings.NewReader(source), transcript.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	for _, err := range r.Items() {
		if err != context.Canceled {
			t.Errorf("after the end of its context it gives %v", err)
		}
	}

	torn := &tornSource{Reader: strings.NewReader(source), after: int64(len(source) / 2)}
	if _, _, err := (&log{}).load(torn, transcript.Options{}); thread.CodeOf(err) != thread.Storage {
		t.Errorf("a failing disk gives %v", err)
	}
	torn = &tornSource{Reader: strings.NewReader(`{"messages":[{"role":"user","content":"one"}]}`), after: 12}
	if _, _, err := (&log{}).load(torn, transcript.Options{}); thread.CodeOf(err) != thread.Storage {
		t.Errorf("a failing disk gives %v", err)
	}
}

// tornSource fails after some bytes of its second reading.
type tornSource struct {
	*strings.Reader
	seeks int
	after int64
}

func (s *tornSource) Seek(offset int64, whence int) (int64, error) {
	s.seeks++
	return s.Reader.Seek(offset, whence)
}

func (s *tornSource) Read(p []byte) (int, error) {
	at := s.Size() - int64(s.Len())
	if s.seeks < 2 {
		return s.Reader.Read(p)
	}
	if at >= s.after {
		return 0, io.ErrClosedPipe
	}
	return s.Reader.Read(p[:min(int64(len(p)), s.after-at)])
}
