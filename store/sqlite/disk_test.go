package sqlite_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/fts5"
	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"
)

// disk is a VFS over the system's that fails when told, and that knows what a
// power cut would leave of each file: what was synced, and of the writes after
// it any, in whole or in part.
type disk struct {
	vfs.VFS

	mu     sync.Mutex
	files  map[string]*platter
	failed map[string]error // by operation: "read", "write", "sync"
	room   int              // bytes by which files may still grow, where limited
	full   bool             // room counts
	off    bool             // the power is cut: nothing works
	left   int              // writes and syncs until it is, where that is set
}

// platter is what is known of one file.
type platter struct {
	safe    []byte  // as of the last sync
	pending []write // since then, in order
}

type write struct {
	at   int64
	data []byte // nil: the file was cut off at that size
}

// newDisk registers a disk under the test's name.
func newDisk(t testing.TB) (*disk, string) {
	d := &disk{VFS: vfs.Find("os"), files: map[string]*platter{}, failed: map[string]error{}}
	name := "disk:" + t.Name()
	vfs.Register(name, d)
	t.Cleanup(func() { vfs.Unregister(name) })
	return d, name
}

// fail makes an operation fail until it is called with nil.
func (d *disk) fail(op string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failed[op] = err
}

// fill leaves so many bytes of room; less than none takes the limit away.
func (d *disk) fill(room int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.room, d.full = room, room >= 0
}

// cutAfter cuts the power at the n-th write or sync from now.
func (d *disk) cutAfter(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left = n
}

// toCut gives how many writes and syncs are left until the power is cut.
func (d *disk) toCut() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.left
}

// cut cuts the power and writes what is left of each file into a folder. It
// says how many writes were lost.
func (d *disk) cut(t testing.TB, rnd *rand.Rand, folder string) (lost int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.off = true
	for name, p := range d.files {
		data := append([]byte(nil), p.safe...)
		for _, w := range p.pending {
			switch rnd.IntN(3) {
			case 0:
				lost++
				continue
			case 1:
				if w.data != nil { // torn
					w.data = w.data[:rnd.IntN(len(w.data)+1)]
				}
			}
			data = w.apply(data)
		}
		if err := os.WriteFile(filepath.Join(folder, filepath.Base(name)), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return lost
}

func (w write) apply(data []byte) []byte {
	if w.data == nil {
		for int64(len(data)) < w.at {
			data = append(data, 0)
		}
		return data[:w.at]
	}
	end := w.at + int64(len(w.data))
	if int64(len(data)) < end {
		data = append(data, make([]byte, end-int64(len(data)))...)
	}
	copy(data[w.at:], w.data)
	return data
}

func (d *disk) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, out, err := vfsutil.WrapOpenFilename(d.VFS, name, flags)
	if err != nil || name == nil {
		return f, out, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	path := name.String()
	if d.files[path] == nil {
		safe, err := os.ReadFile(path)
		if err != nil {
			return nil, out, err
		}
		d.files[path] = &platter{safe: safe}
	}
	return &diskFile{File: f, d: d, path: path}, out, nil
}

func (d *disk) Delete(name string, sync bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.off {
		return sqlite3.IOERR_DELETE
	}
	delete(d.files, name)
	return d.VFS.Delete(name, sync)
}

type diskFile struct {
	vfs.File
	d    *disk
	path string
}

func (f *diskFile) SharedMemory() vfs.SharedMemory { return vfsutil.WrapSharedMemory(f.File) }
func (f *diskFile) Unwrap() vfs.File               { return f.File }

// try runs an operation unless it is to fail, and notes what it writes.
func (f *diskFile) try(op string, code error, w *write, run func() error) error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if f.d.left > 0 && op != "read" {
		f.d.left--
		f.d.off = f.d.left == 0
	}
	if f.d.off {
		return code
	}
	if err := f.d.failed[op]; err != nil {
		return err
	}
	if w != nil && f.d.full {
		size, err := f.File.Size()
		if err != nil {
			return err
		}
		grows := int(max(0, w.at+int64(len(w.data))-size))
		if grows > f.d.room {
			return sqlite3.FULL
		}
		f.d.room -= grows
	}
	if err := run(); err != nil {
		return err
	}
	if p := f.d.files[f.path]; w != nil && p != nil {
		p.pending = append(p.pending, *w)
	}
	return nil
}

func (f *diskFile) ReadAt(b []byte, off int64) (n int, err error) {
	failed := f.try("read", sqlite3.IOERR_READ, nil, func() error { return nil })
	if failed != nil {
		return 0, failed
	}
	return f.File.ReadAt(b, off)
}

func (f *diskFile) WriteAt(b []byte, off int64) (n int, err error) {
	w := &write{at: off, data: append([]byte{}, b...)}
	err = f.try("write", sqlite3.IOERR_WRITE, w, func() error {
		n, err = f.File.WriteAt(b, off)
		return err
	})
	return n, err
}

func (f *diskFile) Truncate(size int64) error {
	return f.try("write", sqlite3.IOERR_TRUNCATE, &write{at: size}, func() error { return f.File.Truncate(size) })
}

// Sync makes what was written safe. The system's sync is left out: the test
// outlives no power cut of its own.
func (f *diskFile) Sync(vfs.SyncFlag) error {
	return f.try("sync", sqlite3.IOERR_FSYNC, nil, func() error {
		if p := f.d.files[f.path]; p != nil {
			for _, w := range p.pending {
				p.safe = w.apply(p.safe)
			}
			p.pending = nil
		}
		return nil
	})
}

// damageWith changes a database behind the store's back, the search index too.
func damageWith(c *sqlite3.Conn, sql string) error {
	if err := fts5.Register(c); err != nil {
		return err
	}
	return c.Exec(sql)
}
