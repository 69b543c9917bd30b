package sqlite

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// Options are the settings of a store. The zero value is ready for use.
type Options struct {
	ReadOnly bool             // write nothing, not even beside the file
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

	readers *pool
	writer  *writer  // nil where it is read-only
	indexer *indexer // nil where it is read-only
	watch   *pool    // where it is read-only: the connection that notices other processes' writes

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
	path, err := filepath.Abs(path)
	if err != nil {
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
	s := &Store{path: path, now: o.Now}
	s.writes = writes{Now: s.now, On: func(ctx context.Context, op string, key thread.Key, work func(store.Tx, *store.Head) error) error {
		return s.onThread(ctx, op, key, func(x *tx, h *store.Head) error { return work(x, h) })
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
	reading = `PRAGMA query_only = ON; PRAGMA cache_size = -2048; PRAGMA temp_store = MEMORY`
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
	s.indexer = newIndexer(s, o.Log)
	s.writer = newWriter(c, newCheckpointer(beside), s.indexer.note)
	s.indexer.start()
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
	uri, have, err := s.probe(o)
	if err == nil {
		err = current(have)
	}
	if err != nil {
		return err
	}
	again := func() (*conn, error) { return openConn(uri, sqlite3.OPEN_READONLY, o.Busy, reading) }
	s.readers, s.watch = newPool(o.Readers, again), newPool(1, again)
	return nil
}

// probe finds out how the database can be read, and its schema. On a disk where
// SQLite can put no shared memory beside the file, the file is read as one that
// nobody changes.
func (s *Store) probe(o Options) (uri string, have int, err error) {
	if info, err := os.Stat(s.path); err != nil {
		return "", 0, missing(err)
	} else if !info.Mode().IsRegular() {
		return "", 0, missing(errors.New("it is no regular file"))
	}
	uri = s.uri(o, "ro")
	have, err = schemaAt(uri, o)
	if !errors.Is(err, sqlite3.CANTOPEN) && !errors.Is(err, sqlite3.READONLY) {
		return uri, have, err
	}
	if wal, failed := os.Stat(s.path + "-wal"); failed == nil && wal.Size() > 0 {
		return "", 0, &thread.Error{Code: thread.Storage, Op: "open", Message: "the database was not closed, and on a read-only disk its newest writes cannot be read", Hint: "copy it, with the file beside it that ends in -wal, to where you may write", Err: err}
	}
	uri += "&immutable=1"
	have, err = schemaAt(uri, o)
	return uri, have, err
}

func schemaAt(uri string, o Options) (have int, err error) {
	c, err := openConn(uri, sqlite3.OPEN_READONLY, o.Busy, reading)
	if err != nil {
		return 0, err
	}
	have, err = version(c)
	return have, errors.Join(err, c.close())
}

// current refuses a schema that would have to be migrated first.
func current(have int) error {
	want, _, err := schema()
	if err != nil || have == want {
		return err
	}
	return &thread.Error{Code: thread.Storage, Op: "open", Message: "the database is of an older Skein", Hint: "open it once for writing, which brings it up to date"}
}

func missing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return &thread.Error{Code: thread.NotFound, Op: "open", Message: "there is no database", Hint: "check the path", Err: err}
	}
	return &thread.Error{Code: thread.Storage, Op: "open", Message: "the database cannot be opened", Hint: "check the path and who may read it", Err: err}
}

// makeFile makes the file and its folder, so that they are the user's alone.
// The file beside it, in which SQLite shares memory, would else be anybody's.
func makeFile(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return cannotMake(err)
	}
	_, known := os.Stat(path)
	for _, p := range []string{path, path + "-shm"} {
		f, err := os.OpenFile(p, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return cannotMake(err)
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	if known == nil {
		return nil
	}
	return syncDir(dir)
}

// syncDir makes the names in a folder durable.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func cannotMake(err error) error {
	e := &thread.Error{Code: thread.Storage, Op: "open", Message: "the database cannot be opened for writing", Hint: "check the path, or open it read-only", Err: err}
	if errors.Is(err, os.ErrPermission) || isReadOnlyDisk(err) {
		e.Code, e.Message = thread.Permission, "the database or its folder is read-only"
		e.Hint = "make it writable, or open it read-only"
	}
	return e
}

// fileURI names a file of the system's.
func fileURI(path string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: url.Values{"modeof": {path}}.Encode()}).String()
}

func (s *Store) uri(o Options, mode string) string {
	q := url.Values{"mode": {mode}}
	if o.VFS != "" {
		q.Set("vfs", o.VFS)
	}
	if mode == "rw" {
		q.Set("modeof", s.path)
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(s.path), RawQuery: q.Encode()}).String()
}

// Close waits for what is being written.
func (s *Store) Close() error {
	s.closing.Do(func() {
		if s.writer != nil {
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
	return s.update(ctx, op, key.ID, func(x *tx) error {
		h, err := x.find(op, key)
		if err != nil {
			return err
		}
		return f(x, h)
	})
}
