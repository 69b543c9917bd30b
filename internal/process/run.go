package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// linger is how long a pipe may stay open after the group was killed.
const linger = 500 * time.Millisecond

// Command is a program to run.
type Command struct {
	Path string   // the program's file
	Args []string // what follows its name
	Dir  string
	Env  []string      // all of its environment
	Time time.Duration // how long it may take; 0: as long as the context lasts
	Keep int           // the most bytes of output that are kept
	Live func(string)  // hears cleaned output in batches while the program runs; may be nil
}

// Ended is how a program ended. Code is its exit code, −1 where a signal ended
// it; Late says that its time was over.
type Ended struct {
	Output  string
	LeftOut int64 // bytes between the head and the tail of Output
	Binary  bool  // the program printed NUL bytes
	Code    int
	Signal  string // such as SIGSEGV
	Late    bool
}

// Run runs c. How the program fares is told in Ended; an error says that it
// could not be started or that ctx ended, and then Output is what it had printed.
func Run(ctx context.Context, c Command) (Ended, error) {
	s := newScreen(c.Keep, c.Live)
	ended, err := c.run(ctx, s, nil)
	ended.Output, ended.LeftOut, ended.Binary = s.kept.text(), s.kept.leftOut(), s.clean.nul
	return ended, err
}

// Ask runs c and gives its stdout as it is. A program that fails, takes too long
// or says more than c.Keep bytes is an error that holds what it said on stderr.
func Ask(ctx context.Context, c Command) ([]byte, error) {
	out := &raw{most: c.Keep}
	said := newScreen(c.Keep, nil)
	ended, err := c.run(ctx, out, said)
	switch {
	case err != nil:
		return nil, err
	case ended.Late:
		return nil, fmt.Errorf("it did not end within %v", c.Time)
	case ended.Code != 0:
		return nil, errors.New(failure(ended, strings.TrimSpace(said.kept.text())))
	case out.over:
		return nil, fmt.Errorf("it says more than %d bytes", c.Keep)
	}
	return out.bytes, nil
}

func failure(e Ended, said string) string {
	switch {
	case said != "":
		return said
	case e.Signal != "":
		return "it was ended by " + e.Signal
	}
	return fmt.Sprintf("it ended with exit code %d", e.Code)
}

// sink takes what comes out of a pipe. A sink that waits with something says
// until when.
type sink interface {
	take(p []byte)
	due() time.Time
	flush()
	end()
}

// run runs c with its stdout and stderr in sinks; a nil stderr goes where stdout
// goes.
func (c Command) run(ctx context.Context, stdout, stderr sink) (Ended, error) {
	if err := ctx.Err(); err != nil {
		return Ended{Code: -1}, err
	}
	within, cancel := ctx, context.CancelFunc(func() {})
	if c.Time > 0 {
		within, cancel = context.WithTimeout(ctx, c.Time)
	}
	defer cancel()

	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would be all of ours
	}
	apart(cmd)
	pipes, err := c.pipes(cmd, stdout, stderr)
	if err != nil {
		return Ended{Code: -1}, err
	}
	if err := cmd.Start(); err != nil {
		pipes.close()
		return Ended{Code: -1}, fmt.Errorf("%s could not be started: %w", c.Path, err)
	}
	pipes.drain()
	wait(within, cmd)
	pipes.finish()

	ended := Ended{Code: cmd.ProcessState.ExitCode(), Signal: signalOf(cmd.ProcessState)}
	if err := ctx.Err(); err != nil {
		return ended, err
	}
	ended.Late = within.Err() != nil && !cmd.ProcessState.Success()
	return ended, nil
}

// pipe is one way out of a program.
type pipe struct {
	r, w *os.File
	to   sink
}

// pipes are a program's ways out, and who reads them.
type pipes struct {
	all     []pipe
	readers sync.WaitGroup
}

func (c Command) pipes(cmd *exec.Cmd, stdout, stderr sink) (*pipes, error) {
	p := &pipes{}
	add := func(to sink) (*os.File, error) {
		r, w, err := os.Pipe()
		if err != nil {
			p.close()
			return nil, err
		}
		p.all = append(p.all, pipe{r, w, to})
		return w, nil
	}
	w, err := add(stdout)
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = w, w
	if stderr != nil {
		if w, err = add(stderr); err != nil {
			return nil, err
		}
		cmd.Stderr = w
	}
	return p, nil
}

func (p *pipes) close() {
	for _, each := range p.all {
		each.r.Close()
		each.w.Close()
	}
}

// drain reads from now on. The program alone holds the writing ends.
func (p *pipes) drain() {
	for _, each := range p.all {
		each.w.Close()
		p.readers.Go(func() { drain(each.r, each.to) })
	}
}

// finish waits for what is still in the pipes, but not for somebody who fled the
// group and holds one open.
func (p *pipes) finish() {
	late := time.AfterFunc(linger, p.close)
	p.readers.Wait()
	late.Stop()
	p.close()
}

// drain gives all that comes from r to the sink. A read waits until the sink is
// due and no longer, so that live output is told in time without a clock of its
// own.
func drain(r *os.File, to sink) {
	buf := make([]byte, 32<<10)
	for {
		if err := r.SetReadDeadline(to.due()); err != nil {
			break // closed
		}
		n, err := r.Read(buf)
		if n > 0 {
			to.take(buf[:n])
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			to.flush()
			continue
		}
		if err != nil {
			break // its end, or closed
		}
	}
	to.end()
}
