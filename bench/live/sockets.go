package live

import (
	"errors"
	"net"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sockets is a listener that remembers its connections, as they are: a server may
// look for what a TCP connection can do.
type sockets struct {
	net.Listener

	mu  sync.Mutex // guards the rest
	all []*net.TCPConn
}

func (s *sockets) Accept() (net.Conn, error) {
	c, err := s.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all = append(s.all, tcp)
	}
	return c, nil
}

// What SO_MEMINFO gives, in this order.
const (
	receiving = 0 // bytes of what has come
	reserved  = 4 // bytes taken for what will
	queued    = 5 // bytes of what is to be sent
	fields    = 9
)

// kernel is how much memory the system holds for the connections that are open.
func (s *sockets) kernel() (total int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := s.all[:0]
	for _, c := range s.all {
		n, err := held(c)
		if errors.Is(err, net.ErrClosed) {
			continue
		}
		if err != nil {
			return 0, err
		}
		open = append(open, c)
		total += n
	}
	s.all = open
	return total, nil
}

func held(c *net.TCPConn) (int64, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var info [fields]uint32
	var failed unix.Errno
	err = raw.Control(func(fd uintptr) {
		size := uint32(unsafe.Sizeof(info))
		_, _, failed = unix.Syscall6(unix.SYS_GETSOCKOPT, fd, unix.SOL_SOCKET, unix.SO_MEMINFO, uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	})
	switch {
	case err != nil:
		return 0, err
	case failed != 0:
		return 0, os.NewSyscallError("getsockopt", failed)
	}
	return int64(info[receiving]) + int64(info[reserved]) + int64(info[queued]), nil
}
