package mcp

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"time"
)

const (
	// grace is how long a server may take to end after its input was closed, and
	// again after it was asked to.
	grace = 2 * time.Second
	// maxLine is the most bytes of a line of stderr that are looked at.
	maxLine = 4 << 10
)

// process is a server's command while it runs: its pipes, and the goroutines
// that wait for it and hear what it prints on stderr. It leads a process group of
// its own, which ends with it.
type process struct {
	in, out, stderr *os.File // our ends
	cmd             *exec.Cmd
	exited          chan struct{} // closed when the command has ended; err stands from then on
	err             error
	heard           sync.WaitGroup // the reader of stderr
}

// launch starts a server's command. hear gets each line of its stderr.
func launch(s Server, hear func(line string)) (_ *process, err error) {
	var opened []*os.File
	defer func() {
		if err != nil {
			closeAll(opened)
		}
	}()
	pipe := func() (r, w *os.File) {
		if err != nil {
			return nil, nil
		}
		if r, w, err = os.Pipe(); err == nil {
			opened = append(opened, r, w)
		}
		return r, w
	}
	theirIn, in := pipe()
	out, theirOut := pipe()
	stderr, theirErr := pipe()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(s.Command[0], s.Command[1:]...)
	cmd.Dir, cmd.Env = s.Dir, environment(s.Env)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirIn, theirOut, theirErr
	lead(cmd)
	p := &process{in: in, out: out, stderr: stderr, cmd: cmd, exited: make(chan struct{})}
	if err = p.run(); err != nil {
		return nil, err
	}
	closeAll([]*os.File{theirIn, theirOut, theirErr})
	p.heard.Go(func() { p.listen(hear) })
	return p, nil
}

// run starts the command and leaves a goroutine that waits for its end. It keeps
// its thread for as long as the command runs: where the system ends a command
// whose parent has died, that parent is the thread.
func (p *process) run() error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.err = p.cmd.Wait()
		kill(p.cmd) // whom it has left behind
		close(p.exited)
	}()
	return <-started
}

// listen hears stderr to its end.
func (p *process) listen(hear func(string)) {
	r := bufio.NewReaderSize(p.stderr, maxLine)
	for {
		line, err := r.ReadSlice('\n')
		if len(line) > 0 {
			hear(string(line))
		}
		for errors.Is(err, bufio.ErrBufferFull) { // the rest of a long line
			_, err = r.ReadSlice('\n')
		}
		if err != nil {
			return
		}
	}
}

// stop ends the command, kindly at first, and waits until nothing of it is left.
// It gives how the command ended.
func (p *process) stop() string {
	closeAll([]*os.File{p.in})
	for _, harder := range []func(*exec.Cmd){terminate, kill} {
		select {
		case <-p.exited:
		case <-time.After(grace):
			harder(p.cmd)
		}
	}
	<-p.exited
	// One of its group that was killed holds stderr no longer; one that has left
	// the group is not waited for.
	if err := p.stderr.SetReadDeadline(time.Now().Add(grace)); err != nil {
		closeAll([]*os.File{p.stderr})
	}
	p.heard.Wait()
	closeAll([]*os.File{p.out, p.stderr})
	if p.err == nil {
		return "it ended by itself"
	}
	return p.err.Error()
}

// closeAll closes pipes. That one was closed before is no error of anybody's.
func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// environment is all that a server gets of ours, and what its entry adds.
func environment(own map[string]string) []string {
	env := map[string]string{}
	for _, name := range []string{"PATH", "HOME", "LANG", "TMPDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			env[name] = value
		}
	}
	maps.Copy(env, own)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out = append(out, fmt.Sprintf("%s=%s", name, env[name]))
	}
	return out
}
