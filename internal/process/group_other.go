//go:build !unix

package process

import (
	"context"
	"os"
	"os/exec"
)

// Where there are no process groups, the program alone is ended.
func apart(*exec.Cmd) {}

func wait(ctx context.Context, cmd *exec.Cmd) {
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer stop()
	_ = cmd.Wait()
}

func signalOf(*os.ProcessState) string { return "" }
