package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/skeinhq/skein/thread"
)

// fail makes the error of an operation on a thread.
func fail(code thread.Code, op, id, hint, format string, args ...any) *thread.Error {
	return &thread.Error{Code: code, Op: op, Thread: id, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// NoThread is the error for a thread that does not exist.
func NoThread(op, id string) error {
	return fail(thread.NotFound, op, id, "list the threads to see what there is", "there is no thread %q", id)
}

// NoEntry is the error for a seq that a thread's log does not hold.
func NoEntry(op, id string, seq int64) error {
	return fail(thread.NotFound, op, id, "", "the thread has no entry %d", seq)
}

// NoBlob is the error for bytes that a family of threads does not hold.
func NoBlob(op, id, hash string) error {
	return fail(thread.NotFound, op, id, "", "there is no blob %q", hash)
}

// Closed is the error of every call after Close.
func Closed(op string) error {
	return fail(thread.Storage, op, "", "open it again", "the store is closed")
}

// Stopped is the error of a call whose context ended before it had any effect.
func Stopped(op, id string, err error) error {
	code := thread.Aborted
	if errors.Is(err, context.DeadlineExceeded) {
		code = thread.Timeout
	}
	return &thread.Error{Code: code, Op: op, Thread: id, Message: "it was stopped before anything was done", Err: err}
}
