package tui

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// cutAll cuts a whole text into blocks.
func cutAll(text string) []block {
	var out []block
	var c cutter
	for {
		b, rest, ok := c.next(text, true)
		if !ok {
			return out
		}
		out = append(out, b)
		text = rest
	}
}

func texts(bs []block) []string {
	var out []string
	for _, b := range bs {
		out = append(out, b.text)
	}
	return out
}

func TestBlocksEndWhereTheyRenderAlone(t *testing.T) {
	cases := []struct {
		name, text string
		want       []string
	}{
		{"paragraphs", "a\nb\n\nc\n", []string{"a\nb\n\n", "c\n"}},
		{"a loose list is one", "- a\n\n- b\n\n  more\n\nafter", []string{"- a\n\n- b\n\n  more\n\n", "after"}},
		{"numbers go on", "1. a\n\n2. b\n", []string{"1. a\n\n2. b\n"}},
		{"a fence parts a paragraph", "a\n```\n\nb\n\n```\nc\n", []string{"a\n", "```\n\nb\n\n```\n", "c\n"}},
		{"a fence in a list stays", "- a\n  ```\n\n  b\n\n  ```\n- c\n", []string{"- a\n  ```\n\n  b\n\n  ```\n- c\n"}},
		{"tildes hold backticks", "~~~\n```\n~~~\nb", []string{"~~~\n```\n~~~\n", "b"}},
		{"an open fence takes the rest", "```go\na\n\nb", []string{"```go\na\n\nb"}},
		{"an indent goes on", "a\n\n    code\n\nb\n", []string{"a\n\n    code\n\n", "b\n"}},
		{"blank lines", "\n\n  \na", []string{"a"}},
		{"nothing", " \n", nil},
	}
	for _, c := range cases {
		if d := cmp.Diff(c.want, texts(cutAll(c.text))); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

func TestALongBlockIsCut(t *testing.T) {
	for name, text := range map[string]string{
		"words":    strings.Repeat("word ", 4000),
		"one word": strings.Repeat("世", 8000),
		"a list":   strings.Repeat("- an item of a list\n", 2000),
	} {
		bs := cutAll(text)
		if len(bs) < 3 || strings.Join(texts(bs), "") != text {
			t.Errorf("%s: %d blocks, the whole text: %v", name, len(bs), strings.Join(texts(bs), "") == text)
		}
		for i, b := range bs {
			if len(b.text) > maxBlock || b.joined != (i > 0) || !strings.HasPrefix(text, b.text[:1]) && name == "a list" {
				t.Errorf("%s: block %d has %d bytes, joined %v: %.40q", name, i, len(b.text), b.joined, b.text)
			}
		}
	}
}

// markdownText makes texts of what makes blocks.
func markdownText() *rapid.Generator[string] {
	line := rapid.OneOf(
		rapid.SampledFrom([]string{"", "", "word", "- item", "1. one", "  indented", "\tcode", "```", "```go", "~~~", "# head", "| a | b |", "|---|---|", "> quote", "    four", "* * *", "---", "世界 שלום 👩‍👩‍👧", "&#27;[31m", "<b>"}),
		rapid.StringMatching(`[ -~]{0,30}`),
		rapid.Map(rapid.IntRange(1, 900), func(n int) string { return strings.Repeat("word ", n) }),
	)
	return rapid.Map(rapid.SliceOfN(line, 0, 25), func(ls []string) string { return strings.Join(ls, "\n") })
}

func TestAnAnswerLooksTheSameHoweverItComes(t *testing.T) {
	look, err := newMarkdown(cells{}, 40)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := markdownText().Draw(t, "text")
		whole := &flow{}
		whole.grow(text)
		want, tail := whole.lines(look, true)
		if len(tail) > 0 {
			t.Fatalf("lines are left over: %q", tail)
		}
		growing := &flow{}
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			growing.grow(rest[:n])
			rest = rest[n:]
			done, tail := growing.lines(look, false)
			if alone := strings.Join(append(append([]string{}, done...), tail...), "\n"); rest == "" && alone != strings.Join(want, "\n") {
				t.Fatalf("%q\nin pieces:\n%s\nwhole:\n%s", text, alone, strings.Join(want, "\n"))
			}
		}
		if got, _ := growing.lines(look, true); cmp.Diff(strings.Join(want, "\n"), strings.Join(got, "\n")) != "" {
			t.Fatalf("%q\nended:\n%s\nwhole:\n%s", text, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

func FuzzMarkdownIsHarmless(f *testing.F) {
	for _, s := range []string{"# a", "```\n\x1b[2J", "&#27;[2J", "&#x1B;", "[x](http://a/\x1b]8;;b\a)", "\u202e", "| a |\n|---|\n| \x07 |", "<script>", "- \x00", "\xff\xfe"} {
		f.Add(s, 20)
	}
	f.Fuzz(func(t *testing.T, text string, width int) {
		width = 8 + max(0, width)%200
		look, err := newMarkdown(cells{}, width)
		if err != nil {
			t.Fatal(err)
		}
		flow := &flow{}
		flow.grow(safe(text))
		lines, _ := flow.lines(look, true)
		for _, line := range lines {
			if plain := ansi.Strip(line); strings.ContainsFunc(styles.ReplaceAllString(line, ""), Harmful) || strings.ContainsAny(plain, "\n\t") {
				t.Errorf("%q gives %q", text, line)
			}
			if w := look.cells.width(line); w > width {
				t.Errorf("%q gives a line of %d columns, not %d: %q", text, w, width, line)
			}
		}
	})
}

func TestABlockThatComesStandsOneLineBelowTheLast(t *testing.T) {
	look, err := newMarkdown(cells{}, 40)
	if err != nil {
		t.Fatal(err)
	}
	f := &flow{}
	f.grow("one\n\ntwo, which grows")
	done, tail := f.lines(look, false)
	if got, want := append(slices.Clone(done), tail...), []string{"one", "", "two, which grows"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
