package view_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sort"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

// readVectors reads a file of worked cases, or skips where there are none.
func readVectors(t *testing.T, name string, into any) {
	t.Helper()
	dir := os.Getenv("SKEIN_VECTORS")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "vectors")
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

// entry makes the message at an index of a thread whose messages have those seqs.
func entry(seqs []int64, i int) view.Entry {
	e := view.Entry{Seq: seqs[i], Index: int64(i), Message: &thread.Message{Author: "ana", Role: thread.User}}
	if i > 0 {
		e.Prev = seqs[i-1]
	}
	return e
}

func seqsOf(entries []view.Entry) []int64 {
	out := []int64{}
	for _, e := range entries {
		out = append(out, e.Seq)
	}
	return out
}

func light(from, to int64) int64 { return 300 * (to - from) }

// short is a splice as the worked cases write it.
func short(o view.Op) any {
	return []any{"p", "entries", float64(o.Index), float64(o.Remove), anys(seqsOf(o.Items))}
}

func anys(seqs []int64) []any {
	out := []any{}
	for _, s := range seqs {
		out = append(out, float64(s))
	}
	return out
}

func TestVectorsWindow(t *testing.T) {
	var cases []struct {
		Name     string
		Tail     int
		Active   []int64
		From     *int64
		Snapshot struct {
			Entries []int64
			Before  int64
			Earlier bool
			Length  int64
		}
		Appends []struct {
			Seq     int64
			Ops     []any
			Entries []int64
		}
	}
	readVectors(t, "window.json", &cases)
	if len(cases) == 0 {
		t.Fatal("there are no cases")
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			active := c.Active
			length := int64(len(active))
			w := view.Newest(c.Tail, length, light)
			if c.From != nil {
				first := sort.Search(len(active), func(i int) bool { return active[i] >= *c.From })
				w, _ = view.Missed(c.Tail, int64(first), length, light)
			}
			v := view.View{Length: length, Entries: []view.Entry{}}
			for i := w.First; i < w.End; i++ {
				v.Entries = append(v.Entries, entry(active, int(i)))
			}
			if w.First > 0 {
				v.Before, v.Earlier = active[w.First-1], true
			}
			s := c.Snapshot
			if diff := cmp.Diff([]any{s.Entries, s.Before, s.Earlier, s.Length}, []any{seqsOf(v.Entries), v.Before, v.Earlier, v.Length}); diff != "" {
				t.Fatalf("the snapshot (-want +got):\n%s", diff)
			}
			held := view.View{}
			if err := view.Apply(&held, view.Batch{N: 1, Ops: []view.Op{view.Replace(&v)}}); err != nil {
				t.Fatal(err)
			}
			for i, a := range c.Appends {
				active = append(active, a.Seq)
				at := int(w.Len())
				leave := w.Append(light)
				ops := []view.Op{view.Splice(at, 0, entry(active, len(active)-1))}
				got := []any{short(ops[0])}
				if leave > 0 {
					ops = append(ops, view.Splice(0, int(leave)), view.Set(number(active[w.First-1]), "before"), view.Set([]byte("true"), "earlier"))
					got = append(got, short(ops[1]))
				}
				if diff := cmp.Diff(a.Ops, got); diff != "" {
					t.Fatalf("append %d (-want +got):\n%s", a.Seq, diff)
				}
				ops = append(ops, view.Set(number(int64(len(active))), "length"))
				if err := view.Apply(&held, view.Batch{N: int64(i) + 2, Ops: ops}); err != nil {
					t.Fatalf("append %d: %v", a.Seq, err)
				}
				if diff := cmp.Diff(a.Entries, seqsOf(held.Entries)); diff != "" {
					t.Fatalf("after append %d (-want +got):\n%s", a.Seq, diff)
				}
			}
		})
	}
}

func number(n int64) json.RawMessage {
	data, err := json.Marshal(n)
	if err != nil {
		panic(err) // an integer always has JSON
	}
	return data
}
