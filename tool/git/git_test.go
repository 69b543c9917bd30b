package git_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
	"github.com/skeinhq/skein/tool/git"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type in map[string]any

// repo is a repository in a temporary folder.
type repo struct {
	t   *testing.T
	dir string
}

// clean is an environment in which git knows nobody's configuration.
func clean() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_AUTHOR_NAME=Ana", "GIT_AUTHOR_EMAIL=ana@example.org", "GIT_AUTHOR_DATE=2024-05-01T10:00:00Z",
		"GIT_COMMITTER_NAME=Ana", "GIT_COMMITTER_EMAIL=ana@example.org", "GIT_COMMITTER_DATE=2024-05-01T10:00:00Z",
		"GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
	}
}

func (r repo) try(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.WaitDelay = time.Second
	cmd.Dir, cmd.Env = r.dir, clean()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (r repo) git(args ...string) string {
	r.t.Helper()
	out, err := r.try(args...)
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return out
}

func (r repo) put(p, text string) {
	r.t.Helper()
	full := filepath.Join(r.dir, filepath.FromSlash(p))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func empty(t *testing.T, options ...string) repo {
	t.Helper()
	r := repo{t, t.TempDir()}
	r.git(append([]string{"init", "-q", "-b", "main"}, options...)...)
	return r
}

// sample has two commits, a tag, a change in the index, one in a file and a new
// file.
func sample(t *testing.T, options ...string) repo {
	t.Helper()
	r := empty(t, options...)
	r.put("a.txt", "one\ntwo\n")
	r.put("docs/b.md", "# b\n")
	r.git("add", ".")
	r.git("commit", "-qm", "First: ünï")
	r.git("tag", "v1")
	r.put("a.txt", "one\nTWO\n")
	r.git("commit", "-qam", "Second")
	r.put("docs/b.md", "# staged\n")
	r.git("add", ".")
	r.put("a.txt", "one\nthree\n")
	r.put("new\nfile", "")
	return r
}

func (r repo) call(input in) (string, bool) {
	r.t.Helper()
	t, err := git.Tool(r.dir)
	if err != nil {
		r.t.Fatal(err)
	}
	raw, err := json.Marshal(input)
	if err != nil {
		r.t.Fatal(err)
	}
	a, err := tool.Answer(context.Background(), []tool.Tool{t}, thread.Call("c", "git", raw))
	if err != nil {
		r.t.Fatal(err)
	}
	return a.Result.Parts[0].Text, a.Result.IsError
}

func (r repo) ok(input in) string {
	r.t.Helper()
	text, isError := r.call(input)
	if isError {
		r.t.Fatalf("%v: %s", input, text)
	}
	return text
}

func (r repo) fails(input in, words string) {
	r.t.Helper()
	text, isError := r.call(input)
	if !isError || !strings.Contains(text, words) {
		r.t.Errorf("%v gives %q (error: %v), want %q", input, text, isError, words)
	}
}

func TestTheToolShowsWhatGitShows(t *testing.T) {
	for name, options := range map[string][]string{"SHA-1": nil, "SHA-256": {"--object-format=sha256"}} {
		t.Run(name, func(t *testing.T) {
			r := sample(t, options...)
			first := strings.TrimSpace(r.git("rev-parse", "v1"))
			for _, c := range []struct {
				input in
				want  []string
				not   string
			}{
				{in{"command": "status"}, []string{"## main\n", " M a.txt\n", "M  docs/b.md\n", `?? "new\nfile"` + "\n"}, ""},
				{in{"command": "status", "path": "docs"}, []string{"M  docs/b.md"}, "a.txt"},
				{in{"command": "diff"}, []string{"--- a/a.txt\n", "-TWO\n+three\n"}, "b.md"},
				{in{"command": "diff", "staged": true}, []string{"-# b\n+# staged\n"}, "a.txt"},
				{in{"command": "diff", "revision": "v1"}, []string{"-two\n+three\n", "-# b\n+# staged\n"}, ""},
				{in{"command": "diff", "revision": "v1", "path": "docs/"}, []string{"+# staged\n"}, "a.txt"},
				{in{"command": "diff", "revision": "v1..HEAD"}, []string{"-two\n+TWO\n"}, "b.md"},
				{in{"command": "diff", "revision": "v1...", "stat": true}, []string{"a.txt | 2 +-\n", "1 file changed"}, "TWO"},
				{in{"command": "diff", "revision": "HEAD", "staged": true, "stat": true}, []string{"docs/b.md | 2 +-"}, "a.txt"},
				{in{"command": "diff", "path": "docs/b.md"}, []string{"[no differences]"}, ""},
				{in{"command": "log"}, []string{"(HEAD -> main)", "Author: Ana <ana@example.org>", "    Second\n", "(tag: v1)", "    First: ünï\n"}, ""},
				{in{"command": "log", "limit": 1, "stat": true}, []string{"    Second\n", "a.txt | 2 +-"}, "First"},
				{in{"command": "log", "revision": "v1..main"}, []string{"Second"}, "First"},
				{in{"command": "log", "revision": "main..v1"}, []string{"[no commits]"}, ""},
				{in{"command": "log", "path": "docs"}, []string{"First"}, "Second"},
				{in{"command": "log", "path": "gone"}, []string{"[no commits]"}, ""},
				{in{"command": "show"}, []string{"    Second\n", "-two\n+TWO\n"}, ""},
				{in{"command": "show", "revision": first, "path": "docs"}, []string{"commit " + first, "+# b\n"}, "a.txt"},
				{in{"command": "show", "revision": "HEAD~1:a.txt"}, []string{"one\ntwo\n"}, "commit"},
				{in{"command": "show", "revision": ":docs/b.md"}, []string{"# staged\n"}, "commit"},
				{in{"command": "show", "revision": "HEAD:docs"}, []string{"b.md\n"}, ""},
				{in{"command": "show", "revision": "HEAD^{/First..}", "stat": true}, []string{"First"}, ""},
				{in{"command": "show", "revision": "main@{1}"}, []string{"First"}, ""},
			} {
				got := r.ok(c.input)
				for _, want := range c.want {
					if !strings.Contains(got, want) {
						t.Errorf("%v gives\n%s, want %q", c.input, got, want)
					}
				}
				if c.not != "" && strings.Contains(got, c.not) {
					t.Errorf("%v gives\n%s, which holds %q", c.input, got, c.not)
				}
			}
		})
	}
}

func TestWhatCannotBeShownIsAnErrorForTheModel(t *testing.T) {
	r := sample(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		input in
		want  string
	}{
		{in{"command": "commit"}, `there is no command "commit"`},
		{in{"command": "show", "revision": "gone"}, "there is no revision gone; log shows commits"},
		{in{"command": "show", "revision": "HEAD:gone.txt"}, "there is no gone.txt in the revision HEAD"},
		{in{"command": "show", "revision": "a.txt"}, "there is no revision a.txt"},
		{in{"command": "show", "revision": "v1..main"}, "show takes one revision"},
		{in{"command": "show", "revision": "HEAD:a.txt", "path": "a.txt"}, "names a file already"},
		{in{"command": "diff", "revision": "--output=" + secret}, "none begins with -"},
		{in{"command": "diff", "revision": "v1..--output=" + secret}, "none begins with -"},
		{in{"command": "diff", "revision": "--no-index"}, "none begins with -"},
		{in{"command": "diff", "revision": secret}, "there is no revision"},
		{in{"command": "diff", "revision": "../x..main"}, "there is no revision"},
		{in{"command": "diff", "revision": "HEAD\nmain"}, "none has several lines"},
		{in{"command": "diff", "revision": strings.Repeat("x", 600)}, "at most 512"},
		{in{"command": "diff", "path": secret}, "is none in the workspace"},
		{in{"command": "diff", "path": "../x"}, "is none in the workspace"},
		{in{"command": "diff", "path": "a/../../x"}, "is none in the workspace"},
		{in{"command": "diff", "path": "a\x00b"}, "holds a NUL"},
		{in{"command": "diff", "staged": true, "revision": "v1..main"}, "leave staged out"},
		{in{"command": "diff", "limit": 3}, "diff takes no limit"},
		{in{"command": "status", "revision": "v1"}, "status takes no revision"},
		{in{"command": "log", "staged": true}, "log takes no staged"},
		{in{"command": "log", "limit": 501}, "between 1 and 500"},
		{in{"command": "log", "output": "x"}, "does not fit its schema"},
	} {
		r.fails(c.input, c.want)
	}
	for _, p := range []string{"--output=x", "-a", ":(top)", ":!a.txt", "*.txt"} { // names of files, and no more
		if got := r.ok(in{"command": "diff", "path": p}); got != "[no differences]" {
			t.Errorf("the path %q gives %s", p, got)
		}
	}
	if entries, err := filepath.Glob(filepath.Join(r.dir, "*")); err != nil || len(entries) != 4 { // .git, a.txt, docs and the new file
		t.Errorf("there are now %v, %v", entries, err)
	}
}

func TestWhereThereIsNoRepositoryThatIsSaid(t *testing.T) {
	r := repo{t, t.TempDir()}
	r.fails(in{"command": "status"}, "the workspace is no git repository: it has no .git")
	above := sample(t)
	repo{t, filepath.Join(above.dir, "docs")}.fails(in{"command": "status"}, "it has no .git")
	r.put(".git/config", "")
	r.fails(in{"command": "status"}, "it has no HEAD")
	r.put(".git/HEAD", "nonsense")
	r.fails(in{"command": "status"}, "not a git repository")
	e := empty(t)
	if got := e.ok(in{"command": "status"}); !strings.Contains(got, "No commits yet on main") || !strings.Contains(got, "[nothing has changed]") {
		t.Error(got)
	}
	e.fails(in{"command": "log"}, "does not have any commits yet")
	e.fails(in{"command": "show", "revision": "HEAD"}, "there is no revision HEAD")
	if _, err := git.Tool(filepath.Join(r.dir, "gone")); thread.CodeOf(err) != thread.Configuration {
		t.Errorf("a folder that is not there gives %v", err)
	}
}

func TestOutputIsTextForPeopleAndModels(t *testing.T) {
	r := empty(t)
	r.put("escape", "a\x1b]0;title\ab\xff\n")
	r.put("image", "\x89PNG\x00\x00")
	r.put("large", strings.Repeat("0123456789abcde\n", 2<<20))
	r.git("add", ".")
	r.git("commit", "-qm", "Odd \x1b[31mred")
	if got := r.ok(in{"command": "show", "path": "escape"}); !strings.Contains(got, "Odd red") || !strings.Contains(got, "+ab\uFFFD\n") {
		t.Error(got)
	}
	if got := r.ok(in{"command": "show", "revision": "HEAD:image"}); got != "[HEAD:image is binary, 6 bytes; it is not shown]" {
		t.Error(got)
	}
	found, err := git.Tool(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	out, err := found.Run(context.Background(), json.RawMessage(`{"command":"show","revision":"HEAD:large"}`))
	if err != nil || len(out.Text) > tool.MaxOutput || !strings.Contains(out.Text, "bytes left out") {
		t.Errorf("%d bytes, %v", len(out.Text), err)
	}
}

func TestTheRepositoryStaysAsItWas(t *testing.T) {
	r := sample(t)
	stamp := func() map[string]string {
		all := map[string]string{}
		err := filepath.WalkDir(r.dir, func(p string, _ os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := os.Lstat(p)
			if err == nil {
				all[p] = info.Mode().String() + info.ModTime().String()
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	r.put("docs/b.md", "# staged\n") // the same again: only its time differs from the index
	before := stamp()
	for _, name := range []string{"status", "diff", "log", "show"} {
		r.ok(in{"command": name})
	}
	if after := stamp(); !reflect.DeepEqual(before, after) {
		t.Errorf("before\n%v\nafter\n%v", before, after)
	}
	if got := r.ok(in{"command": "diff"}); strings.Contains(got, "b.md") {
		t.Errorf("a file whose time alone changed is told as changed:\n%s", got)
	}
}

func TestAFileChangedRightAfterItWasStagedIsSeen(t *testing.T) {
	r := empty(t)
	r.put("a", "1\n")
	r.git("add", ".")
	r.put("a", "2\n") // the same size, and mostly within one tick of the clock
	if got := r.ok(in{"command": "diff"}); !strings.Contains(got, "-1\n+2\n") {
		t.Error(got)
	}
}

func TestAFollowedBranchIsCompared(t *testing.T) {
	origin := sample(t)
	r := repo{t, filepath.Join(t.TempDir(), "clone")}
	origin.git("clone", "-q", "--no-hardlinks", origin.dir, r.dir)
	r.git("commit", "-q", "--allow-empty", "-m", "Third")
	if got := r.ok(in{"command": "status"}); !strings.Contains(got, "## main...origin/main [ahead 1]\n[nothing has changed]") {
		t.Error(got)
	}
	if got := r.ok(in{"command": "log", "revision": "@{upstream}.."}); !strings.Contains(got, "Third") || strings.Contains(got, "Second") {
		t.Error(got)
	}
	shallow := repo{t, filepath.Join(t.TempDir(), "shallow")}
	origin.git("clone", "-q", "--depth=1", "file://"+origin.dir, shallow.dir)
	if got := shallow.ok(in{"command": "log"}); !strings.Contains(got, "Second") || strings.Contains(got, "First") {
		t.Error(got)
	}
}

func TestAWorkspaceMayBeOneOfSeveralWorkingTrees(t *testing.T) {
	main := sample(t)
	r := repo{t, filepath.Join(t.TempDir(), "tree")}
	main.git("worktree", "add", "-q", "-b", "side", r.dir, "v1")
	r.put("a.txt", "side\n")
	if got := r.ok(in{"command": "status"}); !strings.Contains(got, "## side\n M a.txt\n") {
		t.Error(got)
	}
	if got := r.ok(in{"command": "log", "revision": "side...main"}); !strings.Contains(got, "Second") || strings.Contains(got, "First") {
		t.Error(got)
	}
}

func TestOddFolderNamesWork(t *testing.T) {
	for _, name := range []string{"a b", `q"uote`, "c:olon", "new\nline", `back\slash`, "ünï"} {
		from := sample(t)
		r := repo{t, filepath.Join(t.TempDir(), name)}
		if err := os.Rename(from.dir, r.dir); err != nil {
			t.Logf("%q is not possible here: %v", name, err)
			continue
		}
		if got := r.ok(in{"command": "log"}); !strings.Contains(got, "First") {
			t.Errorf("in %q: %s", name, got)
		}
		if got := r.ok(in{"command": "status"}); !strings.Contains(got, " M a.txt") {
			t.Errorf("in %q: %s", name, got)
		}
	}
}

func TestTheContextsEndStopsGit(t *testing.T) {
	found, err := git.Tool(sample(t).dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := found.Run(ctx, json.RawMessage(`{"command":"log"}`)); err == nil || !strings.Contains(err.Error(), "canceled") {
		t.Errorf("%v", err)
	}
}

func TestTheToolTellsWhatItReaches(t *testing.T) {
	found, err := git.Tool(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if !found.ReadOnly || !strings.Contains(string(found.Schema), `"enum":["status","diff","log","show"]`) {
		t.Errorf("read-only %v, schema %s", found.ReadOnly, found.Schema)
	}
	for input, want := range map[string][]string{`{"command":"diff","path":"./a//b"}`: {"a/b"}, `{"command":"log"}`: {"."},
		`{"command":"show","revision":"HEAD:secret/./a:b"}`: {"secret/a:b"}, `{"command":"show","revision":":2:secret"}`: {"secret"},
		`{"command":"show","revision":":secret"}`: {"secret"}, `{"command":"show","revision":"HEAD^{/a:b}:c"}`: {"c"},
		`{"command":"show","revision":":/a:b"}`: {"."}, `{"command":"show","revision":"HEAD:"}`: {"."},
	} {
		if got, err := found.Resources(json.RawMessage(input)); err != nil || !reflect.DeepEqual(got.Paths, want) {
			t.Errorf("%s reaches %v, %v", input, got.Paths, err)
		}
	}
	if got, err := found.Resources(json.RawMessage(`{"path":"../x"}`)); err == nil {
		t.Errorf("a path outside reaches %v", got)
	}
}

func FuzzInput(f *testing.F) {
	for _, seed := range [][2]string{
		{"HEAD", "a.txt"}, {"v1..main", "./docs//"}, {"main...", "../x"}, {"--output=x", "--output=x"}, {"HEAD^{/a..b}", ":(top)"}, {"HEAD:a..b", "a\nb"},
		{"@{1}..@{u}", ".git/config"}, {"..", "/etc"}, {"{", "\xff"}, {"a\x00b", "a\x00b"}, {"^HEAD", `\`}, {"HEAD --", "caf\u00e9"},
	} {
		f.Add(seed[0], seed[1])
	}
	dir := f.TempDir()
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		f.Fatalf("%v: %s", err, out)
	}
	found, err := git.Tool(dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, revision, path string) {
		raw, err := json.Marshal(in{"command": "diff", "revision": revision, "path": path})
		if err != nil {
			t.Fatal(err)
		}
		reaches, err := found.Resources(raw)
		if err == nil && !filepath.IsLocal(reaches.Paths[0]) {
			t.Fatalf("the path %q reaches %q", path, reaches.Paths[0])
		}
		if _, runErr := found.Run(t.Context(), raw); runErr == nil && err != nil {
			t.Fatalf("the path %q is refused as a resource and not by the tool: %v", path, err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Fatalf("%q and %q have made %v, %v", revision, path, entries, err)
		}
	})
}
