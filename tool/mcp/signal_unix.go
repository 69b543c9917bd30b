//go:build unix

package mcp

import (
	"os/exec"
	"syscall"
)

// terminate asks a command's process group to end, kill ends it. That nobody of
// it is left is no error.
func terminate(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
