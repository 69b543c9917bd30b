package mcp

import (
	"os/exec"
	"syscall"
)

// lead makes a command the leader of a process group, and has the system end it
// should we die without a word.
func lead(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
