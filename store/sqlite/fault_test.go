package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/store/sqlite"
	"github.com/skeinhq/skein/thread"
)

func clean(t testing.TB, s store.Store) {
	t.Helper()
	for err := range s.Check(context.Background()) {
		t.Errorf("check: %v", err)
	}
}

// refused fails the test unless err has that code, and gives a way out.
func refused(t testing.TB, err error, code thread.Code, message string) {
	t.Helper()
	var e *thread.Error
	if !errors.As(err, &e) || e.Code != code || !strings.Contains(e.Error(), message) || e.Hint == "" {
		t.Fatalf("got error %v (code %q), want one with code %q, %q and a hint", err, thread.CodeOf(err), code, message)
	}
}

func state(t testing.TB, s store.Store, id string) *thread.Thread {
	t.Helper()
	v, err := s.Thread(context.Background(), "", id)
	if err != nil {
		t.Fatal(err)
	}
	return &v
}

func TestAPowerCutLosesNothingAcknowledged(t *testing.T) {
	lost := 0
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			lost += powerCut(t, rand.New(rand.NewPCG(seed, 1)))
		})
	}
	if lost == 0 {
		t.Error("no power cut lost anything, so nothing was tested")
	}
}

func powerCut(t *testing.T, rnd *rand.Rand) (lost int) {
	d, name := newDisk(t)
	s, err := sqlite.Open(t.Context(), fresh(t), sqlite.Options{VFS: name})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		create(t, s, fmt.Sprint(i))
	}
	var mu sync.Mutex
	acknowledged := map[string]thread.Entry{}
	var wg sync.WaitGroup
	for w := range 6 {
		wg.Go(func() {
			for i := 0; ; i++ {
				n := said(i)
				n.Key = fmt.Sprint(w, ".", i)
				if i%5 == 0 {
					n.Line = ""
				}
				got, err := s.Append(context.Background(), thread.Key{ID: fmt.Sprint(w % 3)}, store.Draft{Entries: []store.New{n}})
				if err != nil {
					return
				}
				mu.Lock()
				acknowledged[fmt.Sprint(w%3, "/", n.Key)] = got.Entries[0]
				mu.Unlock()
			}
		})
	}
	d.cutAfter(1 + rnd.IntN(400))
	wg.Wait()
	left := t.TempDir()
	lost = d.cut(t, rnd, left)
	_ = s.Close() // it cannot work any more

	after := open(t, filepath.Join(left, "skein.db"), sqlite.Options{})
	found := map[string]thread.Entry{}
	for i := range 3 {
		id := fmt.Sprint(i)
		for e, err := range after.Entries(t.Context(), state(t, after, id), store.EntriesQuery{}) {
			if err != nil {
				t.Fatal(err)
			}
			found[id+"/"+e.Key] = e
		}
	}
	for k, e := range acknowledged {
		if f, ok := found[k]; !ok || f.Seq != e.Seq || f.ID != e.ID || f.Message.PlainText() != e.Message.PlainText() {
			t.Errorf("acknowledged entry %s (seq %d) is lost: found %+v", k, e.Seq, f)
		}
	}
	clean(t, after)
	if _, err := after.Append(t.Context(), thread.Key{ID: "0"}, store.Draft{Entries: []store.New{said(1)}}); err != nil {
		t.Error(err)
	}
	return lost
}

func TestAFullDiskLeavesTheStoreUsable(t *testing.T) {
	d, name := newDisk(t)
	s := open(t, fresh(t), sqlite.Options{VFS: name})
	key := create(t, s, "a")
	for room := 0; room < 60_000; room += 1900 {
		d.fill(room)
		before := state(t, s, "a")
		var failed error
		for i := 0; failed == nil; i++ {
			before = state(t, s, "a")
			_, failed = s.Append(t.Context(), key, store.Draft{Entries: []store.New{said(i), said(i + 1)}})
		}
		refused(t, failed, thread.Storage, "disk is full")
		if errors.Is(failed, thread.ErrUnknownOutcome) {
			t.Fatalf("a full disk leaves no doubt: %v", failed)
		}
		if after := state(t, s, "a"); after.Tip != before.Tip || after.Length != before.Length {
			t.Fatalf("half a write was kept: %+v, then %+v", before, after)
		}
		d.fill(-1)
		w, err := s.Append(t.Context(), key, store.Draft{Entries: []store.New{said(1)}})
		if err != nil {
			t.Fatal(err)
		}
		if w.Entries[0].Seq != before.Tip+1 {
			t.Fatalf("after entry %d comes entry %d", before.Tip, w.Entries[0].Seq)
		}
	}
	clean(t, s)
}

func TestAWriteTooLargeForTheDiskFailsAlone(t *testing.T) {
	d, name := newDisk(t)
	s := open(t, fresh(t), sqlite.Options{VFS: name})
	key := create(t, s, "a")
	d.fill(1 << 20)
	var wg sync.WaitGroup
	errs := make([]error, 9)
	for w := range errs {
		wg.Go(func() {
			if w == 0 {
				_, errs[w] = s.PutBlob(t.Context(), key, "x/y", make([]byte, 2<<20))
				return
			}
			_, errs[w] = s.Append(t.Context(), key, store.Draft{Entries: []store.New{said(w)}})
		})
	}
	wg.Wait()
	refused(t, errs[0], thread.Storage, "disk is full")
	if err := errors.Join(errs[1:]...); err != nil {
		t.Fatalf("small writes failed with the large one: %v", err)
	}
	d.fill(-1)
	clean(t, s)
}

func TestACommitOfUnknownOutcomeSaysSo(t *testing.T) {
	d, name := newDisk(t)
	s := open(t, fresh(t), sqlite.Options{VFS: name})
	key := create(t, s, "a")
	n := said(0)
	n.Key = "k"
	d.fail("sync", sqlite3.IOERR_FSYNC)
	_, err := s.Append(t.Context(), key, store.Draft{Entries: []store.New{n}})
	refused(t, err, thread.Storage, "not known whether")
	if !errors.Is(err, thread.ErrUnknownOutcome) || !errors.Is(err, sqlite3.IOERR_FSYNC) {
		t.Fatalf("%v does not wrap its causes", err)
	}
	d.fail("sync", nil)
	first, err := s.Append(t.Context(), key, store.Draft{Entries: []store.New{n}})
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.Append(t.Context(), key, store.Draft{Entries: []store.New{n}})
	if err != nil || again.Fresh || again.Entries[0].Seq != first.Entries[0].Seq || first.Entries[0].Seq != 1 {
		t.Fatalf("first %+v, again %+v, %v", first.Entries, again.Entries, err)
	}
	clean(t, s)
}

func TestADiskThatCannotBeReadIsTold(t *testing.T) {
	path := fresh(t)
	fillWith(t, path, 2000)
	d, name := newDisk(t)
	s := open(t, path, sqlite.Options{VFS: name, Readers: 1})
	st := state(t, s, "a")
	d.fail("read", sqlite3.IOERR_READ)
	var failed error
	for _, err := range s.Messages(t.Context(), st, 0, st.Length) {
		failed = err
	}
	refused(t, failed, thread.Storage, "disk failed")
	d.fail("read", nil)
	n := 0
	for _, err := range s.Messages(t.Context(), st, 0, st.Length) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 2000 {
		t.Fatalf("%d messages", n)
	}
	clean(t, s)
}

// fillWith makes a closed database with one thread of n messages.
func fillWith(t testing.TB, path string, n int) {
	t.Helper()
	s, err := sqlite.Open(context.Background(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	bulk(t, s, create(t, s, "a"), n)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// bulk says n messages in large drafts.
func bulk(t testing.TB, s store.Store, key thread.Key, n int) {
	t.Helper()
	for i := 0; i < n; {
		var d store.Draft
		for ; len(d.Entries) < 1000 && i < n; i++ {
			d.Entries = append(d.Entries, said(i))
		}
		if _, err := s.Append(context.Background(), key, d); err != nil {
			t.Fatal(err)
		}
	}
}

func TestADamagedPageIsTold(t *testing.T) {
	path := fresh(t)
	fillWith(t, path, 2000)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 { // pages in the middle
		page := (len(data)/4096/2 + i) * 4096
		clear(data[page : page+4096])
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, path, sqlite.Options{})
	told := 0
	for err := range s.Check(t.Context()) {
		if thread.CodeOf(err) != thread.Storage {
			t.Errorf("check says %v", err)
		}
		told++
	}
	if told == 0 {
		t.Fatal("check found nothing")
	}
	st := state(t, s, "a")
	var failed error
	for _, err := range s.Messages(t.Context(), st, 0, st.Length) {
		failed = err
	}
	refused(t, failed, thread.Storage, "damaged")
}

func TestTwoStoresOnOneFile(t *testing.T) {
	path := fresh(t)
	a, b := open(t, path, sqlite.Options{}), open(t, path, sqlite.Options{})
	key := create(t, a, "a")
	before, err := a.Changed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for w, s := range []*sqlite.Store{a, b, a, b} {
		wg.Go(func() {
			for i := range 50 {
				if _, err := s.Append(t.Context(), key, store.Draft{Entries: []store.New{said(w*100 + i)}}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if after, err := a.Changed(t.Context()); err != nil || after == before {
		t.Errorf("the other store's writes were not noticed: %d, %v", after, err)
	}
	if st := state(t, a, "a"); st.Length != 200 || state(t, b, "a").Tip != st.Tip {
		t.Errorf("%d messages", st.Length)
	}
	l, err := a.Acquire(t.Context(), key, "a", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Acquire(t.Context(), key, "b", time.Minute); thread.CodeOf(err) != thread.Conflict {
		t.Fatalf("two owners: %+v, %v", l, err)
	}
	clean(t, a)
	clean(t, b)
}

// helper is set in the process that a test starts as a second one.
const helper = "SKEIN_TEST_DATABASE"

func TestSecondProcess(t *testing.T) {
	path := os.Getenv(helper)
	if path == "" {
		t.Skip("runs only as the second process of another test")
	}
	s := open(t, path, sqlite.Options{})
	for i := range 100 {
		if _, err := s.Append(t.Context(), thread.Key{ID: "a"}, store.Draft{Entries: []store.New{said(i)}}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTwoProcessesOnOneFile(t *testing.T) {
	path := fresh(t)
	s := open(t, path, sqlite.Options{})
	key := create(t, s, "a")
	other := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSecondProcess$", "-test.v")
	other.Env = append(os.Environ(), helper+"="+path)
	done := make(chan error, 1)
	var out []byte
	go func() {
		var err error
		out, err = other.CombinedOutput()
		done <- err
	}()
	said1 := 0
	for running := true; running; said1++ {
		if _, err := s.Append(t.Context(), key, store.Draft{Entries: []store.New{said(said1)}}); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-done:
			if err != nil {
				t.Fatalf("the second process failed: %v\n%s", err, out)
			}
			running = false
		default:
		}
	}
	if st := state(t, s, "a"); st.Length != int64(said1+100) {
		t.Errorf("%d messages, want %d", st.Length, said1+100)
	}
	clean(t, s)
}

func TestAnotherProcessesLockIsTold(t *testing.T) {
	path := fresh(t)
	s := open(t, path, sqlite.Options{Busy: 50 * time.Millisecond})
	key := create(t, s, "a")
	other, err := sqlite3.Open("file:" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := other.Exec(`BEGIN IMMEDIATE`); err != nil {
		t.Fatal(err)
	}
	_, err = s.Append(t.Context(), key, store.Draft{Entries: []store.New{said(0)}})
	refused(t, err, thread.Storage, "locked")
	if err := other.Exec(`ROLLBACK`); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), key, store.Draft{Entries: []store.New{said(0)}}); err != nil {
		t.Fatal(err)
	}
	clean(t, s)
}
