package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// start runs a command at a terminal of its own, and gives the other end of it.
func start(c *exec.Cmd, width, height int) (*os.File, error) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	slave, err := open(master, width, height)
	if err != nil {
		_ = master.Close() // the first error says more
		return nil, err
	}
	c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err = c.Start()
	if closed := slave.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = master.Close() // the first error says more
		return nil, err
	}
	return master, nil
}

// open gives the end of a terminal that a program sits at.
func open(master *os.File, width, height int) (*os.File, error) {
	raw, err := master.SyscallConn()
	if err != nil {
		return nil, err
	}
	number := 0
	var failed error
	err = raw.Control(func(fd uintptr) {
		if failed = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); failed != nil {
			return
		}
		if number, failed = unix.IoctlGetInt(int(fd), unix.TIOCGPTN); failed != nil {
			return
		}
		failed = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(height), Col: uint16(width)})
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return nil, fmt.Errorf("a terminal cannot be made: %w", err)
	}
	return os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
}
