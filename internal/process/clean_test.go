package process

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func cleaned(pieces ...string) string {
	var c cleaner
	var out []byte
	for _, p := range pieces {
		out = c.text(out, []byte(p))
	}
	return string(c.rest(out))
}

func TestCleanedTextDoesNothingToATerminal(t *testing.T) {
	cases := []struct{ about, in, want string }{
		{"plain text stays", "a\tb\nñ 語 🙂\n", "a\tb\nñ 語 🙂\n"},
		{"colours", "\x1b[1;31mred\x1b[0m", "red"},
		{"a private sequence", "\x1b[?25lx\x1b[?25h", "x"},
		{"a title, ended by BEL", "\x1b]0;title\ax", "x"},
		{"a link, ended by ST", "\x1b]8;;http://a\x1b\\text\x1b]8;;\x1b\\", "text"},
		{"the clipboard, as 8-bit control", "\u009d52;c;AAAA\ax", "x"},
		{"8-bit control sequence", "\u009b31mx", "x"},
		{"a string that does not end hides its line only", "\x1b]0;a\nb", "\nb"},
		{"a sequence that does not end", "\x1b[12\nb", "\nb"},
		{"a string that begins another", "\x1b]0;a\x1b[31mb", "b"},
		{"a character set", "\x1b(Bx", "x"},
		{"a keypad mode", "\x1b=x\x1b>", "x"},
		{"ESC before a character", "\x1bé", "é"},
		{"NUL", "a\x00b", "a␀b"},
		{"backspace and delete", "a\bb\x7f", "a␈b␡"},
		{"Windows lines", "a\r\nb\r\n", "a\nb\n"},
		{"a line written over", "10%\r20%\r\r30%\n", "10%\n20%\n30%\n"},
		{"a return at the end", "a\r", "a\n"},
		{"no UTF-8", "a\xffb\xe2\x82", "a\uFFFDb\uFFFD\uFFFD"},
	}
	for _, c := range cases {
		if got := cleaned(c.in); got != c.want {
			t.Errorf("%s: %q gives %q, want %q", c.about, c.in, got, c.want)
		}
	}
}

func harmless(t interface{ Fatalf(string, ...any) }, in, out string) {
	if !utf8.ValidString(out) {
		t.Fatalf("%q gives %q, which is no UTF-8", in, out)
	}
	for _, r := range out {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			t.Fatalf("%q gives %q, which holds %q", in, out, r)
		}
	}
}

func TestHowATextIsCutIntoPiecesDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.OneOf(
			rapid.SampledFrom([]string{"\x1b", "[", "]", "31m", "\a", "\\", "\r", "\n", "\x00", "é", "\xe2", "\x82", "\xac", "\u009b", "x"}),
			rapid.String(),
		)).Draw(t, "pieces")
		whole := strings.Join(pieces, "")
		got, want := cleaned(pieces...), cleaned(whole)
		if got != want {
			t.Fatalf("%q in pieces gives %q, whole %q", pieces, got, want)
		}
		harmless(t, whole, got)
	})
}

func FuzzClean(f *testing.F) {
	for _, seed := range []string{"", "a\r\nb", "\x1b[0m\x1b]0;x\a", "\xff\xfe\x00", "\u009d\x1b\x1b[", "\x1bP\x1b\\", "\xe2\x82"} {
		f.Add(seed, 1)
	}
	f.Fuzz(func(t *testing.T, in string, cut int) {
		out := cleaned(in)
		harmless(t, in, out)
		if cut >= 0 && cut <= len(in) {
			if got := cleaned(in[:cut], in[cut:]); got != out {
				t.Fatalf("%q cut at %d gives %q, whole %q", in, cut, got, out)
			}
		}
		if twice := cleaned(out); twice != out {
			t.Fatalf("%q is cleaned to %q, and that to %q", in, out, twice)
		}
	})
}

func TestHeadAndTailAreKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := kept{most: rapid.IntRange(0, 20).Draw(t, "most")}
		var whole strings.Builder
		for _, p := range rapid.SliceOf(rapid.StringOf(rapid.SampledFrom([]rune("abcé語🙂")))).Draw(t, "pieces") {
			k.write([]byte(p))
			whole.WriteString(p)
		}
		text, got := whole.String(), k.text()
		if !utf8.ValidString(got) {
			t.Fatalf("%q is kept as %q, which is no UTF-8", text, got)
		}
		if len(k.head) > k.most || len(k.tail) > k.most {
			t.Fatalf("%d and %d bytes are kept of at most %d each", len(k.head), len(k.tail), k.most)
		}
		if k.leftOut() == 0 {
			if got != text {
				t.Fatalf("%q is kept as %q", text, got)
			}
			return
		}
		head, tail, ok := strings.Cut(got, "\n[… ")
		_, tail, ok2 := strings.Cut(tail, " …]\n")
		if !ok || !ok2 || !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) || len(head)+len(tail)+int(k.leftOut()) != len(text) {
			t.Fatalf("%q is kept as %q with %d bytes left out", text, got, k.leftOut())
		}
	})
}
