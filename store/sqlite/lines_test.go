package sqlite_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/store/sqlite"
	"github.com/skeinhq/skein/thread"
)

// Lines that follow each other are read in one go: they are those that each gives
// alone, in the order in which they were asked for, whatever lies between and
// however much of the log is known.
func TestLinesReadTogetherAreThoseReadAlone(t *testing.T) {
	path := fresh(t)
	s := open(t, path, sqlite.Options{})
	key := create(t, s, "a")
	for i := range 300 {
		if i == 100 || i == 107 { // another entry lies between two messages
			if _, err := s.Append(t.Context(), key, store.Draft{Entries: []store.New{{Entry: thread.Entry{
				Kind: thread.TitleKind, Index: thread.NoIndex, Title: &thread.Title{Title: "a title", By: "ana"},
			}}}}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Append(t.Context(), key, store.Draft{Entries: []store.New{said(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	build(t, s, "a")
	bulk(t, s, key, 20) // of these, some lines are not built
	st := state(t, s, "a")
	var spans []thread.Span
	for n := int64(1); n <= st.Length; n *= 2 {
		for at := int64(0); at+n <= st.Length+2*n; at += n { // and some that cannot be
			spans = append(spans, thread.Span{ID: at, N: n})
		}
		spans = append(spans, thread.Span{ID: 3 * n, N: n}, thread.Span{ID: 2 * n, N: n}, thread.Span{ID: n, N: n}, thread.Span{ID: n, N: n})
	}
	together := func(s *sqlite.Store) []thread.Node {
		nodes, err := s.Nodes(t.Context(), st, spans)
		if err != nil {
			t.Fatal(err)
		}
		return nodes
	}
	anew := open(t, path, sqlite.Options{ReadOnly: true}) // knows nothing yet
	first := together(anew)
	var alone []thread.Node
	for _, span := range spans {
		nodes, err := s.Nodes(t.Context(), st, []thread.Span{span})
		if err != nil || len(nodes) > 1 {
			t.Fatal(nodes, err)
		}
		alone = append(alone, nodes...)
	}
	if len(alone) < 500 || len(alone) > len(spans)-20 {
		t.Errorf("%d of %d lines are there", len(alone), len(spans))
	}
	for name, got := range map[string][]thread.Node{"a store that knows nothing": first, "one that knows": together(anew), "another": together(s)} {
		if d := cmp.Diff(alone, got); d != "" {
			t.Errorf("%s gives other lines:\n%s", name, d)
		}
	}
}
