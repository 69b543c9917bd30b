package line_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/skeinhq/skein/internal/line"
	"github.com/skeinhq/skein/thread"
)

// sample reads the messages of a real session of another program, as far as the
// writers need them.
func sample(tb testing.TB) []*thread.Message {
	tb.Helper()
	shared := os.Getenv("SKEIN_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
	}
	data, err := os.ReadFile(filepath.Join(shared, "samples", "pi", "session-v1.jsonl"))
	if err != nil {
		if os.Getenv("SKEIN_REQUIRE") == "all" {
			tb.Fatalf("the samples are required: %v", err)
		}
		tb.Skipf("the samples are not here (SKEIN_SHARED): %v", err)
	}
	type part struct {
		Type, Text, Name, ID string
		Arguments            json.RawMessage
	}
	var out []*thread.Message
	for l := range bytes.Lines(data) {
		var e struct {
			Type    string
			Message struct {
				Role, ToolName, ToolCallID string
				IsError                    bool
				Content                    []part
			}
		}
		if json.Unmarshal(l, &e) != nil || e.Type != "message" {
			continue
		}
		m := &thread.Message{Author: "dev", To: []string{"pi"}, Role: thread.User}
		switch e.Message.Role {
		case "assistant":
			m = &thread.Message{Author: "pi", To: []string{"dev"}, Role: thread.Assistant}
		case "toolResult":
			m = &thread.Message{Author: e.Message.ToolName, To: []string{"pi"}, Role: thread.Tool, Meta: json.RawMessage(`{"import":{}}`)}
		}
		var parts []thread.Part
		for _, p := range e.Message.Content {
			switch p.Type {
			case "text":
				parts = append(parts, thread.Text(p.Text))
			case "toolCall":
				parts = append(parts, thread.Call(p.ID, p.Name, p.Arguments))
			}
		}
		if m.Role == thread.Tool {
			parts = []thread.Part{{Type: thread.ResultPart, Call: e.Message.ToolCallID, Name: m.Author, Parts: parts, IsError: e.Message.IsError}}
		}
		m.Parts = parts
		out = append(out, m)
	}
	if len(out) < 500 {
		tb.Fatalf("the sample has %d messages", len(out))
	}
	return out
}

// TestSampleLines builds every line of a real session by rule. Each must fit,
// make nothing up and keep the head of its message. With SKEIN_SHOW a file of
// all lines is written there, to be read.
func TestSampleLines(t *testing.T) {
	messages := sample(t)
	var show strings.Builder
	var lines []string
	for i, m := range messages {
		got := line.Extract(m)
		check(t, got, line.Leaf(m))
		lines = append(lines, got)
		if _, ok := line.Verbatim(m); !ok {
			fmt.Fprintf(&show, "%d+1|%s\n", i, thread.OneLine(got))
		}
	}
	for n := 2; len(lines) > 1; n *= 2 {
		var up []string
		for i := 0; i+1 < len(lines); i += 2 {
			got := line.Merge(lines[i], lines[i+1])
			check(t, got, lines[i], lines[i+1])
			up = append(up, got)
			fmt.Fprintf(&show, "%d+%d|%s\n", i/2*n, n, got)
		}
		lines = up
	}
	if file := os.Getenv("SKEIN_SHOW"); file != "" {
		if err := os.WriteFile(file, []byte(show.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// check fails where a line breaks what the writers promise.
func check(t interface {
	Helper()
	Errorf(string, ...any)
}, got string, sources ...string) {
	t.Helper()
	switch {
	case got == "":
		t.Errorf("the line is empty; sources %.200q", sources)
	case len(got) > thread.LineBytes:
		t.Errorf("the line has %d bytes: %q", len(got), got)
	case !utf8.ValidString(got):
		t.Errorf("the line is not UTF-8: %q", got)
	}
	if bad := line.Unsupported(got, sources...); len(bad) > 0 {
		t.Errorf("the line %q\nmakes up %q\nsources %.600q", got, bad, sources)
	}
}
