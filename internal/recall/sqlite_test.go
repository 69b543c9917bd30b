package recall_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/skeinhq/skein/internal/recall"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/store/sqlite"
	"github.com/skeinhq/skein/thread"
)

func onDisk(t testing.TB) store.Store {
	t.Helper()
	st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "skein.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for err := range st.Check(context.Background()) {
			t.Errorf("the store is not as it should be: %v", err)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}

// TestTheStoresAgree: what is opened and found does not depend on which store
// keeps the thread, nor on how much of it is indexed.
func TestTheStoresAgree(t *testing.T) {
	disk := onDisk(t)
	threads := 0
	rapid.Check(t, func(rt *rapid.T) {
		threads++
		k := inMemory(t)
		drawTalk(rt, k)
		d := &talk{t: t, st: disk}
		var err error
		if d.th, err = disk.Create(t.Context(), store.NewThread{Key: thread.Key{ID: fmt.Sprint("t", threads)}}); err != nil {
			rt.Fatal(err)
		}
		for e, err := range k.st.Messages(t.Context(), &k.th, 0, k.th.Length) {
			if err != nil {
				rt.Fatal(err)
			}
			d.put(*e.Message)
		}
		keep := rapid.Int64Range(1, k.th.Length).Draw(rt, "keep")
		k.rewind(keep).put(agent("the violet end"))
		d.rewind(keep).put(agent("the violet end"))

		for _, viewer := range []string{"north", "bo"} {
			q := recall.Query{Text: rapid.SampledFrom(vocabulary).Draw(rt, "a") + " violet", Before: 1, After: 2, Inactive: rapid.Bool().Draw(rt, "inactive")}
			if a, b := k.search(viewer, q).String(), d.search(viewer, q).String(); a != b {
				rt.Fatalf("%+v as %s\nin memory:\n%s\non disk:\n%s", q, viewer, a, b)
			}
			s := thread.SpanOf(0, rapid.Int64Range(0, k.th.Length-1).Draw(rt, "id"))
			for ; s.End() <= k.th.Length; s = s.Parent() {
				if a, b := k.zoom(viewer, s, 0), d.zoom(viewer, s, 0); a != b {
					rt.Fatalf("zoom %s as %s\nin memory:\n%s\non disk:\n%s", s, viewer, a, b)
				}
			}
		}
	})
}
