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

// Each of these makes a closed database one of an older schema.
const (
	toSchema1 = `BEGIN;
	INSERT INTO nodes_1 SELECT place >> 37, place & 4294967295, (place >> 32) & 31, text, writer, version, usage, revision FROM nodes;
	DROP TABLE nodes;
	DROP TABLE nodes_2;
	ALTER TABLE nodes_1 RENAME TO nodes;
	DROP TABLE tokens;
	PRAGMA user_version = 1;
	COMMIT`
	toSchema3 = `BEGIN;
	INSERT INTO nodes_2 SELECT (place >> 37 << 37) | ((place & 4294967295) << 5) | ((place >> 32) & 31), time, text, writer, version, usage, revision FROM nodes;
	DROP TABLE nodes;
	ALTER TABLE nodes_2 RENAME TO nodes;
	PRAGMA user_version = 3;
	COMMIT`
)

// eachOlder runs a test on databases of both ways in which nodes were kept.
func eachOlder(t *testing.T, run func(t *testing.T, to string)) {
	t.Run("schema 1", func(t *testing.T) { run(t, toSchema1) })
	t.Run("schema 3", func(t *testing.T) { run(t, toSchema3) })
}

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

// counts gives the rows of the older tables of nodes, and of the new one.
func counts(t testing.TB, path string) (before, after int) {
	t.Helper()
	c, err := sqlite3.Open("file:" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, _, err := c.Prepare(`SELECT (SELECT count(*) FROM nodes_1) + (SELECT count(*) FROM nodes_2), (SELECT count(*) FROM nodes)`)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if !s.Step() {
		t.Fatal(s.Err())
	}
	return s.ColumnInt(0), s.ColumnInt(1)
}

// allMoved waits until nothing is left in the older tables.
func allMoved(t testing.TB, path string) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for before, _ := counts(t, path); before > 0; before, _ = counts(t, path) {
		if time.Now().After(deadline) {
			t.Fatalf("%d nodes are still in the older tables", before)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// older makes a database of an older schema with the threads a and b, and gives
// their lines.
func older(t testing.TB, to string, n int) (path string, want map[string][]thread.Node) {
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
	execute(t, path, to)
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
func TestOlderLinesAreReadWhereTheyAre(t *testing.T) { eachOlder(t, olderLinesAreReadWhereTheyAre) }

func olderLinesAreReadWhereTheyAre(t *testing.T, to string) {
	path, want := older(t, to, 300)
	_, err := sqlite.Open(t.Context(), path, sqlite.Options{ReadOnly: true})
	refused(t, err, thread.Storage, "of an older Skein")
	for _, n := range []string{"2", "3", "4"} {
		if to == toSchema3 && n != "4" {
			continue
		}
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
		t.Errorf("%d nodes in the older tables, %d in the new", before, after)
	}
}

func TestOlderLinesAreMovedWhileOthersWrite(t *testing.T) {
	eachOlder(t, olderLinesAreMovedWhileOthersWrite)
}

func olderLinesAreMovedWhileOthersWrite(t *testing.T, to string) {
	path, want := older(t, to, 1500)
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
	eachOlder(t, movingIsStoppedAnywhereAndGoesOn)
}

func movingIsStoppedAnywhereAndGoesOn(t *testing.T, to string) {
	seen := map[string]bool{}
	path, want := older(t, to, 1500)
	saved, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// moving has it opened and moves until all is moved or the power is cut, and
	// says how many writes and syncs were left until then.
	moving := func(d *disk, name string, n int) int {
		path := fresh(t)
		if err := os.WriteFile(path, saved, 0o600); err != nil {
			t.Fatal(err)
		}
		d.cutAfter(n)
		s, err := sqlite.Open(t.Context(), path, sqlite.Options{VFS: name})
		if err != nil {
			return d.toCut()
		}
		for before := 1; before > 0 && d.toCut() > 0; before, _ = counts(t, path) {
			time.Sleep(time.Millisecond)
		}
		left := d.toCut()
		if left > 0 {
			d.cutAfter(1)
		}
		_, _ = s.Append(t.Context(), thread.Key{ID: "a"}, store.Draft{Entries: []store.New{said(1)}})
		_ = s.Close() // it cannot work any more
		return left
	}
	const plenty = 1 << 30
	d, name := newDisk(t)
	used := plenty - moving(d, name, plenty)
	for seed := range uint64(12) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		d, name := newDisk(t)
		moving(d, name, 1+rnd.IntN(used))
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
	t.Logf("%d writes and syncs; %v", used, seen)
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
	s, _, err := c.Prepare(`SELECT (SELECT count(*) FROM nodes_1) + (SELECT count(*) FROM nodes_2)`)
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
	execute(t, path, `UPDATE nodes SET time = time + place % 3`)
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
