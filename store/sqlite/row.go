package sqlite

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// headColumns are the columns of a thread's row, in the order of scanHead.
const headColumns = `n, space, root, id, title, meta, created, updated, deleted, gone, epoch,
	segments, lineage, shared, tip, fixed, last, length, branch, cut, cuts, turn, inbox, parked,
	backlog, indexed, owner, fence, until`

const insertHead = `INSERT INTO threads (space, root, id, title, meta, created, updated, deleted, gone, epoch,
	segments, lineage, shared, tip, fixed, last, length, branch, cut, cuts, turn, inbox, parked,
	backlog, indexed, owner, fence, until)
	VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`

// updateHot writes what nearly every write changes, updateCold what few do.
const (
	updateHot = `UPDATE threads SET updated=?2, tip=?3, fixed=?4, last=?5, length=?6, cut=?7, cuts=?8, turn=?9,
	inbox=?10, parked=?11, backlog=?12, indexed=?13, owner=?14, fence=?15, until=?16 WHERE n=?1`
	updateCold = `UPDATE threads SET title=?2, deleted=?3, gone=?4, segments=?5, shared=?6, branch=?7, epoch=?8, meta=?9 WHERE n=?1`
)

func packed(row, seq int64) int64 { return row<<32 | seq }

// packedNode is the key of a node, and mostThreads how many threads' numbers there
// is room for in it.
func packedNode(row, seq int64, level int) int64 { return row<<37 | int64(level)<<32 | seq }

// mostLevel is the highest level that there is room for.
const mostLevel = 31

const mostThreads = 1<<26 - 1

func seqOf(at int64) int64 { return at & (1<<32 - 1) }

func scanHead(s *sqlite3.Stmt) (*store.Head, error) {
	h := &store.Head{}
	t := &h.Thread
	h.Row, t.Space, t.Root, t.ID, t.Title = s.ColumnInt64(0), s.ColumnText(1), s.ColumnText(2), s.ColumnText(3), s.ColumnText(4)
	if raw := s.ColumnRawText(5); len(raw) > 0 {
		t.Meta = append(json.RawMessage(nil), raw...)
	}
	t.Created, t.Updated, t.Deleted = timeOf(s.ColumnInt64(6)), timeOf(s.ColumnInt64(7)), timeOf(s.ColumnInt64(8))
	h.Gone, t.Epoch, h.Shared = s.ColumnBool(9), s.ColumnText(10), s.ColumnInt64(13)
	t.Tip, t.Fixed, t.Last, t.Length = s.ColumnInt64(14), s.ColumnInt64(15), s.ColumnInt64(16), s.ColumnInt64(17)
	t.Branch, t.Cut, t.Cuts, t.Turn = s.ColumnInt64(18), s.ColumnInt64(19), s.ColumnInt64(20), s.ColumnInt64(21)
	t.Parked, t.Backlog, t.Indexed = s.ColumnBool(23), s.ColumnInt64(24), s.ColumnInt64(25)
	t.Lease = thread.Lease{Owner: s.ColumnText(26), Fence: s.ColumnInt64(27), Until: timeOf(s.ColumnInt64(28))}
	for _, j := range []struct {
		column int
		value  any
	}{{11, &t.Segments}, {12, &t.Lineage}, {22, &t.Inbox}} {
		raw := s.ColumnRawText(j.column)
		if raw == nil {
			continue
		}
		if err := json.Unmarshal(raw, j.value); err != nil {
			return nil, damaged(t.ID, err)
		}
	}
	if len(t.Segments) == 0 || len(t.Lineage) == 0 {
		return nil, damaged(t.ID, nil)
	}
	return h, nil
}

func damaged(id string, err error) error {
	return &thread.Error{Code: thread.Storage, Op: "read", Thread: id, Message: "the database is damaged", Hint: "run skein doctor, and restore it from a backup", Err: err}
}

// column encodes a list as the text of a column, null where it is empty.
func column[T any](v []T) (any, error) {
	if len(v) == 0 {
		return nil, nil
	}
	data, err := thread.Encode(v)
	return rawText(data), err
}

// entryColumns are the columns of an entry, in the order of scanEntry.
const entryColumns = `at, kind, branch, idx, prev, id, time, key, body`

const insertEntry = `INSERT INTO entries (at, thread, kind, branch, idx, prev, id, time, key, sum, role, author, line, ends, body)
	VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`

// scanBare reads an entry without its body.
func scanBare(s *sqlite3.Stmt) thread.Entry {
	e := thread.Entry{
		Seq: seqOf(s.ColumnInt64(0)), Kind: thread.Kind(s.ColumnText(1)), Branch: s.ColumnInt64(2), Index: thread.NoIndex,
		Prev: s.ColumnInt64(4), ID: s.ColumnText(5), Time: timeOf(s.ColumnInt64(6)), Key: s.ColumnText(7),
	}
	if s.ColumnType(3) != sqlite3.NULL {
		e.Index = s.ColumnInt64(3)
	}
	return e
}

func scanEntry(s *sqlite3.Stmt) (thread.Entry, error) {
	e := scanBare(s)
	if err := e.DecodeBody(s.ColumnRawText(8)); err != nil {
		return e, damaged("", err)
	}
	return e, nil
}

// messageOf gives who said an entry's message, for the columns that searching
// reads.
func messageOf(e *thread.Entry) (role, author string) {
	if e.Message == nil {
		return "", ""
	}
	return string(e.Message.Role), e.Message.Author
}

// foldLines makes two columns of the nodes that end with a message: each is the
// end of the next wider one, so the widest and their lengths are enough.
func foldLines(lines []string) (line, ends optional) {
	if len(lines) == 0 {
		return "", ""
	}
	widest := len(lines) - 1
	var sizes []string
	for _, l := range lines[:widest] {
		sizes = append(sizes, strconv.Itoa(len(l)))
	}
	return optional(lines[widest]), optional(strings.Join(sizes, " "))
}

// unfoldLines is the reverse.
func unfoldLines(line, ends string) []string {
	if line == "" {
		return nil
	}
	var out []string
	for _, f := range strings.Fields(ends) {
		n, err := strconv.Atoi(f)
		if err != nil || n > len(line) {
			n = len(line)
		}
		out = append(out, line[len(line)-n:])
	}
	return append(out, line)
}

// lineAt gives the one of a level.
func lineAt(line, ends string, level int) (string, bool) {
	lines := unfoldLines(line, ends)
	if level >= len(lines) {
		return "", false
	}
	return lines[level], true
}
