package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/ncruces/go-sqlite3"

	"github.com/skeinhq/skein/thread"
)

// claim is a path that is about to become another database. Where there is a
// database already, it is locked against everybody from the first moment to the
// last, and the new one is written into the same file: whoever waits for the
// lock then has the new one open, and nothing is written to a file that no path
// leads to any more.
type claim struct {
	path string
	c    *sqlite3.Conn // holds the lock; nil where there is no database
	junk bool          // there is a file, but no database in it
}

// take locks what is at the path, and refuses a database that anybody has open.
func take(path string) (*claim, error) {
	l := &claim{path: path}
	err := ordinary(path)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	l.c, err = sqlite3.OpenFlags(fileURI(path), sqlite3.OPEN_READWRITE|sqlite3.OPEN_URI)
	if err != nil {
		return nil, err
	}
	// Without the log the database is one file, and the copy replaces it whole or,
	// where it is stopped, not at all.
	if err = l.c.BusyTimeout(patience); err == nil {
		err = l.c.Exec(`PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK; PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL`)
	}
	if err == nil {
		return l, nil
	}
	err = errors.Join(err, l.c.Close())
	switch {
	case errors.Is(err, sqlite3.BUSY):
		return nil, &thread.Error{Code: thread.Conflict, Op: "restore", Message: "the database at " + path + " is in use", Hint: "stop whoever uses it", Err: err}
	case errors.Is(err, sqlite3.NOTADB), errors.Is(err, sqlite3.CORRUPT):
		// It cannot be locked, since nobody can open it, and it need not be kept.
		return &claim{path: path, junk: true}, nil
	}
	return nil, err
}

// replace writes the backup into what is locked. The copy is made beside it
// first: it becomes visible with new epochs, and not before it is known to be
// sound.
func (l *claim) replace(ctx context.Context, from string) error {
	return staged("restore", l.path, func(part string) error {
		if err := copyFrom(ctx, from, part); err != nil {
			return err
		}
		if err := renew(ctx, part); err != nil {
			return err
		}
		if l.c != nil {
			return l.c.Restore("main", fileURI(part)) // in one transaction
		}
		if l.junk {
			if err := os.Remove(l.path); err != nil {
				return cannotPut("restore", l.path, err)
			}
		}
		return place("restore", part, l.path)
	})
}

// close lets others open it.
func (l *claim) close() error {
	if l.c == nil {
		return nil
	}
	return l.c.Close()
}
