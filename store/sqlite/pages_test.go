package sqlite_test

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/skeinhq/skein/store/sqlite"
	"github.com/skeinhq/skein/thread"
)

// counted is a VFS over the system's that counts what goes to and fro: unlike
// time, that is the same on every machine.
type counted struct {
	vfs.VFS
	reads  atomic.Int64 // pages of databases and frames of logs
	writes atomic.Int64 // bytes of both
}

// newCounted registers one under the test's name.
func newCounted(t testing.TB) (*counted, string) {
	c := &counted{VFS: vfs.Find("os")}
	name := "counted:" + t.Name()
	vfs.Register(name, c)
	t.Cleanup(func() { vfs.Unregister(name) })
	return c, name
}

func (c *counted) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, out, err := vfsutil.WrapOpenFilename(c.VFS, name, flags)
	if err != nil {
		return nil, out, err
	}
	return &countedFile{f, c}, out, nil
}

type countedFile struct {
	vfs.File
	c *counted
}

func (f *countedFile) SharedMemory() vfs.SharedMemory { return vfsutil.WrapSharedMemory(f.File) }
func (f *countedFile) Unwrap() vfs.File               { return f.File }

func (f *countedFile) ReadAt(b []byte, at int64) (int, error) {
	f.c.reads.Add(1)
	return f.File.ReadAt(b, at)
}

func (f *countedFile) WriteAt(b []byte, at int64) (int, error) {
	f.c.writes.Add(int64(len(b)))
	return f.File.WriteAt(b, at)
}

// zooming gives how many pages a running store reads for a line that is opened,
// as an average of many from anywhere in a thread of n messages.
func zooming(t testing.TB, n int) float64 {
	t.Helper()
	c, name := newCounted(t)
	path := fresh(t)
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	built(t, s, "a", n)
	if err := s.IndexNow(t.Context()); err != nil { // the indexer would read too
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, sqlite.Options{VFS: name})
	rnd := rand.New(rand.NewPCG(1, 1))
	const warm, rounds = 2000, 2000
	for i := range warm + rounds {
		if i == warm {
			c.reads.Store(0)
		}
		st := state(t, s, "a")
		width := int64(2) << rnd.IntN(8)
		left, right := thread.Span{ID: rnd.Int64N(st.Length/width) * width, N: width}.Halves()
		nodes, err := s.Nodes(t.Context(), st, []thread.Span{left, right})
		if err != nil || len(nodes) != 2 {
			t.Fatalf("%v and %v gave %v, %v", left, right, nodes, err)
		}
	}
	return float64(c.reads.Load()) / rounds
}

// mostMore is how many pages more of a long thread. Where lines lay in the inner
// pages of their tree there were more than three, and where the lines of all widths
// lay among each other more than three quarters of one.
const mostMore = 0.7

// I10: what a zoom costs does not depend on the thread's length. Of a long thread
// the pages lie further apart than a connection remembers; there must be few.
func TestAZoomReadsFewPagesMoreOfALongThread(t *testing.T) {
	short, long := zooming(t, 1_000), zooming(t, 60_000)
	t.Logf("pages read for a zoom: %.2f of 1,000 messages, %.2f of 60,000", short, long)
	if long > short+mostMore {
		t.Errorf("a zoom reads %.2f pages of a long thread, and %.2f of a short one", long, short)
	}
}
