//go:build unix

package server

import (
	"net"

	"golang.org/x/sys/unix"
)

// socketOf gives the number of a connection, which is good until that is closed.
func socketOf(c *net.TCPConn) (fd uintptr, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	return fd, raw.Control(func(n uintptr) { fd = n })
}

// writeNow writes what the system has room for at once. What fails does so again where
// it may wait.
func writeNow(fd uintptr, p []byte) int {
	n, err := unix.SendmsgN(int(fd), p, nil, nil, 0) // cheaper than a write, which asks who watches the file
	if err != nil {
		return 0
	}
	return n
}
