package outline_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/skeinhq/skein/internal/outline"
	"github.com/skeinhq/skein/thread"
)

func allBuilt(w int) outline.Weigher {
	return func(thread.Span) (int, bool) { return w, true }
}

func spans(o outline.Outline) string {
	s := ""
	for _, l := range o.Lines {
		s += " " + l.Span.String()
	}
	return s
}

// tiles fails unless the outline covers [0, boundary) without hole or overlap
// (I3, I4).
func tiles(t interface{ Fatalf(string, ...any) }, o outline.Outline) {
	at := int64(0)
	for _, l := range o.Lines {
		if l.Span.ID != at || !l.Span.Valid() {
			t.Fatalf("the outline does not tile at %d:%s", at, spans(o))
		}
		at = l.Span.End()
	}
	if at != o.Boundary {
		t.Fatalf("the outline ends at %d, its boundary is %d:%s", at, o.Boundary, spans(o))
	}
}

func TestMostDuePairMerges(t *testing.T) {
	cases := []struct {
		about    string
		lines    []string
		boundary int64
		want     string
	}{
		{"the nearer pair of small lines before the farther of large", []string{"0+4", "4+4", "8+1", "9+1"}, 10, " 0+4 4+4 8+2"},
		{"a tie goes to the oldest", []string{"0+1", "1+1", "2+2", "4+2", "6+1"}, 7, " 0+2 2+2 4+2 6+1"},
		{"neighbours that are no siblings stay", []string{"0+1", "1+1", "2+1", "3+1", "4+1"}, 5, " 0+2 2+1 3+1 4+1"},
	}
	for _, c := range cases {
		o := outline.Outline{Boundary: c.boundary, Merging: true}
		for _, s := range c.lines {
			span, err := thread.ParseSpan(s)
			if err != nil {
				t.Fatal(err)
			}
			o.Lines = append(o.Lines, outline.Line{Span: span, Weight: 10})
		}
		got, merged := o.Grow(c.boundary, outline.Marks{Low: o.Weight() - 1, High: 1000}, allBuilt(10))
		if merged != 1 || spans(got) != c.want {
			t.Errorf("%s: merged %d, got%s, want%s", c.about, merged, spans(got), c.want)
		}
	}
}

func TestGrowStopsBeforeAMessageWithoutALine(t *testing.T) {
	var o outline.Outline
	o, _ = o.Grow(10, outline.Marks{Low: 100, High: 100}, func(s thread.Span) (int, bool) { return 1, s.ID != 6 })
	if o.Boundary != 6 || len(o.Lines) != 6 {
		t.Fatalf("boundary %d with %d lines, want 6 and 6", o.Boundary, len(o.Lines))
	}
}

func TestGrowLeavesItsInputAlone(t *testing.T) {
	o, _ := outline.Outline{}.Grow(8, outline.Marks{Low: 100, High: 100}, allBuilt(1))
	before := spans(o)
	o.Grow(16, outline.Marks{Low: 0, High: 0}, allBuilt(1))
	if spans(o) != before {
		t.Fatalf("the outline that Grow was asked of changed from%s to%s", before, spans(o))
	}
}

func TestOutlineTilesAndLevelsNeverRise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.IntRange(0, 200).Draw(t, "low")
		m := outline.Marks{Low: low, High: low + rapid.IntRange(0, 300).Draw(t, "more")}
		weights := rapid.SliceOfN(rapid.IntRange(1, 40), 64, 64).Draw(t, "weights")
		weigh := func(s thread.Span) (int, bool) { return weights[(s.ID+31*s.N)%64], true }
		var o outline.Outline
		for range rapid.IntRange(1, 40).Draw(t, "cuts") {
			o, _ = o.Grow(o.Boundary+rapid.Int64Range(0, 30).Draw(t, "messages"), m, weigh)
			tiles(t, o)
			for i := 1; i < len(o.Lines); i++ {
				if o.Lines[i].Span.N > o.Lines[i-1].Span.N {
					t.Fatalf("a level rises from old to new:%s", spans(o))
				}
			}
			if o.Merging != (o.Weight() > m.Low && o.Merging) || !o.Merging && o.Weight() > m.High {
				t.Fatalf("weight %d, marks %v, merging %v", o.Weight(), m, o.Merging)
			}
		}
	})
}

func TestWithNothingToSpareMergesAreABinaryCounters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(1, 3000).Draw(t, "messages")
		var o outline.Outline
		for o.Boundary < n {
			o, _ = o.Grow(min(n, o.Boundary+rapid.Int64Range(1, 50).Draw(t, "messages")), outline.Marks{}, allBuilt(1))
		}
		want := ""
		for at, bit := int64(0), 40; bit >= 0; bit-- {
			if n&(1<<bit) != 0 {
				want += fmt.Sprintf(" %d+%d", at, int64(1)<<bit)
				at += 1 << bit
			}
		}
		if spans(o) != want {
			t.Fatalf("got%s, want%s", spans(o), want)
		}
	})
}

// A batch that parents were missing for ends, once they are there, as if they
// never had been: every line that should have merged has.
func TestMissingParentsAreMadeUpForAtTheNextCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := outline.Marks{Low: 50, High: 100}
		var o outline.Outline
		for range rapid.IntRange(1, 20).Draw(t, "cuts") {
			holes := rapid.SliceOfN(rapid.Bool(), 97, 97).Draw(t, "missing")
			o, _ = o.Grow(o.Boundary+rapid.Int64Range(1, 12).Draw(t, "messages"), m, func(s thread.Span) (int, bool) {
				return 10, s.N == 1 || !holes[(s.ID*7+s.N)%97]
			})
			tiles(t, o)
		}
		wasMerging := o.Merging
		o, _ = o.Grow(o.Boundary, m, allBuilt(10))
		tiles(t, o)
		if wasMerging && o.Weight() > m.Low && canMerge(o) {
			t.Fatalf("merging stopped early at weight %d:%s", o.Weight(), spans(o))
		}
	})
}

func canMerge(o outline.Outline) bool {
	for i := 1; i < len(o.Lines); i++ {
		l, r := o.Lines[i-1].Span, o.Lines[i].Span
		if l.N == r.N && !l.IsRight() {
			return true
		}
	}
	return false
}

// What a cut stores (spans and the merging flag) is all that the next one needs:
// a restart in the middle of a batch goes on where it was.
func TestRestartInTheMiddleOfABatchGoesOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := outline.Marks{Low: 60, High: 120}
		weigh := func(s thread.Span) (int, bool) { return int(7 + (s.ID+s.N)%9), true }
		var kept, restarted outline.Outline
		for range rapid.IntRange(1, 30).Draw(t, "cuts") {
			to := kept.Boundary + rapid.Int64Range(0, 15).Draw(t, "messages")
			kept, _ = kept.Grow(to, m, weigh)
			restarted, _ = reread(restarted, weigh).Grow(to, m, weigh)
			if d := cmp.Diff(kept, restarted); d != "" {
				t.Fatalf("after a restart (-kept +restarted):\n%s", d)
			}
		}
	})
}

func reread(o outline.Outline, weigh outline.Weigher) outline.Outline {
	out := outline.Outline{Boundary: o.Boundary, Merging: o.Merging}
	for _, l := range o.Lines {
		w, _ := weigh(l.Span)
		out.Lines = append(out.Lines, outline.Line{Span: l.Span, Weight: w})
	}
	return out
}

func say(w int) outline.Message                    { return outline.Message{Weight: w} }
func calls(w int, ids ...string) outline.Message   { return outline.Message{Weight: w, Calls: ids} }
func results(w int, ids ...string) outline.Message { return outline.Message{Weight: w, Results: ids} }

func TestTailCut(t *testing.T) {
	l := outline.Limits{Marks: outline.Marks{Low: 40, High: 80}}
	hard := l
	hard.Hard = 120
	cases := []struct {
		about string
		tail  []outline.Message
		l     outline.Limits
		lines int64
		want  int64
	}{
		{"nothing to cut", []outline.Message{say(100)}, l, 1, 0},
		{"a waiting call holds everything after it", []outline.Message{say(50), calls(10, "a"), say(90), say(40)}, l, 4, 1},
		{"a call and its late result stay together", []outline.Message{say(10), calls(10, "a"), say(50), results(10, "a"), say(50)}, l, 5, 4},
		{"parallel calls stay with all results", []outline.Message{say(10), calls(30, "a", "b"), results(30, "a"), results(30, "b")}, l, 4, 1},
		{"past HARD the start moves until it is not", []outline.Message{say(10), say(500), say(30)}, hard, 3, 2},
		{"below HARD a heavy message holds the cut", []outline.Message{say(60), say(70), say(30)}, hard, 3, 1},
		{"the newest stays, however heavy", []outline.Message{say(1), say(900)}, hard, 2, 1},
		{"past HARD a call is still not parted from its result", []outline.Message{say(10), calls(200, "a"), results(30, "a")}, hard, 3, 1},
		{"an id that comes again is another call", []outline.Message{calls(10, "a"), results(10, "a"), say(20), calls(30, "a"), results(30, "a"), say(10)}, l, 6, 3},
		{"bytes", []outline.Message{{Weight: 10, Bytes: 90}, {Weight: 10, Bytes: 20}, {Weight: 10, Bytes: 30}}, outline.Limits{Marks: l.Marks, Bytes: 60}, 3, 1},
		{"the newest call with its results is kept inside a turn", []outline.Message{say(90), calls(30, "a"), results(90, "a")}, outline.Limits{Marks: l.Marks, Hard: 60, Keep: 2}, 3, 1},
	}
	for _, c := range cases {
		if got := (outline.Tail{Messages: c.tail}).Cut(c.l, c.lines); got != c.want {
			t.Errorf("%s: %v: start %d, want %d", c.about, c.tail, got, c.want)
		}
	}
}

func TestCutNeverPartsACallFromItsResult(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tail []outline.Message
		var open []string
		for i := range rapid.IntRange(1, 60).Draw(t, "messages") {
			w := rapid.IntRange(1, 50).Draw(t, "weight")
			switch {
			case len(open) > 0 && rapid.Bool().Draw(t, "answer"):
				tail = append(tail, results(w, open[0]))
				open = open[1:]
			case rapid.IntRange(0, 2).Draw(t, "call") == 0:
				id := fmt.Sprint("call", i)
				tail = append(tail, calls(w, id))
				open = append(open, id)
			default:
				tail = append(tail, say(w))
			}
		}
		l := outline.Limits{
			Marks: outline.Marks{Low: rapid.IntRange(0, 300).Draw(t, "low")},
			Hard:  rapid.IntRange(0, 600).Draw(t, "hard"),
			Keep:  rapid.IntRange(0, 3).Draw(t, "keep"),
		}
		lines := rapid.Int64Range(0, int64(len(tail))).Draw(t, "lines")
		start := outline.Tail{Messages: tail}.Cut(l, lines)
		if start > lines || start > int64(max(0, len(tail)-max(1, l.Keep))) {
			t.Fatalf("start %d is past the lines (%d) or the newest message of %d", start, lines, len(tail))
		}
		if start == 0 {
			return
		}
		made := map[string]bool{}
		for _, m := range tail[:start] {
			for _, id := range m.Calls {
				made[id] = true
			}
			for _, id := range m.Results {
				delete(made, id)
			}
		}
		if len(made) > 0 || len(tail[start].Results) > 0 {
			t.Fatalf("a cut at %d leaves calls %v behind or starts at a result: %v", start, made, tail)
		}
		rest := outline.Tail{Messages: tail[start:]}
		if before := (outline.Tail{Messages: tail}); rest.Weight() < l.Low && before.Weight() >= l.Low && (l.Hard == 0 || before.Weight() <= l.Hard) {
			t.Fatalf("a cut at %d leaves %d, less than LOW %d", start, rest.Weight(), l.Low)
		}
	})
}

func BenchmarkOutlineBatch(b *testing.B) {
	var o outline.Outline
	m := outline.Marks{Low: 4000, High: 8000}
	for o.Boundary < 1_000_000 {
		o, _ = o.Grow(o.Boundary+100, m, allBuilt(60))
	}
	b.ReportAllocs()
	for b.Loop() {
		o, _ = o.Grow(o.Boundary+100, m, allBuilt(60))
	}
	b.ReportMetric(float64(len(o.Lines)), "lines")
}
