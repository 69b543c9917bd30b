package line_test

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"github.com/skeinhq/skein/internal/line"
	"github.com/skeinhq/skein/thread"
	"pgregory.net/rapid"
)

// say makes what a user tells an agent.
func say(author, to, text string) *thread.Message {
	m := &thread.Message{Author: author, Role: thread.User, Parts: []thread.Part{thread.Text(text)}}
	if to != "" {
		m.To = []string{to}
	}
	return m
}

// answer makes what an agent says, with its calls.
func answer(author, to, text string, calls ...thread.Part) *thread.Message {
	m := say(author, to, text)
	m.Role = thread.Assistant
	m.Parts = append(m.Parts, calls...)
	return m
}

func call(name, input string) thread.Part {
	return thread.Call("id-"+name, name, json.RawMessage(input))
}

// result makes what a tool gives back to an agent.
func result(tool, to, text string) *thread.Message {
	return &thread.Message{Author: tool, To: []string{to}, Role: thread.Tool, Parts: []thread.Part{thread.Result("id-"+tool, tool, text, false)}}
}

func TestLeaf(t *testing.T) {
	several := say("ana", "", "for both")
	several.To = []string{"north", "south"}
	private := say("ana", "north", "the code is 1234")
	private.Audience = []string{"north"}
	attached := say("ana", "north", "look")
	attached.Parts = append(attached.Parts, thread.Part{Type: thread.BlobPart, MediaType: "image/png", Name: "plan.png", Size: 34_200})
	thought := answer("north", "ana", "Yes.")
	thought.Parts = append([]thread.Part{{Type: thread.ThinkingPart, Text: "secretly"}}, thought.Parts...)
	silent := &thread.Message{Author: "north", Role: thread.Assistant, Parts: []thread.Part{{Type: thread.ThinkingPart, Text: "secretly"}}}
	raw := say("ana", "", "see")
	raw.Parts = append(raw.Parts, thread.Part{Type: thread.RawPart, Raw: json.RawMessage(`{"type":"hologram","x":1}`)}, thread.Part{Type: thread.RawPart, Raw: json.RawMessage(`[1`)})
	told := say("ana", "", "hi")
	told.Contexts = []thread.Context{{Name: "today", Text: "It is Monday"}}
	failed := result("bash", "north", "exit code 2")
	failed.Parts[0].IsError = true
	opened := result("zoom", "north", "8+2|ana: a\n10+2|ana: b")
	opened.Meta = line.Opened(call("zoom", `{"id":8,"n":4}`))
	bare := result("zoom", "north", "8+2|ana: a\n10+2|ana: b")
	read := result("read", "north", "ana: a long story")
	read.Meta = line.Opened(call("read", `{"id":8,"count":3}`))
	searched := result("search", "north", "3+1|ana: the studio")
	searched.Meta = line.Opened(call("search", `{"query":"studio"}`))
	refused := result("zoom", "north", "No line 9+4.")
	refused.Parts[0].IsError = true
	imported := result("read", "pi", "package main")
	imported.Meta = json.RawMessage(`{"import":{"format":"pi"}}`)
	two := result("a", "north", "one")
	two.Parts = append(two.Parts, thread.Result("c2", "b", "two", false))

	cases := []struct {
		name string
		m    *thread.Message
		want string
	}{
		{"nobody in particular", say("ana", "", "Ship on the 12th"), "ana: Ship on the 12th"},
		{"an addressee", say("ana", "north", "Ship on the 12th"), "ana → north: Ship on the 12th"},
		{"several addressees", several, "ana → north, south: for both"},
		{"newlines are kept", say("ana", "", "a\n  b\n"), "ana: a\n  b\n"},
		{"a call", &thread.Message{Author: "north", Role: thread.Assistant, Parts: []thread.Part{call("search", `{"q": "studio"}`)}}, `north → search: {"q":"studio"}`},
		{"text and calls", answer("north", "ana", "I look.", call("ls", `{}`), call("cat", `{"f":"a.go"}`)), "north → ana: I look.\nnorth → ls: {}\nnorth → cat: {\"f\":\"a.go\"}"},
		{"a result", result("bash", "north", "ok"), "bash → north: ok"},
		{"a failed result", failed, "bash → north: error: exit code 2"},
		{"several results", two, "a → north: one\nb → north: two"},
		{"an attachment", attached, "ana → north: look\n[image/png plan.png 34 KB]"},
		{"thinking is left out", thought, "north → ana: Yes."},
		{"nothing but thinking", silent, "north: (no text)"},
		{"unknown parts", raw, "ana: see\n[unknown part hologram]\n[unknown part]"},
		{"contexts are left out", told, "ana: hi"},
		{"an audience", private, "(private)"},
		{"erased", nil, "(erased)"},
		{"zoom", opened, "zoom → north: opened 8+4"},
		{"zoom without the engine's word", bare, "zoom → north: opened 8+2, 10+2"},
		{"read", read, "read → north: opened 8 to 10"},
		{"search", searched, `search → north: looked for "studio"`},
		{"a refused zoom", refused, "zoom → north: error: No line 9+4."},
		{"another program's read", imported, "read → pi: package main"},
		{"broken bytes", say("ana", "", "a\xffb"), "ana: a\uFFFDb"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := line.Leaf(c.m); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestVerbatimIsUpTo512Bytes(t *testing.T) {
	for _, c := range []struct {
		n  int
		ok bool
	}{{1, true}, {thread.LineBytes, true}, {thread.LineBytes + 1, false}} {
		m := say("a", "", strings.Repeat("x", max(c.n-len("a: "), 0)))
		text, ok := line.Verbatim(m)
		if ok != c.ok || text != line.Leaf(m) {
			t.Errorf("a line of %d bytes: ok is %v, want %v", len(text), ok, c.ok)
		}
	}
}

func TestHugePartsShowHeadAndTail(t *testing.T) {
	huge := "begin " + strings.Repeat("middle ", 3<<20) + "end"
	for _, m := range []*thread.Message{
		result("bash", "north", huge),
		say("ana", "north", huge),
		answer("north", "", "", call("write", `{"text":"`+huge+`"}`)),
		{Author: "ana", Parts: manyParts(100_000)},
		{Author: "bash", Parts: []thread.Part{{Type: thread.ResultPart, Parts: manyParts(100_000)}}},
		{Author: strings.Repeat("a", 1<<20), To: []string{strings.Repeat("b", 1<<20)}, Parts: []thread.Part{thread.Text("hi")}},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		text := line.Leaf(m)
		runtime.ReadMemStats(&after)
		allocated := after.TotalAlloc - before.TotalAlloc
		if len(text) > 70<<10 || !utf8.ValidString(text) {
			t.Errorf("the leaf has %d bytes: %.80q", len(text), text)
		}
		if len(m.Parts) == 1 && m.Parts[0].Text == huge && (!strings.Contains(text, "begin") || !strings.HasSuffix(text, "end")) {
			t.Errorf("head or tail is missing: %.80q", text)
		}
		if allocated > 1<<20 {
			t.Errorf("%d bytes were allocated", allocated)
		}
	}
}

func manyParts(n int) []thread.Part {
	parts := make([]thread.Part, n)
	for i := range parts {
		parts[i] = thread.Text("some words")
	}
	return parts
}

// A space may be within a grapheme: after a mark that takes what follows, and before
// one that goes with what it follows.
func TestClipKeepsASpaceOfAGraphemeWhereItBelongs(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"one two\u0600\u1680 three", 17, "one two …"},
		{"one \u0600\u1680 three", 14, "one …"},
		{"one two \u0301 three", 13, "one two …"},
	} {
		if got := line.Clip(c.text, c.n); got != c.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.text, c.n, got, c.want)
		}
	}
}

func TestClipNeverPartsAGrapheme(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.ToValidUTF8(texts(30).Draw(t, "text"), "?")
		n := rapid.IntRange(3, 200).Draw(t, "bytes")
		got := line.Clip(text, n)
		if len(got) > n {
			t.Fatalf("Clip(%q, %d) has %d bytes: %q", text, n, len(got), got)
		}
		if len(text) <= n {
			if got != text {
				t.Fatalf("Clip changed a text that fits: %q", got)
			}
			return
		}
		kept := strings.TrimSuffix(strings.TrimSuffix(got, line.Ellipsis), " ")
		if !strings.HasPrefix(text, kept) || !isBoundary(text, len(kept)) {
			t.Fatalf("Clip(%q, %d) = %q parts a grapheme", text, n, got)
		}
		if bad := line.Unsupported(got, text); len(bad) > 0 {
			t.Fatalf("Clip(%q, %d) = %q makes up %q", text, n, got, bad)
		}
	})
}

// isBoundary says whether i is between two graphemes of s.
func isBoundary(s string, i int) bool {
	at := 0
	for g := uniseg.NewGraphemes(s); g.Next(); {
		if at == i {
			return true
		}
		_, at = g.Positions()
	}
	return at == i
}

func BenchmarkLeaf(b *testing.B) {
	short := say("ana", "north", "Ship on the 12th")
	long := result("bash", "north", strings.Repeat("0123456789abcdef some output\n", 8_000_000/29))
	b.Run("short", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			line.Leaf(short)
		}
	})
	b.Run("8MB", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			line.Leaf(long)
		}
	})
}
