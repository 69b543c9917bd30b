//go:build unix

package process_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/skeinhq/skein/internal/process"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func sh(t *testing.T, script string) process.Command {
	t.Helper()
	return process.Command{
		Path: "/bin/sh", Args: []string{"-c", script}, Dir: t.TempDir(),
		Env: []string{"PATH=" + os.Getenv("PATH")}, Keep: 64 << 10, Time: time.Minute,
	}
}

func run(t *testing.T, c process.Command) process.Ended {
	t.Helper()
	ended, err := process.Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return ended
}

func TestWhatAProgramPrintsIsKeptInOrder(t *testing.T) {
	got := run(t, sh(t, `echo one; echo two >&2; echo three; exit 3`))
	if got.Output != "one\ntwo\nthree\n" || got.Code != 3 || got.Signal != "" || got.Late || got.LeftOut != 0 {
		t.Fatalf("%+v", got)
	}
}

func TestAProgramGetsNothingItWasNotGiven(t *testing.T) {
	t.Setenv("SKEIN_TEST_SECRET", "x")
	c := sh(t, `cat; env; tty`)
	c.Env = append(c.Env, "A=b")
	got := run(t, c).Output
	if strings.Contains(got, "SKEIN_TEST_SECRET") || !strings.Contains(got, "A=b\n") || !strings.Contains(got, "not a tty") {
		t.Fatal(got)
	}
	c.Env, c.Path, c.Args = nil, "/usr/bin/env", nil
	if got := run(t, c).Output; got != "" {
		t.Fatalf("with no environment it has %q", got)
	}
}

func TestASignalIsNamed(t *testing.T) {
	if got := run(t, sh(t, `kill -SEGV $$`)); got.Signal != "SIGSEGV" || got.Code != -1 || got.Late {
		t.Fatalf("%+v", got)
	}
}

func TestMuchOutputTakesBoundedMemory(t *testing.T) {
	c := sh(t, `echo first; head -c 200000000 /dev/zero | tr '\0' 'x'; echo; echo last`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := run(t, c)
	runtime.ReadMemStats(&after)
	if !strings.HasPrefix(got.Output, "first\nxxx") || !strings.HasSuffix(got.Output, "xxx\nlast\n") || len(got.Output) > c.Keep+64 {
		t.Fatalf("%d bytes: %.20q", len(got.Output), got.Output)
	}
	if want := int64(200_000_000+12) - int64(c.Keep); got.LeftOut != want {
		t.Errorf("%d bytes left out, want %d", got.LeftOut, want)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
		t.Errorf("%d bytes were allocated", used)
	}
}

// pidsGone fails while a process whose number stands in one of the files lives.
func pidsGone(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(10 * time.Second); lives(pid); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("process %s (%d) still lives", name, pid)
			}
		}
	}
}

func lives(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return runtime.GOOS != "linux"
	}
	_, rest, _ := bytes.Cut(stat, []byte(") "))
	return !bytes.HasPrefix(rest, []byte("Z"))
}

func TestNothingIsLeftBehind(t *testing.T) {
	c := sh(t, `sleep 1000 & echo $! >background
(trap '' TERM HUP; sleep 1000 & echo $! >grandchild; wait) & 
while [ ! -s grandchild ]; do :; done
echo done`)
	got := run(t, c)
	if got.Output != "done\n" || got.Code != 0 || got.Late {
		t.Fatalf("%+v", got)
	}
	pidsGone(t, c.Dir, "background", "grandchild")
}

func TestTheWholeGroupEndsWithItsTime(t *testing.T) {
	c := sh(t, `trap '' TERM INT HUP; echo begun; (sleep 1000 & echo $! >grandchild; echo $$ >shell; wait); wait`)
	c.Time = 300 * time.Millisecond
	got := run(t, c)
	if got.Output != "begun\n" || !got.Late || got.Signal != "SIGKILL" {
		t.Fatalf("%+v", got)
	}
	pidsGone(t, c.Dir, "grandchild", "shell")
}

func TestTheWholeGroupEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	c := sh(t, `sleep 1000 & echo $! >grandchild; echo begun; wait`)
	c.Live = func(string) { cancel() }
	got, err := process.Run(ctx, c)
	if !errors.Is(err, context.Canceled) || got.Output != "begun\n" {
		t.Fatalf("%+v, %v", got, err)
	}
	pidsGone(t, c.Dir, "grandchild")
	if _, err := process.Run(ctx, c); !errors.Is(err, context.Canceled) {
		t.Fatalf("with a context that has ended: %v", err)
	}
}

func TestNobodyWaitsForWhoFledTheGroup(t *testing.T) {
	if _, err := os.Stat("/usr/bin/setsid"); err != nil {
		t.Skip("there is no setsid here")
	}
	c := sh(t, `setsid sh -c 'echo $$ >fled; exec sleep 1000' & while [ ! -s fled ]; do :; done; echo done`)
	got := run(t, c)
	if got.Output != "done\n" || got.Code != 0 {
		t.Fatalf("%+v", got)
	}
	text, err := os.ReadFile(filepath.Join(c.Dir, "fled"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

func TestLiveOutputComesWhileTheProgramRuns(t *testing.T) {
	var mu sync.Mutex
	var heard []string
	c := sh(t, `printf 'half a line'; while [ ! -e heard ]; do sleep 0.01; done; echo; printf '\033[1mend\n'`)
	c.Live = func(text string) {
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, text)
		if len(heard) == 1 {
			if err := os.WriteFile(filepath.Join(c.Dir, "heard"), nil, 0o600); err != nil {
				t.Error(err)
			}
		}
	}
	got := run(t, c)
	if heard[0] != "half a line" || strings.Join(heard, "") != "half a line\nend\n" || got.Output != "half a line\nend\n" {
		t.Fatalf("heard %q, then %+v", heard, got)
	}
}

func TestLiveOutputIsBounded(t *testing.T) {
	var most int
	c := sh(t, `head -c 20000000 /dev/zero | tr '\0' 'x'; echo; echo last`)
	var end string
	c.Live = func(text string) { most, end = max(most, len(text)), text }
	run(t, c)
	if most > 17<<10 || !strings.HasSuffix(end, "last\n") {
		t.Fatalf("a batch of %d bytes; the last ends with %.20q", most, end[max(0, len(end)-20):])
	}
}

func TestAskGivesBytesAsTheyAre(t *testing.T) {
	got, err := process.Ask(context.Background(), sh(t, `printf 'a\0b\r\n\377'; echo noise >&2`))
	if err != nil || string(got) != "a\x00b\r\n\xff" {
		t.Fatalf("%q, %v", got, err)
	}
	big := sh(t, `head -c 100000 /dev/zero`)
	late := sh(t, `sleep 1000`)
	late.Time = 50 * time.Millisecond
	for want, c := range map[string]process.Command{
		"no such thing":        sh(t, `echo no such thing >&2; exit 1`),
		"exit code 4":          sh(t, `exit 4`),
		"SIGKILL":              sh(t, `kill -KILL $$`),
		"more than 65536":      big,
		"did not end":          late,
		"could not be started": {Path: "/nonexistent", Keep: 1},
	} {
		if _, err := process.Ask(context.Background(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
