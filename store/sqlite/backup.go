package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

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
	to, err := filepath.Abs(to)
	if err != nil {
		return wrap(ctx, "backup", "", err)
	}
	if err := vacant("backup", to); err != nil {
		return err
	}
	err = staged("backup", to, func(part string) error {
		err := s.readers.snapshot(ctx, "backup", func(c *conn) error { return copyTo(ctx, c, part) })
		if err != nil {
			return err
		}
		return place("backup", part, to)
	})
	return wrap(ctx, "backup", "", err)
}

// copyTo copies all pages. The read transaction that the connection is in keeps
// them those of one moment.
func copyTo(ctx context.Context, c *conn, to string) error {
	have, err := version(c)
	if err == nil {
		err = made(have)
	}
	if err != nil {
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
// otherwise; so is one that somebody has open. Whoever opens it while it is
// restored waits, and finds the new one.
func Restore(ctx context.Context, from, to string, o RestoreOptions) error {
	if !o.Overwrite {
		if err := vacant("restore", to); err != nil {
			return err
		}
	}
	return wrap(ctx, "restore", "", restore(ctx, from, to, o))
}

func restore(ctx context.Context, from, to string, o RestoreOptions) error {
	from, err := follow(from)
	if err != nil {
		return err
	}
	if to, err = follow(to); err != nil {
		return err
	}
	if from == to || sameFile(from, to) {
		return &thread.Error{Code: thread.Invalid, Op: "restore", Message: "the backup and the database are the same file", Hint: "give the path of another one"}
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return cannotPut("restore", to, err)
	}
	old := &claim{path: to}
	if o.Overwrite {
		if old, err = take(to); err != nil {
			return err
		}
	}
	return errors.Join(old.replace(ctx, from), old.close())
}

func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// copyFrom copies a backup, which may be of an older schema.
func copyFrom(ctx context.Context, from, to string) error {
	s := &Store{path: from}
	o := Options{Busy: patience}
	how, _, err := s.probe(o)
	if err != nil {
		return err
	}
	p := newPool(1, func() (*conn, error) { return s.reader(how, o) })
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

// staged lends work the path of a new file in a folder of its own beside path,
// which is made durable before place puts it there.
func staged(op, path string, work func(part string) error) error {
	if err := tidyStages(filepath.Dir(path)); err != nil {
		return cannotPut(op, path, err)
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), stage)
	if err != nil {
		return cannotPut(op, path, err)
	}
	part := filepath.Join(dir, "part.db")
	err = makeFile(part)
	if err == nil {
		err = work(part)
	}
	return errors.Join(err, os.RemoveAll(dir))
}

// stage is how the folder is named in which a file is prepared; one that is
// older than staleStage was left by a process that was killed.
const (
	stage      = ".skein-*"
	staleStage = 24 * time.Hour
)

// tidyStages removes what killed processes left.
func tidyStages(in string) error {
	left, err := filepath.Glob(filepath.Join(escapeGlob(in), stage))
	if err != nil {
		return err
	}
	for _, dir := range left {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < staleStage {
			continue
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// escapeGlob makes a path stand for itself in a pattern.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// place puts a finished file at a path where there is nothing, so that the path
// is never half a file. Whatever appeared there in the meantime stays.
func place(op, part, path string) error {
	if wal, err := os.Stat(part + "-wal"); err == nil && wal.Size() > 0 {
		return &thread.Error{Code: thread.Storage, Op: op, Message: "the copy could not be finished", Hint: "free some space and try again"}
	}
	if err := syncFile(part); err != nil {
		return err
	}
	if err := vacant(op, path); err != nil {
		return err
	}
	// A log that was left of another database must never meet the new file.
	for _, side := range sides(path) {
		if err := os.Remove(side); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return cannotPut(op, path, err)
		}
	}
	err := os.Link(part, path)
	if errors.Is(err, fs.ErrExist) {
		return vacant(op, path)
	}
	if err != nil { // the disk knows no links
		err = os.Rename(part, path)
	}
	if err != nil {
		return cannotPut(op, path, err)
	}
	return syncDir(filepath.Dir(path))
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// vacant refuses a path at which there is something.
func vacant(op, path string) error {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return cannotPut(op, path, err)
	}
	return &thread.Error{Code: thread.Conflict, Op: op, Message: "there is a file at " + path + " already", Hint: "give another path, or say that it may be overwritten"}
}
