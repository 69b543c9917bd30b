//go:build unix

package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// giveTo gives a file to the owner of another one. Whoever may not do that gives
// it to the group, if the group may write, so that the owner still can.
func giveTo(f *os.File, of fs.FileInfo) error {
	want, ok := of.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if has, ok := info.Sys().(*syscall.Stat_t); ok && has.Uid == want.Uid && has.Gid == want.Gid {
		return nil
	}
	err = f.Chown(int(want.Uid), int(want.Gid))
	if err != nil && of.Mode().Perm()&0o020 != 0 {
		return f.Chown(-1, int(want.Gid))
	}
	return err
}

// isReadOnlyDisk says whether that is why a write failed.
func isReadOnlyDisk(err error) bool { return errors.Is(err, syscall.EROFS) }

// isFullDisk says whether the system would keep no more: of the disk, of the
// user's share of it, or of one file.
func isFullDisk(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
