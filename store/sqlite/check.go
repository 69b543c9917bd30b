package sqlite

import (
	"context"
	"fmt"
	"iter"

	"github.com/ncruces/go-sqlite3"

	"github.com/skeinhq/skein/internal/word"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// Check streams every violation that it finds, as of one moment, while others go
// on writing.
func (s *Store) Check(ctx context.Context) iter.Seq[error] {
	return func(yield func(error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		more := true
		tell := func(err error) {
			if more && !yield(err) {
				more = false
				cancel()
			}
		}
		// After an integrity check of the search index the library's connection
		// breaks down in the next search.
		err := s.readers.apart(ctx, "check", func(c *conn) error {
			k := checking{c: c, tell: tell}
			return k.all(ctx)
		})
		if err != nil && more {
			yield(err)
		}
	}
}

type checking struct {
	c    *conn
	tell func(error)
}

func (k *checking) flaw(id, format string, args ...any) {
	k.tell(&thread.Error{Code: thread.Storage, Op: "check", Thread: id, Message: fmt.Sprintf(format, args...), Hint: "run skein doctor --repair"})
}

func (k *checking) all(ctx context.Context) error {
	if err := k.integrity(); err != nil {
		return err
	}
	all, err := heads(k.c)
	if err != nil {
		return err
	}
	ev := evidence{k.c}
	for _, family := range store.Families(all) {
		if err := store.Audit(ctx, ev, family, k.tell); err != nil {
			return err
		}
	}
	for _, h := range all {
		if err := k.words(h); err != nil {
			return err
		}
	}
	if err := k.strays(); err != nil {
		return err
	}
	if err := k.times(); err != nil {
		return err
	}
	return k.blobs()
}

// integrity lets SQLite look at its own structures, the search index included.
func (k *checking) integrity() error {
	return k.c.query(`PRAGMA integrity_check`, nil, func(r *sqlite3.Stmt) error {
		if text := r.ColumnText(0); text != "ok" {
			k.tell(&thread.Error{Code: thread.Storage, Op: "check", Message: "the database is damaged: " + text, Hint: "restore it from a backup"})
		}
		return nil
	})
}

func heads(c *conn) (out []*store.Head, err error) {
	err = c.query(`SELECT `+headColumns+` FROM threads ORDER BY n`, nil, func(r *sqlite3.Stmt) error {
		h, err := scanHead(r)
		out = append(out, h)
		return err
	})
	return out, err
}

// words compares the search index with the entries.
func (k *checking) words(h *store.Head) error {
	sizes := map[int64]int{}
	err := k.c.query(`SELECT id, sz FROM words_docsize WHERE id > ? AND id <= ?`, []any{packed(h.Row, 0), packed(h.Row, 1<<32-1)}, func(r *sqlite3.Stmt) error {
		sizes[r.ColumnInt64(0)] = varint(r.ColumnRawBlob(1))
		return nil
	})
	if err != nil {
		return err
	}
	err = eachMessage(k.c, h.Row, 0, min(h.Indexed, h.Tip), func(e *thread.Entry, at int64) error {
		want := len(word.Message(e.Message))
		if has := sizes[at]; has != want {
			k.flaw(h.ID, "thread %s: the search index has %d words of entry %d, but should have %d", h.ID, has, e.Seq, want)
		}
		delete(sizes, at)
		return nil
	})
	for at := range sizes {
		k.flaw(h.ID, "thread %s: the search index has words of entry %d, which has none", h.ID, seqOf(at))
	}
	return err
}

// varint reads a number as FTS5 writes it: seven bits a byte, the highest first.
func varint(b []byte) (n int) {
	for _, c := range b {
		n = n<<7 | int(c&0x7f)
		if c < 0x80 {
			break
		}
	}
	return n
}

// strays finds rows that belong to no thread.
func (k *checking) strays() error {
	for table, sql := range map[string]string{
		"entries": `SELECT count(*) FROM entries WHERE thread NOT IN (SELECT n FROM threads) OR thread <> at >> 32`,
		"nodes":   `SELECT count(*) FROM nodes WHERE place >> 37 NOT IN (SELECT n FROM threads)`,
		"nodes_2": `SELECT count(*) FROM nodes_2 WHERE at >> 37 NOT IN (SELECT n FROM threads)`,
		"nodes_1": `SELECT count(*) FROM nodes_1 WHERE thread NOT IN (SELECT n FROM threads)`,
		"due":     `SELECT count(*) FROM due WHERE thread NOT IN (SELECT n FROM threads)`,
		"docs":    `SELECT count(*) FROM docs WHERE thread NOT IN (SELECT n FROM threads WHERE gone = 0)`,
		"words":   `SELECT count(*) FROM words_docsize WHERE id >> 32 NOT IN (SELECT n FROM threads)`,
		"blobs":   `SELECT count(*) FROM blobs b WHERE NOT EXISTS (SELECT 1 FROM threads t WHERE t.space = b.space AND t.root = b.root)`,
	} {
		_, err := k.c.one(sql, nil, func(r *sqlite3.Stmt) {
			if n := r.ColumnInt(0); n > 0 {
				k.flaw("", "%d rows of %s belong to no thread", n, table)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// messageOfNode is the key of the message that a node ends with.
const messageOfNode = `(((nodes.place >> 37) << 32) | (nodes.place & 4294967295))`

// times finds nodes that say another time than their message, which Repair sets
// right.
func (k *checking) times() error {
	_, err := k.c.one(`SELECT count(*) FROM nodes JOIN entries e ON e.at = `+messageOfNode+` WHERE nodes.time <> e.time`, nil, func(r *sqlite3.Stmt) {
		if n := r.ColumnInt(0); n > 0 {
			k.flaw("", "%d nodes have another time than the message they end with", n)
		}
	})
	return err
}

func (k *checking) blobs() error {
	hashes := map[int64]string{}
	err := k.c.query(`SELECT n, hash FROM blobs`, nil, func(r *sqlite3.Stmt) error {
		hashes[r.ColumnInt64(0)] = r.ColumnText(1)
		return nil
	})
	if err != nil {
		return err
	}
	for row, hash := range hashes {
		data, err := readBlob(k.c, row)
		if err != nil {
			return err
		}
		if store.Hash(data) != hash {
			k.tell(&thread.Error{Code: thread.Storage, Op: "check", Message: "the blob " + hash + " has other bytes", Hint: "restore it from a backup"})
		}
	}
	return nil
}

// evidence is the database inside a transaction.
type evidence struct{ c *conn }

func (v evidence) Log(_ context.Context, h *store.Head) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		err := v.c.query(`SELECT `+entryColumns+`, sum, line, ends FROM entries WHERE at > ? AND at <= ? ORDER BY at`,
			[]any{packed(h.Row, 0), packed(h.Row, 1<<32-1)}, func(r *sqlite3.Stmt) error {
				e, err := scanEntry(r)
				if err != nil {
					return err
				}
				rec := store.Record{Entry: e, Lines: unfoldLines(r.ColumnText(10), r.ColumnText(11))}
				if r.ColumnType(9) != sqlite3.NULL {
					rec.Sum = r.ColumnBlob(9, []byte{})
				}
				if !yield(rec, nil) {
					return errEnough
				}
				return nil
			})
		if err != nil {
			yield(store.Record{}, err)
		}
	}
}

// selectNodes are the nodes that end with a thread's own messages.
var selectNodes = []string{
	`SELECT place & 4294967295, (place >> 32) & 31, text, writer FROM nodes WHERE place >= ?1 << 37 AND place <= ((?1 << 37) | 137438953471) ORDER BY place`,
	`SELECT (at >> 5) & 4294967295, at & 31, text, writer FROM nodes_2 WHERE at >= ?1 << 37 AND at <= ((?1 << 37) | 137438953471) ORDER BY at`,
	`SELECT seq, level, text, writer FROM nodes_1 WHERE thread = ?1 ORDER BY seq, level`,
}

func (v evidence) Nodes(_ context.Context, h *store.Head) iter.Seq2[store.NodeRecord, error] {
	return func(yield func(store.NodeRecord, error) bool) {
		more := true
		for _, sql := range selectNodes {
			err := v.c.query(sql, []any{h.Row}, func(r *sqlite3.Stmt) error {
				n := store.NodeRecord{Seq: r.ColumnInt64(0), Level: r.ColumnInt(1), Text: r.ColumnText(2), By: r.ColumnText(3)}
				if more = yield(n, nil); !more {
					return errEnough
				}
				return nil
			})
			if err != nil {
				yield(store.NodeRecord{}, err)
				return
			}
			if !more {
				return
			}
		}
	}
}

func (v evidence) Text(_ context.Context, h *store.Head, seq int64, level int) (string, bool, error) {
	return (&tx{c: v.c}).Node(h, seq, level)
}

func (v evidence) Dues(_ context.Context, h *store.Head) ([]store.Place, error) {
	return (&tx{c: v.c}).Dues(h, 0, 1<<32-1)
}
