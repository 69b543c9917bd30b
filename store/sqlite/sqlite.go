package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// Options are the settings of a store. The zero value is ready for use.
type Options struct {
	ReadOnly bool             // write nothing to the database
	Readers  int              // connections that read at once; 0 means 4
	Now      func() time.Time // the clock; nil means time.Now
	VFS      string           // the name of a registered VFS over the system's files; empty means theirs alone
	Busy     time.Duration    // how long to wait for another process's lock; 0 means 10 seconds
	Log      *slog.Logger     // told when messages cannot be indexed in the background; nil means nobody
}

// Store is a store in one SQLite file.
type Store struct {
	writes
	path string
	now  func() time.Time

	places  *places
	readers *pool
	writer  *writer     // nil where it is read-only
	indexer *indexer    // nil where it is read-only
	mover   *mover      // nil where it is read-only
	unmoved atomic.Bool // there may be nodes where an older schema kept them
	watch   *pool       // where it is read-only: the connection that notices other processes' writes

	closing sync.Once
	closed  error
}

// writes are embedded under a name of the package, so that only their methods
// show.
type writes = store.Writes

var _ store.Store = (*Store)(nil)

// Open opens the database at path. Where there is none it is made, with its
// folder, for the user alone; a read-only store must exist.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	s, err := open(ctx, path, o)
	if err != nil {
		err = wrap(ctx, "open", "", err)
		var e *thread.Error
		if errors.As(err, &e) && e.Op == "open" {
			e.Message = path + ": " + e.Message
		}
		return nil, err
	}
	return s, nil
}

func open(ctx context.Context, path string, o Options) (*Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, store.Stopped("open", "", err)
	}
	path, err := follow(path)
	if err != nil {
		return nil, err
	}
	if err := ordinary(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Readers <= 0 {
		o.Readers = 4
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Busy <= 0 {
		o.Busy = 10 * time.Second
	}
	s := &Store{path: path, now: o.Now, places: newPlaces()}
	s.writes = writes{Now: s.now, On: func(ctx context.Context, op string, key thread.Key, work func(store.Tx, *store.Head) error) (wait func() error) {
		r, err := s.sendOn(ctx, op, key, func(x *tx, h *store.Head) error { return work(x, h) })
		if err != nil {
			return func() error { return err }
		}
		return func() error { return r.wait(ctx) }
	}}
	if o.ReadOnly {
		return s, s.openReadOnly(o)
	}
	return s, s.openWritable(o)
}

const (
	writing = `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;
		PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY`
	beside  = `PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -256`
	reading = `PRAGMA query_only = ON; PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY`
)

func (s *Store) openWritable(o Options) error {
	if err := makeFile(s.path); err != nil {
		return err
	}
	c, err := openConn(s.uri(o, "rw"), sqlite3.OPEN_READWRITE, o.Busy, "")
	if err != nil {
		return err
	}
	if err := s.prepare(c); err != nil {
		return errors.Join(err, c.close())
	}
	beside, err := openConn(s.uri(o, "rw"), sqlite3.OPEN_READWRITE, o.Busy, beside)
	if err != nil {
		return errors.Join(err, c.close())
	}
	s.readers = newPool(o.Readers, func() (*conn, error) {
		return openConn(s.uri(o, "rw"), sqlite3.OPEN_READWRITE, o.Busy, reading)
	})
	left, err := leftToMove(c)
	if err != nil {
		return errors.Join(err, c.close(), beside.close())
	}
	s.unmoved.Store(left)
	s.indexer = newIndexer(s, o.Log)
	s.writer = newWriter(c, newCheckpointer(beside), s.indexer.note)
	s.indexer.start()
	s.mover = startMover(s, o.Log)
	return nil
}

// prepare refuses what is not a database of ours before anything is changed.
func (s *Store) prepare(c *conn) error {
	if _, err := version(c); err != nil {
		return err
	}
	if err := c.Exec(writing); err != nil {
		return err
	}
	return migrate(c)
}

// openReadOnly opens what is there.
func (s *Store) openReadOnly(o Options) error {
	mode, have, err := s.probe(o)
	if err == nil {
		err = current(have)
	}
	if err != nil {
		return err
	}
	again := func() (*conn, error) { return s.reader(mode, o) }
	s.readers, s.watch = newPool(o.Readers, again), newPool(1, again)
	s.unmoved.Store(true) // for all that is known here
	return nil
}

// way is how a database is opened for reading: as SQLite does with a file that
// others may change, or as one that nobody changes.
type way string

const (
	shared way = "ro"
	alone  way = "alone"
)

// probe finds out how the database can be read, and its schema. Where the files
// that SQLite needs beside it cannot be made, or not so that they are as private
// as the database, it is read as one that nobody changes.
func (s *Store) probe(o Options) (how way, have int, err error) {
	if err := ordinary(s.path); err != nil {
		return "", 0, missing(err)
	}
	have, err = s.schemaAt(shared, o)
	if !errors.Is(err, sqlite3.CANTOPEN) && !errors.Is(err, sqlite3.READONLY) && !errors.Is(err, errNoSides) {
		return shared, have, err
	}
	if wal, failed := os.Stat(s.path + "-wal"); failed == nil && wal.Size() > 0 {
		return "", 0, &thread.Error{Code: thread.Storage, Op: "open", Message: "the database was not closed, and on a read-only disk its newest writes cannot be read", Hint: "copy it, with the file beside it that ends in -wal, to where you may write", Err: err}
	}
	have, err = s.schemaAt(alone, o)
	return alone, have, err
}

// errNoSides says that the files beside a database cannot be made.
var errNoSides = errors.New("the files beside the database cannot be made")

// reader opens a connection of a store that writes nothing.
func (s *Store) reader(how way, o Options) (*conn, error) {
	if how == alone {
		return openConn(s.uri(o, "ro")+"&immutable=1", sqlite3.OPEN_READONLY, o.Busy, reading)
	}
	if err := makeSides(s.path); err != nil {
		return nil, errors.Join(errNoSides, err)
	}
	return openConn(s.uri(o, "ro"), sqlite3.OPEN_READONLY, o.Busy, reading)
}

func (s *Store) schemaAt(how way, o Options) (have int, err error) {
	c, err := s.reader(how, o)
	if err != nil {
		return 0, err
	}
	have, err = version(c)
	return have, errors.Join(err, c.close())
}

// current refuses a schema that would have to be migrated first.
func current(have int) error {
	if err := made(have); err != nil {
		return err
	}
	want, _, err := schema()
	if err != nil || have == want {
		return err
	}
	return &thread.Error{Code: thread.Storage, Op: "open", Message: "the database is of an older Skein", Hint: "open it once for writing, which brings it up to date"}
}

// made refuses a file in which nobody has made a database yet.
func made(have int) error {
	if have > 0 {
		return nil
	}
	return &thread.Error{Code: thread.NotFound, Op: "open", Message: "the file is empty: there is no database in it yet", Hint: "check the path, or open it once for writing, which makes one"}
}

// fileURI names a file of the system's.
func fileURI(path string) string { return uri(path, "", url.Values{}) }

func (s *Store) uri(o Options, mode string) string {
	return uri(s.path, o.VFS, url.Values{"mode": {mode}})
}

// uri names a file. What SQLite makes beside it gets its mode.
func uri(path, under string, q url.Values) string {
	q.Set("vfs", roomOver(under))
	q.Set("modeof", path)
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: q.Encode()}).String()
}

// Close waits for what is being written.
func (s *Store) Close() error {
	s.closing.Do(func() {
		if s.writer != nil {
			s.mover.stop()
			s.indexer.stop()
			s.closed = s.writer.close()
		} else {
			s.closed = s.watch.close()
		}
		s.closed = wrap(context.Background(), "close", "", errors.Join(s.closed, s.readers.close()))
	})
	return s.closed
}

// update runs a write.
func (s *Store) update(ctx context.Context, op, id string, f func(x *tx) error) error {
	r, err := s.send(ctx, op, id, f)
	if err != nil {
		return err
	}
	return r.wait(ctx)
}

// send hands a write over to the writer.
func (s *Store) send(ctx context.Context, op, id string, f func(x *tx) error) (*request, error) {
	if s.writer == nil {
		if s.readers.isClosed() {
			return nil, store.Closed(op)
		}
		return nil, errReadOnly(op)
	}
	r := newRequest(op, id, f)
	return r, s.writer.send(ctx, r)
}

// onThread runs a write on one thread.
func (s *Store) onThread(ctx context.Context, op string, key thread.Key, f func(x *tx, h *store.Head) error) error {
	r, err := s.sendOn(ctx, op, key, f)
	if err != nil {
		return err
	}
	return r.wait(ctx)
}

// sendOn hands a write on one thread over to the writer.
func (s *Store) sendOn(ctx context.Context, op string, key thread.Key, f func(x *tx, h *store.Head) error) (*request, error) {
	return s.send(ctx, op, key.ID, func(x *tx) error {
		h, err := x.find(op, key)
		if err != nil {
			return err
		}
		return f(x, h)
	})
}
