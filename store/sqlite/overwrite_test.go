package sqlite_test

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/store/sqlite"
	"github.com/skeinhq/skein/thread"
)

// large makes a closed database with thread b, large enough that copying it
// takes a while.
func large(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "large.db")
	s := open(t, path, sqlite.Options{})
	key := create(t, s, "b")
	data := make([]byte, 48<<20)
	_, _ = rand.Read(data) // never fails
	if _, err := s.PutBlob(t.Context(), key, "x/y", data); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// begun waits until the copy beside a database has been begun.
func begun(t *testing.T, path string) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
		if found, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".skein-*")); found != nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("no copy is begun")
		}
	}
}

func TestNobodyWritesToADatabaseThatIsBeingOverwritten(t *testing.T) {
	backup, path := large(t), fresh(t)
	fillWith(t, path, 3)
	done := make(chan error, 1)
	go func() {
		done <- sqlite.Restore(context.Background(), backup, path, sqlite.RestoreOptions{Overwrite: true})
	}()
	begun(t, path)
	_, err := sqlite.Open(t.Context(), path, sqlite.Options{Busy: time.Millisecond})
	refused(t, err, thread.Storage, "locked")
	s := open(t, path, sqlite.Options{Busy: time.Minute}) // waits
	key := thread.Key{ID: "c"}
	if _, err := s.Create(t.Context(), store.NewThread{Key: key}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), key, store.Draft{Entries: []store.New{said(0)}}); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, sqlite.Options{})
	if st := state(t, s, "c"); st.Length != 1 {
		t.Errorf("%d messages", st.Length)
	}
	state(t, s, "b")
	clean(t, s)
}

func TestADatabaseMadeWhileAnotherIsRestoredThereStays(t *testing.T) {
	backup, path := large(t), fresh(t)
	done := make(chan error, 1)
	go func() { done <- sqlite.Restore(context.Background(), backup, path, sqlite.RestoreOptions{}) }()
	begun(t, path)
	s := open(t, path, sqlite.Options{})
	create(t, s, "c")
	refused(t, <-done, thread.Conflict, "already")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, sqlite.Options{})
	state(t, s, "c")
	clean(t, s)
}

func TestARestoreFollowsALink(t *testing.T) {
	backup := fresh(t)
	fillWith(t, backup, 5)
	for name, there := range map[string]bool{"to a database": true, "to nothing": false} {
		t.Run(name, func(t *testing.T) {
			target, link := fresh(t), filepath.Join(t.TempDir(), "link.db")
			if there {
				fillWith(t, target, 1)
			}
			if err := os.Symlink(target, link); err != nil {
				t.Skip(err)
			}
			if err := sqlite.Restore(t.Context(), backup, link, sqlite.RestoreOptions{Overwrite: true}); err != nil {
				t.Fatal(err)
			}
			if to, err := os.Readlink(link); err != nil || to != target {
				t.Errorf("the link is gone: %q, %v", to, err)
			}
			if st := state(t, open(t, target, sqlite.Options{}), "a"); st.Length != 5 {
				t.Errorf("the target has %d messages", st.Length)
			}
		})
	}
}

func TestWhatIsOverwrittenNeedNotBeADatabase(t *testing.T) {
	backup := fresh(t)
	fillWith(t, backup, 5)
	damaged, err := os.ReadFile(backup)
	if err != nil {
		t.Fatal(err)
	}
	for at := 4096; at < len(damaged); at += 4096 {
		clear(damaged[at : at+2000])
	}
	for name, data := range map[string][]byte{"text": []byte("no database at all"), "nothing": nil, "damage": damaged} {
		t.Run(name, func(t *testing.T) {
			path := fresh(t)
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := sqlite.Restore(t.Context(), backup, path, sqlite.RestoreOptions{Overwrite: true}); err != nil {
				t.Fatal(err)
			}
			s := open(t, path, sqlite.Options{})
			if st := state(t, s, "a"); st.Length != 5 {
				t.Errorf("%d messages", st.Length)
			}
			clean(t, s)
		})
	}
}

func TestAFailedRestoreLeavesWhatWasThere(t *testing.T) {
	path, backup := fresh(t), fresh(t)
	fillWith(t, path, 5)
	if err := os.WriteFile(backup, []byte("no database at all"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, sqlite.Restore(t.Context(), backup, path, sqlite.RestoreOptions{Overwrite: true}), thread.Storage, "not a database")
	refused(t, sqlite.Restore(t.Context(), path, path, sqlite.RestoreOptions{Overwrite: true}), thread.Invalid, "same file")
	s := open(t, path, sqlite.Options{})
	if st := state(t, s, "a"); st.Length != 5 {
		t.Errorf("%d messages", st.Length)
	}
	clean(t, s)
}
