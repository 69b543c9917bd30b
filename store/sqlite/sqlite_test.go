package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/store/memory"
	"github.com/skeinhq/skein/store/sqlite"
	"github.com/skeinhq/skein/store/storetest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if made.dir != "" {
			os.RemoveAll(made.dir)
		}
		os.Exit(code)
	}))
}

// open opens a database in the test's folder and closes it at the end.
func open(t testing.TB, path string, o sqlite.Options) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func fresh(t testing.TB) string { return filepath.Join(t.TempDir(), "skein.db") }

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T, now func() time.Time) store.Store {
		return open(t, fresh(t), sqlite.Options{Now: now})
	})
}

func TestStoreDoesWhatTheModelDoes(t *testing.T) {
	dir := t.TempDir()
	n := 0
	var path string
	var options sqlite.Options
	storetest.Compare(t,
		func(now func() time.Time) (store.Store, error) {
			n++
			path, options = filepath.Join(dir, fmt.Sprint(n), "skein.db"), sqlite.Options{Now: now}
			return sqlite.Open(t.Context(), path, options)
		},
		func(now func() time.Time) (store.Store, error) { return memory.New(memory.Options{Now: now}), nil },
		func(s store.Store, how int) (store.Store, error) {
			if how < 5 {
				return s, s.(*sqlite.Store).IndexNow(t.Context())
			}
			if err := s.Close(); err != nil {
				return s, err
			}
			return sqlite.Open(t.Context(), path, options)
		},
	)
}
