package sqlite_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ncruces/go-sqlite3"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/store/sqlite"
	"github.com/skeinhq/skein/thread"
)

// built says n messages in a new thread and stores every line above them.
func built(t testing.TB, s store.Store, id string, n int) thread.Key {
	t.Helper()
	key := create(t, s, id)
	bulk(t, s, key, n)
	build(t, s, id)
	return key
}

// build stores every line of a thread that is missing.
func build(t testing.TB, s store.Store, id string) {
	t.Helper()
	for {
		st := state(t, s, id)
		due, err := s.Due(context.Background(), st, 500)
		if err != nil {
			t.Fatal(err)
		}
		if len(due) == 0 {
			return
		}
		var nodes []thread.Node
		for _, span := range due {
			nodes = append(nodes, thread.Node{
				Span: span, Text: strings.Repeat(span.String()+" was built; ", 30)[:440], By: thread.ByExtractive, Version: 2,
				Usage: &thread.Usage{Input: span.ID, Output: span.N},
			})
		}
		if _, err := s.PutNodes(context.Background(), st, nodes); err != nil {
			t.Fatal(err)
		}
	}
}

// nodesOf reads every line of a thread.
func nodesOf(t testing.TB, s store.Store, id string) []thread.Node {
	t.Helper()
	st := state(t, s, id)
	var spans []thread.Span
	for n := int64(1); n <= st.Length; n *= 2 {
		for at := int64(0); at+n <= st.Length; at += n {
			spans = append(spans, thread.Span{ID: at, N: n})
		}
	}
	nodes, err := s.Nodes(context.Background(), st, spans)
	if err != nil {
		t.Fatal(err)
	}
	if len(nodes) != len(spans) {
		t.Fatalf("%d lines of %d are there", len(nodes), len(spans))
	}
	return nodes
}

// toSchema1 makes a closed database one of schema 1.
const toSchema1 = `BEGIN;
	INSERT INTO nodes_1 SELECT at >> 37, (at >> 5) & 4294967295, at & 31, text, writer, version, usage, revision FROM nodes;
	DROP TABLE nodes;
	ALTER TABLE nodes_1 RENAME TO nodes;
	DROP TABLE tokens;
	PRAGMA user_version = 1;
	COMMIT`

func execute(t testing.TB, path, sql string) {
	t.Helper()
	c, err := sqlite3.Open("file:" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Exec(sql); err != nil {
		t.Fatalf("%v\n%s", err, sql)
	}
}

// counts gives the rows of the two tables of nodes.
func counts(t testing.TB, path string) (before, after int) {
	t.Helper()
	c, err := sqlite3.Open("file:" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, _, err := c.Prepare(`SELECT (SELECT count(*) FROM nodes_1), (SELECT count(*) FROM nodes)`)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if !s.Step() {
		t.Fatal(s.Err())
	}
	return s.ColumnInt(0), s.ColumnInt(1)
}

// allMoved waits until nothing is left in the old table.
func allMoved(t testing.TB, path string) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for before, _ := counts(t, path); before > 0; before, _ = counts(t, path) {
		if time.Now().After(deadline) {
			t.Fatalf("%d nodes are still in the old table", before)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// ofSchema1 makes a database of schema 1 with the threads a and b, and gives
// their lines.
func ofSchema1(t testing.TB, n int) (path string, want map[string][]thread.Node) {
	t.Helper()
	path = fresh(t)
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want = map[string][]thread.Node{}
	for _, id := range []string{"a", "b"} {
		built(t, s, id, n)
		want[id] = nodesOf(t, s, id)
	}
	clean(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, path, toSchema1)
	return path, want
}

func sameLines(t testing.TB, s store.Store, want map[string][]thread.Node) {
	t.Helper()
	for id, w := range want {
		if d := cmp.Diff(w, nodesOf(t, s, id)); d != "" {
			t.Errorf("the lines of %s have changed:\n%s", id, d)
		}
	}
}

// A store that writes nothing moves nothing, so it finds all of them where the
// migration left them.
func TestLinesOfSchema1AreReadWhereTheyAre(t *testing.T) {
	path, want := ofSchema1(t, 300)
	_, err := sqlite.Open(t.Context(), path, sqlite.Options{ReadOnly: true})
	refused(t, err, thread.Storage, "of an older Skein")
	for _, n := range []string{"2", "3"} {
		sql, err := os.ReadFile("migrations/000" + n + ".sql")
		if err != nil {
			t.Fatal(err)
		}
		execute(t, path, string(sql)+`PRAGMA user_version = `+n)
	}
	s := open(t, path, sqlite.Options{ReadOnly: true})
	sameLines(t, s, want)
	clean(t, s)
	if before, after := counts(t, path); before == 0 || after != 0 {
		t.Errorf("%d nodes in the old table, %d in the new", before, after)
	}
}

func TestLinesOfSchema1AreMovedWhileOthersWrite(t *testing.T) {
	path, want := ofSchema1(t, 1500)
	s := open(t, path, sqlite.Options{})
	sameLines(t, s, want)
	for i := range 20 {
		if _, err := s.Append(t.Context(), thread.Key{ID: "a"}, store.Draft{Entries: []store.New{said(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	build(t, s, "a")
	if err := s.Delete(t.Context(), thread.Key{ID: "b"}); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Purge(t.Context(), time.Now().Add(time.Hour)); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	delete(want, "b")
	allMoved(t, path)
	for _, n := range nodesOf(t, s, "a") {
		if n.Span.End() > 1500 {
			want["a"] = append(want["a"], n)
		}
	}
	byPlace := cmp.Transformer("byPlace", func(all []thread.Node) map[thread.Span]thread.Node {
		out := map[thread.Span]thread.Node{}
		for _, n := range all {
			out[n.Span] = n
		}
		return out
	})
	if d := cmp.Diff(want["a"], nodesOf(t, s, "a"), byPlace); d != "" {
		t.Errorf("the lines have changed:\n%s", d)
	}
	clean(t, s)
}

// Whoever stops it, or the power, it goes on where it was.
func TestMovingIsStoppedAnywhereAndGoesOn(t *testing.T) {
	seen := map[string]bool{}
	path, want := ofSchema1(t, 1500)
	saved, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(12) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		path := fresh(t)
		if err := os.WriteFile(path, saved, 0o600); err != nil {
			t.Fatal(err)
		}
		d, name := newDisk(t)
		d.cutAfter(1 + rnd.IntN(60))
		if s, err := sqlite.Open(t.Context(), path, sqlite.Options{VFS: name}); err == nil {
			time.Sleep(time.Duration(rnd.IntN(100)) * time.Millisecond)
			d.cutAfter(1)
			for range 3 { // something writes, so that the power is cut
				_, _ = s.Append(t.Context(), thread.Key{ID: "a"}, store.Draft{Entries: []store.New{said(1)}})
			}
			_ = s.Close() // it cannot work any more
		}
		left := t.TempDir()
		d.cut(t, rnd, left)
		seen[halfWay(t, filepath.Join(left, "skein.db"))] = true
		after := open(t, filepath.Join(left, "skein.db"), sqlite.Options{})
		cut := map[string][]thread.Node{"b": want["b"]}
		sameLines(t, after, cut)
		allMoved(t, filepath.Join(left, "skein.db"))
		sameLines(t, after, cut)
		clean(t, after)
	}
	if len(seen) < 2 {
		t.Errorf("it was always stopped at the same point: %v", seen)
	}
}

// halfWay says how far moving has come in a database that nobody has open.
func halfWay(t testing.TB, path string) string {
	t.Helper()
	c, err := sqlite3.Open("file:" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, _, err := c.Prepare(`SELECT count(*) FROM nodes_1`)
	if err != nil {
		return "not migrated"
	}
	defer s.Close()
	if !s.Step() {
		t.Fatal(s.Err())
	}
	return fmt.Sprint(s.ColumnInt(0), " left")
}

func TestADatabaseHoldsOnlySoManyThreads(t *testing.T) {
	path := fresh(t)
	s := open(t, path, sqlite.Options{})
	built(t, s, "a", 4)
	execute(t, path, `UPDATE sqlite_sequence SET seq = (1 << 26) - 2 WHERE name = 'threads'`)
	built(t, s, "last", 40) // whose nodes have the largest keys
	nodesOf(t, s, "last")
	_, err := s.Create(t.Context(), store.NewThread{Key: thread.Key{ID: "more"}})
	refused(t, err, thread.Limit, "as many threads")
	clean(t, s)
}

func TestRepairSetsTheTimesOfNodesRight(t *testing.T) {
	path := fresh(t)
	s := open(t, path, sqlite.Options{})
	built(t, s, "a", 40)
	want := map[string][]thread.Node{"a": nodesOf(t, s, "a")}
	execute(t, path, `UPDATE nodes SET time = time + at % 3`)
	told := 0
	for range s.Check(t.Context()) {
		told++
	}
	if told != 1 {
		t.Errorf("check tells %d flaws", told)
	}
	if err := s.Repair(t.Context()); err != nil {
		t.Fatal(err)
	}
	sameLines(t, s, want)
	clean(t, s)
}
