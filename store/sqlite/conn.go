package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/fts5"
)

// conn is a connection with its prepared statements. One goroutine at a time
// uses it.
type conn struct {
	*sqlite3.Conn
	stmts map[string]*sqlite3.Stmt
}

// openConn opens a connection that waits so long for another process's lock, and
// checks that it can search.
func openConn(uri string, flags sqlite3.OpenFlag, busy time.Duration, pragmas string) (*conn, error) {
	db, err := sqlite3.OpenFlags(uri, flags|sqlite3.OPEN_URI)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: db, stmts: map[string]*sqlite3.Stmt{}}
	if err := c.setUp(busy, pragmas); err != nil {
		db.Close()
		return nil, err
	}
	return c, nil
}

func (c *conn) setUp(busy time.Duration, pragmas string) error {
	if err := c.BusyTimeout(busy); err != nil {
		return err
	}
	if err := fts5.RegisterCustom(c.Conn, func(a *fts5.API) error { return a.CreateFunction("tally", tally) }); err != nil {
		return fmt.Errorf("full-text search (FTS5) cannot be registered: %w", err)
	}
	if err := c.Exec(`SELECT fts5_source_id()`); err != nil {
		return fmt.Errorf("full-text search (FTS5) is missing: %w", err)
	}
	return c.Exec(pragmas)
}

// close finalizes the statements and closes the connection.
func (c *conn) close() error {
	for _, s := range c.stmts {
		s.Close()
	}
	c.stmts = nil
	return c.Conn.Close()
}

// stmt gives the prepared statement of a text.
func (c *conn) stmt(sql string) (*sqlite3.Stmt, error) {
	if s := c.stmts[sql]; s != nil {
		return s, nil
	}
	s, _, err := c.PrepareFlags(sql, sqlite3.PREPARE_PERSISTENT)
	if err != nil {
		return nil, err
	}
	c.stmts[sql] = s
	return s, nil
}

// exec runs a statement that gives no rows.
func (c *conn) exec(sql string, args ...any) error {
	s, err := c.bind(sql, args)
	if err != nil {
		return err
	}
	return s.Exec()
}

// errEnough ends a query early, without failing it.
var errEnough = errors.New("enough rows were read")

// query calls row for each row, until it returns an error.
func (c *conn) query(sql string, args []any, row func(s *sqlite3.Stmt) error) (err error) {
	s, err := c.bind(sql, args)
	if err != nil {
		return err
	}
	for s.Step() {
		if err := row(s); err != nil {
			if r := s.Reset(); errors.Is(err, errEnough) {
				return r
			}
			return err
		}
	}
	err = s.Err()
	if r := s.Reset(); err == nil {
		err = r
	}
	return err
}

// one reads the first row, and says whether there is one.
func (c *conn) one(sql string, args []any, row func(s *sqlite3.Stmt)) (found bool, err error) {
	s, err := c.bind(sql, args)
	if err != nil {
		return false, err
	}
	if found = s.Step(); found {
		row(s)
	}
	err = s.Err()
	if r := s.Reset(); err == nil {
		err = r
	}
	return found, err
}

func (c *conn) bind(sql string, args []any) (*sqlite3.Stmt, error) {
	s, err := c.stmt(sql)
	if err != nil {
		return nil, err
	}
	for i, a := range args {
		if err := bindOne(s, i+1, a); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// optional is a text that is null where it is empty.
type optional string

func bindOne(s *sqlite3.Stmt, i int, arg any) error {
	switch v := arg.(type) {
	case int64:
		return s.BindInt64(i, v)
	case int:
		return s.BindInt64(i, int64(v))
	case bool:
		return s.BindBool(i, v)
	case string:
		return s.BindText(i, v)
	case optional:
		if v == "" {
			return s.BindNull(i)
		}
		return s.BindText(i, string(v))
	case rawText:
		return s.BindRawText(i, v)
	case []byte:
		if v == nil {
			return s.BindNull(i)
		}
		return s.BindBlob(i, v)
	case time.Time:
		return s.BindInt64(i, millis(v))
	case nil:
		return s.BindNull(i)
	}
	panic(fmt.Sprintf("sqlite: cannot bind a %T", arg))
}

// rawText is bytes that are text.
type rawText []byte

// A time is kept in milliseconds, the zero time as 0.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func timeOf(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// tally is an auxiliary function of FTS5: how often each word of the query stands
// in a row, as 32-bit numbers.
func tally(fts fts5.Context, ctx sqlite3.Context, _ ...sqlite3.Value) {
	out, err := tallied(fts)
	if err != nil {
		ctx.ResultError(err)
		return
	}
	ctx.ResultBlob(out)
}

func tallied(fts fts5.Context) ([]byte, error) {
	n, err := fts.InstCount()
	if err != nil {
		return nil, err
	}
	out := make([]byte, 4*fts.PhraseCount())
	for i := range n {
		phrase, _, _, err := fts.Inst(i)
		if err != nil {
			return nil, err
		}
		at := out[4*phrase:]
		binary.LittleEndian.PutUint32(at, binary.LittleEndian.Uint32(at)+1)
	}
	return out, nil
}
