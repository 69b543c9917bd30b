package strategy_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/skeinhq/skein/strategy"
	"github.com/skeinhq/skein/thread"
)

// outputs is a thread with so many results of so many characters.
func outputs(n, characters int) *book {
	b := (&book{}).user("Look at all of it")
	for i := range n {
		id := fmt.Sprint("c", i)
		b.agent("", id).result(id, strings.Repeat("é", characters-3)+"end")
	}
	return b.agent("Done")
}

func resultOf(m strategy.Message) string {
	r := m.Message.Results()[0]
	return (&thread.Message{Parts: r.Parts}).PlainText()
}

func TestOlderResultsAreShortenedToExactlyTheMaximum(t *testing.T) {
	b := outputs(8, 9_000)
	b.entries[2].Message.Parts[0].IsError = true
	b.entries[2].Message.Parts[0].Parts = append(b.entries[2].Message.Parts[0].Parts, thread.Part{Type: thread.BlobPart, Hash: "h", MediaType: "image/png"})
	out := mustCut(t, strategy.TruncateToolResults(strategy.Truncate{}), strategy.Input{Messages: b.messages()})
	for i, m := range out.Messages {
		if len(m.Message.Results()) == 0 {
			continue
		}
		text := resultOf(m)
		marker := fmt.Sprintf("\n[earlier output truncated from 9000 characters; zoom %d 1]\n", m.Index)
		old := i < 9
		if n := utf8.RuneCountInString(text); old && (n != 2_000 || !strings.Contains(text, marker) || !strings.HasPrefix(text, "éé") || !strings.HasSuffix(text, "éend")) || !old && n != 9_000 {
			t.Errorf("the result at %d has %d characters: %.80q", i, n, text)
		}
	}
	first := out.Messages[2].Message.Parts[0]
	if !first.IsError || first.Call != "c0" || first.Parts[1].Hash != "h" {
		t.Errorf("the error flag, the call or the image is lost: %+v", first)
	}
	want := []thread.Kept{{First: 1, Last: 10, Results: 2_000}, {First: 11, Last: 18}}
	if diff := cmp.Diff(want, out.Cut.Kept); diff != "" {
		t.Errorf("stored is (-want +got):\n%s", diff)
	}
	if got := out.Cut.Gone; len(got) != 4 || got[0] != (thread.Range{First: 3, Last: 3}) {
		t.Errorf("changed are %v", got)
	}
	if whole := b.entries[2].Message.Parts[0].Parts; len(whole) != 2 || utf8.RuneCountInString(whole[0].Text) != 9_000 {
		t.Error("the log's own message was changed")
	}
}

func TestTruncationWaitsForABatch(t *testing.T) {
	for _, c := range []struct {
		name string
		o    strategy.Truncate
		in   strategy.Input
		cuts bool
	}{
		{"one result is no batch", strategy.Truncate{KeepRecent: 7}, strategy.Input{}, false},
		{"without batches", strategy.Truncate{KeepRecent: 7, BatchTokens: -1}, strategy.Input{}, true},
		{"four are", strategy.Truncate{}, strategy.Input{}, true},
		{"too large for the model", strategy.Truncate{KeepRecent: 7}, strategy.Input{Limit: 100}, true},
		{"the provider's word", strategy.Truncate{KeepRecent: 7}, strategy.Input{Overflowing: true}, true},
		{"short enough", strategy.Truncate{MaxCharacters: 9_000, BatchTokens: -1}, strategy.Input{}, false},
	} {
		c.in.Messages = outputs(8, 9_000).messages()
		if out := step(t, strategy.TruncateToolResults(c.o), c.in); (out.Cut != nil) != c.cuts {
			t.Errorf("%s: a cut was made: %v", c.name, out.Cut != nil)
		}
	}
}

func TestResultsThatNobodyHasReadYetStayWhole(t *testing.T) {
	b := (&book{}).user("Look").agent("", "a", "b", "c").result("a", strings.Repeat("x", 9_000)).result("b", strings.Repeat("x", 9_000)).result("c", "none")
	s := strategy.TruncateToolResults(strategy.Truncate{KeepRecent: 1, BatchTokens: -1})
	if out := step(t, s, strategy.Input{Messages: b.messages()}); out.Cut != nil {
		t.Error("a result was shortened before the model had it")
	}
	b.agent("I see").user("And?")
	if out := mustCut(t, s, strategy.Input{Messages: b.messages()}); len(out.Cut.Gone) != 1 {
		t.Errorf("changed are %v", out.Cut.Gone)
	}
}

func TestResultsInsideAnAgentsMessageAreShortened(t *testing.T) {
	b := (&book{}).user("Look").served("a", strings.Repeat("x", 9_000)).user("And?").served("b", "none").user("Well?")
	out := mustCut(t, strategy.TruncateToolResults(strategy.Truncate{KeepRecent: 1, BatchTokens: -1}), strategy.Input{Messages: b.messages()})
	m := out.Messages[1].Message
	if len(m.Parts) != 3 || len(resultOf(out.Messages[1])) != 2_000 || m.Parts[2].Text != "I looked it up" {
		t.Errorf("left is\n%s", show(out.Messages))
	}
}

// TestShorteningAgainIsFromTheOriginal truncates, to less and then to more: what
// is shown is always made from the log's own text, and nothing grows back.
func TestShorteningAgainIsFromTheOriginal(t *testing.T) {
	b := outputs(8, 9_000)
	to := func(sent []strategy.Message, most int) strategy.Outcome {
		return step(t, strategy.TruncateToolResults(strategy.Truncate{MaxCharacters: most, BatchTokens: -1}), strategy.Input{Messages: sent})
	}
	first := to(b.messages(), 2_000)
	if again := to(first.Messages, 2_000); again.Cut != nil {
		t.Error("the same again made a cut")
	}
	less, direct := to(first.Messages, 500), to(b.messages(), 500)
	if diff := cmp.Diff(bytesOf(t, direct.Messages), bytesOf(t, less.Messages)); diff != "" {
		t.Errorf("in two steps it is another text:\n%s", diff)
	}
	if more := to(less.Messages, 2_000); more.Cut != nil {
		t.Error("a result grew back")
	}
}

func TestAnyResultFitsAfterTruncation(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		texts := rapid.SliceOfN(rapid.StringN(0, 600, -1), 1, 3).Draw(rt, "texts")
		b := (&book{}).user("Look").agent("", "a")
		r := thread.Part{Type: thread.ResultPart, Call: "a"}
		for _, s := range texts {
			r.Parts = append(r.Parts, thread.Text(s))
		}
		b.put(thread.Message{Role: thread.Tool, Parts: []thread.Part{r}})
		b.agent("Done")
		most := rapid.IntRange(1, 500).Draw(rt, "most")
		whole := strings.Join(texts, "\n")
		out, err := strategy.Step(t.Context(), strategy.TruncateToolResults(strategy.Truncate{KeepRecent: -1, MaxCharacters: most, BatchTokens: -1}), strategy.Input{Messages: b.messages()})
		if err != nil {
			rt.Fatal(err)
		}
		got := resultOf(out.Messages[2])
		n := utf8.RuneCountInString(whole)
		switch most = max(100, most); {
		case n <= most && got != whole:
			rt.Fatalf("a short result was changed to %q", got)
		case out.Cut != nil && utf8.RuneCountInString(got) != most:
			rt.Fatalf("it has %d characters, not %d: %q", utf8.RuneCountInString(got), most, got)
		case out.Cut != nil && !strings.Contains(got, fmt.Sprintf("truncated from %d characters; zoom 2 1]", n)):
			rt.Fatalf("the marker is wrong: %q", got)
		}
	})
}
