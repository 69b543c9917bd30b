package outline_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/internal/outline"
	"github.com/skeinhq/skein/thread"
)

// readVectors reads a file of worked cases, or skips where there are none.
func readVectors(t *testing.T, name string, into any) {
	t.Helper()
	dir := os.Getenv("SKEIN_VECTORS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "vectors")
	}
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		if os.Getenv("SKEIN_REQUIRE") == "all" {
			t.Fatalf("the worked cases must be there: %v", err)
		}
		t.Skipf("no worked cases (set SKEIN_VECTORS): %v", err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func TestVectorsOutline(t *testing.T) {
	var cases []struct {
		Name           string
		Low, High, Cap int
		Leaves         []int
		Cuts           []struct {
			Messages int64
			Missing  [][2]int64
			Outline  [][2]int64
			Weight   int
			Merged   int
			Merging  bool
		}
	}
	readVectors(t, "outline.json", &cases)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			var o outline.Outline
			for i, cut := range c.Cuts {
				missing := map[thread.Span]bool{}
				for _, m := range cut.Missing {
					missing[thread.SpanOf(int(m[0]), m[1])] = true
				}
				var merged int
				o, merged = o.Grow(o.Boundary+cut.Messages, outline.Marks{Low: c.Low, High: c.High}, capped(c.Leaves, c.Cap, missing))
				var got [][2]int64
				for _, l := range o.Lines {
					got = append(got, [2]int64{int64(l.Span.Level()), l.Span.Number()})
				}
				if d := cmp.Diff(cut.Outline, got); d != "" {
					t.Fatalf("cut %d: outline (-want +got):\n%s", i, d)
				}
				if o.Weight() != cut.Weight || merged != cut.Merged || o.Merging != cut.Merging {
					t.Fatalf("cut %d: weight %d merged %d merging %v, want %d %d %v", i, o.Weight(), merged, o.Merging, cut.Weight, cut.Merged, cut.Merging)
				}
			}
		})
	}
}

func TestVectorsTail(t *testing.T) {
	var cases []struct {
		Name        string
		Weights     []int
		Start       int64
		Low, High   int
		ToolResults []int64
		LinesBuilt  int64
		NewStart    int64
	}
	readVectors(t, "tail.json", &cases)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			tail := outline.Tail{Start: c.Start}
			for _, w := range c.Weights[c.Start:] {
				tail.Messages = append(tail.Messages, outline.Message{Weight: w})
			}
			for _, i := range c.ToolResults {
				if i >= c.Start {
					tail.Messages[i-c.Start].Results = []string{"a call of long ago"}
				}
			}
			got := c.Start
			l := outline.Limits{Marks: outline.Marks{Low: c.Low, High: c.High}}
			if tail.Over(l, false) {
				got = tail.Cut(l, c.LinesBuilt)
			}
			if got != c.NewStart {
				t.Fatalf("weights %v from %d: new start %d, want %d", c.Weights, c.Start, got, c.NewStart)
			}
		})
	}
}

// capped weighs as the worked cases do: a parent weighs what its halves weigh
// together, and at most cap.
func capped(leaves []int, cap int, missing map[thread.Span]bool) outline.Weigher {
	var weigh func(s thread.Span) int
	weigh = func(s thread.Span) int {
		if s.N == 1 {
			return leaves[s.ID]
		}
		l, r := s.Halves()
		return min(cap, weigh(l)+weigh(r))
	}
	return func(s thread.Span) (int, bool) {
		if missing[s] || s.End() > int64(len(leaves)) {
			return 0, false
		}
		return weigh(s), true
	}
}
