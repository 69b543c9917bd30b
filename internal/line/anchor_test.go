package line_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/skeinhq/skein/internal/line"
	"pgregory.net/rapid"
)

func TestAnchors(t *testing.T) {
	cases := []struct {
		name, text string
		want       []string
	}{
		{"numbers of two digits or more", "5 of 12 runs, 12,400 rows, 3.14 and 7", []string{"12", "12,400", "3.14"}},
		{"a number at a sentence's end", "It took 42. Then 43, 44; (45)", []string{"42", "43", "44", "45"}},
		{"units and signs are not part of a number", "34KB, 50% of $1,200 in 150ms (v3.14)", []string{"34", "50", "1,200", "150", "3.14"}},
		{"dates", "On 2026-11-30 at 16:01, or 30 November 2026, or May 5", []string{"2026-11-30", "16:01", "30", "30 November 2026", "2026", "May 5"}},
		{"ids", "commit 9f86d08 of utf8, ABC-123, gpt-4o-mini", []string{"9f86d08", "utf8", "ABC-123", "gpt-4o-mini"}},
		{"hexadecimal words of letters alone", "deadbeef is no face", []string{"deadbeef"}},
		{"UUIDs", "thread ffae836b-9420-4060-ac13-7745215f90ff.", []string{"ffae836b-9420-4060-ac13-7745215f90ff"}},
		{"paths", "see src/tui/main.go, /etc/hosts, ./run and ~/notes.", []string{"src/tui/main.go", "/etc/hosts", "./run", "~/notes"}},
		{"words with a slash are no path", "his/her and/or on/off", nil},
		{"file names", "edit main.ts, then README.md; e.g. nothing.Then more", []string{"main.ts", "README.md"}},
		{"a line of a file", "main.ts:120 fails", []string{"main.ts", "120"}},
		{"URLs", "at (https://example.org/a?b=1).", []string{"https://example.org/a?b=1"}},
		{"quoted strings", `she said "ship it" and “not now”, ran ` + "`go test`", []string{"ship it", "not now", "go test"}},
		{"keys of JSON are not quoted strings", `{"q":"studio"}`, []string{"studio"}},
		{"apostrophes quote nothing", "don't, it's the dogs' food", nil},
		{"names", "TuiRenderer calls parse_args and HTTPServer, an iPhone", []string{"TuiRenderer", "parse_args", "HTTPServer", "iPhone"}},
		{"names after the escapes of JSON", `{"text":"a\nfoo_bar\tbar_baz"}`, []string{"foo_bar", "bar_baz", `a\nfoo_bar\tbar_baz`}},
		{"flags", "with --no-session and -c", []string{"--no-session"}},
		{"addresses", "mail ana@example.org now", []string{"ana@example.org"}},
		{"Windows paths", `open C:\Users\ana\plan.docx today`, []string{`C:\Users\ana\plan.docx`}},
		{"cut tokens are none", "see /usr/loc… and …123 or 45…", nil},
		{"scripts without spaces", "在2026年发布foo_bar吧", []string{"2026", "foo_bar"}},
		{"each once", "12 12 12", []string{"12"}},
		{"plain words", "A plain sentence, nothing more.", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, line.Anchors(c.text)); d != "" {
				t.Errorf("Anchors(%q) (-want +got):\n%s", c.text, d)
			}
		})
	}
}

func TestUnsupported(t *testing.T) {
	cases := []struct {
		name, line, source string
		want               []string
	}{
		{"a number within a number", "12 rows", "12,400 rows", []string{"12"}},
		{"a number within a fraction", "14 rows", "3.14 rows", []string{"14"}},
		{"a number within an id", "86 rows", "9f86d08", []string{"86"}},
		{"a unit apart", "34 KB", "34KB", nil},
		{"a year of a date", "in 2026", "2026-11-30", nil},
		{"the last name of a path", "main.ts", "/home/ana/src/main.ts", nil},
		{"a longer name", "parse_arg", "parse_args", []string{"parse_arg"}},
		{"another path", "src/main.go", "src/main.ts", []string{"src/main.go"}},
		{"a quotation over a newline", `"ship it"`, "please ship\n  it now", nil},
		{"an invented quotation", `"never ship"`, "please ship it", []string{"never ship"}},
		{"a date with another month", "30 June", "30 July", []string{"30 June"}},
		{"a name after an escape", "foo_bar", `{"text":"a\nfoo_bar"}`, nil},
		{"a token that the source shows cut", "/usr/loc", "/usr/loc…", []string{"/usr/loc"}},
		{"in any source", "12", "no", []string{"12"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, line.Unsupported(c.line, c.source)); d != "" {
				t.Errorf("Unsupported(%q, %q) (-want +got):\n%s", c.line, c.source, d)
			}
		})
	}
	if got := line.Unsupported("12 and 13", "12", "13"); len(got) != 0 {
		t.Errorf("two sources together leave %q unsupported", got)
	}
}

// texts draws running text rich in anchors, of several scripts, with code,
// broken bytes and long words.
func texts(maxWords int) *rapid.Generator[string] {
	word := rapid.OneOf(
		rapid.SampledFrom([]string{"the", "of", "we", "please", "ship", "fails", "über", "слово", "我们", "发布了", "👩‍👩‍👧‍👦", "e\u0301", "\"", "“", "”", "`", "…", "→", "{", "}", "|", "\\n", "\\", "don't", "May", "June", "\x00", "\xff", "ana:", "north → search: "}),
		rapid.StringMatching(`[a-z]{1,12}[.,;:!?]?`),
		rapid.StringMatching(`\d{1,3}([.,:-]\d{2,3}){0,2}(%|KB)?`),
		rapid.StringMatching(`/?[a-z_]{1,8}(/[a-z.]{1,8}){1,5}\.(go|ts)`),
		rapid.StringMatching(`[a-z]{1,5}[A-Z][a-z]{1,5}(_[a-z]{2,4})?`),
		rapid.StringMatching(`[0-9a-f]{7,40}`),
		rapid.StringMatching(`"[a-z ]{1,20}"`),
		rapid.StringMatching(`[a-z]{100,700}`),
		rapid.String(),
	)
	space := rapid.SampledFrom([]string{" ", " ", " ", " ", "\n", "\n\n", "  ", "\t", ". ", ", ", "\r\n", ""})
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for range rapid.IntRange(0, maxWords).Draw(t, "words") {
			b.WriteString(word.Draw(t, "word"))
			b.WriteString(space.Draw(t, "space"))
		}
		return b.String()
	})
}

func TestATextSupportsItsOwnAnchors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := texts(40).Draw(t, "text")
		if bad := line.Unsupported(text, text); len(bad) > 0 {
			t.Fatalf("%q does not support its own %q", text, bad)
		}
	})
}

func FuzzAnchors(f *testing.F) {
	f.Add("see src/main.go:12, \"ship it\" on 30 November 2026", "12,400")
	f.Add("a\xff…b_c\\nfoo_bar", "“x”")
	f.Fuzz(func(t *testing.T, text, source string) {
		for _, a := range line.Anchors(text) {
			if !strings.Contains(text, a) {
				t.Errorf("%q is not in %q", a, text)
			}
		}
		if bad := line.Unsupported(text, text); len(bad) > 0 {
			t.Errorf("%q does not support its own %q", text, bad)
		}
		line.Unsupported(text, source)
	})
}
