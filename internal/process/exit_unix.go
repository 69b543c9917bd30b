//go:build unix && !linux

package process

import "os/exec"

// untilExit waits until the program has ended. Here it is gone afterwards: its
// group is killed by a number that the system could in theory have given anew.
func untilExit(cmd *exec.Cmd) { _ = cmd.Wait() }
