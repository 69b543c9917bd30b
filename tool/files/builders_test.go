package files_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
	"github.com/skeinhq/skein/tool/files"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// room is a workspace in a temporary folder with its tools.
type room struct {
	t     *testing.T
	dir   string
	tools []tool.Tool
}

// open makes a workspace with these files, by path.
func open(t *testing.T, content map[string]string) room {
	t.Helper()
	r := room{t: t, dir: t.TempDir()}
	for p, text := range content {
		r.put(p, text)
	}
	return reopen(t, r)
}

// reopen makes the workspace of the same folder anew, as another process does.
func reopen(t *testing.T, r room, protected ...string) room {
	t.Helper()
	r.tools = nil
	root, err := os.OpenRoot(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	w := files.New(root, protected...)
	if r.tools, err = w.Tools(); err != nil {
		t.Fatal(err)
	}
	search, err := w.Search()
	if err != nil {
		t.Fatal(err)
	}
	r.tools = append(r.tools, search)
	if err := tool.Check(r.tools); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r room) path(p string) string { return filepath.Join(r.dir, filepath.FromSlash(p)) }

func (r room) put(p, text string) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Dir(r.path(p)), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(r.path(p), []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r room) link(to, p string) {
	r.t.Helper()
	if err := os.Symlink(to, r.path(p)); err != nil {
		r.t.Skipf("no links here: %v", err)
	}
}

// holds fails unless a file holds this text, and nothing temporary is beside it.
func (r room) holds(p, want string) {
	r.t.Helper()
	got, err := os.ReadFile(r.path(p))
	if err != nil {
		r.t.Fatal(err)
	}
	if string(got) != want {
		r.t.Errorf("%s holds %q, want %q", p, got, want)
	}
	entries, err := os.ReadDir(filepath.Dir(r.path(p)))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".skein-") {
			r.t.Errorf("%s was left behind", e.Name())
		}
	}
}

type in map[string]any

// as calls a tool for a thread, and gives what the model reads and whether as an
// error.
func (r room) as(id, name string, input in) (string, bool) {
	r.t.Helper()
	return r.under(tool.WithCaller(context.Background(), tool.Caller{Thread: id}), name, input)
}

func (r room) under(ctx context.Context, name string, input in) (string, bool) {
	r.t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		r.t.Fatal(err)
	}
	a, err := tool.Answer(ctx, r.tools, thread.Call("c", name, raw))
	if err != nil {
		r.t.Fatal(err)
	}
	return a.Result.Parts[0].Text, a.Result.IsError
}

// ok calls a tool that must succeed.
func (r room) ok(name string, input in) string {
	r.t.Helper()
	text, isError := r.as("t", name, input)
	if isError {
		r.t.Fatalf("%s %v: %s", name, input, text)
	}
	return text
}

// fails calls a tool that must give an error with these words.
func (r room) fails(name string, input in, words string) {
	r.t.Helper()
	text, isError := r.as("t", name, input)
	if !isError || !strings.Contains(text, words) {
		r.t.Errorf("%s %v gives %q (error: %v), want %q", name, input, text, isError, words)
	}
}

func (r room) resources(name string, input in) (tool.Resources, error) {
	r.t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		r.t.Fatal(err)
	}
	found, _ := tool.Find(r.tools, name)
	return found.Resources(raw)
}
