package sqlite

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// tx is the transaction of a group of writes. Only the writer's goroutine uses
// it.
type tx struct {
	c     *conn
	cache *cache
	wrote bool // something was changed since it was last set to false
}

var _ store.Tx = (*tx)(nil)

func (x *tx) exec(sql string, args ...any) error {
	x.wrote = true
	return x.c.exec(sql, args...)
}

func (x *tx) Head(space, id string) (*store.Head, error) {
	if h := x.cache.get(space, id); h != nil {
		return h, nil
	}
	return x.load(`SELECT `+headColumns+` FROM threads WHERE space=? AND id=?`, space, id)
}

func (x *tx) load(sql string, args ...any) (h *store.Head, err error) {
	_, err2 := x.c.one(sql, args, func(s *sqlite3.Stmt) { h, err = scanHead(s) })
	if err == nil {
		err = err2
	}
	if err != nil || h == nil {
		return nil, err
	}
	return x.cache.put(h), nil
}

func (x *tx) Family(space, root string) ([]*store.Head, error) {
	var ids []string
	err := x.c.query(`SELECT id FROM threads WHERE space=? AND root=? ORDER BY n`, []any{space, root}, func(s *sqlite3.Stmt) error {
		ids = append(ids, s.ColumnText(0))
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]*store.Head, len(ids))
	for i, id := range ids {
		if out[i], err = x.Head(space, id); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (x *tx) Insert(h *store.Head) error {
	segments, err := column(h.Segments)
	if err != nil {
		return err
	}
	lineage, err := column(h.Lineage)
	if err != nil {
		return err
	}
	inbox, err := column(h.Inbox)
	if err != nil {
		return err
	}
	err = x.exec(insertHead, h.Space, h.Root, h.ID, h.Title, optional(h.Meta), h.Created, h.Updated, h.Deleted, h.Gone, h.Epoch,
		segments, lineage, h.Shared, h.Tip, h.Fixed, h.Last, h.Length, h.Branch, h.Cut, h.Cuts, h.Turn, inbox, h.Parked,
		h.Backlog, h.Indexed, h.Lease.Owner, h.Lease.Fence, h.Lease.Until)
	if err != nil {
		return err
	}
	if h.Row = x.c.LastInsertRowID(); h.Row > mostThreads {
		return &thread.Error{Code: thread.Limit, Op: "create", Thread: h.ID, Message: "the database has had as many threads as it can hold", Hint: "go on in another database"}
	}
	h.Meta = slices.Clone(h.Meta)
	x.cache.put(h)
	return nil
}

func (x *tx) Touch(h *store.Head) {
	x.wrote = true
	x.cache.touch(h)
}

// flush writes the rows of the threads that were touched.
func (x *tx) flush() error {
	for _, k := range x.cache.dirty {
		if k.removed {
			continue
		}
		if err := x.update(k); err != nil {
			return err
		}
	}
	return nil
}

func (x *tx) update(k *kept) error {
	h := k.Head
	inbox, err := column(h.Inbox)
	if err != nil {
		return err
	}
	err = x.c.exec(updateHot, h.Row, h.Updated, h.Tip, h.Fixed, h.Last, h.Length, h.Cut, h.Cuts, h.Turn,
		inbox, h.Parked, h.Backlog, h.Indexed, h.Lease.Owner, h.Lease.Fence, h.Lease.Until)
	if err != nil || !k.cold() {
		return err
	}
	segments, err := column(h.Segments)
	if err != nil {
		return err
	}
	return x.c.exec(updateCold, h.Row, h.Title, h.Deleted, h.Gone, segments, h.Shared, h.Branch, h.Epoch, optional(h.Meta))
}

func (x *tx) Trim(h *store.Head, upto int64, limit int) (int64, error) {
	var low int64
	_, err := x.c.one(`SELECT min(at) FROM (SELECT at FROM entries WHERE at > ? AND at <= ? ORDER BY at DESC LIMIT ?)`,
		[]any{packed(h.Row, upto), packed(h.Row, h.Tip), limit}, func(s *sqlite3.Stmt) { low = s.ColumnInt64(0) })
	if err != nil {
		return 0, err
	}
	if low == 0 { // nothing is left to remove
		return upto, nil
	}
	for _, sql := range []string{
		`DELETE FROM words WHERE rowid >= ? AND rowid <= ?`,
		`DELETE FROM entries WHERE at >= ? AND at <= ?`,
	} {
		if err := x.exec(sql, low, packed(h.Row, h.Tip)); err != nil {
			return 0, err
		}
	}
	for level := range mostLevel + 1 {
		if err := x.exec(`DELETE FROM nodes WHERE place >= ? AND place <= ?`, packedNode(h.Row, seqOf(low), level), packedNode(h.Row, 1<<32-1, level)); err != nil {
			return 0, err
		}
	}
	for _, sql := range []string{
		`DELETE FROM nodes_2 WHERE at >= ((?1 << 37) | (?2 << 5)) AND at < ((?1 + 1) << 37)`,
		`DELETE FROM nodes_1 WHERE thread = ? AND seq >= ?`,
		`DELETE FROM due WHERE thread = ? AND seq >= ?`,
	} {
		if err := x.exec(sql, h.Row, seqOf(low)); err != nil {
			return 0, err
		}
	}
	return seqOf(low) - 1, nil
}

func (x *tx) Remove(h *store.Head, last bool) error {
	x.cache.remove(h)
	if err := x.exec(`DELETE FROM threads WHERE n = ?`, h.Row); err != nil || !last {
		return err
	}
	return x.exec(`DELETE FROM blobs WHERE space = ? AND root = ?`, h.Space, h.Root)
}

func (x *tx) Keyed(h *store.Head, key string) (e *thread.Entry, sum []byte, err error) {
	_, err2 := x.c.one(`SELECT `+entryColumns+`, sum FROM entries WHERE thread=? AND key=?`, []any{h.Row, key}, func(s *sqlite3.Stmt) {
		var v thread.Entry
		v, err = scanEntry(s)
		e, sum = &v, s.ColumnBlob(9, nil)
	})
	if err == nil {
		err = err2
	}
	return e, sum, err
}

func (x *tx) Entry(h *store.Head, seq int64) (*thread.Entry, error) {
	return readEntry(x.c, h.ID, packed(h.Row, seq))
}

func readEntry(c *conn, id string, at int64) (*thread.Entry, error) {
	var e thread.Entry
	var err error
	found, err2 := c.one(`SELECT `+entryColumns+` FROM entries WHERE at=?`, []any{at}, func(s *sqlite3.Stmt) { e, err = scanEntry(s) })
	switch {
	case err != nil:
		return nil, err
	case err2 != nil:
		return nil, err2
	case !found:
		return nil, store.NoEntry("entry", id, seqOf(at))
	}
	return &e, nil
}

func (x *tx) At(h *store.Head, branch, index int64) (seq int64, when time.Time, err error) {
	_, err = x.c.one(`SELECT at, time FROM entries WHERE thread=? AND branch=? AND idx=?`, []any{h.Row, branch, index}, func(s *sqlite3.Stmt) {
		seq, when = seqOf(s.ColumnInt64(0)), timeOf(s.ColumnInt64(1))
	})
	return seq, when, err
}

func (x *tx) Node(h *store.Head, seq int64, level int) (text string, ok bool, err error) {
	_, err = x.c.one(`SELECT line, ends FROM entries WHERE at=?`, []any{packed(h.Row, seq)}, func(s *sqlite3.Stmt) {
		text, ok = lineAt(s.ColumnText(0), s.ColumnText(1), level)
	})
	if err != nil || ok {
		return text, ok, err
	}
	ok, err = x.c.one(`SELECT text FROM nodes WHERE place=?`, []any{packedNode(h.Row, seq, level)}, func(s *sqlite3.Stmt) { text = s.ColumnText(0) })
	if err != nil || ok {
		return text, ok, err
	}
	ok, err = x.c.one(selectUnmoved, []any{h.Row, seq, level}, func(s *sqlite3.Stmt) { text = s.ColumnText(0) })
	return text, ok, err
}

func (x *tx) LastCut(h *store.Head, upto int64) (e *thread.Entry, err error) {
	_, err2 := x.c.one(`SELECT `+entryColumns+` FROM entries WHERE kind='cut' AND at > ? AND at <= ? ORDER BY at DESC LIMIT 1`,
		[]any{packed(h.Row, 0), packed(h.Row, upto)}, func(s *sqlite3.Stmt) {
			var v thread.Entry
			v, err = scanEntry(s)
			e = &v
		})
	if err == nil {
		err = err2
	}
	return e, err
}

func (x *tx) Dues(h *store.Head, after, upto int64) (out []store.Place, err error) {
	err = x.c.query(`SELECT seq, level, branch, idx FROM due WHERE thread=? AND seq > ? AND seq <= ? ORDER BY seq, level`,
		[]any{h.Row, after, upto}, func(s *sqlite3.Stmt) error {
			out = append(out, store.Place{Head: h, Seq: s.ColumnInt64(0), Level: s.ColumnInt(1), Branch: s.ColumnInt64(2), Index: s.ColumnInt64(3)})
			return nil
		})
	return out, err
}

func (x *tx) PutEntry(h *store.Head, p *store.Placed) error {
	e := &p.Entry
	role, author := messageOf(e)
	var index any
	if p.Index {
		index = e.Index
	}
	line, ends := foldLines(p.Lines)
	return x.exec(insertEntry, packed(h.Row, e.Seq), h.Row, string(e.Kind), e.Branch, index, e.Prev, e.ID, e.Time,
		optional(e.Key), p.Sum, optional(role), optional(author), line, ends, rawText(p.Body))
}

func (x *tx) PutNode(p store.Place, n thread.Node) error {
	var usage any
	if n.Usage != nil {
		data, err := thread.Encode(n.Usage)
		if err != nil {
			return err
		}
		usage = rawText(data)
	}
	return x.exec(`INSERT INTO nodes (place, time, text, writer, version, usage) VALUES (?,?,?,?,?,?)`,
		packedNode(p.Head.Row, p.Seq, p.Level), n.Time, n.Text, n.By, n.Version, usage)
}

func (x *tx) PutDue(p store.Place) (bool, error) {
	err := x.exec(`INSERT OR IGNORE INTO due (thread, seq, level, branch, idx) VALUES (?,?,?,?,?)`, p.Head.Row, p.Seq, p.Level, p.Branch, p.Index)
	return x.c.Changes() > 0, err
}

func (x *tx) DropDue(p store.Place) (bool, error) {
	err := x.exec(`DELETE FROM due WHERE thread=? AND seq=? AND level=?`, p.Head.Row, p.Seq, p.Level)
	return x.c.Changes() > 0, err
}

func (x *tx) PutDoc(h *store.Head, d thread.Doc) error {
	if len(d.Data) == 0 {
		return x.exec(`DELETE FROM docs WHERE thread=? AND name=?`, h.Row, d.Name)
	}
	return x.exec(`INSERT INTO docs (thread, name, data) VALUES (?,?,?) ON CONFLICT DO UPDATE SET data=excluded.data`, h.Row, d.Name, rawText(d.Data))
}

func (x *tx) Doc(h *store.Head, name string) (json.RawMessage, error) {
	data, _, err := readDoc(x.c, h.Row, name)
	return data, err
}

func readDoc(c *conn, row int64, name string) (data json.RawMessage, ok bool, err error) {
	ok, err = c.one(`SELECT data FROM docs WHERE thread=? AND name=?`, []any{row, name}, func(s *sqlite3.Stmt) {
		data = append(data, s.ColumnRawText(0)...)
	})
	return data, ok, err
}
