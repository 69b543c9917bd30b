package view_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/skeinhq/skein/view"
)

// chain makes messages with those seqs, the first of which follows before.
func chain(before int64, index int, seqs ...int64) []view.Entry {
	var out []view.Entry
	for i, s := range seqs {
		out = append(out, view.Entry{Seq: s, Prev: before, Index: int64(index + i)})
		before = s
	}
	return out
}

func windowOf(before int64, entries []view.Entry, length int64) view.Batch {
	v := &view.View{Thread: view.Thread{ID: "launch", Epoch: "e"}, Entries: entries, Before: before, Earlier: before != 0, Length: length}
	if len(entries) > 0 {
		v.From = entries[0].Seq
	} else {
		v.From = before + 1
	}
	return view.Batch{N: 1, Ops: []view.Op{view.Replace(v)}}
}

func page(entries ...view.Entry) view.Page {
	out := slices.Clone(entries)
	slices.Reverse(out)
	return view.Page{Items: out, Epoch: "e"}
}

func held(r *view.Replica) (out [][]int64) {
	for _, x := range r.Ranges() {
		out = append(out, seqsOf(x.Entries))
	}
	return out
}

func TestReplica(t *testing.T) {
	type step func(t *testing.T, r *view.Replica)
	apply := func(b view.Batch) step {
		return func(t *testing.T, r *view.Replica) {
			t.Helper()
			if b.N == 1 {
				r.Resume()
			}
			if err := r.Applied(b); err != nil {
				t.Fatal(err)
			}
		}
	}
	fetch := func(p view.Page) step {
		return func(t *testing.T, r *view.Replica) {
			t.Helper()
			if err := r.Fetched(p); err != nil {
				t.Fatal(err)
			}
		}
	}
	all := chain(0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
	drop := view.Batch{N: 2, Ops: []view.Op{view.Splice(0, 2), view.Set([]byte("8"), "before"), view.Set([]byte("9"), "from")}}
	for name, c := range map[string]struct {
		steps []step
		want  [][]int64
		holes []view.Hole
	}{
		"what drops goes where nothing older is held": {
			[]step{apply(windowOf(6, all[6:10], 10)), apply(drop)}, [][]int64{{9, 10}}, nil},
		"what drops stays where the one before it is held": {
			[]step{apply(windowOf(6, all[6:10], 10)), fetch(page(all[4:6]...)), apply(drop)}, [][]int64{{5, 6, 7, 8, 9, 10}}, nil},
		"what drops goes where only something further back is held": {
			[]step{apply(windowOf(6, all[6:10], 10)), fetch(page(all[1:3]...)), apply(drop)}, [][]int64{{2, 3}, {9, 10}}, []view.Hole{{After: 3, Before: 9}}},
		"a snapshot that touches joins": {
			[]step{apply(windowOf(6, all[6:8], 8)), apply(windowOf(8, all[8:10], 10))}, [][]int64{{7, 8, 9, 10}}, nil},
		"a snapshot that does not leaves a hole": {
			[]step{apply(windowOf(6, all[6:8], 8)), apply(windowOf(10, all[10:12], 12))}, [][]int64{{7, 8}, {11, 12}}, []view.Hole{{After: 8, Before: 11}}},
		"a page joins ranges": {
			[]step{apply(windowOf(6, all[6:8], 8)), apply(windowOf(10, all[10:12], 12)), fetch(page(all[8:10]...))}, [][]int64{{7, 8, 9, 10, 11, 12}}, nil},
		"nothing was missed": {
			[]step{apply(windowOf(6, all[6:8], 8)), apply(windowOf(8, nil, 8))}, [][]int64{{7, 8}}, nil},
		"an empty window after a hole": {
			[]step{apply(windowOf(6, all[6:8], 8)), apply(windowOf(10, nil, 10))}, [][]int64{{7, 8}, {}}, []view.Hole{{After: 8, Before: 11}}},
		"what was undone while away goes": {
			[]step{apply(windowOf(6, all[6:10], 10)), apply(windowOf(8, chain(8, 8, 12, 13), 10))}, [][]int64{{7, 8, 12, 13}}, nil},
		"everything was undone": {
			[]step{apply(windowOf(6, all[6:10], 10)), apply(windowOf(0, chain(0, 0, 12, 13), 2))}, [][]int64{{12, 13}}, nil},
		"a page shows what was undone": {
			[]step{apply(windowOf(6, all[6:10], 10)), apply(windowOf(20, chain(20, 9, 21), 10)), fetch(page(chain(8, 8, 20)...))}, [][]int64{{7, 8, 20, 21}}, nil},
		"what a page marks as undone is passed over": {
			[]step{apply(windowOf(6, all[6:8], 8)), fetch(page(view.Entry{Seq: 5, Prev: 4, Index: 4, Undone: true}, view.Entry{Seq: 6, Prev: 3, Index: 5, Past: true}))}, [][]int64{{7, 8}}, nil},
		"a page that overlaps the window": {
			[]step{apply(windowOf(6, all[6:8], 8)), fetch(page(all[3:8]...))}, [][]int64{{4, 5, 6, 7, 8}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := &view.Replica{}
			for _, s := range c.steps {
				s(t, r)
				checkRanges(t, r)
			}
			if d := cmp.Diff([]any{c.want, c.holes}, []any{held(r), r.Holes()}); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestAFreshSnapshotEmptiesEverything(t *testing.T) {
	all := chain(0, 0, 1, 2, 3, 4, 5, 6)
	for name, change := range map[string]func(*view.View){
		"fresh":         func(v *view.View) { v.Fresh = true },
		"another epoch": func(v *view.View) { v.Thread.Epoch = "f" },
	} {
		r := &view.Replica{}
		if err := r.Applied(windowOf(3, all[3:5], 5)); err != nil {
			t.Fatal(err)
		}
		if err := r.Fetched(page(all[:3]...)); err != nil {
			t.Fatal(err)
		}
		b := windowOf(5, all[5:], 6)
		change(b.Ops[0].View)
		r.Resume()
		if err := r.Applied(b); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([][]int64{{6}}, held(r)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func TestAPageOfAnotherBranchIsFetchedAgain(t *testing.T) {
	all := chain(0, 0, 1, 2, 3, 4)
	r := &view.Replica{}
	if err := r.Applied(windowOf(2, all[2:], 4)); err != nil {
		t.Fatal(err)
	}
	for _, p := range []view.Page{{Epoch: "f", Items: all[:2]}, {Epoch: "e", Branch: 1, Items: all[:2]}} {
		if got := code(r.Fetched(p)); got != view.Stale {
			t.Errorf("fault %q", got)
		}
	}
	if len(r.Ranges()) != 1 || r.Earlier() != 2 {
		t.Errorf("something of it stayed: %v", held(r))
	}
}

func TestResumeSaysWhatWasSeen(t *testing.T) {
	r := &view.Replica{}
	if from, epoch := r.Resume(); from != 0 || epoch != "" {
		t.Errorf("nothing was seen, but %d, %q", from, epoch)
	}
	for _, c := range []struct {
		b    view.Batch
		want int64
	}{
		{windowOf(2, chain(2, 2, 3, 4), 4), 5},
		{windowOf(4, nil, 4), 5},
		{windowOf(0, nil, 0), 1},
	} {
		if err := r.Applied(c.b); err != nil {
			t.Fatal(err)
		}
		if from, epoch := r.Resume(); from != c.want || epoch != "e" {
			t.Errorf("%d, %q, want %d", from, epoch, c.want)
		}
	}
	if got := code(r.Applied(view.Batch{N: 2})); got != view.Gap {
		t.Errorf("after a resume a batch that is no snapshot is the fault %q", got)
	}
}

// Whatever is fetched and dropped in whatever order, nothing that is held lies
// beside a hole that is not marked.
func TestRangesNeverHideAHole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := 0
		var all []view.Entry
		r := &view.Replica{}
		grow := func() {
			all = append(all, chain(int64(length)*2, length, int64(length+1)*2)...)
			length++
		}
		for range 30 {
			grow()
		}
		n := int64(0)
		first := 25
		connect := func() {
			first = max(first, length-rapid.IntRange(0, 8).Draw(t, "missed"))
			r.Resume()
			n = 1
			if err := r.Applied(windowOf(int64(first)*2, slices.Clone(all[first:]), int64(length))); err != nil {
				t.Fatal(err)
			}
		}
		connect()
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				grow()
				n++
				ops := []view.Op{view.Splice(length-first-1, 0, all[length-1]), view.Set(number(int64(length)), "length")}
				if length-first >= 6 {
					first += 3
					ops = append(ops, view.Splice(0, 3), view.Set(number(int64(first)*2), "before"), view.Set([]byte("true"), "earlier"), view.Set(number(all[first].Seq), "from"))
				}
				if err := r.Applied(view.Batch{N: n, Ops: ops}); err != nil {
					t.Fatal(err)
				}
			case 1:
				for range rapid.IntRange(0, 20).Draw(t, "away") {
					grow()
				}
				connect()
			case 2:
				from := rapid.IntRange(0, length-1).Draw(t, "from")
				to := min(length, from+rapid.IntRange(1, 10).Draw(t, "limit"))
				if err := r.Fetched(page(all[from:to]...)); err != nil {
					t.Fatal(err)
				}
			case 3:
				if holes := r.Holes(); len(holes) > 0 {
					h := holes[0]
					from, to := int(h.After/2), int(h.Before-1)/2
					if err := r.Fetched(page(all[from:to]...)); err != nil {
						t.Fatal(err)
					}
					if slices.Contains(r.Holes(), h) {
						t.Fatalf("the hole %v was fetched and is there still", h)
					}
				}
			}
			last := int64(-1)
			for _, x := range r.Ranges() {
				for i, e := range x.Entries {
					if i > 0 && e.Prev != last {
						t.Fatalf("a range has a hole between %d and %d", last, e.Seq)
					}
					if e.Seq <= last {
						t.Fatalf("%d after %d", e.Seq, last)
					}
					last = e.Seq
				}
			}
		}
	})
}
