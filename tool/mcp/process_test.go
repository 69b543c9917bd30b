//go:build unix

package mcp_test

import (
	"errors"
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
