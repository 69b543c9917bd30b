package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skeinhq/skein/cmd/skein/tui"
	"github.com/skeinhq/skein/internal/agent"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
	"github.com/skeinhq/skein/tool/files"
	"github.com/skeinhq/skein/tool/history"
	"github.com/skeinhq/skein/tool/shell"
)

func page(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// everyTool makes the tools that work in a folder, and the history's.
func everyTool(t *testing.T, dir string) []tool.Tool {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	w := &workshop{app: &app{flags: &Flags{}, file: &configFile{}}, dir: dir, root: root}
	all, err := history.Tools(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range w.offered() {
		tools, err := o.make()
		if err != nil {
			t.Fatalf("%s: %v", o.name, err)
		}
		all = append(all, tools...)
	}
	return all
}

func TestDocsNameTheInputsOfEveryTool(t *testing.T) {
	doc := page(t, "agents.md")
	all := everyTool(t, t.TempDir())
	if len(all) < 10 {
		t.Fatalf("only %d tools", len(all))
	}
	for _, x := range all {
		var names []string
		for _, in := range inputsOf(x.Schema) {
			name := "`" + in.Name + "`"
			if !in.needed {
				name = "[" + name + "]"
			}
			names = append(names, name)
		}
		row := "| `" + x.Name + "` | " + strings.Join(names, ", ") + " |"
		if !strings.Contains(doc, row+"\n") {
			t.Errorf("docs/agents.md does not have %s", row)
		}
	}
}

// TestTheDocumentsPermissionsProtectSecrets: nothing that the agent of the documents
// may do unasked reads or changes what its first rule is about.
func TestTheDocumentsPermissionsProtectSecrets(t *testing.T) {
	_, rest, ok := strings.Cut(page(t, "agents.md"), "## Permissions")
	_, rest, ok2 := strings.Cut(rest, "<!-- agent -->\n```\n")
	file, _, _ := strings.Cut(rest, "```")
	a, err := agent.Parse("coder", []byte(file))
	if !ok || !ok2 || err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, d := range []string{"secrets", "docs", "src"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		tool, input string
		want        tool.Decision
	}{
		{"read_file", `{"path":"secrets/token"}`, tool.Deny},
		{"read_file", `{"path":"src/tls.key"}`, tool.Deny},
		{"read_file", `{"path":"src/main.go"}`, tool.Allow},
		{"read_file", `{"path":"config"}`, tool.Ask},
		{"list_files", `{"path":"secrets"}`, tool.Deny},
		{"list_files", `{}`, tool.Ask},
		{files.SearchSet, `{"pattern":"token"}`, tool.Ask},
		{files.SearchSet, `{"pattern":"token","path":"."}`, tool.Ask},
		{files.SearchSet, `{"pattern":"token","path":"secrets"}`, tool.Deny},
		{files.SearchSet, `{"pattern":"token","path":"src"}`, tool.Allow},
		{"write_file", `{"path":"secrets/token","content":""}`, tool.Deny},
		{"write_file", `{"path":"docs/plan.md","content":""}`, tool.Allow},
		{"git", `{"command":"show","revision":"HEAD:secrets/token"}`, tool.Deny},
		{"git", `{"command":"log"}`, tool.Ask},
		{shell.Set, `{"command":"cat secrets/token"}`, tool.Ask},
		{shell.Set, `{"command":"go vet"}`, tool.Allow},
		{shell.Set, `{"command":"go vet ./..."}`, tool.Allow},
	} {
		x, ok := tool.Find(everyTool(t, dir), c.tool)
		if !ok {
			t.Fatalf("there is no %s", c.tool)
		}
		if v, err := a.Permissions.Decide(x, json.RawMessage(c.input)); err != nil || v.Decision != c.want {
			t.Errorf("%s %s: %s, %v, want %s", c.tool, c.input, v.Decision, err, c.want)
		}
	}
}

func TestFailuresAreToldInWordsOfPeople(t *testing.T) {
	var shape struct {
		Limits struct {
			Steps int `json:"steps"`
		} `json:"limits"`
	}
	misfit := json.Unmarshal([]byte(`{"limits":{"steps":"many"}}`), &shape)
	for _, c := range []struct {
		err  error
		want string
	}{
		{misfit, "steps cannot be a string"},
		{json.Unmarshal([]byte(`"x"`), new(int)), "the value cannot be a string"},
		{&thread.Error{Message: "the turn was stopped", Err: errors.New("context canceled")}, "the turn was stopped"},
		{errors.New("two\nlines"), "two lines"},
	} {
		if got := tui.Words(c.err); got != c.want {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}
