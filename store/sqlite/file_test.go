package sqlite_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ncruces/go-sqlite3"

	"github.com/skeinhq/skein/internal/word"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/store/sqlite"
	"github.com/skeinhq/skein/thread"
)

func TestTheFilesAreTheUsersAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "folder", "skein.db")
	s := open(t, path, sqlite.Options{})
	create(t, s, "a")
	state(t, s, "a")
	for name, want := range map[string]os.FileMode{path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600, filepath.Dir(path): 0o700} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", name, got, want)
		}
	}
}

func TestWhatIsWrittenOutlivesTheProcess(t *testing.T) {
	path := fresh(t)
	fillWith(t, path, 50)
	s := open(t, path, sqlite.Options{})
	if st := state(t, s, "a"); st.Length != 50 {
		t.Fatalf("%d messages", st.Length)
	}
	if _, err := s.Append(t.Context(), thread.Key{ID: "a"}, store.Draft{Entries: []store.New{said(50)}}); err != nil {
		t.Fatal(err)
	}
	clean(t, s)
}

func TestFilesThatCannotBeOpened(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	database := func(name, sql string) string {
		path := filepath.Join(dir, name)
		c, err := sqlite3.Open("file:" + path)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.Exec(sql); err != nil {
			t.Fatal(err)
		}
		return path
	}
	newer := filepath.Join(dir, "newer.db")
	fillWith(t, newer, 1)
	database("newer.db", `PRAGMA user_version = 999`)
	for _, c := range []struct {
		path, message string
		code          thread.Code
	}{
		{file("text.db", strings.Repeat("This is no database. ", 500)), "not a database", thread.Storage},
		{database("other.db", `CREATE TABLE t (x)`), "not one of Skein's", thread.Storage},
		{newer, "has schema 999", thread.Storage},
		{filepath.Join(file("a file", "x"), "skein.db"), "cannot be opened", thread.Storage},
		{dir, "it is a folder", thread.Storage},
	} {
		for _, readOnly := range []bool{false, true} {
			s, err := sqlite.Open(t.Context(), c.path, sqlite.Options{ReadOnly: readOnly})
			if err == nil {
				s.Close()
			}
			refused(t, err, c.code, c.message)
			if !strings.Contains(err.Error(), c.path) {
				t.Errorf("%v does not name the file", err)
			}
		}
	}
	_, err := sqlite.Open(t.Context(), filepath.Join(dir, "absent.db"), sqlite.Options{ReadOnly: true})
	refused(t, err, thread.NotFound, "there is no database")
	if _, err := os.Stat(filepath.Join(dir, "absent.db")); err == nil {
		t.Error("a read-only store made a file")
	}
}

func TestAReadOnlyStoreReadsAndRefusesWrites(t *testing.T) {
	path := fresh(t)
	fillWith(t, path, 20)
	s := open(t, path, sqlite.Options{ReadOnly: true})
	readOnly(t, s, path)
}

func readOnly(t *testing.T, s *sqlite.Store, path string) {
	t.Helper()
	st := state(t, s, "a")
	n := 0
	for _, err := range s.Messages(t.Context(), st, 0, st.Length) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	f, err := s.Search(t.Context(), st, store.SearchQuery{Words: word.Query("studio")})
	if err != nil || len(f.Matches) != 20 || n != 20 {
		t.Fatalf("%d messages, %d matches, %v", n, len(f.Matches), err)
	}
	clean(t, s)
	if _, err := s.Changed(t.Context()); err != nil {
		t.Error(err)
	}
	_, err = s.Append(t.Context(), st.Key, store.Draft{Entries: []store.New{said(1)}})
	refused(t, err, thread.Permission, "read-only")
	refused(t, s.Repair(t.Context()), thread.Permission, "read-only")
	refused(t, s.IndexNow(t.Context()), thread.Permission, "read-only")
	_, err = s.Acquire(t.Context(), st.Key, "p", time.Minute)
	refused(t, err, thread.Permission, "read-only")
}

func TestAReadOnlyFolder(t *testing.T) {
	if os.Getuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("permissions do not bind this user")
	}
	path := fresh(t)
	fillWith(t, path, 20)
	lock(t, path)
	s := open(t, path, sqlite.Options{ReadOnly: true})
	readOnly(t, s, path)
	_, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	refused(t, err, thread.Permission, "read-only")
}

// lock takes away the right to write to the file and its folder.
func lock(t *testing.T, path string) {
	t.Helper()
	dir := filepath.Dir(path)
	for _, p := range []struct {
		name string
		mode os.FileMode
	}{{path, 0o400}, {dir, 0o500}} {
		if err := os.Chmod(p.name, p.mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
}

func TestAReadOnlyStoreSeesWhatOthersWrite(t *testing.T) {
	path := fresh(t)
	w := open(t, path, sqlite.Options{})
	key := create(t, w, "a")
	r := open(t, path, sqlite.Options{ReadOnly: true})
	before, err := r.Changed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	bulk(t, w, key, 10)
	after, err := r.Changed(t.Context())
	if err != nil || after == before {
		t.Errorf("changed stays %d, %v", after, err)
	}
	if st := state(t, r, "a"); st.Length != 10 {
		t.Errorf("%d messages", st.Length)
	}
}

func TestABackupIsOfOneMoment(t *testing.T) {
	s := open(t, fresh(t), sqlite.Options{})
	key := create(t, s, "a")
	bulk(t, s, key, 3000)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			if _, err := s.Append(t.Context(), key, store.Draft{Entries: []store.New{said(i)}}); err != nil {
				t.Error(err)
				return
			}
		}
	})
	to := filepath.Join(t.TempDir(), "backup.db")
	err := s.Backup(t.Context(), to)
	cancel()
	wg.Wait()
	if err != nil {
		t.Fatal(err)
	}
	refused(t, s.Backup(t.Context(), to), thread.Conflict, "already")
	b := open(t, to, sqlite.Options{ReadOnly: true})
	if st := state(t, b, "a"); st.Length < 3000 || st.Epoch != state(t, s, "a").Epoch {
		t.Errorf("the backup has %d messages", st.Length)
	}
	clean(t, b)
	left, err := filepath.Glob(filepath.Join(filepath.Dir(to), ".skein*"))
	if err != nil || left != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if info, err := os.Stat(to); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestRestoreGivesNewEpochs(t *testing.T) {
	from := fresh(t)
	s := open(t, from, sqlite.Options{})
	key := create(t, s, "a")
	bulk(t, s, key, 100)
	if _, err := s.Acquire(t.Context(), key, "p", time.Hour); err != nil {
		t.Fatal(err)
	}
	backup := filepath.Join(t.TempDir(), "backup.db")
	if err := s.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	to := fresh(t)
	if err := sqlite.Restore(t.Context(), backup, to, sqlite.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	refused(t, sqlite.Restore(t.Context(), backup, to, sqlite.RestoreOptions{}), thread.Conflict, "already")
	r := open(t, to, sqlite.Options{})
	a, b := state(t, s, "a"), state(t, r, "a")
	if a.Epoch == b.Epoch || b.Length != 100 || b.Lease.Owner != "" || b.Lease.Fence != a.Lease.Fence {
		t.Errorf("before %+v\nafter %+v", a, b)
	}
	clean(t, r)
	// A database that is open is left alone, one that is closed is replaced.
	err := sqlite.Restore(t.Context(), backup, to, sqlite.RestoreOptions{Overwrite: true})
	refused(t, err, thread.Conflict, "in use")
	bulk(t, r, key, 5)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := sqlite.Restore(t.Context(), backup, to, sqlite.RestoreOptions{Overwrite: true}); err != nil {
		t.Fatal(err)
	}
	again := open(t, to, sqlite.Options{})
	if st := state(t, again, "a"); st.Length != 100 || st.Epoch == b.Epoch {
		t.Errorf("restored again: %+v", st)
	}
	refused(t, sqlite.Restore(t.Context(), filepath.Join(t.TempDir(), "absent"), fresh(t), sqlite.RestoreOptions{}), thread.NotFound, "no database")
}

func TestRepairRebuildsWhatIsDerived(t *testing.T) {
	path := fresh(t)
	s := open(t, path, sqlite.Options{})
	key := create(t, s, "a")
	var d store.Draft
	for i := range 40 {
		n := said(i)
		if i%7 == 0 {
			n.Line = ""
		}
		d.Entries = append(d.Entries, n)
	}
	if _, err := s.Append(t.Context(), key, d); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Fork(t.Context(), state(t, s, "a"), 20, "f", "Fork"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), thread.Key{ID: "f"}, store.Draft{Entries: []store.New{said(1), said(2)}}); err != nil {
		t.Fatal(err)
	}
	if err := s.IndexNow(t.Context()); err != nil {
		t.Fatal(err)
	}
	clean(t, s)
	want := map[string]*thread.Thread{"a": state(t, s, "a"), "f": state(t, s, "f")}

	c, err := sqlite3.Open("file:" + path)
	if err != nil {
		t.Fatal(err)
	}
	for _, damage := range []string{
		`UPDATE threads SET tip = tip - 1, length = 7, backlog = 99, turn = 3, inbox = '[4]', cut = 2`,
		`UPDATE threads SET segments = '[{"first":0,"origin":"a","branch":3}]' WHERE id = 'f'`,
		`DELETE FROM due WHERE seq < 10`,
		`INSERT INTO due (thread, seq, level, branch, idx) VALUES (1, 2, 0, 0, 1)`,
		`UPDATE threads SET indexed = 3`,
		`UPDATE threads SET last = 1, fixed = 1, branch = 9`,
	} {
		if err := c.Exec(damage); err != nil {
			t.Fatal(err)
		}
		told := 0
		for range s.Check(t.Context()) {
			told++
		}
		if told == 0 {
			t.Errorf("check does not notice %s", damage)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Repair(t.Context()); err != nil {
		t.Fatal(err)
	}
	clean(t, s)
	for id, w := range want {
		if d := cmp.Diff(w, state(t, s, id)); d != "" {
			t.Errorf("%s was repaired to something else:\n%s", id, d)
		}
	}
	if _, err := s.Append(t.Context(), key, store.Draft{Entries: []store.New{said(1)}}); err != nil {
		t.Fatal(err)
	}
	clean(t, s)
}

func TestCheckNoticesWhatTheLogCannotSay(t *testing.T) {
	for name, damage := range map[string]string{
		"a hole in the log":         `DELETE FROM entries WHERE at & 4294967295 = 5`,
		"a wrong index":             `UPDATE entries SET idx = 77 WHERE at & 4294967295 = 5`,
		"a wrong predecessor":       `UPDATE entries SET prev = 1 WHERE at & 4294967295 = 5`,
		"another joined text":       `UPDATE entries SET line = 'X' || substr(line, 2) WHERE at & 4294967295 = 2`,
		"a line that is too long":   `UPDATE entries SET line = line || printf('%600s', 'x'), ends = NULL WHERE at & 4294967295 = 1`,
		"a parent without children": `INSERT INTO nodes (place, time, text, writer, version) VALUES ((1 << 37) | (4 << 32) | 16, 0, 'x', 'test', 0); UPDATE entries SET line = NULL, ends = NULL WHERE at & 4294967295 = 16`,
		"a node that ends nowhere":  `INSERT INTO nodes (place, time, text, writer, version) VALUES ((1 << 37) | (1 << 32) | 3, 0, 'x', 'test', 0)`,
		"another time of a node":    `INSERT INTO nodes (place, time, text, writer, version) VALUES ((1 << 37) | 4, 5, 'x', 'test', 0); UPDATE entries SET line = NULL, ends = NULL WHERE at & 4294967295 = 4`,
		"a stray document":          `INSERT INTO docs VALUES (99, 'x', '1')`,
		"other bytes of a blob":     `UPDATE blobs SET data = x'00'`,
		"a missing search term":     `DELETE FROM words WHERE rowid & 4294967295 = 4`,
		"a stray search term":       `INSERT INTO words (rowid, terms) VALUES ((1 << 32) + 99, 'x')`,
		"a lost key sum":            `UPDATE entries SET sum = NULL`,
	} {
		t.Run(name, func(t *testing.T) {
			path := fresh(t)
			s := open(t, path, sqlite.Options{})
			key := create(t, s, "a")
			bulk(t, s, key, 20)
			n := said(21)
			n.Key = "k"
			if _, err := s.Append(t.Context(), key, store.Draft{Entries: []store.New{n}}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.PutBlob(t.Context(), key, "x/y", []byte("abc")); err != nil {
				t.Fatal(err)
			}
			if err := s.IndexNow(t.Context()); err != nil {
				t.Fatal(err)
			}
			clean(t, s)
			c, err := sqlite3.Open("file:" + path)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if err := damageWith(c, damage); err != nil {
				t.Fatal(err)
			}
			told := 0
			for range s.Check(t.Context()) {
				told++
			}
			if told == 0 {
				t.Errorf("check does not notice %s", damage)
			}
			for range s.Check(t.Context()) {
				break // a reader who has seen enough
			}
		})
	}
}

func TestMessagesAreIndexedInTheBackground(t *testing.T) {
	s := open(t, fresh(t), sqlite.Options{})
	key := create(t, s, "a")
	bulk(t, s, key, 700)
	deadline := time.Now().Add(2 * time.Minute)
	for st := state(t, s, "a"); st.Indexed < st.Tip; st = state(t, s, "a") {
		if time.Now().After(deadline) {
			t.Fatalf("indexed up to %d of %d", st.Indexed, st.Tip)
		}
		time.Sleep(10 * time.Millisecond)
	}
	clean(t, s)
}

func TestAnEarlierProcessesMessagesAreIndexed(t *testing.T) {
	path := fresh(t)
	fillWith(t, path, 30)
	s := open(t, path, sqlite.Options{})
	if err := s.IndexNow(t.Context()); err != nil {
		t.Fatal(err)
	}
	if st := state(t, s, "a"); st.Indexed != 30 {
		t.Fatalf("indexed up to %d", st.Indexed)
	}
	clean(t, s)
}

func TestAThousandThreadsStaySmall(t *testing.T) {
	s := open(t, fresh(t), sqlite.Options{})
	before := heap()
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 125 {
				id := fmt.Sprint(w, "-", i)
				key := create(t, s, id)
				for j := range 4 {
					if _, err := s.Append(context.Background(), key, store.Draft{Entries: []store.New{said(j)}}); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	grown := heap() - before
	t.Logf("a thousand threads: %d KB more on the heap", grown>>10)
	if grown > 24<<20 {
		t.Errorf("a thousand threads take %d MB", grown>>20)
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestLargeBlobs(t *testing.T) {
	s := open(t, fresh(t), sqlite.Options{})
	key := create(t, s, "a")
	for _, size := range []int{0, 1 << 20, 1<<20 + 1, 40 << 20} {
		data := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
		hash, err := s.PutBlob(t.Context(), key, "x/y", data)
		if err != nil {
			t.Fatal(err)
		}
		_, got, err := s.Blob(t.Context(), key, hash)
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%d bytes came back as %d, %v", size, len(got), err)
		}
	}
	_, err := s.PutBlob(t.Context(), key, "x/y", make([]byte, 1<<29+1))
	refused(t, err, thread.Limit, "larger than")
	clean(t, s)
}

func TestNothingOfAPurgedMessageIsLeftInTheFile(t *testing.T) {
	path := fresh(t)
	s := open(t, path, sqlite.Options{})
	create(t, s, "kept")
	secret := create(t, s, "secret")
	bulk(t, s, thread.Key{ID: "kept"}, 300)
	n := said(0)
	n.Message.Parts[0].Text, n.Line = "the word is xylophagous", "ana: the word is xylophagous"
	if _, err := s.Append(t.Context(), secret, store.Draft{Entries: []store.New{n}}); err != nil {
		t.Fatal(err)
	}
	if err := s.IndexNow(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	if purged, err := s.Purge(t.Context(), time.Now().Add(time.Hour)); err != nil || purged != 1 {
		t.Fatal(purged, err)
	}
	clean(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"xylophag", "ylophag"} { // the index keeps what words have in common once
		if bytes.Contains(data, []byte(word)) {
			t.Errorf("the file still holds %q", word)
		}
	}
}
