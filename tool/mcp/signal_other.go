//go:build !unix

package mcp

import "os/exec"

// Where there are no process groups, the command alone is ended.
func lead(*exec.Cmd) {}

func terminate(cmd *exec.Cmd) { kill(cmd) }

func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
