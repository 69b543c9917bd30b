package mcp_test

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A server that dies with us: this process starts another one that opens a
// client and is killed.
func TestAServerEndsWhenItsClientIsKilled(t *testing.T) {
	if os.Getenv(actAs+"_OWNER") != "" {
		b := open(t, as("srv", "children"))
		text, _ := b.call("srv_child", `{}`)
		os.Stdout.WriteString("child " + text + "\n")
		<-context.Background().Done()
	}
	owner := exec.Command(os.Args[0], "-test.run=^TestAServerEndsWhenItsClientIsKilled$")
	owner.Env = append(os.Environ(), actAs+"_OWNER=1")
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 100)
	n, err := out.Read(buf)
	if err != nil || !strings.HasPrefix(string(buf[:n]), "child ") {
		t.Fatalf("%q %v", buf[:n], err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(string(buf[:n]), "child ")))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(child, syscall.SIGKILL) // the grandchild is not ours to mind
	server := parent(t, child)
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait()
	ends(t, server)
}
