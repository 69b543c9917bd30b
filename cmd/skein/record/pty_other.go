//go:build !linux

package main

import (
	"errors"
	"os"
	"os/exec"
)

func start(*exec.Cmd, int, int) (*os.File, error) {
	return nil, errors.New("recording needs Linux")
}
