package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skeinhq/skein/thread"
)

// mostLinks is how many symbolic links are followed.
const mostLinks = 40

// follow gives the absolute path of the file that a path stands for, which need
// not exist: where it is a symbolic link, that of its target.
func follow(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for range mostLinks {
		if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			path = filepath.Join(dir, filepath.Base(path))
		}
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return path, nil // whoever opens it says what is wrong with it
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", &thread.Error{Code: thread.Storage, Op: "open", Message: "the path leads through too many symbolic links", Hint: "check the path"}
}

// sides are the files that SQLite keeps beside a database while it is open: the
// log of the newest writes, and the memory that processes share.
func sides(path string) []string { return []string{path + "-wal", path + "-shm"} }

// ordinary refuses whatever is there and is no regular file, the files beside it
// included, before SQLite sees it: it would wait for a pipe for ever, and put
// its own files beside a device.
func ordinary(path string) error {
	info, err := os.Stat(path)
	if err == nil {
		err = regular(info.Mode())
	}
	for _, side := range sides(path) {
		if info, failed := os.Lstat(side); failed == nil && err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s is no regular file", side)
		}
	}
	var e *thread.Error
	if err == nil || errors.As(err, &e) || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return missing(err)
}

// kinds are what a path may lead to instead of a file.
var kinds = []struct {
	mode fs.FileMode
	name string
}{
	{fs.ModeDir, "a folder"},
	{fs.ModeNamedPipe, "a pipe"},
	{fs.ModeSocket, "a socket"},
	{fs.ModeDevice | fs.ModeCharDevice, "a device"},
	{fs.ModeType, "something else"},
}

func regular(mode fs.FileMode) error {
	for _, k := range kinds {
		if mode&k.mode != 0 {
			return &thread.Error{Code: thread.Storage, Op: "open", Message: "it is " + k.name + ", not a file", Hint: "give the path of a database, or of a file that does not exist yet"}
		}
	}
	return nil
}

// missing is the error of a file that is to be read and cannot.
func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &thread.Error{Code: thread.NotFound, Op: "open", Message: "there is no database", Hint: "check the path", Err: err}
	}
	return &thread.Error{Code: thread.Storage, Op: "open", Message: "the database cannot be opened", Hint: "check the path and who may read it", Err: err}
}

// makeFile makes the file and its folder where they are not, for the user alone.
func makeFile(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return cannotMake(err)
	}
	_, known := os.Stat(path)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return cannotMake(err)
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := makeSides(path); err != nil {
		return cannotMake(err)
	}
	if known == nil {
		return nil
	}
	return syncDir(dir)
}

// makeSides makes the files beside a database before SQLite does, which would
// let anybody read them: they are as private as the database and belong to its
// owner, whoever opens it first. Nothing is put beside what is no database.
func makeSides(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	logged, err := isLogged(path)
	if err != nil || !logged {
		return err
	}
	for _, side := range sides(path) {
		if err := makeSide(side, info); err != nil {
			return err
		}
	}
	return nil
}

func makeSide(side string, of fs.FileInfo) error {
	f, err := os.OpenFile(side, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return narrow(side, of)
	}
	if err != nil {
		return err
	}
	err = giveTo(f, of)
	if err == nil {
		err = f.Chmod(of.Mode().Perm())
	}
	if err != nil {
		return errors.Join(err, f.Close(), os.Remove(side))
	}
	return f.Close()
}

// narrow takes the rights to a file that is there from whoever may not read the
// database. One that belongs to somebody else, who made it, is left to them.
func narrow(side string, of fs.FileInfo) error {
	info, err := os.Lstat(side)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) { // another process has closed the database just now
			return nil
		}
		return err
	}
	if info.Mode().Perm()&^of.Mode().Perm() == 0 {
		return nil
	}
	if err := os.Chmod(side, info.Mode().Perm()&of.Mode().Perm()); err != nil && !errors.Is(err, fs.ErrPermission) && !isReadOnlyDisk(err) {
		return err
	}
	return nil
}

// isLogged says whether the file is, or is about to become, a database with a
// write-ahead log, so that SQLite puts files beside it.
func isLogged(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, 20)
	n, err := io.ReadFull(f, head)
	switch {
	case errors.Is(err, io.EOF):
		return true, nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		return false, nil
	case err != nil:
		return false, err
	}
	return bytes.HasPrefix(head[:n], []byte("SQLite format 3\x00")) && head[18] == 2, nil
}

// syncDir makes the names in a folder durable.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// cannotMake is the error of a database that cannot be opened for writing.
func cannotMake(err error) error {
	if isFullDisk(err) {
		return wrap(context.Background(), "open", "", err)
	}
	e := &thread.Error{Code: thread.Storage, Op: "open", Message: "the database cannot be opened for writing", Hint: "check the path, or open it read-only", Err: err}
	if errors.Is(err, fs.ErrPermission) || isReadOnlyDisk(err) {
		e.Code, e.Message = thread.Permission, "the database or its folder is read-only"
		e.Hint = "make it writable, or open it read-only"
	}
	return e
}

// cannotPut is the error of a copy that cannot be put at a path.
func cannotPut(op, path string, err error) error {
	if isFullDisk(err) {
		return wrap(context.Background(), op, "", err)
	}
	dir := filepath.Dir(path)
	e := &thread.Error{Code: thread.Storage, Op: op, Message: "the copy cannot be put into " + dir, Hint: "check the folder " + dir + ", or give a path in another one", Err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Code, e.Message, e.Hint = thread.NotFound, "there is no folder "+dir, "make the folder "+dir+" first, or give a path in another one"
	case errors.Is(err, fs.ErrPermission) || isReadOnlyDisk(err):
		e.Code, e.Message, e.Hint = thread.Permission, "the folder "+dir+" cannot be written", "make the folder "+dir+" writable, or give a path in another one"
	}
	return e
}
