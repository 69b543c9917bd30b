package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

type addition struct {
	A int `json:"a" jsonschema:"the first number"`
	B int `json:"b,omitempty"`
}

func tools(t *testing.T) []tool.Tool {
	t.Helper()
	add, err := tool.Make(tool.Tool{Name: "add", ReadOnly: true}, func(_ context.Context, in addition) (string, error) {
		switch in.A {
		case 12:
			panic("no twelve")
		case 13:
			return "", errors.New("not thirteen")
		case 14:
			return strings.Repeat("é", tool.MaxResult+50), nil
		case 15:
			return "", nil
		}
		return strings.Repeat("I", in.A+in.B), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return []tool.Tool{add}
}

func TestAnswer(t *testing.T) {
	cases := []struct {
		about, name, input, want string
		isError                  bool
	}{
		{"runs", "add", `{"a":1,"b":2}`, "III", false},
		{"a failing tool is an error result", "add", `{"a":13}`, "not thirteen", true},
		{"a tool that panics is an error result", "add", `{"a":12}`, "failed badly: no twelve", true},
		{"an unknown tool", "sub", `{}`, `no tool named "sub"`, true},
		{"an input that is not JSON", "add", `{"a":`, "not JSON", true},
		{"a missing field", "add", `{"b":1}`, "does not fit its schema", true},
		{"a wrong type", "add", `{"a":"1"}`, "does not fit its schema", true},
		{"an unknown field", "add", `{"a":1,"c":1}`, "does not fit its schema", true},
		{"no output is said", "add", `{"a":15}`, "(no output)", false},
	}
	for _, c := range cases {
		got, err := tool.Answer(context.Background(), tools(t), thread.Call("x", c.name, json.RawMessage(c.input)))
		if err != nil {
			t.Fatalf("%s: %v", c.about, err)
		}
		if r := got.Result; !strings.Contains(r.Parts[0].Text, c.want) || r.IsError != c.isError || r.Call != "x" {
			t.Errorf("%s: %+v, want %q", c.about, got, c.want)
		}
	}
}

func TestALongResultKeepsHeadAndTail(t *testing.T) {
	got, err := tool.Answer(context.Background(), tools(t), thread.Call("x", "add", json.RawMessage(`{"a":14}`)))
	if err != nil {
		t.Fatal(err)
	}
	text := got.Result.Parts[0].Text
	if n := utf8.RuneCountInString(text); n > tool.MaxResult || !utf8.ValidString(text) {
		t.Fatalf("%d characters", n)
	}
	if !strings.HasPrefix(text, "éé") || !strings.HasSuffix(text, "éé") || !strings.Contains(text, "114 characters left out") {
		t.Fatalf("head, mark or tail is missing: %.20q … %.60q", text, text[len(text)/2-20:])
	}
}

func TestOnlyTheContextsEndIsAnError(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := tool.Answer(ctx, tools(t), thread.Call("x", "add", json.RawMessage(`{"a":1}`))); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
}

func TestToolsThatCannotBeUsedAreRefused(t *testing.T) {
	add := tools(t)[0]
	bad := add
	bad.Name = "two words"
	hollow := tool.Tool{Name: "hollow"}
	for about, set := range map[string][]tool.Tool{"the same name twice": {add, add}, "a name with a space": {bad}, "no function": {hollow}} {
		if err := tool.Check(set); thread.CodeOf(err) != thread.Configuration {
			t.Errorf("%s: %v", about, err)
		}
	}
	if err := tool.Check([]tool.Tool{add}); err != nil {
		t.Error(err)
	}
	if _, err := tool.Make(tool.Tool{Name: "number"}, func(context.Context, int) (string, error) { return "", nil }); thread.CodeOf(err) != thread.Configuration {
		t.Errorf("an input that is no struct: %v", err)
	}
}

func TestAToolThatIgnoresItsContextIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deaf := tool.Tool{Name: "deaf", Schema: json.RawMessage(`{}`), Run: func(context.Context, json.RawMessage) (tool.Output, error) {
			time.Sleep(time.Hour)
			return tool.Output{Text: "at last"}, nil
		}}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := tool.Answer(ctx, []tool.Tool{deaf}, thread.Call("x", "deaf", nil))
		if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took != time.Second+tool.Grace {
			t.Errorf("after %v: %v", took, err)
		}
		time.Sleep(time.Hour) // it ends by itself
	})
}
