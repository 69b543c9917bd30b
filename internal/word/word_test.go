package word_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/skeinhq/skein/internal/word"
	"github.com/skeinhq/skein/thread"
)

func say(text string) *thread.Message {
	return &thread.Message{Author: "ana", Role: thread.User, Parts: []thread.Part{thread.Text(text)}}
}

func TestMessageTermsInOrder(t *testing.T) {
	cases := []struct {
		name, text string
		want       string
	}{
		{"lower case and stems", "The Runners were RUNNING", "the runner were run"},
		{"punctuation separates", "see tui-renderer.ts, snake_case", "see tui render ts snake case"},
		{"camel case", "TuiRenderer", "tuirender tui render"},
		{"an initialism in camel case", "parseHTTPHeader2 x", "parsehttpheader2 pars http header2 x"},
		{"capitals alone are one word", "README v2Final", "readm v2final v2 final"},
		{"accents", "Crème brûlée, Łódź, Straße", "creme brule lodz strass"},
		{"decomposed accents are the same", "Cre\u0300me", "creme"},
		{"turkish capital", "İstanbul", "istanbul"},
		{"greek and cyrillic are not stemmed", "Οδυσσεύς й бегущие", "οδυσσευσ и бегущие"},
		{"digits are not stemmed", "sha256s 2026-11-30", "sha256s 2026 11 30"},
		{"full width", "ＡＢＣ １２", "abc 12"},
		{"han", "我的猫", "我 我的 的 的猫 猫"},
		{"one character", "猫!", "猫"},
		{"mixed scripts", "用Go写", "用 go 写"},
		{"half-width kana", "ﾊﾟﾝ", "パ パン ン"},
		{"hangul", "한국", "한 한국 국"},
		{"thai vowels stay", "ที่นี่", "ที่ ที่นี่ นี่"},
		{"indic vowels stay", "हिन्दी", "हिन्दी"},
		{"broken bytes separate", "ab\xffcd", "ab cd"},
		{"nothing", " …— 🙂", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(word.Message(say(c.text)), " "); got != c.want {
				t.Errorf("Message(%q)\n got %s\nwant %s", c.text, got, c.want)
			}
		})
	}
}

func TestMessageCountsWhatIsSaid(t *testing.T) {
	m := &thread.Message{Role: thread.Assistant, Parts: []thread.Part{
		{Type: thread.ThinkingPart, Text: "secretly"},
		thread.Text("look"),
		thread.Call("c1", "grep", json.RawMessage(`{"pattern":"caf\u00e9\nbar","max":12}`)),
		thread.Call("c2", "bash", json.RawMessage(`{"cmd":"ls src"}`)),
		thread.Call("c3", "odd", json.RawMessage(`{"cut\off`)),
		{Type: thread.BlobPart, Name: "plan-b.png", MediaType: "image/png"},
		{Type: thread.ResultPart, Name: "fetch", Parts: []thread.Part{thread.Text("found"), {Type: thread.BlobPart, Name: "deep.txt"}}},
		thread.Call("c4", "search", json.RawMessage(`{"query":"asked"}`)),
		thread.Result("c4", "search", "derived", false),
	}}
	want := "look grep pattern cafe bar max 12 bash cmd ls src odd cut off plan b png found deep txt"
	if got := strings.Join(word.Message(m), " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestImportedResultsAreNeverDerived(t *testing.T) {
	m := &thread.Message{Role: thread.Tool, Parts: []thread.Part{thread.Result("c1", "read", "package main", false)}}
	if got := word.Message(m); len(got) != 0 {
		t.Errorf("a result of the history tool read gives %q, want nothing", got)
	}
	m.Meta = json.RawMessage(`{"import":{"format":"pi"}}`)
	if got := word.Message(m); !slices.Equal(got, []string{"packag", "main"}) {
		t.Errorf("a foreign tool's result gives %q", got)
	}
}

func TestLongMessagesGiveTheirHeadAndTail(t *testing.T) {
	filler := strings.Repeat("filler ", 20_000)
	m := say("alpha " + filler + " middle " + filler + " omega")
	m.Parts = append(m.Parts, thread.Text("closing"))
	got := word.Message(m)
	for _, w := range []string{"alpha", "omega", "close"} {
		if !slices.Contains(got, w) {
			t.Errorf("%q is missing", w)
		}
	}
	if slices.Contains(got, "middl") {
		t.Error("the middle is there")
	}
	for _, w := range got {
		if w != "alpha" && w != "filler" && w != "omega" && w != "close" {
			t.Errorf("%q was never said: a word was cut apart", w)
		}
	}
	if n := len(got) * len("filler "); n > 81<<10 {
		t.Errorf("%d bytes were read", n)
	}
}

func TestQuery(t *testing.T) {
	cases := []struct{ q, want string }{
		{"Where did the runners run?", "runner run"},
		{"who is it", "who is it"},
		{"what's Ana's plan", "ana plan"},
		{"tui-renderer.ts tui", "tui render ts"},
		{"TuiRenderer", "tuirender tui render"},
		{"我的猫", "我的 的猫"},
		{"猫", "猫"},
		{"", ""},
	}
	for _, c := range cases {
		if got := strings.Join(word.Query(c.q), " "); got != c.want {
			t.Errorf("Query(%q) = %q, want %q", c.q, got, c.want)
		}
	}
}

func TestMark(t *testing.T) {
	cases := []struct{ text, q, want string }{
		{"She was running; he ran, they run.", "runs", "She was [running]; he ran, they [run]."},
		{"Crème", "creme", "[Crème]"},
		{"the TuiRenderer here", "renderer", "the Tui[Renderer] here"},
		{"the TuiRenderer here", "TuiRenderer", "the [TuiRenderer] here"},
		{"tui-renderer.ts", "TuiRenderer", "[tui]-[renderer].ts"},
		{"这是我的猫吗", "我的猫", "这是[我的猫]吗"},
		{"这是我的猫吗", "猫", "这是我的[猫]吗"},
		{"nothing here", "else", "nothing here"},
	}
	for _, c := range cases {
		if got := bracket(c.text, word.Mark(c.text, word.Query(c.q))); got != c.want {
			t.Errorf("Mark(%q, %q)\n got %s\nwant %s", c.text, c.q, got, c.want)
		}
	}
}

func bracket(text string, ranges []word.Range) string {
	var b strings.Builder
	at := 0
	for _, r := range ranges {
		fmt.Fprintf(&b, "%s[%s]", text[at:r.Start], text[r.Start:r.End])
		at = r.End
	}
	return b.String() + text[at:]
}

// texts draws texts that mix scripts, cases and punctuation.
var texts = rapid.Custom(func(t *rapid.T) string {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"TuiRenderer", "snake_case", "a/b.go", "我的猫很好", "ｶﾞｷﾞ", "naïve", "running", "HTTPServer", "한국어", "İ", "ﬁne", "é", "e\u0301", "x\u200dy"}),
		rapid.String(),
	)
	return strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(t, "pieces"), " ")
})

// TestEveryWordSaidIsFound: whatever piece of a text between two separators is
// looked up, each of its terms is among the message's and is marked in the text.
func TestEveryWordSaidIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := texts.Draw(t, "text")
		terms := word.Message(say(text))
		for _, q := range strings.Fields(text) {
			words := word.Query(q)
			for _, w := range words {
				if !slices.Contains(terms, w) {
					t.Fatalf("query %q asks for %q, which is not among %q", q, w, terms)
				}
			}
			if len(words) > 0 && len(word.Mark(text, words)) == 0 {
				t.Fatalf("query %q marks nothing in %q", q, text)
			}
		}
	})
}

// TestAnyPieceOfAnUnspacedRunIsFound guards what the pairs are for.
func TestAnyPieceOfAnUnspacedRunIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run := []rune(rapid.StringOfN(rapid.RuneFrom([]rune("天地玄黄宇宙洪荒日月かなカナ한국어")), 1, 20, -1).Draw(t, "run"))
		from := rapid.IntRange(0, len(run)-1).Draw(t, "from")
		to := rapid.IntRange(from+1, len(run)).Draw(t, "to")
		terms := word.Message(say(string(run)))
		for _, w := range word.Query(string(run[from:to])) {
			if !slices.Contains(terms, w) {
				t.Fatalf("%q of %q asks for %q, which is not among %q", string(run[from:to]), string(run), w, terms)
			}
		}
	})
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"TuiRenderer", "我的猫", "ﾊﾟ", "a\xff", "e\u0301\u0301", strings.Repeat("é", 40), "'''s", "IIIi"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, text, q string) {
		terms := word.Message(say(text))
		for _, w := range terms {
			if w == "" || len(w) > 64 || !utf8.ValidString(w) {
				t.Fatalf("term %q of %q", w, text)
			}
		}
		words := word.Query(q)
		if again := word.Query(q); !cmp.Equal(words, again) {
			t.Fatalf("two readings of %q: %q and %q", q, words, again)
		}
		at := -1
		for _, r := range word.Mark(text, words) {
			if r.Start <= at || r.End <= r.Start || r.End > len(text) {
				t.Fatalf("range %v after %d in %q", r, at, text)
			}
			at = r.End
		}
	})
}

func BenchmarkMessage(b *testing.B) {
	prose := "The quick renderers were painting TuiRenderer frames into packages/coding-agent/src/tui-renderer.ts while snake_case ids waited. "
	for _, size := range []int{128, 4 << 10, 64 << 10} {
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) {
			m := say(strings.Repeat(prose, size/len(prose)+1)[:size])
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				word.Message(m)
			}
		})
	}
}

func BenchmarkMark(b *testing.B) {
	text := strings.Repeat("The quick renderers were painting frames into the terminal again. ", 64)
	words := word.Query("terminal renderer")
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		word.Mark(text, words)
	}
}
