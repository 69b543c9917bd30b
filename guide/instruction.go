package guide

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"sync"

	"github.com/skeinhq/skein/thread"
)

// MaxFile is the most bytes that are read of AGENTS.md, of a server's prompt and
// of a skill's file.
const MaxFile = 256 << 10

// Input is what instructions are resolved with.
type Input struct {
	Workspace fs.FS // nil: none. One of an os.Root keeps links inside
	Model     string
	// Prompt gives a prompt of an MCP server; nil: no servers are declared.
	Prompt func(ctx context.Context, server, name string, args map[string]string) (string, error)
	// Warn hears what was left out and why, perhaps from several goroutines at
	// once; nil: nobody listens.
	Warn func(text string)
}

func (in Input) warn(format string, args ...any) {
	if in.Warn != nil {
		in.Warn(fmt.Sprintf(format, args...))
	}
}

// Instruction is a text that guides an agent, or something that finds it. Resolve
// must end soon after ctx does: whoever asks waits for it.
type Instruction struct {
	Name    string // for errors
	Resolve func(ctx context.Context, in Input) (string, error)
}

// Text is an instruction that is always the same.
func Text(s string) Instruction {
	return Instruction{Name: "text", Resolve: func(context.Context, Input) (string, error) { return s, nil }}
}

// agentsFile is where a workspace tells agents how to work in it.
const agentsFile = "AGENTS.md"

// AgentsFile is the workspace's AGENTS.md. It is empty where there is none; so it
// is, with a warning, where the file cannot be read, is no text or is larger than
// MaxFile.
func AgentsFile() Instruction {
	return Instruction{Name: agentsFile, Resolve: func(_ context.Context, in Input) (string, error) {
		if in.Workspace == nil {
			return "", nil
		}
		text, err := ReadText(in.Workspace, agentsFile, MaxFile)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				in.warn("The workspace's %s was left out: %v.", agentsFile, err)
			}
			return "", nil
		}
		return text, nil
	}}
}

// MCPPrompt is a prompt of an MCP server, made with those arguments. It fails
// where no servers are declared, where the server does, and where the prompt is
// larger than MaxFile.
func MCPPrompt(server, name string, args map[string]string) Instruction {
	args = maps.Clone(args)
	return Instruction{Name: "prompt " + server + "/" + name, Resolve: func(ctx context.Context, in Input) (string, error) {
		if in.Prompt == nil {
			return "", &thread.Error{Code: thread.Configuration, Op: "instructions", Message: "no MCP servers are declared"}
		}
		text, err := in.Prompt(ctx, server, name, maps.Clone(args))
		if err == nil && len(text) > MaxFile {
			err = tooLarge(MaxFile)
		}
		return text, err
	}}
}

// Resolve resolves the instructions at the same time and joins their texts, in
// order, by a blank line; blank ones are dropped. The first to fail fails all:
// the error names it and has its code, or configuration where it has none, and
// the others' context ends. The end of ctx is returned as its cause. Resolve
// returns when all have ended.
func Resolve(ctx context.Context, list []Instruction, in Input) (text string, err error) {
	texts, err := resolve(ctx, list, in)
	if err != nil {
		return "", err
	}
	kept := texts[:0]
	for _, t := range texts {
		if t != "" {
			kept = append(kept, t)
		}
	}
	return strings.Join(kept, "\n\n"), nil
}

// resolve gives the text of each, without the blank lines around it.
func resolve(ctx context.Context, list []Instruction, in Input) ([]string, error) {
	within, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	texts := make([]string, len(list))
	var all sync.WaitGroup
	for i, ins := range list {
		all.Go(func() {
			text, err := ins.resolve(within, in)
			if err != nil {
				stop(failed(ins.Name, i, err))
			}
			texts[i] = bare(text)
		})
	}
	all.Wait()
	if err := context.Cause(within); err != nil {
		return nil, err
	}
	return texts, nil
}

// resolve asks one. One that panics has failed, and takes nothing else down.
func (ins Instruction) resolve(ctx context.Context, in Input) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it failed badly: %v", p)
		}
	}()
	if ins.Resolve == nil {
		return "", errors.New("it has neither a text nor a resolver")
	}
	return ins.Resolve(ctx, in)
}

func failed(name string, i int, err error) error {
	if name == "" {
		name = fmt.Sprintf("number %d", i+1)
	}
	code := thread.CodeOf(err)
	if code == "" {
		code = thread.Configuration
	}
	return &thread.Error{Code: code, Op: "instructions", Message: fmt.Sprintf("the instructions %q cannot be had", name), Err: err}
}

// bare is a text without white space after it and blank lines before it.
func bare(text string) string {
	text = strings.TrimRight(text, " \t\r\n")
	for {
		line, rest, ok := strings.Cut(text, "\n")
		if !ok || strings.TrimSpace(line) != "" {
			return text
		}
		text = rest
	}
}
