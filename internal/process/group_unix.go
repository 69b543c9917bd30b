//go:build unix

package process

import (
	"context"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// apart gives a program a session, and with it a process group and no terminal.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

// wait waits until the program has ended, or ends it with ctx, and kills what is
// left of its group. The program stays a zombie until the group was killed where
// the system can say so: as long as it is one, its number names no other group.
func wait(ctx context.Context, cmd *exec.Cmd) {
	group := cmd.Process.Pid
	over := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		kill(group)
		close(over)
	})
	untilExit(cmd)
	if !stop() {
		<-over
	}
	kill(group)
	// What Wait has to say stands in cmd.ProcessState; there is nothing to copy
	// that could fail.
	_ = cmd.Wait()
}

// kill ends all processes of a group. One that has none left is no failure, and
// one whose members belong to somebody else cannot be ended by us.
func kill(group int) {
	_ = syscall.Kill(-group, syscall.SIGKILL)
}

func signalOf(s *os.ProcessState) string {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return unix.SignalName(w.Signal())
	}
	return ""
}
