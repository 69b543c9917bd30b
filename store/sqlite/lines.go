package sqlite

import (
	"context"
	"encoding/json"

	"github.com/ncruces/go-sqlite3"

	"github.com/skeinhq/skein/thread"
)

// Nodes reads the nodes of those spans.
func (s *Store) Nodes(ctx context.Context, t *thread.Thread, spans []thread.Span) (out []thread.Node, err error) {
	some := s.unmoved.Load() // as of before the snapshot, or what it sees there may be moved by now
	err = s.readers.snapshot(ctx, "nodes", func(c *conn) error {
		r := lines{c: c, places: s.places, unmoved: some}
		rows := map[string]int64{}
		for len(spans) > 0 {
			span := spans[0]
			if !span.Valid() || span.End() > t.Length {
				spans = spans[1:]
				continue
			}
			seg, end := t.SegmentAt(span.Last())
			row, ok := rows[seg.Origin]
			if !ok {
				if row, err = rowOf(c, t, seg.Origin); err != nil {
					return err
				}
				rows[seg.Origin] = row
			}
			n, err := r.read(branch{row, seg.Branch}, spans, end)
			if err != nil {
				return err
			}
			spans = spans[n:]
		}
		out = r.out
		return nil
	})
	return out, err
}

// lines reads nodes on a connection.
type lines struct {
	c       *conn
	places  *places
	unmoved bool // some may lie where an older schema kept them
	out     []thread.Node
}

// read reads the first of the spans, of which the last message lies on a branch,
// and with it those after it that are found in one go. It says how many they are.
func (r *lines) read(b branch, spans []thread.Span, end int64) (n int, err error) {
	last := spans[0].Last()
	seq, known := r.places.find(b, last)
	if known == 0 {
		return 1, r.lookUp(b, spans[0])
	}
	n = alike(spans, min(end, last+known))
	nodes, err := r.stretch(b.row, seq, spans[:n])
	if err != nil {
		return n, err
	}
	for _, node := range nodes {
		if err := r.add(b.row, node); err != nil {
			return n, err
		}
	}
	return n, nil
}

// alike says how many spans of one width follow each other, and end before an index.
func alike(spans []thread.Span, end int64) int {
	n := 1
	for n < len(spans) && spans[n].N == spans[0].N && spans[n].ID == spans[n-1].End() && spans[n].End() <= end {
		n++
	}
	return n
}

// add takes a node that was found, or one that may lie where an older schema kept
// it.
func (r *lines) add(row int64, n found) (err error) {
	if !n.ok && r.unmoved {
		_, err2 := r.c.one(selectUnmoved, []any{row, n.Seq, n.Span.Level()}, func(s *sqlite3.Stmt) { n.ok, err = scanText(s, 0, &n.Node) })
		if err == nil {
			err = err2
		}
	}
	if n.ok {
		r.out = append(r.out, n.Node)
	}
	return err
}

// found is a node, of which ok says that it is there.
type found struct {
	thread.Node
	ok bool
}

// stretch reads the nodes of spans of one width that follow each other, the first
// of which ends with the entry seq; only messages lie in between. What a message
// says itself is looked for in its own row first, a wider line there last: that row
// is on a page of its own.
func (r *lines) stretch(row, seq int64, spans []thread.Span) ([]found, error) {
	out := make([]found, len(spans))
	for i, s := range spans {
		out[i].Node = thread.Node{Span: s, Seq: seq + int64(i)*s.N}
	}
	first, then := r.built, r.said
	if spans[0].N == 1 {
		first, then = r.said, r.built
	}
	if err := first(row, out); err != nil {
		return nil, err
	}
	return out, then(row, out)
}

const selectBuilt = `SELECT place, time, text, writer, version, usage FROM nodes WHERE place >= ? AND place <= ? ORDER BY place`

// built reads the nodes that are not found yet and were built.
func (r *lines) built(row int64, all []found) error {
	from, to := wanting(all)
	if from == to {
		return nil
	}
	level := all[0].Span.Level()
	return r.c.query(selectBuilt, []any{packedNode(row, all[from].Seq, level), packedNode(row, all[to-1].Seq, level)}, func(s *sqlite3.Stmt) (err error) {
		n := at(all, seqOf(s.ColumnInt64(0)))
		if n == nil {
			return nil
		}
		n.Time = timeOf(s.ColumnInt64(1))
		n.ok, err = scanText(s, 2, &n.Node)
		return err
	})
}

const selectSaid = `SELECT at, time, line, ends FROM entries WHERE at >= ? AND at <= ? ORDER BY at`

// said reads those that are not found yet and lie in the rows of their messages.
func (r *lines) said(row int64, all []found) error {
	for len(all) > 0 {
		from, to := wanting(all)
		if from == to {
			return nil
		}
		if all[0].Span.N > 1 {
			to = from + 1 // other messages lie between
		}
		err := r.c.query(selectSaid, []any{packed(row, all[from].Seq), packed(row, all[to-1].Seq)}, func(s *sqlite3.Stmt) error {
			if n := at(all, seqOf(s.ColumnInt64(0))); n != nil {
				n.scanSaid(s, 1)
			}
			return nil
		})
		if err != nil {
			return err
		}
		all = all[to:]
	}
	return nil
}

// wanting gives the range of those that are not found yet.
func wanting(all []found) (from, to int) {
	for from < len(all) && all[from].ok {
		from++
	}
	for to = len(all); to > from && all[to-1].ok; to-- {
	}
	return from, to
}

// at gives the one, not found yet, that ends with an entry.
func at(all []found, seq int64) *found {
	i := (seq - all[0].Seq) / all[0].Span.N
	if i < 0 || i >= int64(len(all)) || all[i].Seq != seq || all[i].ok {
		return nil
	}
	return &all[i]
}

// scanSaid reads the message's time and its lines, from a column on.
func (n *found) scanSaid(s *sqlite3.Stmt, from int) {
	n.Time = timeOf(s.ColumnInt64(from))
	n.Text, n.ok = lineAt(s.ColumnText(from+1), s.ColumnText(from+2), n.Span.Level())
	n.By = thread.ByVerbatim
	if n.Span.N > 1 {
		n.By = thread.ByJoined
	}
}

// scanText reads what a node says and who wrote it, from a column on.
func scanText(s *sqlite3.Stmt, from int, n *thread.Node) (ok bool, err error) {
	if s.ColumnType(from) == sqlite3.NULL {
		return false, nil
	}
	n.Text, n.By, n.Version = s.ColumnText(from), s.ColumnText(from+1), s.ColumnInt(from+2)
	if raw := s.ColumnRawText(from + 3); raw != nil {
		n.Usage = &thread.Usage{}
		err = json.Unmarshal(raw, n.Usage)
	}
	return true, err
}

// selectNode finds the span's last message by the index alone and then its node.
// Columns of the message's own row are read where it lies there, and only then.
const selectNode = `SELECT e.at, coalesce(n.time, e.time),
	CASE WHEN n.place IS NULL THEN e.line END, CASE WHEN n.place IS NULL THEN e.ends END,
	n.text, n.writer, n.version, n.usage
	FROM entries e
	LEFT JOIN nodes n ON n.place = CASE WHEN ?4 > 0 OR e.line IS NULL THEN ?5 | (e.at & 4294967295) END
	WHERE e.thread = ?1 AND e.branch = ?2 AND e.idx = ?3`

// lookUp reads the node of a span whose place is not known.
func (r *lines) lookUp(b branch, span thread.Span) (err error) {
	n := found{Node: thread.Node{Span: span}}
	level := span.Level()
	there, err2 := r.c.one(selectNode, []any{b.row, b.branch, span.Last(), level, packedNode(b.row, 0, level)}, func(s *sqlite3.Stmt) {
		n.Seq = seqOf(s.ColumnInt64(0))
		if n.scanSaid(s, 1); !n.ok {
			n.ok, err = scanText(s, 4, &n.Node)
		}
	})
	if err == nil {
		err = err2
	}
	if err != nil || !there {
		return err
	}
	if err := r.places.learn(r.c, b, span.Last(), n.Seq); err != nil {
		return err
	}
	return r.add(b.row, n)
}
