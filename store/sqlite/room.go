package sqlite

import (
	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"
)

// room is a VFS over another one that tells SQLite that the disk is full where
// the system says so in any of its ways. Otherwise it would hear of a disk that
// failed, and by the end of a COMMIT nobody could tell the two apart.
type room struct{ under string }

// roomOver registers it and gives its name.
func roomOver(under string) string {
	if under == "" {
		under = "os"
	}
	name := "skein:" + under
	if vfs.Find(name) == nil {
		vfs.Register(name, room{under})
	}
	return name
}

func (r room) vfs() (vfs.VFS, error) {
	if v := vfs.Find(r.under); v != nil {
		return v, nil
	}
	return nil, sqlite3.CANTOPEN
}

func (r room) Open(name string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	v, err := r.vfs()
	if err != nil {
		return nil, flags, err
	}
	f, out, err := vfsutil.WrapOpen(v, name, flags)
	return roomy(f, out, err)
}

func (r room) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	v, err := r.vfs()
	if err != nil {
		return nil, flags, err
	}
	f, out, err := vfsutil.WrapOpenFilename(v, name, flags)
	return roomy(f, out, err)
}

func roomy(f vfs.File, out vfs.OpenFlag, err error) (vfs.File, vfs.OpenFlag, error) {
	if err != nil {
		return nil, out, err
	}
	if out&vfs.OPEN_WAL != 0 {
		return &logFile{roomFile: roomFile{f}}, out, nil
	}
	return roomFile{f}, out, nil
}

func (r room) Delete(name string, sync bool) error {
	v, err := r.vfs()
	if err != nil {
		return err
	}
	return v.Delete(name, sync)
}

func (r room) Access(name string, flags vfs.AccessFlag) (bool, error) {
	v, err := r.vfs()
	if err != nil {
		return false, err
	}
	return v.Access(name, flags)
}

func (r room) FullPathname(name string) (string, error) {
	v, err := r.vfs()
	if err != nil {
		return "", err
	}
	return v.FullPathname(name)
}

// roomFile hands on all that a file of the system's can do.
type roomFile struct{ vfs.File }

func (f roomFile) WriteAt(b []byte, at int64) (int, error) {
	n, err := f.File.WriteAt(b, at)
	if err != nil && isFullDisk(err) {
		err = sqlite3.FULL
	}
	return n, err
}

func (f roomFile) SizeHint(size int64) error {
	err := vfsutil.WrapSizeHint(f.File, size)
	if err != nil && isFullDisk(err) {
		err = sqlite3.FULL
	}
	return err
}

func (f roomFile) Unwrap() vfs.File                { return f.File }
func (f roomFile) HasMoved() (bool, error)         { return vfsutil.WrapHasMoved(f.File) }
func (f roomFile) LockState() vfs.LockLevel        { return vfsutil.WrapLockState(f.File) }
func (f roomFile) PersistWAL() bool                { return vfsutil.WrapPersistWAL(f.File) }
func (f roomFile) SetPersistWAL(keep bool)         { vfsutil.WrapSetPersistWAL(f.File, keep) }
func (f roomFile) PowersafeOverwrite() bool        { return vfsutil.WrapPowersafeOverwrite(f.File) }
func (f roomFile) SetPowersafeOverwrite(safe bool) { vfsutil.WrapSetPowersafeOverwrite(f.File, safe) }
func (f roomFile) SharedMemory() vfs.SharedMemory  { return vfsutil.WrapSharedMemory(f.File) }
func (f roomFile) MemoryMapper() vfs.MemoryMapper  { return vfsutil.WrapMemoryMapper(f.File) }
