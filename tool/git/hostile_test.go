//go:build unix

package git_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// hostile is a repository that has a program of its own run wherever git would
// run one; ran says which of them did.
type hostile struct {
	repo
	traces string
}

// behind is what programs do after they left their trace, so that git goes on to
// the next one.
var behind = map[string]string{"clean": "cat", "smudge": "cat", "pager": "cat", "textconv": `cat "$1"`, "included": `cat "$1"`}

// attack gives the command line of a program that leaves a trace of its name.
func (h hostile) attack(name string) string {
	program := filepath.Join(h.traces, "run-"+name)
	text := fmt.Sprintf("#!/bin/sh\n: >%q\n", filepath.Join(h.traces, "ran-"+name))
	if does := behind[name]; does != "" {
		text += does + "\n"
	}
	if err := os.WriteFile(program, []byte(text), 0o755); err != nil {
		h.t.Fatal(err)
	}
	return program
}

func (h hostile) ran() (names []string) {
	all, err := filepath.Glob(filepath.Join(h.traces, "ran-*"))
	if err != nil {
		h.t.Fatal(err)
	}
	for _, each := range all {
		names = append(names, strings.TrimPrefix(filepath.Base(each), "ran-"))
		if err := os.Remove(each); err != nil {
			h.t.Fatal(err)
		}
	}
	return names
}

// arm writes the configuration, the attributes and the hooks of the repository.
func (h hostile) arm() {
	config := fmt.Sprintf(`
[core]
	fsmonitor = %s
	pager = %s
	editor = %s
	sshCommand = %s
	askPass = %s
	gitProxy = %s
[pager]
	log = %[2]s
	diff = %[2]s
	show = %[2]s
	status = %[2]s
[diff]
	external = %[7]s
	submodule = log
[diff "evil"]
	textconv = %s
	command = %s
[filter "evil"]
	clean = %s
	smudge = %s
	required = true
[filter "process"]
	process = %s
[merge "evil"]
	driver = %s
[gpg]
	program = %s
[log]
	showSignature = true
[credential]
	helper = !%s
[alias]
	status = !%s
	log = !%[16]s
[include]
	path = %s
[status]
	submoduleSummary = true
`,
		h.attack("fsmonitor"), h.attack("pager"), h.attack("editor"), h.attack("ssh"), h.attack("askpass"), h.attack("proxy"),
		h.attack("external"), h.attack("textconv"), h.attack("command"), h.attack("clean"), h.attack("smudge"), h.attack("process"),
		h.attack("merge"), h.attack("gpg"), h.attack("credential"), h.attack("alias"), filepath.Join(h.traces, "included"))
	included := fmt.Sprintf("[diff \"included\"]\n\ttextconv = %s\n", h.attack("included"))
	if err := os.WriteFile(filepath.Join(h.traces, "included"), []byte(included), 0o600); err != nil {
		h.t.Fatal(err)
	}
	old, err := os.ReadFile(filepath.Join(h.dir, ".git", "config"))
	if err != nil {
		h.t.Fatal(err)
	}
	h.put(".git/config", string(old)+config)
	h.put(".gitattributes", "*.evil diff=evil filter=evil merge=evil\n*.process filter=process\n*.included diff=included\n")
	h.put(".git/info/attributes", "*.txt diff=evil filter=evil\n")
	for _, hook := range []string{"post-index-change", "fsmonitor-watchman", "reference-transaction", "post-checkout", "pre-commit"} {
		h.put(".git/hooks/"+hook, "#!/bin/sh\nexec "+h.attack("hook-"+hook)+"\n")
		if err := os.Chmod(filepath.Join(h.dir, ".git", "hooks", hook), 0o755); err != nil {
			h.t.Fatal(err)
		}
	}
}

func fortress(t *testing.T) hostile {
	t.Helper()
	h := hostile{sample(t), t.TempDir()}
	names := []string{"a.evil", "b.process", "c.included"}
	for _, name := range names {
		h.put(name, "one\n")
	}
	h.git("add", ".")
	h.git("commit", "-qm", "Third")
	signed := strings.Replace(h.git("cat-file", "commit", "HEAD"), "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n", 1)
	h.put(".git/signed", signed)
	h.git("reset", "-q", "--soft", strings.TrimSpace(h.git("hash-object", "-t", "commit", "-w", ".git/signed")))
	for _, name := range names {
		h.put(name, "two\n")
	}
	h.put("a.txt", "four\n")
	h.arm()
	return h
}

// everyCall is each command with what it may be asked.
var everyCall = []in{
	{"command": "status"}, {"command": "status", "path": "docs"},
	{"command": "diff"}, {"command": "diff", "staged": true}, {"command": "diff", "revision": "v1"}, {"command": "diff", "revision": "v1..HEAD"}, {"command": "diff", "stat": true},
	{"command": "log"}, {"command": "log", "stat": true}, {"command": "log", "path": "a.evil"}, {"command": "log", "revision": "v1..HEAD"},
	{"command": "show"}, {"command": "show", "stat": true}, {"command": "show", "revision": "HEAD:a.evil"}, {"command": "show", "revision": "v1"}, {"command": "show", "revision": ":a.evil"},
}

func TestNothingOfAHostileRepositoryRuns(t *testing.T) {
	h := fortress(t)
	for _, args := range [][]string{
		{"status"}, {"diff"}, {"diff", "v1", "--", "docs", "a.evil"}, {"diff", "--no-ext-diff", "--", "a.evil"}, {"log", "-p", "--no-ext-diff"},
	} {
		out, err := h.try(args...)
		t.Log(out, err) // whatever it says: it must have run something
	}
	ran := strings.Join(h.ran(), " ")
	for _, want := range []string{"fsmonitor", "external", "command", "textconv", "clean", "process", "gpg", "included"} {
		if !strings.Contains(ran, want) {
			t.Errorf("git itself does not run %s but %s: the repository is not hostile enough", want, ran)
		}
	}
	for _, input := range everyCall {
		got, isError := h.call(input)
		if isError {
			t.Errorf("%v: %s", input, got)
		}
		if ran := h.ran(); ran != nil {
			t.Errorf("%v runs %v", input, ran)
		}
	}
	if got := h.ok(in{"command": "diff"}); !strings.Contains(got, "-one\n+two\n") || !strings.Contains(got, "b/c.included") {
		t.Errorf("the difference is\n%s", got)
	}
}

func TestNothingOfAHostileSubmoduleRuns(t *testing.T) {
	inner := fortress(t)
	outer := hostile{sample(t), inner.traces}
	if err := os.Rename(inner.dir, filepath.Join(outer.dir, "sub")); err != nil {
		t.Fatal(err)
	}
	outer.git("add", "sub") // as a repository within another one
	outer.put(".gitmodules", "[submodule \"sub\"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n")
	outer.git("add", ".gitmodules")
	outer.git("commit", "-qm", "With a submodule")
	outer.ran()
	_, _ = outer.try("status")
	if outer.ran() == nil {
		t.Error("git itself runs nothing: the submodule is not hostile enough")
	}
	outer.arm()
	for _, input := range everyCall {
		if input["revision"] != nil && strings.Contains(input["revision"].(string), "evil") {
			continue
		}
		if got, isError := outer.call(input); isError {
			t.Errorf("%v: %s", input, got)
		}
		if ran := outer.ran(); ran != nil {
			t.Errorf("%v runs %v", input, ran)
		}
	}
}

func TestAMissingObjectIsNotFetched(t *testing.T) {
	h := hostile{sample(t), t.TempDir()}
	blob := strings.TrimSpace(h.git("rev-parse", "HEAD:a.txt"))
	if err := os.Remove(filepath.Join(h.dir, ".git", "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{
		"core.repositoryformatversion": "1", "extensions.partialClone": "origin", "remote.origin.url": "ext::" + h.attack("remote"),
		"remote.origin.promisor": "true", "protocol.ext.allow": "always", "remote.origin.uploadpack": h.attack("uploadpack"),
	} {
		h.git("config", key, value)
	}
	_, _ = h.try("show")
	if h.ran() == nil {
		t.Error("git itself asks no remote: the repository is not hostile enough")
	}
	got, _ := h.call(in{"command": "show"})
	if ran := h.ran(); ran != nil {
		t.Errorf("a missing object runs %v", ran)
	}
	if !strings.Contains(got, blob) {
		t.Errorf("what is missing is not said: %s", got)
	}
}

func TestARepositoryLeadsNowhereElse(t *testing.T) {
	elsewhere := sample(t)
	elsewhere.git("commit", "-q", "--allow-empty", "-m", "secret")
	for _, c := range []struct {
		about, want string
		make        func(r repo)
	}{
		{"a link .git", "neither a folder nor a file", func(r repo) {
			r.git("init", "-q")
			os.RemoveAll(filepath.Join(r.dir, ".git"))
			symlink(r.t, filepath.Join(elsewhere.dir, ".git"), filepath.Join(r.dir, ".git"))
		}},
		{"a file .git", "does not know the workspace", func(r repo) { r.put(".git", "gitdir: "+elsewhere.dir+"/.git\n") }},
		{"a file .git of nonsense", "does not know the workspace", func(r repo) { r.put(".git", "nonsense") }},
		{"a working tree of another folder", "does not know the workspace", func(r repo) {
			tree := filepath.Join(r.t.TempDir(), "tree")
			elsewhere.git("worktree", "add", "-q", "--detach", tree)
			text, err := os.ReadFile(filepath.Join(tree, ".git"))
			if err != nil {
				r.t.Fatal(err)
			}
			r.put(".git", string(text))
		}},
		{"a made-up working tree", "does not know the workspace", func(r repo) {
			r.put("x/worktrees/y/gitdir", filepath.Join(r.dir, ".git"))
			r.put("x/worktrees/y/commondir", filepath.Join(elsewhere.dir, ".git"))
			r.put("x/worktrees/y/HEAD", "ref: refs/heads/main\n")
			r.put(".git", "gitdir: x/worktrees/y\n")
		}},
		{"borrowed objects", "borrows objects", func(r repo) {
			r.git("init", "-q")
			r.put(".git/objects/info/alternates", elsewhere.dir+"/.git/objects\n")
		}},
		{"a link objects", "objects of the repository is no folder", func(r repo) { r.swap("objects", filepath.Join(elsewhere.dir, ".git", "objects")) }},
		{"a link packs", "pack of the repository is a link", func(r repo) {
			r.git("init", "-q")
			os.RemoveAll(filepath.Join(r.dir, ".git", "objects", "pack"))
			symlink(r.t, filepath.Join(elsewhere.dir, ".git", "objects", "pack"), filepath.Join(r.dir, ".git", "objects", "pack"))
		}},
		{"a link refs", "refs of the repository is no folder", func(r repo) { r.swap("refs", filepath.Join(elsewhere.dir, ".git", "refs")) }},
		{"a link among refs", "refs/heads/etc of the repository is a link", func(r repo) {
			r.git("init", "-q")
			symlink(r.t, "/etc", filepath.Join(r.dir, ".git", "refs", "heads", "etc"))
		}},
		{"a link HEAD", "HEAD of the repository is no regular file", func(r repo) { r.swap("HEAD", filepath.Join(elsewhere.dir, ".git", "HEAD")) }},
		{"a link index", "index of the repository is no regular file", func(r repo) { r.swap("index", filepath.Join(elsewhere.dir, ".git", "index")) }},
		{"a pipe config", "config of the repository is no regular file", func(r repo) {
			r.git("init", "-q")
			os.Remove(filepath.Join(r.dir, ".git", "config"))
			if err := syscall.Mkfifo(filepath.Join(r.dir, ".git", "config"), 0o600); err != nil {
				r.t.Skip(err)
			}
		}},
		{"a huge HEAD", "more than 1048576 bytes", func(r repo) {
			r.git("init", "-q")
			r.put(".git/HEAD", strings.Repeat("x", 2<<20))
		}},
		{"a broken config", "its config", func(r repo) {
			r.git("init", "-q")
			r.put(".git/config", "[core\n")
		}},
		{"an unknown extension", "the extension future", func(r repo) {
			r.git("init", "-q")
			r.git("config", "core.repositoryformatversion", "1")
			r.git("config", "extensions.future", "true")
		}},
		{"another working tree in the config", "", func(r repo) {
			r.git("init", "-q")
			r.git("config", "core.worktree", elsewhere.dir)
		}},
	} {
		t.Run(c.about, func(t *testing.T) {
			r := repo{t, t.TempDir()}
			c.make(r)
			for _, name := range []string{"status", "log"} {
				got, isError := r.call(in{"command": name})
				if strings.Contains(got, "secret") || strings.Contains(got, "a.txt") {
					t.Errorf("%s shows another repository:\n%s", name, got)
				}
				if c.want != "" && (!isError || !strings.Contains(got, c.want)) {
					t.Errorf("%s gives %q, want %q", name, got, c.want)
				}
			}
		})
	}
}

// swap puts a link in the place of something in .git.
func (r repo) swap(name, to string) {
	r.git("init", "-q")
	if err := os.RemoveAll(filepath.Join(r.dir, ".git", name)); err != nil {
		r.t.Fatal(err)
	}
	symlink(r.t, to, filepath.Join(r.dir, ".git", name))
}

func symlink(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Skipf("no links here: %v", err)
	}
}

func TestALinkInTheWorkspaceIsShownAsALink(t *testing.T) {
	r := sample(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("classified\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(r.dir, "a.txt")); err != nil {
		t.Fatal(err)
	}
	symlink(t, secret, filepath.Join(r.dir, "a.txt"))
	symlink(t, filepath.Dir(secret), filepath.Join(r.dir, "folder"))
	for _, input := range []in{{"command": "diff"}, {"command": "diff", "revision": "v1"}, {"command": "status"}, {"command": "diff", "path": "a.txt"}} {
		if got := r.ok(input); strings.Contains(got, "classified") {
			t.Errorf("%v reads through a link:\n%s", input, got)
		}
	}
	if got, _ := r.call(in{"command": "diff", "path": "folder/secret"}); strings.Contains(got, "classified") {
		t.Errorf("a path reads through a link:\n%s", got)
	}
}
