package line_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"github.com/rivo/uniseg"
	"github.com/skeinhq/skein/internal/line"
	"github.com/skeinhq/skein/thread"
	"pgregory.net/rapid"
)

// messages draws messages of every role, with calls, results and attachments.
func messages() *rapid.Generator[*thread.Message] {
	return rapid.Custom(func(t *rapid.T) *thread.Message {
		m := &thread.Message{
			Author: rapid.SampledFrom([]string{"ana", "north", "user", "an agent", "", "search", "x42", strings.Repeat("é", 300)}).Draw(t, "author"),
			To:     rapid.SliceOfN(rapid.SampledFrom([]string{"north", "ana", "ben_2", "“q”"}), 0, 3).Draw(t, "to"),
			Role:   rapid.SampledFrom([]thread.Role{thread.User, thread.Assistant, thread.Tool}).Draw(t, "role"),
		}
		part := rapid.Custom(func(t *rapid.T) thread.Part {
			text := texts(60).Draw(t, "text")
			switch rapid.IntRange(0, 5).Draw(t, "type") {
			case 0:
				input, err := json.Marshal(map[string]any{"path": texts(3).Draw(t, "path"), "text": text, "n": 42})
				if err != nil {
					t.Fatal(err)
				}
				return thread.Call("c", "write", input)
			case 1:
				return thread.Result("c", "search", text, len(text)%2 == 0)
			case 2:
				return thread.Part{Type: thread.BlobPart, MediaType: "image/png", Name: "plan.png", Size: int64(len(text))}
			default:
				return thread.Text(text)
			}
		})
		m.Parts = rapid.SliceOfN(part, 0, 4).Draw(t, "parts")
		return m
	})
}

func TestExtractKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := messages().Draw(t, "message")
		leaf := line.Leaf(m)
		got := line.Extract(m)
		check(t, got, leaf)
		if again := line.Extract(m); again != got {
			t.Fatalf("the same message gives %q and %q", got, again)
		}
		if len(leaf) <= thread.LineBytes {
			if got != leaf {
				t.Fatalf("a leaf that fits became %q", got)
			}
			return
		}
		// In a call's JSON a mark may stand on a quote.
		if len(m.Calls()) == 0 {
			wholeGraphemes(t, got, leaf)
		}
	})
}

func TestMergeKeepsItsPromises(t *testing.T) {
	half := rapid.OneOf(
		rapid.Map(messages(), line.Extract),
		rapid.Map(texts(80), func(s string) string {
			return line.Clip(strings.ToValidUTF8("ana → north: "+s, "?"), thread.LineBytes)
		}),
		rapid.Map(texts(80), func(s string) string { return line.Clip(strings.ToValidUTF8(s, "?"), thread.LineBytes) }),
	)
	rapid.Check(t, func(t *rapid.T) {
		left, right := half.Draw(t, "left"), half.Draw(t, "right")
		got := line.Merge(left, right)
		if left+right == "" {
			return
		}
		check(t, got, left, right)
		if again := line.Merge(left, right); again != got {
			t.Fatalf("the same halves give %q and %q", got, again)
		}
		if whole := left + "\n" + right; len(whole) <= thread.LineBytes && got != whole {
			t.Fatalf("halves that fit became %q", got)
		}
	})
}

// wholeGraphemes fails where the line holds a grapheme that its source does not.
// White space may have become another.
func wholeGraphemes(t *rapid.T, got, source string) {
	plain := func(g string) string {
		return strings.TrimSpace(strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) {
				return ' '
			}
			return r
		}, g))
	}
	known := map[string]bool{"": true, line.Ellipsis: true, ",": true}
	for g := uniseg.NewGraphemes(source); g.Next(); {
		known[plain(g.Str())] = true
	}
	for g := uniseg.NewGraphemes(got); g.Next(); {
		if !known[plain(g.Str())] {
			t.Fatalf("the line %q parts a grapheme: %q is not in its source", got, g.Str())
		}
	}
}

func TestExtractIsNeverTheTextsBareBeginning(t *testing.T) {
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, "We walked along the river on day %d and talked about many small matters, ", i)
	}
	prose := b.String()
	for name, text := range map[string]string{
		"one endless sentence":  prose,
		"many sentences":        strings.ReplaceAll(prose, ", ", ". "),
		"common words alone":    strings.Repeat("the of and to in ", 60),
		"what matters is first": "Ship src/main.go on 2026-11-30 with TuiRenderer and parse_args. " + prose,
		"no spaces":             strings.Repeat("我们今天在河边散步", 60),
		"one word":              strings.Repeat("x", 3000),
		"no words":              strings.Repeat("!", 3000),
	} {
		t.Run(name, func(t *testing.T) {
			m := say("ana", "north", text)
			leaf := line.Leaf(m)
			got := line.Extract(m)
			check(t, got, leaf)
			if !strings.HasPrefix(got, "ana → north: ") {
				t.Errorf("the head is missing: %q", got)
			}
			bare := strings.TrimRight(got, line.Ellipsis+" ")
			if strings.HasPrefix(thread.OneLine(leaf), bare) {
				t.Errorf("a bare beginning: %q", got)
			}
		})
	}
}

func TestExtractKeepsWhatMatters(t *testing.T) {
	filler := strings.Repeat("It is a nice day and we like to talk about how things are going on. ", 20)
	cases := []struct {
		name string
		m    *thread.Message
		want []string
	}{
		{"a user's wish amid chat", say("ana", "north", filler+"Please move the parser to internal/parse.go by 2026-11-30. "+filler), []string{"ana → north: ", "Please move the parser to internal/parse.go by 2026-11-30."}},
		{"what an agent did", answer("north", "ana", filler+"I fixed the race in store/sqlite/writer.go. "+filler), []string{"north → ana: ", "fixed the race in store/sqlite/writer.go"}},
		{"the file of a long edit", answer("north", "", "", call("edit", `{"path":"internal/line/merge.go","oldText":"`+filler+`"}`)), []string{"north → edit: {internal/line/merge.go"}},
		{"a command without where it runs", answer("north", "", "", call("bash", `{"command":"cd /home/ana/src && git commit -m \"Join the lines\"","note":"`+filler+`"}`)), []string{`git commit -m "Join the lines"`}},
		{"what failed", result("bash", "north", strings.Repeat("compiling one more package\n", 100)+"store/writer.go:120: error: undefined: fence\n"+strings.Repeat("compiling one more package\n", 100)), []string{"bash → north: ", "undefined: fence"}},
		{"text and calls", answer("north", "ana", "I look at the tests first. "+filler, call("read", `{"path":"a_test.go"}`)), []string{"north → ana: ", "north → read: {a_test.go}"}},
		{"a text's end", say("ana", "", strings.Repeat("nothing here, ", 100)+"call Zacharias."), []string{"call Zacharias."}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := line.Extract(c.m)
			check(t, got, line.Leaf(c.m))
			for _, w := range c.want {
				if !strings.Contains(got, w) {
					t.Errorf("%q is missing in %q", w, got)
				}
			}
		})
	}
}

func TestMergeKeepsBothHalves(t *testing.T) {
	chat := strings.Repeat("and so on with many more words of no weight at all ", 12)
	left := line.Clip("ana → north: Please ship src/main.go on 2026-11-30. "+chat, thread.LineBytes)
	right := line.Clip("north → ana: I moved TuiRenderer to modes/interactive.ts, commit 1507f8b. "+chat, thread.LineBytes)
	got := line.Merge(left, right)
	check(t, got, left, right)
	for _, w := range []string{"ana → north: ", "src/main.go", "2026-11-30", "\nnorth → ana: ", "TuiRenderer", "modes/interactive.ts", "1507f8b"} {
		if !strings.Contains(got, w) {
			t.Errorf("%q is missing in %q", w, got)
		}
	}
}

func TestMergePutsAnchorsBeforeProse(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("river morning window garden letter summer winter painter village harbour market bridge teacher kitchen")
	prose := func(n int) string {
		var b strings.Builder
		for b.Len() < n {
			b.WriteString(words[rng.IntN(len(words))] + " ")
		}
		return strings.TrimSpace(b.String()) + ". "
	}
	left := "ana: " + prose(200) + prose(120) + "See docs/plan.md. " + prose(130)
	right := "north: " + prose(200) + prose(120) + "It was 12,400 rows in store_test.go. " + prose(90)
	got := line.Merge(left, right)
	check(t, got, left, right)
	for _, w := range []string{"docs/plan.md", "12,400", "store_test.go"} {
		if !strings.Contains(got, w) {
			t.Errorf("%q is missing in %q", w, got)
		}
	}
}

func TestUsersWordsComeFirstInAMerge(t *testing.T) {
	talk := "The garden window faces the harbour and the painter likes the morning there. "
	left := "north → search: {\"q\":\"studio\"}\nana → north: " + strings.Repeat("Rent the studio near the harbour. The painter wants morning hours there. ", 4)
	right := "north → ana: " + strings.Repeat(talk, 5)
	got := line.Merge(left, line.Clip(right, thread.LineBytes))
	user, agent := 0, 0
	for l := range strings.SplitSeq(got, "\n") {
		switch {
		case strings.HasPrefix(l, "ana → north: "):
			user += len(l)
		case strings.HasPrefix(l, "north → ana: "):
			agent += len(l)
		}
	}
	if user == 0 || user < agent {
		t.Errorf("the user has %d bytes, the agent %d: %q", user, agent, got)
	}
}

func TestSilentLinesTakeNoRoom(t *testing.T) {
	long := line.Clip("ana → north: "+strings.Repeat("The harbour painter needs keys. Bring docs/plan.md. ", 20), thread.LineBytes)
	got := line.Merge("(private)", long)
	if strings.Contains(got, "(private)") {
		t.Errorf("got %q", got)
	}
	check(t, got, "(private)", long)
}

func TestNothingIsSaidTwice(t *testing.T) {
	got := line.Extract(say("ana", "north", strings.Repeat("The harbour painter needs the studio keys. Bring docs/plan.md. ", 20)))
	if n := strings.Count(got, "Bring docs/plan.md"); n != 1 {
		t.Errorf("it is said %d times: %q", n, got)
	}
}

func FuzzMerge(f *testing.F) {
	f.Add("ana → north: a\nnorth → x: {\"q\":\"1\"}", "north: …", 3)
	f.Add("{\"a\\", "“x” … \u200d", 300)
	f.Fuzz(func(t *testing.T, left, right string, n int) {
		left = strings.ToValidUTF8(strings.Repeat(left, 1+max(n, -n)%300), "?")
		left, right = line.Clip(left, thread.LineBytes), line.Clip(strings.ToValidUTF8(right, "?"), thread.LineBytes)
		if left != "" || right != "" {
			check(t, line.Merge(left, right), left, right)
		}
		m := say("ana", "north", left+right+left+right)
		check(t, line.Extract(m), line.Leaf(m))
	})
}

func BenchmarkExtract(b *testing.B) {
	text := strings.Repeat("We should move the parser to internal/parse.go, since TuiRenderer needs it. Then 42 tests fail. ", 40)
	b.Run("4KB", func(b *testing.B) {
		m := say("ana", "north", text)
		b.ReportAllocs()
		for b.Loop() {
			line.Extract(m)
		}
	})
	b.Run("8MB", func(b *testing.B) {
		m := result("bash", "north", strings.Repeat(text, 8_000_000/len(text)))
		b.ReportAllocs()
		for b.Loop() {
			line.Extract(m)
		}
	})
}

func BenchmarkMerge(b *testing.B) {
	messages := long(2)
	left, right := line.Extract(messages[0]), line.Extract(messages[1])
	if len(left)+len(right) < thread.LineBytes {
		b.Fatal("the lines fit together")
	}
	b.ReportAllocs()
	for b.Loop() {
		line.Merge(left, right)
	}
}
