package scripted_test

import (
	"context"
	"strings"
	"testing"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/scripted"
	"github.com/skeinhq/skein/thread"
)

func play(t *testing.T, script string, number int64) (streamed string, done model.Event, err error) {
	t.Helper()
	m, err := scripted.Read(strings.NewReader(script))
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range m.Stream(context.Background(), &model.Request{Number: number, Model: "scripted"}) {
		if err != nil {
			return streamed, done, err
		}
		if e.Type == model.Done {
			done = e
			continue
		}
		streamed += e.Text
	}
	return streamed, done, nil
}

const script = `
# a comment
Hello there.
{"thinking": "hm", "text": "I look.", "calls": [{"name": "zoom", "input": {"id": 0, "n": 1}}, {"id": "x", "name": "read"}]}
{"text": "half", "error": {"code": "provider", "message": "gone"}}
`

func TestTheRequestsNumberChoosesTheReply(t *testing.T) {
	text, done, err := play(t, script, 1)
	if err != nil || text != "Hello there." || done.Stop != thread.StopEnd {
		t.Fatalf("reply 1: %q, %+v, %v", text, done, err)
	}
	text, done, err = play(t, script, 2)
	if err != nil || text != "hmI look." || done.Stop != thread.StopCalls || len(done.Parts) != 4 {
		t.Fatalf("reply 2: %q, %+v, %v", text, done, err)
	}
	if c := done.Parts[2]; c.ID != "call-2-1" || string(c.Input) != `{"id": 0, "n": 1}` {
		t.Fatalf("first call: %+v", c)
	}
	if c := done.Parts[3]; c.ID != "x" || string(c.Input) != `{}` {
		t.Fatalf("second call: %+v", c)
	}
}

func TestAReplyMayFailInTheMiddle(t *testing.T) {
	text, _, err := play(t, script, 3)
	if text != "half" || thread.CodeOf(err) != thread.Provider {
		t.Fatalf("got %q, %v", text, err)
	}
}

func TestAScriptThatEndsSaysSo(t *testing.T) {
	_, _, err := play(t, script, 4)
	if thread.CodeOf(err) != thread.Response || !strings.Contains(err.Error(), "no reply number 4") {
		t.Fatalf("got %v", err)
	}
}

func TestABadLineIsNamed(t *testing.T) {
	_, err := scripted.Read(strings.NewReader("fine\n{\"txt\": 1}\n"))
	if thread.CodeOf(err) != thread.Configuration || !strings.Contains(err.Error(), "line 2") {
		t.Fatalf("got %v", err)
	}
}

func TestARequestBesideTheTalkGetsTheSummary(t *testing.T) {
	text, done, err := play(t, "one\n{\"summary\": \"Old.\"}\n{\"summary\": \"They planned it.\"}\ntwo\n", 0)
	if err != nil || text != "They planned it." || done.Stop != thread.StopEnd || len(done.Parts) != 1 {
		t.Fatalf("got %q, %+v, %v", text, done, err)
	}
	if text, _, err := play(t, "one\n{\"summary\": \"They planned it.\"}\ntwo\n", 2); err != nil || text != "two" {
		t.Fatalf("a summary took a reply's place: %q, %v", text, err)
	}
}

func TestAScriptWithoutASummarySaysHowToAddOne(t *testing.T) {
	_, _, err := play(t, script, 0)
	if thread.CodeOf(err) != thread.Response || !strings.Contains(err.Error(), `add a line {"summary": "text"}`) {
		t.Fatalf("got %v", err)
	}
}

func TestASummaryStandsAlone(t *testing.T) {
	for _, line := range []string{`{"summary": "a", "text": "b"}`, `{"summary": " "}`, `{"summary": "a", "calls": [{"name": "zoom"}]}`} {
		_, err := scripted.Read(strings.NewReader("fine\n" + line))
		if thread.CodeOf(err) != thread.Configuration || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%s: %v", line, err)
		}
	}
}
