package sqlite

import (
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/skeinhq/skein/thread"
)

// SQLite makes some statements anew when the values that are bound to them
// change, which takes longer than running them.
func TestLinesOfAllLevelsAreReadByOnePlan(t *testing.T) {
	s := storeOf(t, 64)
	th, err := s.Thread(t.Context(), "", "a")
	if err != nil {
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
		for _, sql := range []string{selectNode, selectBuilt, selectSaid} {
			read := c.stmts[sql]
			if read == nil {
				continue
			}
			runs += read.Status(sqlite3.STMTSTATUS_RUN, false)
			if n := read.Status(sqlite3.STMTSTATUS_REPREPARE, false); n > 10 {
				t.Errorf("the plan was made %d times: %s", n, sql)
			}
		}
	}
	if runs < 200 {
		t.Errorf("%d runs were seen of 200", runs)
	}
}
