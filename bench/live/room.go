package live

import (
	"fmt"
	"syscall"
)

// Room sees that this process, and those that it starts, may have so many files
// open.
func Room(files int) error {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return err
	}
	need := uint64(files)
	if l.Cur >= need {
		return nil
	}
	l.Cur, l.Max = need, max(l.Max, need)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return fmt.Errorf("the system does not let %d files be open: %w", files, err)
	}
	return nil
}
