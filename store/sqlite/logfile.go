package sqlite

import (
	"encoding/binary"
	"errors"

	"github.com/ncruces/go-sqlite3/vfs"
)

const (
	frameHead = 24        // bytes before each page in the log; the second number is not 0 in a commit's last one
	mostHeld  = 256 << 10 // bytes held back at most
)

// logFile is a write-ahead log that takes a commit's frames to the system at
// once: SQLite writes each as a head and a page. They are held back no further
// than the commit's last frame, and nobody looks for them earlier: others read
// what is committed, and this connection through this file.
type logFile struct {
	roomFile
	held []byte
	at   int64 // where they belong
	last bool  // the page that comes next ends a commit
}

func (f *logFile) WriteAt(b []byte, at int64) (int, error) {
	if at != f.at+int64(len(f.held)) {
		if err := f.settle(); err != nil {
			return 0, err
		}
	}
	if len(f.held) == 0 {
		f.at = at
	}
	f.held = append(f.held, b...)
	if len(b) == frameHead {
		f.last = binary.BigEndian.Uint32(b[4:]) != 0
		return len(b), nil
	}
	if f.last || len(f.held) >= mostHeld {
		if err := f.settle(); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// settle hands over what is held back. What cannot be written is forgotten: the
// transaction that it belongs to fails.
func (f *logFile) settle() error {
	f.last = false
	if len(f.held) == 0 {
		return nil
	}
	_, err := f.roomFile.WriteAt(f.held, f.at)
	f.held = f.held[:0]
	return err
}

func (f *logFile) ReadAt(b []byte, at int64) (int, error) {
	if err := f.settle(); err != nil {
		return 0, err
	}
	return f.roomFile.ReadAt(b, at)
}

func (f *logFile) Truncate(size int64) error {
	return errors.Join(f.settle(), f.roomFile.Truncate(size))
}

func (f *logFile) Size() (int64, error) {
	if err := f.settle(); err != nil {
		return 0, err
	}
	return f.roomFile.Size()
}

func (f *logFile) Sync(flags vfs.SyncFlag) error {
	if err := f.settle(); err != nil {
		return err
	}
	return f.roomFile.Sync(flags)
}

func (f *logFile) Close() error { return errors.Join(f.settle(), f.roomFile.Close()) }
