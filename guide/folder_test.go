package guide_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/guide"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

// known gives the tools that a skill may ask for: git, and a set of two.
func known(name string) ([]tool.Tool, bool) {
	switch name {
	case "git":
		return []tool.Tool{named("git")}, true
	case "history":
		return []tool.Tool{named("zoom"), named("read")}, true
	}
	return nil, false
}

// told prints skills with what loading each gives.
func told(t *testing.T, s guide.Skills) []string {
	t.Helper()
	out := []string{}
	for _, k := range s {
		text, _ := ask(t, loader(t, s, guide.Input{}), `{"name":"`+k.Name+`"}`)
		out = append(out, fmt.Sprintf("%s (%s): %s", k.Name, k.Description, strings.ReplaceAll(text, "\n\n", " | ")))
	}
	return out
}

func TestEverySubFolderWithASkillFileIsASkill(t *testing.T) {
	dir := fstest.MapFS{
		"review/SKILL.md": {Data: []byte("---\nname: review\ndescription: How we review.\nlicense: MIT\ncompatibility: any\nmetadata:\n  author: ana\n  version: \"1.0\"\nallowed-tools: Bash(git:*) Read\ntools: [git, history]\n---\n\n# Review\n\nRead it all.\n")},
		"audit/SKILL.md":  {Data: []byte("\ufeff---\r\nname: audit\r\ndescription: >\r\n  Look\r\n  closely.\r\n---\r\nOne.\r\nTwo.\r\n")},
		"7/SKILL.md":      {Data: []byte("---\nname: 7\ndescription: A number.\nallowed-tools:\n  - Read\n---")},
		"notes/README.md": {Data: []byte("no skill")},
		"SKILL.md":        {Data: []byte("no skill either")},
		".hidden/SKILL.md": {
			Data: []byte("broken"),
		},
	}
	got, err := guide.Folder(dir, known)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"7 (A number.): Tools now available: none of its own",
		"audit (Look closely.): One.\nTwo. | Tools now available: none of its own",
		"review (How we review.): # Review | Read it all. | Tools now available: git, zoom, read",
	}
	if diff := cmp.Diff(want, told(t, got)); diff != "" {
		t.Error(diff)
	}
	if err := got.Check(nil); err != nil {
		t.Error(err)
	}
}

func TestABadSkillIsNamedAndTheOthersAreGiven(t *testing.T) {
	head := func(lines string) string { return "---\n" + lines + "\n---\nDo." }
	cases := []struct{ about, file, want string }{
		{"no front matter", "Do.", "no name"},
		{"no end", "---\nname: bad\n", "does not end with ---"},
		{"no name", head("description: d"), "no name"},
		{"another name", head("name: good\ndescription: d"), `"good"`},
		{"no description", head("name: bad"), "no description"},
		{"a long description", head("name: bad\ndescription: " + strings.Repeat("a", 1025)), "1025 characters"},
		{"an unknown key", head("name: bad\ndescription: d\ntool: [git]"), "tool"},
		{"an unknown tool", head("name: bad\ndescription: d\ntools: [git, cook]"), `"cook"`},
		{"tools that are no list", head("name: bad\ndescription: d\ntools: {git: yes}"), "front matter"},
		{"a description that is no text", head("name: bad\ndescription: [a, b]"), "front matter"},
		{"no YAML", head("name: [bad\ndescription: d"), "front matter"},
		{"a key twice", head("name: bad\nname: bad\ndescription: d"), "name"},
		{"deep", head("name: bad\ndescription: d\nmetadata: " + strings.Repeat("[", 5000)), "nested"},
		{"deep on one line", head("name: bad\ndescription: d\nmetadata:\n " + strings.Repeat("- ", 5000)), "nested"},
		{"no text", "---\nname: bad\xff\n---", "not text"},
		{"large", head("name: bad\ndescription: d") + strings.Repeat("a", guide.MaxSkill), "larger than 64 KB"},
	}
	for _, c := range cases {
		dir := fstest.MapFS{
			"bad/SKILL.md":   {Data: []byte(c.file)},
			"good/SKILL.md":  {Data: []byte(head("name: good\ndescription: d"))},
			"worse/SKILL.md": {Data: []byte("worse")},
		}
		got, err := guide.Folder(dir, known)
		if len(got) != 1 || got[0].Name != "good" {
			t.Errorf("%s: gave %v", c.about, got)
		}
		if thread.CodeOf(err) != thread.Configuration {
			t.Errorf("%s: %v", c.about, err)
			continue
		}
		for _, w := range []string{`the skill "bad"`, c.want, `the skill "worse"`} {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q does not say %s", c.about, err, w)
			}
		}
	}
	if _, err := guide.Folder(fstest.MapFS{"bad/SKILL.md": {Data: []byte(head("name: bad\ndescription: d\ntools: [git]"))}}, nil); err == nil {
		t.Error("a tool was found where there are none")
	}
}

func TestSettingsThatGrowWhenTheyAreReadDoNoHarm(t *testing.T) {
	seq, merged := "name: bad\ndescription: d\nmetadata:\n  a0: &a0 [x, x]\n", "name: bad\ndescription: d\nmetadata:\n  a0: &a0 {x: y}\n"
	for i := range 60 { // whole, it would have 10^60 parts
		seq += fmt.Sprintf("  a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 10), ","))
		merged += fmt.Sprintf("  a%d: &a%d {<<: *a%d, l%d: *a%d, r%d: *a%d}\n", i+1, i+1, i, i, i, i, i)
	}
	for _, text := range []string{seq, merged} {
		got, err := guide.Folder(fstest.MapFS{"bad/SKILL.md": {Data: []byte("---\n" + text + "---\nDo.")}}, nil)
		if err == nil && (len(got) != 1 || got[0].Description != "d") {
			t.Errorf("got %v", got)
		}
	}
}

func TestLinksAreNotFollowedToSkills(t *testing.T) {
	dir := t.TempDir()
	text := "---\nname: away\ndescription: d\n---\nDo."
	write(t, filepath.Join(dir, "elsewhere", "away", "SKILL.md"), text)
	write(t, filepath.Join(dir, "skills", "half", "README.md"), "")
	link(t, "../elsewhere/away", filepath.Join(dir, "skills", "away"))
	link(t, "../../elsewhere/away/SKILL.md", filepath.Join(dir, "skills", "half", "SKILL.md"))
	link(t, "half/README.md", filepath.Join(dir, "skills", "README.md"))
	for about, tree := range map[string]fs.FS{"a folder": os.DirFS(filepath.Join(dir, "skills")), "a root": rooted(t, filepath.Join(dir, "skills"))} {
		got, err := guide.Folder(tree, nil)
		if len(got) != 0 || err == nil || !strings.Contains(err.Error(), `"away"`) || !strings.Contains(err.Error(), `"half"`) || strings.Contains(err.Error(), "README") {
			t.Errorf("%s: %v, %v", about, got, err)
		}
	}
}

func TestAFolderThatIsNotThere(t *testing.T) {
	_, err := guide.Folder(os.DirFS(filepath.Join(t.TempDir(), "gone")), nil)
	if !errors.Is(err, fs.ErrNotExist) || thread.CodeOf(err) != thread.Configuration {
		t.Errorf("got %v", err)
	}
}

func FuzzSkillFile(f *testing.F) {
	for _, s := range []string{
		"", "---", "---\n---", "---\n---\n", "---\nname: a\ndescription: d\n---\nDo.", "---\nname: a\ndescription: d\ntools: [git]\n---",
		"---\r\nname: a\r\ndescription: |\r\n  x\r\n---\r\n", "---\nname: a\ndescription: \"x\\n- evil: y\"\n---\n---\n", "---\nname: &n a\ndescription: *n\n---\n",
		"---\nname: a\ndescription: d\n<<: {tools: [git]}\n---\n", "---\n? a\n: b\n---\n", "---\n- - - a\n---\n", "---\n!!binary name: a\n---\n", "---\nname: a\ndescription: d\nmetadata: {a: [b, {c: d}]}\n---\n",
		"---\nname: a\ndescription: \u2028- evil\n---\n", "---\n%YAML 1.2\n---\nname: a\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		head, body, err := guide.FrontMatter(data)
		if err == nil && len(head)+len(body) > len(data) {
			t.Fatalf("%q and %q of %q", head, body, data)
		}
		readsOrNames(t, data)
		readsOrNames(t, slices.Concat([]byte("---\nname: a\ndescription: d\nmetadata: "), data, []byte("\n---\nDo.")))
	})
}

// readsOrNames fails unless the file makes a skill that can be used, or an error
// that names it.
func readsOrNames(t *testing.T, file []byte) {
	t.Helper()
	got, err := guide.Folder(fstest.MapFS{"a/SKILL.md": {Data: file}}, known)
	if err != nil {
		if len(got) != 0 || thread.CodeOf(err) != thread.Configuration || !strings.Contains(err.Error(), `"a"`) {
			t.Fatalf("%v, %v", got, err)
		}
		return
	}
	if len(got) != 1 || got[0].Name != "a" {
		t.Fatalf("%v of %q", got, file)
	}
	if err := got.Check(nil); err != nil && !strings.Contains(err.Error(), "two tools") {
		t.Fatalf("%v of %q", err, file)
	}
	if n := strings.Count(got.Catalogue(), "\n"); n != 1 {
		t.Fatalf("the catalogue is %q", got.Catalogue())
	}
	if _, isError := ask(t, loader(t, got, guide.Input{}), `{"name":"a"}`); isError {
		t.Fatalf("%q cannot be loaded", file)
	}
}
