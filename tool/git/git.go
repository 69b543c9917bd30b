package git

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

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/skeinhq/skein/internal/process"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

// Set is the name under which an agent's file asks for the tool; the tool has the
// same name.
const Set = "git"

// Time is how long git may take.
const Time = 60 * time.Second

// keep is the most bytes of git's output that are kept; the rest of
// tool.MaxOutput is for the words about it.
const keep = tool.MaxOutput - 4096

const description = `Looks at the git repository of the workspace. status: what has changed, in short form. diff: what has changed in the files since the index (staged: in the index since the last commit; revision: since that revision, or between two of them). log: commits, the newest first. show: a commit, a tag, or a file of the past as revision:path. It only reads.`

type input struct {
	Command  string `json:"command" jsonschema:"what to look at"`
	Revision string `json:"revision,omitempty" jsonschema:"for diff, log and show: a commit, branch or tag such as HEAD~2 or v1.0; for diff and log also two of them as a..b or a...b; for show also a file as HEAD:docs/a.md"`
	Path     string `json:"path,omitempty" jsonschema:"only this file or folder, from the workspace"`
	Staged   bool   `json:"staged,omitempty" jsonschema:"for diff: what is in the index"`
	Stat     bool   `json:"stat,omitempty" jsonschema:"for diff, log and show: only which files changed, and by how many lines"`
	Limit    int    `json:"limit,omitempty" jsonschema:"for log: the most commits; 20 if left out, at most 500"`
}

// Tool makes the tool that looks at the repository in the folder dir, which need
// not be one yet. A folder or a git that is not there is an error with code
// configuration.
func Tool(dir string) (tool.Tool, error) {
	g, err := open(dir)
	if err != nil {
		return tool.Tool{}, err
	}
	t, err := tool.Make(tool.Tool{Name: Set, ReadOnly: true, Description: description, Resources: resources}, g.run)
	if err != nil {
		return tool.Tool{}, err
	}
	t.Schema, err = schema()
	return t, err
}

// schema is the input's schema with the commands that there are.
func schema() (json.RawMessage, error) {
	s, err := jsonschema.For[input](nil)
	if err != nil {
		return nil, err
	}
	for _, c := range commands {
		s.Properties["command"].Enum = append(s.Properties["command"].Enum, c.name)
	}
	return thread.Encode(s)
}

// git is the program, and the workspace that it looks at.
type git struct {
	path string
	dir  string
}

func open(dir string) (*git, error) {
	full, err := filepath.Abs(dir)
	if err == nil {
		full, err = filepath.EvalSymlinks(full)
	}
	if err != nil {
		return nil, wrong(fmt.Sprintf("the folder %s of the git tool cannot be reached", dir), err)
	}
	if info, err := os.Stat(full); err != nil || !info.IsDir() {
		return nil, wrong(fmt.Sprintf("the folder %s of the git tool is no folder", dir), err)
	}
	path, err := exec.LookPath("git")
	if err != nil {
		return nil, wrong("there is no git on this machine", err)
	}
	return &git{path: path, dir: full}, nil
}

func wrong(message string, err error) error {
	return &thread.Error{Code: thread.Configuration, Op: "git", Message: message, Err: err}
}

func resources(raw json.RawMessage) (tool.Resources, error) {
	var in input
	if err := json.Unmarshal(raw, &in); err != nil {
		return tool.Resources{}, err
	}
	named := in.Path
	if named == "" {
		named = fileOf(in.Revision)
	}
	p, err := cleanPath(named)
	if err != nil {
		return tool.Resources{}, err
	}
	return tool.Resources{Paths: []string{p}}, nil
}

func (g *git) run(ctx context.Context, in input) (text string, err error) {
	c, err := find(in.Command)
	if err != nil {
		return "", err
	}
	if err := c.check(in); err != nil {
		return "", err
	}
	path, err := cleanPath(in.Path)
	if err != nil {
		return "", err
	}
	m, err := g.mirror(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, m.remove()) }()
	revision, err := m.resolve(ctx, c, in.Revision)
	if err != nil {
		return "", err
	}
	if caller := tool.CallerOf(ctx); caller.Hidden != nil {
		s := sifting{mirror: m, caller: caller, in: in, path: path, revision: revision}
		return c.sift(s, ctx, c)
	}
	args := c.args(in)
	if revision != "" {
		args = append(args, "--end-of-options", revision)
	}
	if args = append(args, "--"); in.Path != "" {
		args = append(args, path)
	}
	ended, err := process.Run(ctx, m.command(args...))
	if err != nil {
		return ended.Output, err
	}
	return m.told(ctx, c, in, revision, ended)
}

// told is what git has said, as a model reads it.
func (m *mirror) told(ctx context.Context, c command, in input, revision string, ended process.Ended) (string, error) {
	said := strings.TrimSpace(ended.Output)
	switch {
	case ended.Late:
		return ended.Output, fmt.Errorf("git did not end within %v and was stopped; name a path, or ask for less", Time)
	case ended.Signal != "":
		return ended.Output, fmt.Errorf("git was ended by the signal %s", ended.Signal)
	case ended.Code != 0 && said != "":
		return "", errors.New(said)
	case ended.Code != 0:
		return "", fmt.Errorf("git ended with exit code %d", ended.Code)
	case said == "" || c.name == status && strings.HasPrefix(said, "## ") && !strings.Contains(said, "\n"):
		return strings.TrimSpace(said + "\n[" + c.nothing + "]"), nil
	case ended.Binary && fileOf(in.Revision) != "":
		size, err := process.Ask(ctx, m.command("cat-file", "-s", revision))
		return fmt.Sprintf("[%s is binary, %s bytes; it is not shown]", quoted(in.Revision), strings.TrimSpace(string(size))), err
	}
	return ended.Output, nil
}
