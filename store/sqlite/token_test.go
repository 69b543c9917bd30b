package sqlite_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/store/sqlite"
	"github.com/skeinhq/skein/thread"
)

func TestTokensOutliveTheStore(t *testing.T) {
	path := fresh(t)
	want := store.Token{ID: "1", Name: "ana", Hash: strings.Repeat("a", 64), Scopes: []string{"read"}, Threads: []string{"x"}, Created: time.Unix(7, 0).UTC()}
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.PutToken(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	looking := open(t, path, sqlite.Options{ReadOnly: true})
	got, err := looking.Token(t.Context(), "", want.Hash)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	refused(t, looking.RevokeToken(t.Context(), "", "1"), thread.Permission, "read-only")
}

// A database of an older schema gets the table, and keeps what is in it.
func TestAnOlderDatabaseGetsTokens(t *testing.T) {
	path, lines := older(t, toSchema1, 20)
	execute(t, path, mustRead(t, "migrations/0002.sql")+`PRAGMA user_version = 2`)
	s := open(t, path, sqlite.Options{})
	sameLines(t, s, lines)
	if err := s.PutToken(t.Context(), store.Token{ID: "1", Name: "ana", Hash: strings.Repeat("a", 64)}); err != nil {
		t.Fatal(err)
	}
	clean(t, s)
}

func mustRead(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSpace(data)) + "\n"
}
