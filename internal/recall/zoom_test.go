package recall_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/skeinhq/skein/internal/recall"
	"github.com/skeinhq/skein/thread"
)

func span(id, n int64) thread.Span { return thread.Span{ID: id, N: n} }

func (k *talk) zoom(viewer string, s thread.Span, page int) string {
	k.t.Helper()
	z, err := recall.Zoom(k.t.Context(), k.st, &k.th, viewer, s, page)
	if err != nil {
		return "error: " + err.Error()
	}
	return z.String()
}

var long = strings.Repeat("words and words ", 60)

func TestZoomOpensTheTwoLinesBelow(t *testing.T) {
	k := inMemory(t).put(user("ana", "one\n two"), agent("three"), user("ana", "four"), agent("five"))
	for _, c := range []struct {
		s    thread.Span
		want string
	}{
		{span(0, 4), "0+2|ana → north: one two north: three\n2+2|ana → north: four north: five"},
		{span(2, 2), "2+1|ana → north: four\n3+1|north: five"},
		{span(0, 1), "ana → north\none\n two"},
		{span(3, 1), "north\nfive"},
	} {
		if got := k.zoom("north", c.s, 0); got != c.want {
			t.Errorf("zoom %s\n got %q\nwant %q", c.s, got, c.want)
		}
	}
}

func TestZoomSaysWhichLinesAreMissingAndGoesOnBelowThem(t *testing.T) {
	k := inMemory(t).put(user("ana", long), agent("three"), user("ana", "four"), agent("five"))
	for _, c := range []struct {
		s    thread.Span
		want string
	}{
		{span(0, 4), "0+2|(not summarized yet; zoom 0 2 goes on to its 2 messages)\n2+2|ana → north: four north: five"},
		{span(0, 2), "0+1|(not summarized yet; zoom 0 1 opens the message)\n1+1|north: three"},
		{span(0, 1), "ana → north\n" + long},
	} {
		if got := k.zoom("north", c.s, 0); got != c.want {
			t.Errorf("zoom %s\n got %q\nwant %q", c.s, got, c.want)
		}
	}
}

func TestZoomOfNoLine(t *testing.T) {
	k := inMemory(t).put(user("ana", "one"), agent("two"), user("ana", "three"))
	for _, s := range []thread.Span{span(0, 0), span(0, 3), span(1, 2), span(2, 2), span(3, 1), span(-1, 1), span(0, 4), span(0, 1<<62), span(1<<62, 1<<62)} {
		_, err := recall.Zoom(t.Context(), k.st, &k.th, "north", s, 0)
		if thread.CodeOf(err) != thread.NotFound || err.Error() != "No line "+s.String()+"." {
			t.Errorf("zoom %s gives %v", s, err)
		}
	}
	if got := k.zoom("north", span(0, 1), 2); got != "error: Message 0 has no page 2. (it has 1 page)" {
		t.Errorf("got %q", got)
	}
}

func TestMessageWhole(t *testing.T) {
	m := agent("Look:\n\n  here")
	m.To = []string{"ana", "bo"}
	m.Parts = append(m.Parts,
		thread.Part{Type: thread.ThinkingPart, Text: "hidden"},
		thread.Call("c1", "edit", []byte(`{"n":1.0,"text":"a\nb \u00e9<"}`)),
		thread.Part{Type: thread.BlobPart, MediaType: "image/png", Name: "plan.png", Size: 34_000},
		thread.Part{Type: thread.ResultPart, Call: "c0", Name: "ls", IsError: true, Parts: []thread.Part{thread.Text("no\nsuch file"), {Type: thread.BlobPart, Name: "log.txt", Size: 3}}},
		thread.Part{Type: thread.RawPart, Raw: []byte(`{"type":"odd"}`)},
	)
	want := `north → ana, bo
Look:

  here
call edit (c1): {
  "n": 1.0,
  "text": "a\nb \u00e9<"
}
[image/png plan.png 34 KB]
error of ls (c0):
no
such file
[file log.txt 3 B]
part of another program: {
  "type": "odd"
}`
	if got := inMemory(t).put(m).zoom("x", span(0, 1), 0); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAMessageWithAnAudienceIsPrivate(t *testing.T) {
	k := inMemory(t).put(user("ana", "open"), secret(user("ana", "the code is 1234"), "bo"))
	for viewer, want := range map[string]string{
		"ana":   "ana → north\nthe code is 1234",
		"bo":    "ana → north\nthe code is 1234",
		"north": "(private)",
		"":      "(private)",
	} {
		if got := k.zoom(viewer, span(1, 1), 0); got != want {
			t.Errorf("%q sees %q, want %q", viewer, got, want)
		}
	}
	if got := k.zoom("north", span(0, 2), 0); got != "0+1|ana → north: open\n1+1|(private)" {
		t.Errorf("the lines are %q", got)
	}
}

// TestPagesMakeTheWhole: pages are of one size at most, are whole characters, and
// joined are the message.
func TestPagesMakeTheWhole(t *testing.T) {
	piece := rapid.SampledFrom([]string{"plain words\n", "é", "e\u0301", "日本", "👩‍👩‍👧‍👦", "\r\n", strings.Repeat("z", 5000), strings.Repeat("한", 3000), strings.Repeat("o\u0302", 2000), "x" + strings.Repeat("\u0301", 9000)})
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(rt, "pieces"), "")
		m := user("ana", text)
		want := "ana → north\n" + text
		k := inMemory(t).put(m)
		got := ""
		for page, of := 1, 1; page <= of; page++ {
			z, err := recall.Zoom(t.Context(), k.st, &k.th, "north", span(0, 1), page)
			if err != nil {
				rt.Fatal(err)
			}
			p := z.Message
			if len(p.Text) > recall.PageBytes || !utf8.ValidString(p.Text) || p.Page != page {
				rt.Fatalf("page %d of %d has %d bytes, valid: %v", p.Page, p.Pages, len(p.Text), utf8.ValidString(p.Text))
			}
			if page < p.Pages && !strings.HasSuffix(z.String(), fmt.Sprintf("\n(page %d of %d)", page, p.Pages)) {
				rt.Fatalf("the page does not say where it stands: …%q", z.String()[len(p.Text):])
			}
			of = p.Pages
			got += p.Text
		}
		if got != want {
			rt.Fatalf("pages give %d bytes, the message has %d", len(got), len(want))
		}
	})
}

func TestPagesDoNotPartGraphemes(t *testing.T) {
	family := "👩‍👩‍👧‍👦"
	k := inMemory(t).put(user("ana", strings.Repeat(family, 2000)))
	z, err := recall.Zoom(t.Context(), k.st, &k.th, "north", span(0, 1), 1)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.TrimPrefix(z.Message.Text, "ana → north\n")
	if z.Message.Pages < 3 || strings.ReplaceAll(text, family, "") != "" {
		t.Errorf("%d pages, the first ends with %q", z.Message.Pages, text[len(text)-30:])
	}
}

// TestAnyPastLineOpens, whether it is built or not, and below every line all of
// its messages are reached.
func TestAnyPastLineOpens(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		k := inMemory(t)
		for i := range rapid.IntRange(1, 70).Draw(rt, "messages") {
			text := fmt.Sprint("message ", i)
			if rapid.IntRange(0, 4).Draw(rt, "long") == 0 {
				text += long
			}
			k.put(user("ana", text))
		}
		level := rapid.IntRange(0, 6).Draw(rt, "level")
		count := k.th.Length >> level
		if count == 0 {
			rt.Skip("no line of that level")
		}
		s := thread.SpanOf(level, rapid.Int64Range(0, count-1).Draw(rt, "number"))
		next := s.ID
		var open func(s thread.Span)
		open = func(s thread.Span) {
			z, err := recall.Zoom(t.Context(), k.st, &k.th, "north", s, 0)
			if err != nil {
				rt.Fatalf("zoom %s of %d: %v", s, k.th.Length, err)
			}
			if s.N == 1 {
				if z.Message.ID != next || !strings.Contains(z.Message.Text, fmt.Sprint("message ", next)) {
					rt.Fatalf("zoom %s gives message %d: %.60q", s, z.Message.ID, z.Message.Text)
				}
				next++
				return
			}
			if len(z.Lines) != 2 {
				rt.Fatalf("zoom %s gives %d lines", s, len(z.Lines))
			}
			for _, l := range z.Lines {
				if l.Missing == (l.Text != "") {
					rt.Fatalf("line %s: missing %v, text %q", l.Span, l.Missing, l.Text)
				}
				open(l.Span)
			}
		}
		open(s)
		if next != s.End() {
			rt.Fatalf("below %s the last message is %d", s, next-1)
		}
	})
}
