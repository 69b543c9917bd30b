package sqlite

import (
	"context"
	"errors"
	"syscall"

	"github.com/ncruces/go-sqlite3"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// errReadOnly is the error of every write to a store that was opened read-only.
func errReadOnly(op string) error {
	return &thread.Error{Code: thread.Permission, Op: op, Message: "the database was opened read-only", Hint: "open it without the read-only option to write"}
}

// trouble says, for a code of SQLite, what happened and what to do about it.
type trouble struct {
	code    thread.Code
	message string
	hint    string
}

var troubles = map[sqlite3.ErrorCode]trouble{
	sqlite3.FULL:     {thread.Storage, "the disk is full; nothing of this write was kept", "free some space, or raise what limits the file, and try again"},
	sqlite3.READONLY: {thread.Permission, "the database or its folder is read-only", "make it writable, or open it read-only"},
	sqlite3.PERM:     {thread.Permission, "the database may not be opened", "check who owns the file"},
	sqlite3.CORRUPT:  {thread.Storage, "the database is damaged", "run skein doctor, and restore it from a backup"},
	sqlite3.NOTADB:   {thread.Storage, "the file is not a database", "check the path"},
	sqlite3.BUSY:     {thread.Storage, "another process keeps the database locked", "wait for it or stop it, and try again"},
	sqlite3.LOCKED:   {thread.Storage, "the database is locked", "try again"},
	sqlite3.CANTOPEN: {thread.Storage, "the database cannot be opened", "check the path and who may write to its folder"},
	sqlite3.IOERR:    {thread.Storage, "the disk failed", "check the disk, and run skein doctor"},
	sqlite3.TOOBIG:   {thread.Invalid, "it is too large for the database", "keep single values below 1 GB"},
}

// wrap turns a failure of SQLite or of the disk into an error of ours; others
// stay as they are.
func wrap(ctx context.Context, op, id string, err error) error {
	if err == nil || thread.CodeOf(err) != "" {
		return err
	}
	if errors.Is(err, sqlite3.INTERRUPT) && ctx.Err() != nil {
		return store.Stopped(op, id, ctx.Err())
	}
	t, ok := trouble{}, false
	var code sqlite3.ErrorCode
	if errors.As(err, &code) {
		t, ok = troubles[code]
	}
	switch {
	case isFullDisk(err) || code == sqlite3.FULL:
		t, err = troubles[sqlite3.FULL], cause{err}
	case !ok:
		t = trouble{thread.Storage, "the database failed", ""}
	}
	return &thread.Error{Code: t.code, Op: op, Thread: id, Message: t.message, Hint: t.hint, Err: err}
}

// cause is a failure of which the message before it has said everything but what
// the system calls it.
type cause struct{ error }

func (c cause) Unwrap() error { return c.error }

func (c cause) Error() string {
	var e syscall.Errno
	if errors.As(c.error, &e) {
		return e.Error()
	}
	return "there is no room for it"
}

// unknown is the error of writes whose COMMIT may or may not have become
// durable.
func unknown(err error) error {
	message := "the disk failed while the write was made durable"
	if isFullDisk(err) {
		message, err = "the disk is full, and failed while the write was made durable", cause{err}
	}
	return &thread.Error{
		Code: thread.Storage, Op: "commit", Message: message,
		Hint: "try it again with the same client key", Err: errors.Join(thread.ErrUnknownOutcome, err),
	}
}
