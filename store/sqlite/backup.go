package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// copied is how many pages are copied between looks at the context.
const copied = 512

// patience is how long a file that is to be restored is waited for.
const patience = 500 * time.Millisecond

// Backup copies the database, as of one moment, into a new file at the path to,
// for the user alone, while others go on writing. The file appears once it is
// complete and durable; one that is there already is refused with conflict.
func (s *Store) Backup(ctx context.Context, to string) error {
	if err := vacant("backup", to); err != nil {
		return err
	}
	err := replace(to, func(part string) error {
		return s.readers.snapshot(ctx, "backup", func(c *conn) error { return copyTo(ctx, c, part) })
	})
	return wrap(ctx, "backup", "", err)
}

// copyTo copies all pages. The read transaction that the connection is in keeps
// them those of one moment.
func copyTo(ctx context.Context, c *conn, to string) error {
	if _, err := version(c); err != nil {
		return err
	}
	b, err := c.BackupInit("main", fileURI(to))
	if err != nil {
		return err
	}
	for {
		done, err := b.Step(copied)
		if err == nil {
			err = ctx.Err()
		}
		if done || err != nil {
			return errors.Join(err, b.Close())
		}
	}
}

// RestoreOptions say how to restore. The zero value overwrites nothing.
type RestoreOptions struct {
	Overwrite bool // replace a database that is there, if nobody has it open
}

// Restore makes the database at the path to from a backup. Every thread gets a
// new epoch, so that whoever knew the lost one notices, and no lease is held. A
// database that is there already is refused with conflict, unless told
// otherwise; so is one that somebody has open.
func Restore(ctx context.Context, from, to string, o RestoreOptions) error {
	to, err := filepath.Abs(to)
	if err != nil {
		return wrap(ctx, "restore", "", err)
	}
	if !o.Overwrite {
		if err := vacant("restore", to); err != nil {
			return err
		}
	} else if err := unused(ctx, to); err != nil {
		return err
	}
	err = replace(to, func(part string) error {
		if err := copyFrom(ctx, from, part); err != nil {
			return err
		}
		return renew(ctx, part)
	})
	return wrap(ctx, "restore", "", err)
}

// copyFrom copies a backup, which may be of an older schema.
func copyFrom(ctx context.Context, from, to string) error {
	from, err := filepath.Abs(from)
	if err != nil {
		return err
	}
	s := &Store{path: from}
	o := Options{Busy: patience}
	uri, _, err := s.probe(o)
	if err != nil {
		return err
	}
	p := newPool(1, func() (*conn, error) { return openConn(uri, sqlite3.OPEN_READONLY, o.Busy, reading) })
	err = p.snapshot(ctx, "restore", func(c *conn) error { return copyTo(ctx, c, to) })
	return errors.Join(err, p.close())
}

// renew gives every thread a new epoch and frees its turn.
func renew(ctx context.Context, path string) error {
	s, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	err = s.update(ctx, "restore", "", func(x *tx) error {
		all, err := heads(x.c)
		if err != nil {
			return err
		}
		for _, h := range all {
			if err := x.exec(`UPDATE threads SET epoch = ?, owner = '', until = 0 WHERE n = ?`, store.NewEpoch(), h.Row); err != nil {
				return err
			}
		}
		x.cache.drop()
		return nil
	})
	return errors.Join(err, s.Close())
}

// replace lets write fill a file beside path, makes it durable and puts it in
// place, so that path is never half a file.
func replace(path string, write func(part string) error) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	part, err := os.MkdirTemp(filepath.Dir(path), ".skein-*")
	if err != nil {
		return cannotMake(err)
	}
	file := filepath.Join(part, "part.db")
	err = fill(file, write)
	if err == nil {
		err = settleFile(file, path)
	}
	return errors.Join(err, os.RemoveAll(part))
}

func fill(file string, write func(string) error) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return cannotMake(err)
	}
	err = write(file)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// settleFile moves the file to its place. What belonged to a database that was
// there before goes first: a stale log must never meet the new file.
func settleFile(file, path string) error {
	for _, left := range []string{path + "-wal", path + "-shm"} {
		if err := os.Remove(left); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if err := os.Rename(file, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// vacant refuses a path at which there is something.
func vacant(op, path string) error {
	_, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return cannotMake(err)
	}
	return &thread.Error{Code: thread.Conflict, Op: op, Message: "there is a file at " + path + " already", Hint: "give another path, or say that it may be overwritten"}
}

// unused refuses a database that anybody has open.
func unused(ctx context.Context, path string) error {
	if _, err := os.Stat(path); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return missing(err)
	}
	c, err := openConn(fileURI(path), sqlite3.OPEN_READWRITE, patience, "")
	if err != nil {
		return wrap(ctx, "restore", "", err)
	}
	err = c.Exec(`PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK`)
	err = errors.Join(err, c.close())
	if errors.Is(err, sqlite3.BUSY) {
		return &thread.Error{Code: thread.Conflict, Op: "restore", Message: "the database at " + path + " is in use", Hint: "stop whoever uses it", Err: err}
	}
	if errors.Is(err, sqlite3.NOTADB) || errors.Is(err, sqlite3.CORRUPT) {
		return nil // it is to be overwritten: it need not be sound
	}
	return wrap(ctx, "restore", "", err)
}
