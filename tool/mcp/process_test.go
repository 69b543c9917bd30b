//go:build unix

package mcp_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// ends waits until there is no process of an id.
func ends(t *testing.T, pid int) {
	t.Helper()
	limit := time.Now().Add(ample)
	for {
		err := syscall.Kill(pid, 0)
		if errors.Is(err, syscall.ESRCH) || zombie(pid) {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("process %d lives on (%v)", pid, err)
		}
	}
}

// zombie says whether a process has ended and nobody has asked how: its parent is
// whoever takes orphans in.
func zombie(pid int) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}

func TestAServersChildrenEndWithIt(t *testing.T) {
	b := open(t, as("srv", "children"))
	text, isError := b.call("srv_child", `{}`)
	pid, err := strconv.Atoi(text)
	if err != nil || isError {
		t.Fatalf("%q %v", text, err)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("the child is not there: %v", err)
	}
	b.Close()
	ends(t, pid)
}

func TestAServerThatDoesNotEndIsEnded(t *testing.T) {
	b := open(t, as("srv", "stubborn"))
	b.expect("srv_add", `{"a":2,"b":3}`, false, "5")
	b.Close() // returns
}

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

func parent(t *testing.T, pid int) int {
	t.Helper()
	out, err := exec.Command("ps", "-o", "ppid=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		t.Skipf("ps does not tell parents here: %v", err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
