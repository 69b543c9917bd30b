package files_test

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// everyTool calls each tool on a path and gives what it says.
func (r room) everyTool(p string) map[string]string {
	out := map[string]string{}
	for name, input := range map[string]in{
		"read_file": {"path": p}, "list_files": {"path": p}, "search_files": {"path": p, "pattern": "."},
		"write_file": {"path": p, "content": "x"}, "edit_file": {"path": p, "old": "secret", "new": "x"},
	} {
		text, isError := r.as("t", name, input)
		if !isError {
			r.t.Errorf("%s of %q gives no error but %q", name, p, text)
		}
		out[name] = text
	}
	return out
}

func TestNothingOutsideTheWorkspaceIsReached(t *testing.T) {
	r := open(t, map[string]string{"in/a.txt": "a\n"})
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret.txt")
	if err := os.WriteFile(secret, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	up, err := filepath.Rel(r.dir, outside)
	if err != nil {
		t.Fatal(err)
	}
	r.link(secret, "absolute")
	r.link(filepath.Join(up, "secret.txt"), "relative")
	r.link(outside, "folder")
	r.link("../"+up, "in/folder")
	r.link("folder", "twice")
	r.link(up+"/nothing-yet", "dangling")
	r.link("loop", "loop")
	for _, p := range []string{
		secret, "../x", "in/../../x", "..", "in/..", "absolute", "relative", "folder/secret.txt", "folder/new.txt", "folder", "in/folder/secret.txt",
		"twice/secret.txt", "dangling", "loop", "a\x00b", strings.Repeat("x/", 3000),
	} {
		for name, text := range r.everyTool(p) {
			if strings.Contains(text, "1\tsecret") {
				t.Errorf("%s of %q gives %q", name, p, text)
			}
		}
		if got, err := r.resources("read_file", in{"path": p}); err == nil {
			t.Errorf("the resources of %q are %v", p, got)
		}
	}
	entries, err := os.ReadDir(outside)
	if err != nil || len(entries) != 1 {
		t.Errorf("outside there is %v, %v", entries, err)
	}
	if got, err := os.ReadFile(secret); err != nil || string(got) != "secret\n" {
		t.Errorf("the secret is %q, %v", got, err)
	}
	if got := r.ok("search_files", in{"pattern": "secret"}); !strings.Contains(got, "no hits") {
		t.Error(got)
	}
}

func TestNothingOfGitIsReached(t *testing.T) {
	r := open(t, map[string]string{".git/config": "secret\n", "sub/.git/config": "secret\n", ".gitignore": "x\n", "a.txt": "a\n"})
	r.link(".git", "link")
	r.link(".git/config", "config")
	r.link("sub/../.git", "around")
	for _, p := range []string{
		".git", ".git/config", ".git/hooks/pre-commit", "sub/.git/config", "link/config", "link/new", "config", "around/config",
		".GIT/config", ".git./config", ".git /config", "git~1/config", ".g\u200cit/config", ".git:x/config",
	} {
		r.everyTool(p)
	}
	if got := r.ok("list_files", in{"depth": 5}); strings.HasPrefix(got, ".git/") || strings.Contains(got, "sub/.git") || !strings.Contains(got, ".gitignore\n") || !strings.Contains(got, "link -> .git\n") {
		t.Errorf("the list is\n%s", got)
	}
	if got := r.ok("search_files", in{"pattern": "secret"}); !strings.Contains(got, "no hits in 2 files") {
		t.Error(got)
	}
	r.holds(".git/config", "secret\n")
	r.ok("write_file", in{"path": "sub/.github/a.yml", "content": "x"})
}

func TestLinksWithinTheWorkspaceWork(t *testing.T) {
	r := open(t, map[string]string{"real/a.txt": "one\n"})
	r.link("real", "link")
	r.link("../real/a.txt", "real/self")
	if got := r.ok("read_file", in{"path": "link/self"}); !strings.Contains(got, "1\tone") {
		t.Error(got)
	}
	r.ok("edit_file", in{"path": "link/a.txt", "old": "one", "new": "two"})
	r.holds("real/a.txt", "two\n")
	r.ok("write_file", in{"path": "link/new/b.txt", "content": "b"})
	r.holds("real/new/b.txt", "b")
	if info, err := os.Lstat(r.path("link")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	got, err := r.resources("edit_file", in{"path": "link/self"})
	if want := []string{"link/self", "real/a.txt"}; err != nil || !reflect.DeepEqual(got.Paths, want) {
		t.Errorf("the resources are %v, %v; want %v", got.Paths, err, want)
	}
}

func TestResourcesArePathsFromTheWorkspace(t *testing.T) {
	r := open(t, map[string]string{"a/b.txt": ""})
	for _, c := range []struct {
		tool, path string
		want       string
	}{
		{"read_file", "./a//b.txt", "a/b.txt"},
		{"write_file", "a/new/c.txt", "a/new/c.txt"},
		{"list_files", "", "."},
		{"search_files", "a/", "a"},
	} {
		got, err := r.resources(c.tool, in{"path": c.path})
		if err != nil || !slices.Equal(got.Paths, []string{c.want}) || got.Command != "" {
			t.Errorf("%s of %q reaches %+v, %v; want %q", c.tool, c.path, got, err, c.want)
		}
	}
	if _, err := r.resources("read_file", in{}); err == nil {
		t.Error("reading no path has resources")
	}
}

func TestOddNamesWork(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("such names are not possible here")
	}
	odd := "two\nlines \"and\" a\ttab"
	r := open(t, map[string]string{odd: "one\n", "-rf": "two\n", " ": "three\n", "ünï/語.txt": "four\n"})
	if got := r.ok("list_files", in{"depth": 2}); !strings.Contains(got, `"two\nlines \"and\" a\ttab"`+"\n") || !strings.Contains(got, "ünï/語.txt\n") {
		t.Errorf("the list is\n%s", got)
	}
	if got := r.ok("search_files", in{"pattern": "one"}); !strings.HasPrefix(got, `"two\nlines \"and\" a\ttab":1: one`+"\n") {
		t.Error(got)
	}
	for _, p := range []string{odd, "-rf", " ", "ünï/語.txt"} {
		r.ok("read_file", in{"path": p})
		r.ok("write_file", in{"path": p, "content": "new\n"})
		r.holds(p, "new\n")
	}
	if err := os.WriteFile(r.path("bad\xff"), nil, 0o600); err != nil {
		t.Skipf("names that are no UTF-8 are not possible here: %v", err)
	}
	if got := r.ok("list_files", in{}); !strings.Contains(got, `"bad\xff" (its name is no UTF-8`) {
		t.Errorf("the list is\n%s", got)
	}
}

func TestANameInAnotherNormalizationIsFound(t *testing.T) {
	const composed, apart = "caf\u00e9", "cafe\u0301"
	r := open(t, map[string]string{apart + "/" + apart + ".txt": "one\n"})
	r.ok("read_file", in{"path": composed + "/" + composed + ".txt"})
	r.ok("edit_file", in{"path": composed + "/" + composed + ".txt", "old": "one", "new": "two"})
	r.holds(apart+"/"+apart+".txt", "two\n")
	r.ok("write_file", in{"path": composed + "/new.txt", "content": "x"})
	r.holds(apart+"/new.txt", "x")
	if entries, err := os.ReadDir(r.dir); err != nil || len(entries) != 1 {
		t.Errorf("there are %v, %v", entries, err)
	}
}
