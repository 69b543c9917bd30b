package guide_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/skeinhq/skein/guide"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

// named is a tool that says its name.
func named(name string) tool.Tool {
	return tool.Tool{Name: name, Schema: json.RawMessage(`{"type":"object"}`), Run: func(context.Context, json.RawMessage) (tool.Output, error) {
		return tool.Output{Text: name + " ran"}, nil
	}}
}

func skill(name string, tools ...tool.Tool) guide.Skill {
	return guide.Skill{Name: name, Description: "How to " + name + ".", Instructions: guide.Text("Do " + name + " well."), Tools: tools}
}

// says is an assistant's message of calls.
func says(agent string, calls ...thread.Part) thread.Entry {
	return thread.Say(thread.Message{Author: agent, Role: thread.Assistant, Parts: calls})
}

// loads is a call that loads a skill.
func loads(id, name string) thread.Part {
	return thread.Call(id, guide.LoadSkill, json.RawMessage(`{"name":"`+name+`"}`))
}

// gave is a result as the log holds it.
func gave(call string, isError bool) thread.Entry {
	return thread.Say(thread.Message{Author: "tool", Role: thread.Tool, Parts: []thread.Part{thread.Result(call, "any", "…", isError)}})
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, to, name string) {
	t.Helper()
	if err := os.Symlink(to, name); err != nil {
		t.Skip("this machine makes no links: ", err)
	}
}

func rooted(t *testing.T, dir string) fs.FS {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root.FS()
}
