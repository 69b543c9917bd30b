package sqlite

import (
	"context"
	"encoding/binary"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"github.com/skeinhq/skein/internal/word"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// Search finds the messages of t that hold any of the words. What is indexed is
// found through the index; what is not yet is read. See store.Rank for the
// scores, which are the same either way.
func (s *Store) Search(ctx context.Context, t *thread.Thread, q store.SearchQuery) (store.Found, error) {
	f := finding{t: t, q: q, words: q.Terms()}
	err := s.readers.snapshot(ctx, "search", func(c *conn) error {
		if len(f.words) == 0 {
			return nil
		}
		for _, st := range (store.EntriesQuery{Newest: true}).Stretches(t) {
			if err := f.stretch(c, st); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return store.Found{}, err
	}
	return store.Rank(t, q, f.found), nil
}

// finding collects matches, newest first.
type finding struct {
	t     *thread.Thread
	q     store.SearchQuery
	words []string
	found []store.Tally
}

func (f *finding) stretch(c *conn, st store.Stretch) error {
	var row, indexed int64
	found, err := c.one(`SELECT n, indexed FROM threads WHERE space=? AND id=?`, []any{f.t.Space, st.Thread}, func(r *sqlite3.Stmt) {
		row, indexed = r.ColumnInt64(0), r.ColumnInt64(1)
	})
	if err != nil {
		return err
	}
	if !found {
		return store.NoThread("search", st.Thread)
	}
	// The indexed part of an origin may end before the fork's part of it does.
	edge := min(max(indexed, st.After), st.Upto)
	if err := f.scan(c, st.Thread, row, edge, st.Upto); err != nil {
		return err
	}
	return f.match(c, st.Thread, row, st.After, edge)
}

// scan reads the messages that are not indexed.
func (f *finding) scan(c *conn, origin string, row, after, upto int64) error {
	return eachMessage(c, row, after, upto, func(e *thread.Entry, _ int64) error {
		terms := word.Message(e.Message)
		counts, ok := store.Count(f.words, terms)
		if !ok {
			return nil
		}
		return f.add(origin, e.Branch, store.Tally{
			Seq: e.Seq, Index: e.Index, Role: e.Message.Role, Author: e.Message.Author, Counts: counts, Length: len(terms),
		})
	})
}

// selectMatches reads the number of a message's terms where FTS5 keeps it: asked
// for it by tally, FTS5 would prepare a statement, for which the library leaves
// the C stack in disorder.
const selectMatches = `SELECT w.rowid, tally(words), e.branch, e.idx, e.role, e.author, d.sz
	FROM words w CROSS JOIN entries e ON e.at = w.rowid CROSS JOIN words_docsize d ON d.id = w.rowid
	WHERE words MATCH ? AND w.rowid > ? AND w.rowid <= ? ORDER BY w.rowid DESC`

// match asks the index.
func (f *finding) match(c *conn, origin string, row, after, upto int64) error {
	if after >= upto {
		return nil
	}
	either := `"` + strings.Join(f.words, `" OR "`) + `"`
	return c.query(selectMatches, []any{either, packed(row, after), packed(row, upto)}, func(r *sqlite3.Stmt) error {
		m := store.Tally{Seq: seqOf(r.ColumnInt64(0)), Index: thread.NoIndex, Role: thread.Role(r.ColumnText(4)), Author: r.ColumnText(5)}
		if r.ColumnType(3) != sqlite3.NULL {
			m.Index = r.ColumnInt64(3)
		}
		m.Length = varint(r.ColumnRawBlob(6))
		m.Counts = make([]int, len(f.words))
		raw := r.ColumnRawBlob(1)
		for i := range m.Counts {
			m.Counts[i] = int(binary.LittleEndian.Uint32(raw[4*i:]))
		}
		return f.add(origin, r.ColumnInt64(2), m)
	})
}

// add keeps a match, and ends the search once one more is found than is ranked.
func (f *finding) add(origin string, branch int64, m store.Tally) error {
	if len(f.found) > f.q.Most() {
		return errEnough
	}
	if !f.t.Active(origin, branch, m.Index) {
		if !f.q.Inactive {
			return nil
		}
		m.Index = thread.NoIndex
	}
	f.found = append(f.found, m)
	return nil
}
