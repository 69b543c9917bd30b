package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/skeinhq/skein/internal/process"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

// Set is the name under which an agent's file asks for the tool; the tool has the
// same name.
const Set = "shell"

// Time is how long a command may take that does not say, and MaxTime the longest
// it may ask for: it ends before the call's own deadline, so that what it printed
// is told.
const (
	Time    = 120 * time.Second
	MaxTime = tool.Deadline - 10*time.Second
)

// maxCommand is the most bytes of a command line; systems take little more as one
// argument.
const maxCommand = 100_000

// markRoom is what is left of tool.MaxOutput for the words about the output.
const markRoom = 4096

// Options are how commands run. The zero value is usable.
type Options struct {
	// Time is how long a command may take that does not ask for another time;
	// 0 is the constant [Time]; at most MaxTime.
	Time time.Duration
	// Pass names variables that are passed on though they look like secrets.
	Pass []string
	// Environ is the environment to pass on; nil is the program's own.
	Environ []string
}

type input struct {
	Command string `json:"command" jsonschema:"the command line, as for sh -c; several lines are fine"`
	Timeout int    `json:"timeout,omitempty" jsonschema:"seconds that the command may take, at most 290; if left out, a usual time, mostly 120"`
}

const description = `Runs a command line in a shell, in the workspace's folder, and gives what it printed (stdout and stderr together) and its exit code. Each command begins anew in that folder. There is no input and no terminal: use options such as --yes, and no editors or pagers. When the command ends everything that it started is stopped, so leave nothing in the background. Of a very long output the head and the tail are given.`

// Tool makes the tool that runs commands in the folder dir. A folder or a shell
// that is not there is an error with code configuration.
func Tool(dir string, o Options) (tool.Tool, error) {
	s, err := open(dir, o)
	if err != nil {
		return tool.Tool{}, err
	}
	return tool.Make(tool.Tool{Name: Set, Description: description, Resources: resources}, s.run)
}

// shell is where and how commands run.
type shell struct {
	path string
	dir  string
	env  []string
	time time.Duration
}

func open(dir string, o Options) (*shell, error) {
	if o.Time < 0 || o.Time > MaxTime {
		return nil, wrong(fmt.Sprintf("a command's time is between 0 and %v, not %v", MaxTime, o.Time), nil)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, wrong("the shell's folder has no full name", err)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, wrong(fmt.Sprintf("the shell's folder %s is no folder", dir), err)
	}
	path, err := find("bash", "sh")
	if err != nil {
		return nil, wrong("there is no shell to run commands with", err)
	}
	s := &shell{path: path, dir: dir, time: o.Time}
	if s.time == 0 {
		s.time = Time
	}
	from := o.Environ
	if from == nil {
		from = os.Environ()
	}
	s.env = environ(from, o.Pass, dir)
	return s, nil
}

func wrong(message string, err error) error {
	return &thread.Error{Code: thread.Configuration, Op: "shell", Message: message, Err: err}
}

// find gives the first of these programs that is there.
func find(names ...string) (string, error) {
	var all error
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err == nil {
			return path, nil
		}
		all = errors.Join(all, err)
	}
	return "", all
}

func resources(in json.RawMessage) (tool.Resources, error) {
	var i input
	if err := json.Unmarshal(in, &i); err != nil {
		return tool.Resources{}, err
	}
	return tool.Resources{Command: i.Command}, nil
}

// run runs a command. One that did not end well is an error for the model to
// read, below what it printed.
func (s *shell) run(ctx context.Context, in input) (string, error) {
	limit, err := s.check(in)
	if err != nil {
		return "", err
	}
	ended, err := process.Run(ctx, process.Command{
		Path: s.path, Args: []string{"-c", in.Command}, Dir: s.dir, Env: s.env,
		Time: limit, Keep: tool.MaxOutput - markRoom,
		Live: func(text string) { tool.Tell(ctx, text) },
	})
	switch {
	case ctx.Err() != nil:
		return ended.Output, fmt.Errorf("the command was stopped: %w", context.Cause(ctx))
	case err != nil:
		return ended.Output, err
	case ended.Late:
		return ended.Output, fmt.Errorf("[the command did not end within %v and was killed, with all that it had started]", limit)
	case ended.Signal != "":
		return ended.Output, fmt.Errorf("[the command was ended by the signal %s]", ended.Signal)
	case ended.Code != 0:
		return ended.Output, fmt.Errorf("[exit code %d]", ended.Code)
	}
	return line(ended.Output) + "[exit code 0]", nil
}

// check says how long a command may take, or what is wrong with it.
func (s *shell) check(in input) (time.Duration, error) {
	limit := s.time
	if in.Timeout != 0 {
		limit = time.Duration(in.Timeout) * time.Second
	}
	switch {
	case strings.TrimSpace(in.Command) == "":
		return 0, errors.New("the command is empty; give a command line to run")
	case len(in.Command) > maxCommand:
		return 0, fmt.Errorf("the command line has %d bytes, and at most %d are possible; write a file and run that", len(in.Command), maxCommand)
	case strings.ContainsRune(in.Command, 0):
		return 0, errors.New("the command line holds a NUL character, which no command can; leave it out")
	case in.Timeout < 0 || int64(in.Timeout) > int64(MaxTime/time.Second):
		return 0, fmt.Errorf("timeout is %d; it must be between 1 and %d seconds", in.Timeout, MaxTime/time.Second)
	}
	return limit, nil
}

// line ends the text with the end of a line, unless it is empty.
func line(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}
