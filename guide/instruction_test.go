package guide_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/guide"
	"github.com/skeinhq/skein/thread"
)

// asks is an instruction by that name that a function resolves.
func asks(name string, resolve func(ctx context.Context, in guide.Input) (string, error)) guide.Instruction {
	return guide.Instruction{Name: name, Resolve: resolve}
}

func TestInstructionsAreJoinedInOrder(t *testing.T) {
	cases := []struct {
		about string
		list  []string
		want  string
	}{
		{"none", nil, ""},
		{"one", []string{"a"}, "a"},
		{"a blank line between", []string{"a", "b\nc"}, "a\n\nb\nc"},
		{"blank ones are dropped", []string{"", "a", " \n\t", "b", "\n"}, "a\n\nb"},
		{"blank lines around are not doubled", []string{"\n\na\n", "  indented\n\n"}, "a\n\n  indented"},
		{"blank lines inside stay", []string{"a\n\n\nb"}, "a\n\n\nb"},
	}
	for _, c := range cases {
		var list []guide.Instruction
		for _, s := range c.list {
			list = append(list, guide.Text(s))
		}
		got, err := guide.Resolve(t.Context(), list, guide.Input{})
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.about, got, err, c.want)
		}
	}
}

func TestInstructionsAreResolvedAtOnceWithTheInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var list []guide.Instruction
		for i := range 20 {
			list = append(list, asks("slow", func(_ context.Context, in guide.Input) (string, error) {
				time.Sleep(time.Duration(20-i) * time.Second)
				return fmt.Sprintf("%d for %s", i, in.Model), nil
			}))
		}
		got, err := guide.Resolve(t.Context(), list, guide.Input{Model: "echo"})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 20*time.Second {
			t.Errorf("it took %v, the slowest takes 20s", took)
		}
		if lines := strings.Split(got, "\n\n"); len(lines) != 20 || lines[0] != "0 for echo" || lines[19] != "19 for echo" {
			t.Errorf("got %q", got)
		}
	})
}

func TestAFailingInstructionFailsAllAndIsNamed(t *testing.T) {
	quota := &thread.Error{Code: thread.Quota, Message: "no money"}
	cases := []struct {
		about string
		bad   guide.Instruction
		code  thread.Code
		words []string
		cause error
	}{
		{"an error", asks("house rules", func(context.Context, guide.Input) (string, error) { return "half", os.ErrClosed }), thread.Configuration, []string{`"house rules"`, "already closed"}, os.ErrClosed},
		{"a typed error keeps its code", asks("house rules", func(context.Context, guide.Input) (string, error) { return "", quota }), thread.Quota, []string{`"house rules"`, "no money"}, quota},
		{"a panic", asks("house rules", func(context.Context, guide.Input) (string, error) { panic("no house") }), thread.Configuration, []string{`"house rules"`, "no house"}, nil},
		{"without a name", guide.Instruction{}, thread.Configuration, []string{`"number 2"`, "neither a text nor a resolver"}, nil},
		{"a prompt without servers", guide.MCPPrompt("docs", "tone", nil), thread.Configuration, []string{`"prompt docs/tone"`, "no MCP servers"}, nil},
	}
	for _, c := range cases {
		stopped := false
		patient := asks("patient", func(ctx context.Context, _ guide.Input) (string, error) {
			<-ctx.Done() // it ends because the other one fails
			stopped = true
			return "", ctx.Err()
		})
		got, err := guide.Resolve(t.Context(), []guide.Instruction{patient, c.bad, guide.Text("fine")}, guide.Input{})
		if got != "" || thread.CodeOf(err) != c.code || !stopped {
			t.Errorf("%s: %q, %v (code %q), the other stopped: %v", c.about, got, err, thread.CodeOf(err), stopped)
		}
		for _, w := range c.words {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v does not say %q", c.about, err, w)
			}
		}
		if c.cause != nil && !errors.Is(err, c.cause) {
			t.Errorf("%s: %v does not wrap its cause", c.about, err)
		}
	}
}

func TestTheEndOfTheContextIsNoInstructionsFailure(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	waits := asks("waits", func(ctx context.Context, _ guide.Input) (string, error) {
		cancel()
		<-ctx.Done()
		return "", ctx.Err()
	})
	if _, err := guide.Resolve(ctx, []guide.Instruction{waits}, guide.Input{}); err != context.Canceled {
		t.Errorf("got %v", err)
	}
}

func TestAgentsFile(t *testing.T) {
	file := func(data string) fstest.MapFS { return fstest.MapFS{"AGENTS.md": {Data: []byte(data)}} }
	cases := []struct {
		about   string
		in      guide.Input
		want    string
		warning string
	}{
		{"no workspace", guide.Input{}, "", ""},
		{"absent", guide.Input{Workspace: fstest.MapFS{"README.md": {}}}, "", ""},
		{"there", guide.Input{Workspace: file("\ufeffUse tabs.\n")}, "Use tabs.", ""},
		{"as large as may be", guide.Input{Workspace: file(strings.Repeat("a", guide.MaxFile))}, strings.Repeat("a", guide.MaxFile), ""},
		{"too large", guide.Input{Workspace: file(strings.Repeat("a", guide.MaxFile+1))}, "", "larger than 256 KB"},
		{"no text", guide.Input{Workspace: file("\xff\xfe")}, "", "not text"},
		{"binary", guide.Input{Workspace: file("a\x00b")}, "", "not text"},
		{"a folder", guide.Input{Workspace: fstest.MapFS{"AGENTS.md/x": {}}}, "", "not a plain file"},
	}
	for _, c := range cases {
		var warnings []string
		c.in.Warn = func(s string) { warnings = append(warnings, s) }
		got, err := guide.Resolve(t.Context(), []guide.Instruction{guide.AgentsFile()}, c.in)
		if err != nil || got != c.want {
			t.Errorf("%s: %.40q (%d bytes), %v", c.about, got, len(got), err)
		}
		if all := strings.Join(warnings, " "); (all == "") != (c.warning == "") || !strings.Contains(all, c.warning) {
			t.Errorf("%s: warned %q, want %q", c.about, all, c.warning)
		}
		c.in.Warn = nil
		if _, err := guide.Resolve(t.Context(), []guide.Instruction{guide.AgentsFile()}, c.in); err != nil {
			t.Errorf("%s, with nobody to warn: %v", c.about, err)
		}
	}
}

func TestAgentsFileIsNotReadFromOutsideTheWorkspace(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "secret.md"), "the secret")
	if err := os.Mkdir(filepath.Join(dir, "work"), 0o700); err != nil {
		t.Fatal(err)
	}
	link(t, "../secret.md", filepath.Join(dir, "work", "AGENTS.md"))
	warned := ""
	got, err := guide.Resolve(t.Context(), []guide.Instruction{guide.AgentsFile()}, guide.Input{Workspace: rooted(t, filepath.Join(dir, "work")), Warn: func(s string) { warned += s }})
	if err != nil || got != "" || warned == "" {
		t.Errorf("got %q, %v, warned %q", got, err, warned)
	}
}

func TestMCPPrompt(t *testing.T) {
	args := map[string]string{"tone": "dry"}
	ins := guide.MCPPrompt("docs", "style", args)
	args["tone"] = "changed since"
	var calls atomic.Int64
	answer := "Write drily."
	in := guide.Input{Prompt: func(_ context.Context, server, name string, args map[string]string) (string, error) {
		if diff := cmp.Diff([]any{"docs", "style", map[string]string{"tone": "dry"}}, []any{server, name, args}); diff != "" {
			t.Errorf("call %d: %s", calls.Load(), diff)
		}
		calls.Add(1)
		args["tone"] = "spoiled"
		return answer, nil
	}}
	for range 2 {
		if got, err := guide.Resolve(t.Context(), []guide.Instruction{ins}, in); err != nil || got != answer {
			t.Errorf("got %q, %v", got, err)
		}
	}
	answer = strings.Repeat("a", guide.MaxFile+1)
	if got, err := guide.Resolve(t.Context(), []guide.Instruction{ins}, in); err == nil || got != "" {
		t.Errorf("a prompt that is too large gave %d bytes, %v", len(got), err)
	}
}
