package sqlite

import (
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// SQLite makes some statements anew when the values that are bound to them
// change, which takes longer than running them.
func TestLinesOfAllLevelsAreReadByOnePlan(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir()+"/skein.db", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	th, err := s.Create(t.Context(), store.NewThread{Key: thread.Key{ID: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	var d store.Draft
	for range 64 {
		m := thread.Message{Author: "ana", Role: thread.User, Parts: []thread.Part{thread.Text("hello")}, Weight: 1}
		d.Entries = append(d.Entries, store.New{Entry: thread.Say(m), Line: "ana: hello"})
	}
	if _, err := s.Append(t.Context(), th.Key, d); err != nil {
		t.Fatal(err)
	}
	if th, err = s.Thread(t.Context(), "", "a"); err != nil {
		t.Fatal(err)
	}
	for i := range int64(200) {
		n := int64(1) << (i % 4)
		nodes, err := s.Nodes(t.Context(), &th, []thread.Span{{ID: 8 + i%7*8, N: n}})
		if err != nil || len(nodes) != 1 {
			t.Fatal(nodes, err)
		}
	}
	runs := 0
	for _, c := range s.readers.idle {
		if read := c.stmts[selectNode]; read != nil {
			runs += read.Status(sqlite3.STMTSTATUS_RUN, false)
			if n := read.Status(sqlite3.STMTSTATUS_REPREPARE, false); n > 10 {
				t.Errorf("the plan was made %d times", n)
			}
		}
	}
	if runs != 200 {
		t.Errorf("%d runs were seen, not 200", runs)
	}
}
