package recall_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/skeinhq/skein/internal/recall"
	"github.com/skeinhq/skein/internal/word"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

func (k *talk) search(viewer string, q recall.Query) recall.Results {
	k.t.Helper()
	r, err := recall.Search(k.t.Context(), k.st, &k.th, viewer, q)
	if err != nil {
		k.t.Fatal(err)
	}
	return r
}

func ids(r recall.Results) []int64 {
	var out []int64
	for _, h := range r.Hits {
		out = append(out, h.ID)
	}
	return out
}

// chatter makes n messages that hold none of the words that tests look for.
func chatter(n int) []thread.Message {
	var out []thread.Message
	for i := range n {
		out = append(out, agent(fmt.Sprintf("something else, number %d", i)))
	}
	return out
}

func TestSearchGivesLinesBestFirst(t *testing.T) {
	k := inMemory(t).put(chatter(3)...).put(agent("a studio somewhere")).put(chatter(3)...).put(user("ana", "Which Studios did we book?")).put(chatter(3)...)
	r := k.search("north", recall.Query{Text: "the studio", Limit: 2})
	want := "7+1|ana → north: Which Studios did we book?\n3+1|north: a studio somewhere"
	if r.String() != want {
		t.Errorf("got\n%s\nwant\n%s", r, want)
	}
	h := r.Hits[0]
	if len(h.Marks) != 1 || h.Text[h.Marks[0].Start:h.Marks[0].End] != "Studios" {
		t.Errorf("marks %v in %q", h.Marks, h.Text)
	}
}

func TestSearchCountsTheUsersWordsTwice(t *testing.T) {
	k := inMemory(t).put(chatter(5)...).put(user("ana", "the violet door")).put(chatter(5)...).put(agent("the violet door")).put(chatter(5)...)
	r := k.search("north", recall.Query{Text: "violet"})
	if got := ids(r); got[0] != 5 || r.Hits[0].Score < 1.99*r.Hits[1].Score || got[1] != 11 {
		t.Errorf("hits %v\n%s", got, r)
	}
}

// TestSearchFindsAnAnswerByItsQuestion: the answer has none of the words.
func TestSearchFindsAnAnswerByItsQuestion(t *testing.T) {
	k := inMemory(t).put(chatter(5)...).put(user("ana", "When does the violet door open?"), agent("At nine.")).put(chatter(5)...)
	r := k.search("north", recall.Query{Text: "violet door"})
	if got := ids(r); !slices.Equal(got, []int64{5, 6, 4}) {
		t.Errorf("hits %v\n%s", got, r)
	}
	if h := r.Hits[1]; h.Text != "north: At nine." || len(h.Marks) != 0 {
		t.Errorf("the answer shows as %q, marks %v", h.Text, h.Marks)
	}
}

func TestSearchShowsNeighboursAndEveryMessageOnce(t *testing.T) {
	k := inMemory(t).put(agent("zero"), agent(long+"one"), user("ana", "the violet door"), agent("three"), user("ana", "violet"), agent("five"), agent("six"))
	r := k.search("north", recall.Query{Text: "violet", Limit: 2, Before: 2, After: 2})
	want := `2+1|ana → north: the violet door
3+1|north: three

4+1|ana → north: violet
5+1|north: five
6+1|north: six`
	if got := ids(r); slices.Equal(got, []int64{4, 2}) {
		want = `3+1|north: three
4+1|ana → north: violet
5+1|north: five
6+1|north: six

0+1|north: zero
1+1|(not summarized yet; zoom 1 1 opens the message)
2+1|ana → north: the violet door`
	}
	if r.String() != want {
		t.Errorf("got\n%s\nwant\n%s", r, want)
	}
}

func TestSearchIgnoresWhatTheViewerMayNotSee(t *testing.T) {
	open := inMemory(t).put(chatter(8)...)
	k := inMemory(t).put(chatter(3)...).put(secret(user("ana", "the violet door"), "bo")).put(chatter(4)...)
	if r := k.search("north", recall.Query{Text: "violet", Before: 1, After: 1}); len(r.Hits) != 0 || r.String() != open.search("north", recall.Query{Text: "violet"}).String() {
		t.Errorf("north finds %s", r)
	}
	if got := ids(k.search("bo", recall.Query{Text: "violet"})); len(got) != 3 || got[0] != 3 {
		t.Errorf("bo finds %v", got)
	}
	r := k.search("north", recall.Query{Text: "number 0", Limit: 1, Before: 1})
	if want := "3+1|(private)\n4+1|north: something else, number 0"; r.String() != want {
		t.Errorf("beside it stands\n%s\nwant\n%s", r, want)
	}
}

// TestSearchDoesNotFindItself: neither the call of a search nor its result.
func TestSearchDoesNotFindItself(t *testing.T) {
	k := inMemory(t).put(chatter(5)...).put(
		calling("search", "c1", `{"query":"violet door"}`), tool("search", "c1", "1+1|the violet door"), agent("no violet there"),
		calling("search", "c2", `{"query":"violet door"}`))
	if got := ids(k.search("north", recall.Query{Text: "violet door"})); !slices.Equal(got, []int64{7}) {
		t.Errorf("hits %v in\n%s", got, k)
	}
}

func TestSearchFindsUndoneMessagesOnRequest(t *testing.T) {
	k := inMemory(t).put(chatter(3)...).put(user("ana", "the violet door"), secret(user("ana", "a violet secret"), "bo")).rewind(2).put(chatter(3)...)
	if r := k.search("north", recall.Query{Text: "violet"}); len(r.Hits) != 0 {
		t.Errorf("hits\n%s", r)
	}
	r := k.search("north", recall.Query{Text: "violet", Inactive: true, Before: 1, After: 1})
	if want := "undone (seq 4)|ana → north: the violet door"; r.String() != want {
		t.Errorf("got\n%s\nwant\n%s", r, want)
	}
}

func TestSearchFindsCJK(t *testing.T) {
	k := inMemory(t).put(chatter(3)...).put(user("ana", "昨天我在图书馆看见了一只猫。")).put(chatter(3)...)
	for _, q := range []string{"图书馆", "猫", "一只猫"} {
		r := k.search("north", recall.Query{Text: q, Limit: 1})
		if len(r.Hits) != 1 || r.Hits[0].ID != 3 {
			t.Errorf("%q finds %s", q, r)
			continue
		}
		h := r.Hits[0]
		if got := h.Text[h.Marks[0].Start:h.Marks[0].End]; got != q {
			t.Errorf("%q marks %q", q, got)
		}
	}
}

func TestSearchSaysWhenItRanksOnlyTheNewest(t *testing.T) {
	k := inMemory(t)
	var many []thread.Message
	for range 10_001 {
		many = append(many, agent("violet"))
	}
	r := k.put(many...).search("north", recall.Query{Text: "violet", Limit: 1})
	if r.Capped != 10_000 || !strings.HasSuffix(r.String(), "\n(only the newest 10000 matches were ranked)") {
		t.Errorf("got\n%s", r)
	}
}

func TestSearchRefuses(t *testing.T) {
	k := inMemory(t).put(agent("one"))
	for _, q := range []recall.Query{{Text: " … "}, {Text: "one", Limit: -1}, {Text: "one", Limit: 101}, {Text: "one", Before: -1}, {Text: "one", After: 21}} {
		if _, err := recall.Search(t.Context(), k.st, &k.th, "north", q); thread.CodeOf(err) != thread.Invalid {
			t.Errorf("%+v gives %v", q, err)
		}
	}
	if got := k.search("north", recall.Query{Text: "unsaid"}).String(); got != "Nothing found." {
		t.Errorf("got %q", got)
	}
}

func TestHitOfALongMessageShowsWhereTheWordsAre(t *testing.T) {
	text := strings.Repeat("filler and more filler ", 300) + "violet, far from the rest. " + strings.Repeat("padding ", 200) + "Then the Violet Door was opened\nby Ana. " + strings.Repeat("filler and more filler ", 300)
	r := inMemory(t).put(user("ana", text)).search("north", recall.Query{Text: "violet door"})
	h := r.Hits[0]
	var marked []string
	for _, m := range h.Marks {
		marked = append(marked, h.Text[m.Start:m.End])
	}
	if !slices.Equal(marked, []string{"Violet", "Door"}) || !strings.Contains(h.Text, "opened by Ana. filler") || !strings.HasPrefix(h.Text, "ana → north: …padding") || !strings.HasSuffix(h.Text, "filler…") && !strings.HasSuffix(h.Text, "more…") && !strings.HasSuffix(h.Text, "and…") || len(h.Text) > thread.LineBytes {
		t.Errorf("marks %q in %q", marked, h.Text)
	}
}

func TestResultsAsJSON(t *testing.T) {
	r := inMemory(t).put(chatter(2)...).put(agent("violet")).search("north", recall.Query{Text: "violet", Limit: 1, Before: 1})
	r.Hits[0].Score = 1
	data, err := json.Marshal(r)
	want := `{"words":["violet"],"hits":[{"id":2,"seq":3,"text":"north: violet","marks":[{"start":7,"end":13}],"score":1,"before":[{"span":"1+1","text":"north: something else, number 1"}]}]}`
	if err != nil || string(data) != want {
		t.Errorf("got  %s\nwant %s", data, want)
	}
}

// vocabulary is what drawn messages are made of.
var vocabulary = []string{"studio", "studios", "violet", "Door", "running", "ran", "tui-renderer.ts", "TuiRenderer", "猫图书馆", "naïve", "42", "the", "and"}

func drawTalk(rt *rapid.T, k *talk) {
	for i := range rapid.IntRange(1, 30).Draw(rt, "messages") {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, 12).Draw(rt, "words"), " ")
		if rapid.IntRange(0, 5).Draw(rt, "long") == 0 {
			text = long + text + long
		}
		m := agent(text)
		if rapid.Bool().Draw(rt, "user") {
			m = user("ana", text)
		}
		if rapid.IntRange(0, 4).Draw(rt, "private") == 0 {
			m = secret(m, "bo")
		}
		if rapid.IntRange(0, 9).Draw(rt, "tool") == 0 {
			m = tool("search", fmt.Sprint(i), text)
		}
		k.put(m)
	}
}

// TestSearchRanksAsDesigned compares with a plain reading of the rule.
func TestSearchRanksAsDesigned(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		k := inMemory(t)
		drawTalk(rt, k)
		viewer := rapid.SampledFrom([]string{"north", "ana", "bo"}).Draw(rt, "viewer")
		query := rapid.SampledFrom(vocabulary).Draw(rt, "a") + " " + rapid.SampledFrom(vocabulary).Draw(rt, "b")
		limit := rapid.IntRange(1, 40).Draw(rt, "limit")

		found, err := k.st.Search(t.Context(), &k.th, store.SearchQuery{Words: word.Query(query)})
		if err != nil {
			rt.Fatal(err)
		}
		own := map[int64]float64{}
		for _, m := range found.Matches {
			own[m.Index] = m.Score
			if m.Role == thread.User {
				own[m.Index] *= 2
			}
		}
		type hit struct {
			id    int64
			score float64
		}
		var want []hit
		visible := map[int64]*thread.Message{}
		for e, err := range k.st.Messages(t.Context(), &k.th, 0, k.th.Length) {
			if err != nil {
				rt.Fatal(err)
			}
			if !e.Message.VisibleTo(viewer) {
				delete(own, e.Index)
				continue
			}
			visible[e.Index] = e.Message
		}
		for id, m := range visible {
			score := own[id] + 0.3*(own[id-1]+own[id+1])
			if score > 0 && m.Role != thread.Tool { // the tools here are searches
				want = append(want, hit{id, score})
			}
		}
		slices.SortFunc(want, func(a, b hit) int {
			return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.id, a.id))
		})
		want = want[:min(limit, len(want))]

		var got []hit
		for _, h := range k.search(viewer, recall.Query{Text: query, Limit: limit}).Hits {
			got = append(got, hit{h.ID, h.Score})
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("%q as %s\n got %v\nwant %v\nin\n%s", query, viewer, got, want, k)
		}
	})
}

// TestEveryWordSaidIsFoundAndShown: any word of any message finds it, and the
// hit's text marks it.
func TestEveryWordSaidIsFoundAndShown(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		k := inMemory(t)
		drawTalk(rt, k)
		for e, err := range k.st.Messages(t.Context(), &k.th, 0, k.th.Length) {
			if err != nil {
				rt.Fatal(err)
			}
			said := strings.Fields(e.Message.PlainText())
			if len(said) == 0 || !e.Message.VisibleTo("north") {
				continue
			}
			q := said[rapid.IntRange(0, len(said)-1).Draw(rt, "word")]
			r := k.search("north", recall.Query{Text: q, Limit: 100})
			i := slices.Index(ids(r), e.Index)
			if i < 0 {
				rt.Fatalf("%q does not find message %d of\n%s", q, e.Index, k)
			}
			h := r.Hits[i]
			if len(h.Marks) == 0 || len(h.Text) > thread.LineBytes || !utf8.ValidString(h.Text) || strings.ContainsAny(h.Text, "\r\n") {
				rt.Fatalf("%q shows message %d as %q, marks %v", q, e.Index, h.Text, h.Marks)
			}
			for _, m := range h.Marks {
				if got := word.Mark(h.Text[m.Start:m.End], r.Words); len(got) != 1 {
					rt.Fatalf("%q marks %q in %q", q, h.Text[m.Start:m.End], h.Text)
				}
			}
		}
	})
}
