//go:build unix && !linux

package mcp

import (
	"os/exec"
	"syscall"
)

// lead makes a command the leader of a process group.
func lead(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
