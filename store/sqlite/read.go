package sqlite

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/ncruces/go-sqlite3"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// page is how many entries are read at once, and pageBytes how many bytes of
// bodies: no connection is lent while a caller works on them.
const (
	page      = 256
	pageBytes = 4 << 20
)

// Thread reads a thread's state.
func (s *Store) Thread(ctx context.Context, space, id string) (t thread.Thread, err error) {
	err = s.readers.with(ctx, "thread", func(c *conn) error {
		h, err := readHead(c, "thread", thread.Key{Space: space, ID: id})
		if err == nil {
			t = h.Thread
		}
		return err
	})
	return t, err
}

func readHead(c *conn, op string, key thread.Key) (h *store.Head, err error) {
	_, err2 := c.one(`SELECT `+headColumns+` FROM threads WHERE space=? AND id=?`, []any{key.Space, key.ID}, func(s *sqlite3.Stmt) {
		h, err = scanHead(s)
	})
	switch {
	case err != nil:
		return nil, err
	case err2 != nil:
		return nil, err2
	case h == nil || h.Gone || key.Root != "" && key.Root != h.Root:
		return nil, store.NoThread(op, key.ID)
	}
	return h, nil
}

// numberOf is readHead where only the thread's number is needed.
func numberOf(c *conn, op string, key thread.Key) (row int64, err error) {
	found, err := c.one(`SELECT n FROM threads WHERE space=?1 AND id=?2 AND gone=0 AND ?3 IN ('', root)`,
		[]any{key.Space, key.ID, key.Root}, func(s *sqlite3.Stmt) { row = s.ColumnInt64(0) })
	if err == nil && !found {
		err = store.NoThread(op, key.ID)
	}
	return row, err
}

// Threads lists a space's threads, the last updated first.
func (s *Store) Threads(ctx context.Context, q store.ThreadsQuery) (out []thread.Thread, err error) {
	before := int64(1 << 62)
	if !q.Before.IsZero() {
		before = millis(store.Stamp(q.Before))
	}
	err = s.readers.with(ctx, "threads", func(c *conn) error {
		return c.query(`SELECT `+headColumns+` FROM threads
			WHERE space=?1 AND (updated, id) < (?2, ?3) AND gone=0 AND (deleted > 0) = ?4
			ORDER BY updated DESC, id DESC LIMIT ?5`,
			[]any{q.Space, before, q.BeforeID, q.Deleted, q.Most()}, func(r *sqlite3.Stmt) error {
				h, err := scanHead(r)
				if err == nil {
					out = append(out, h.Thread)
				}
				return err
			})
	})
	return out, err
}

// rowOf gives the number of a thread in t's lineage.
func rowOf(c *conn, t *thread.Thread, id string) (row int64, err error) {
	found, err := c.one(`SELECT n FROM threads WHERE space=? AND id=?`, []any{t.Space, id}, func(s *sqlite3.Stmt) { row = s.ColumnInt64(0) })
	if err == nil && !found {
		err = store.NoThread("read", id)
	}
	return row, err
}

// Entry reads one entry of t's log.
func (s *Store) Entry(ctx context.Context, t *thread.Thread, seq int64) (e thread.Entry, err error) {
	if seq < 1 || seq > t.Tip {
		return e, store.NoEntry("entry", t.ID, seq)
	}
	err = s.readers.snapshot(ctx, "entry", func(c *conn) error {
		row, err := rowOf(c, t, t.OriginAt(seq))
		if err != nil {
			return err
		}
		v, err := readEntry(c, t.ID, packed(row, seq))
		if err == nil {
			e = *v
		}
		return err
	})
	return e, err
}

// Entries reads t's log by seq.
func (s *Store) Entries(ctx context.Context, t *thread.Thread, q store.EntriesQuery) iter.Seq2[thread.Entry, error] {
	return func(yield func(thread.Entry, error) bool) {
		left := q.Limit
		for _, st := range q.Stretches(t) {
			for st.After < st.Upto {
				got, rest, err := s.stretch(ctx, t, q, st, left)
				if err != nil {
					yield(thread.Entry{}, err)
					return
				}
				for _, e := range got {
					if !yield(e, nil) {
						return
					}
					if left--; left == 0 {
						return
					}
				}
				st = rest
			}
		}
	}
}

var readStretch = map[bool]string{
	false: `SELECT ` + entryColumns + ` FROM entries WHERE at > ? AND at <= ? ORDER BY at LIMIT ?`,
	true:  `SELECT ` + entryColumns + ` FROM entries WHERE at > ? AND at <= ? ORDER BY at DESC LIMIT ?`,
}

// stretch reads a page of a stretch and gives what is left of it.
func (s *Store) stretch(ctx context.Context, t *thread.Thread, q store.EntriesQuery, st store.Stretch, want int) (out []thread.Entry, rest store.Stretch, err error) {
	err = s.readers.snapshot(ctx, "entries", func(c *conn) error {
		row, err := rowOf(c, t, st.Thread)
		if err != nil {
			return err
		}
		rest = store.Stretch{Thread: st.Thread, After: st.Upto, Upto: st.Upto} // nothing, unless the page is full
		n, bytes := 0, 0
		return c.query(readStretch[q.Newest], []any{packed(row, st.After), packed(row, st.Upto), page}, func(r *sqlite3.Stmt) error {
			e := scanBare(r)
			if q.Wants(t, st.Thread, &e) {
				body := r.ColumnRawText(8)
				if err := e.DecodeBody(body); err != nil {
					return damaged(t.ID, err)
				}
				out = append(out, e)
				bytes += len(body)
			}
			if n++; n == page || bytes > pageBytes || want > 0 && len(out) >= want {
				rest = left(q, st, e.Seq)
				return errEnough
			}
			return nil
		})
	})
	return out, rest, err
}

// left is what is left of a stretch after the entry at seq was read.
func left(q store.EntriesQuery, st store.Stretch, seq int64) store.Stretch {
	if q.Newest {
		st.Upto = seq - 1
	} else {
		st.After = seq
	}
	return st
}

// Messages reads active messages by index.
func (s *Store) Messages(ctx context.Context, t *thread.Thread, from, to int64) iter.Seq2[thread.Entry, error] {
	return func(yield func(thread.Entry, error) bool) {
		for _, run := range store.Runs(t, from, to) {
			for run.From < run.To {
				got, err := s.run(ctx, t, run)
				if err != nil {
					yield(thread.Entry{}, err)
					return
				}
				for _, e := range got {
					if !yield(e, nil) {
						return
					}
				}
				run.From += int64(len(got))
			}
		}
	}
}

const (
	selectRun       = `SELECT ` + entryColumns + ` FROM entries WHERE thread=? AND branch=? AND idx >= ? AND idx < ? ORDER BY idx LIMIT ?`
	selectRunPlaced = `SELECT ` + entryColumns + ` FROM entries WHERE at >= ? AND at < ? ORDER BY at LIMIT ?`
)

// run reads messages that follow each other on a branch, as many as fit in a page.
func (s *Store) run(ctx context.Context, t *thread.Thread, run store.Run) (out []thread.Entry, err error) {
	err = s.readers.snapshot(ctx, "messages", func(c *conn) error {
		row, err := rowOf(c, t, run.Origin)
		if err != nil {
			return err
		}
		b := branch{row, run.Branch}
		sql, args := selectRun, []any{row, run.Branch, run.From, run.To, page}
		seq, n := s.places.find(b, run.From)
		if n >= min(page, run.To-run.From) {
			sql, args = selectRunPlaced, []any{packed(row, seq), packed(row, seq+min(n, run.To-run.From)), page}
		}
		bytes := 0
		err = c.query(sql, args, func(r *sqlite3.Stmt) error {
			e, err := scanEntry(r)
			if err != nil {
				return err
			}
			if e.Branch != run.Branch || e.Index != run.From+int64(len(out)) {
				return damaged(t.ID, nil)
			}
			out = append(out, e)
			if bytes += len(r.ColumnRawText(8)); bytes > pageBytes {
				return errEnough
			}
			return nil
		})
		if err == nil && len(out) == 0 {
			err = damaged(t.ID, nil)
		}
		if err != nil || sql == selectRunPlaced {
			return err
		}
		first, last := out[0], out[len(out)-1]
		if last.Seq-first.Seq == last.Index-first.Index && len(out) > 1 {
			s.places.note(b, first.Index, last.Index, first.Seq-first.Index)
			return nil
		}
		return s.places.learn(c, b, first.Index, first.Seq)
	})
	return out, err
}

// Due lists the lines that are due on t's active path.
func (s *Store) Due(ctx context.Context, t *thread.Thread, limit int) (out []thread.Span, err error) {
	err = s.readers.snapshot(ctx, "due", func(c *conn) error {
		for _, st := range (store.EntriesQuery{}).Stretches(t) {
			row, err := rowOf(c, t, st.Thread)
			if err != nil {
				return err
			}
			err = c.query(`SELECT seq, level, branch, idx FROM due WHERE thread=? AND seq > ? AND seq <= ? ORDER BY seq, level`,
				[]any{row, st.After, st.Upto}, func(r *sqlite3.Stmt) error {
					if len(out) >= limit {
						return errEnough
					}
					if p := (store.Place{Level: r.ColumnInt(1), Index: r.ColumnInt64(3)}); t.Active(st.Thread, r.ColumnInt64(2), p.Index) {
						out = append(out, p.Span())
					}
					return nil
				})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// DueThreads lists the threads that have lines due.
func (s *Store) DueThreads(ctx context.Context, limit int) (out []thread.Key, err error) {
	err = s.readers.with(ctx, "due", func(c *conn) error {
		return c.query(`SELECT space, root, id FROM threads WHERE backlog > 0 AND gone = 0 AND deleted = 0 ORDER BY n LIMIT ?`,
			[]any{limit}, func(r *sqlite3.Stmt) error {
				out = append(out, thread.Key{Space: r.ColumnText(0), Root: r.ColumnText(1), ID: r.ColumnText(2)})
				return nil
			})
	})
	return out, err
}

// Doc reads a document.
func (s *Store) Doc(ctx context.Context, key thread.Key, name string) (data json.RawMessage, ok bool, err error) {
	err = s.readers.with(ctx, "doc", func(c *conn) error {
		row, err := numberOf(c, "doc", key)
		if err != nil {
			return err
		}
		data, ok, err = readDoc(c, row, name)
		return err
	})
	return data, ok, err
}

// changedReadOnly asks one connection that is kept for this alone: the figure
// means something only beside an earlier one of the same connection.
func (s *Store) changedReadOnly(ctx context.Context) (v int64, err error) {
	err = s.watch.with(ctx, "changed", func(c *conn) error {
		_, err := c.one(`PRAGMA data_version`, nil, func(r *sqlite3.Stmt) { v = r.ColumnInt64(0) })
		return err
	})
	return v, err
}
