package sqlite_test

import (
	"fmt"
	"testing"

	"github.com/skeinhq/skein/internal/word"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/store/sqlite"
	"github.com/skeinhq/skein/thread"
)

// Repair says that nothing is indexed and empties the index. Had those been two
// writes, another store's indexer that came between them would have its words
// thrown away, and the messages count as indexed for ever.
func TestRepairWhileOthersIndexAndSay(t *testing.T) {
	path := fresh(t)
	s, other := open(t, path, sqlite.Options{}), open(t, path, sqlite.Options{})
	for i := range 4 {
		bulk(t, s, create(t, s, fmt.Sprint(i)), 120)
	}
	done := make(chan struct{})
	stopped := make(chan error, 2)
	go func() {
		for {
			select {
			case <-done:
				stopped <- nil
				return
			default:
			}
			if err := other.IndexNow(t.Context()); err != nil {
				stopped <- err
				return
			}
		}
	}()
	said1 := 0
	go func() {
		for {
			select {
			case <-done:
				stopped <- nil
				return
			default:
			}
			if _, err := s.Append(t.Context(), thread.Key{ID: "0"}, store.Draft{Entries: []store.New{said(said1)}}); err != nil {
				stopped <- err
				return
			}
			said1++
		}
	}()
	var failed error
	for i := 0; i < 12 && failed == nil; i++ {
		failed = s.Repair(t.Context())
	}
	close(done)
	for range 2 {
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	}
	if failed != nil {
		t.Fatal(failed)
	}
	if err := s.IndexNow(t.Context()); err != nil {
		t.Fatal(err)
	}
	clean(t, s)
	for i := range 4 {
		st := state(t, s, fmt.Sprint(i))
		want := 120
		if i == 0 {
			want += said1
		}
		f, err := s.Search(t.Context(), st, store.SearchQuery{Words: word.Query("studio")})
		if err != nil || len(f.Matches) != want || st.Indexed != st.Tip {
			t.Errorf("%d of %d messages are found, %v; indexed up to %d of %d", len(f.Matches), want, err, st.Indexed, st.Tip)
		}
	}
}

func TestSearchingGoesOnAfterACheck(t *testing.T) {
	s := open(t, fresh(t), sqlite.Options{Readers: 1})
	bulk(t, s, create(t, s, "a"), 100)
	if err := s.IndexNow(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		clean(t, s)
		f, err := s.Search(t.Context(), state(t, s, "a"), store.SearchQuery{Words: word.Query("studio")})
		if err != nil || len(f.Matches) != 100 {
			t.Fatalf("%d matches, %v", len(f.Matches), err)
		}
	}
}
