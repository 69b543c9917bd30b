//go:build unix

package git

import "syscall"

// dontWait has an open return at once where a named pipe has come in the place of
// a file.
const dontWait = syscall.O_NONBLOCK
