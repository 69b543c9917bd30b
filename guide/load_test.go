package guide_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skeinhq/skein/guide"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

// loader makes load_skill of skills, of which some are loaded.
func loader(t *testing.T, s guide.Skills, in guide.Input, loaded ...string) tool.Tool {
	t.Helper()
	load, err := s.LoadTool(in, func(context.Context) ([]string, error) { return loaded, nil })
	if err != nil {
		t.Fatal(err)
	}
	return load
}

// ask calls the tool as a model would.
func ask(t *testing.T, load tool.Tool, input string) (text string, isError bool) {
	t.Helper()
	a, err := tool.Answer(t.Context(), []tool.Tool{load}, thread.Call("1", guide.LoadSkill, json.RawMessage(input)))
	if err != nil {
		t.Fatal(err)
	}
	return a.Result.Parts[0].Text, a.Result.IsError
}

func withFiles(files fs.FS) guide.Skills {
	k := skill("review", named("git"), named("blame"))
	k.Files = files
	return guide.Skills{k, skill("audit")}
}

func TestLoadingASkillGivesItsInstructionsToolsAndFiles(t *testing.T) {
	s := withFiles(fstest.MapFS{
		"SKILL.md": {Data: []byte("---")}, "references/go.md": {}, "a.md": {}, ".git/config": {}, ".env": {}, "two\nlines": {},
	})
	cases := []struct{ name, want string }{
		{"review", "Do review well.\n\nTools now available: git, blame\n\nFiles, to be read with load_skill, name \"review\" and file:\n- a.md\n- references/go.md"},
		{"audit", "Do audit well.\n\nTools now available: none of its own"},
	}
	for _, c := range cases {
		got, isError := ask(t, loader(t, s, guide.Input{}), `{"name":"`+c.name+`"}`)
		if isError || got != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.name, isError, got, c.want)
		}
	}
}

func TestLoadSkillOnlyReadsAndNamesTheSkills(t *testing.T) {
	s := withFiles(nil)
	load := loader(t, s, guide.Input{})
	if !load.ReadOnly || load.Name != guide.LoadSkill {
		t.Errorf("got %+v", load)
	}
	if err := tool.Check(append(s.Tools(), load)); err != nil {
		t.Error(err)
	}
	var schema struct {
		Properties map[string]struct{ Enum []string }
		Required   []string
	}
	if err := json.Unmarshal(load.Schema, &schema); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(schema.Properties["name"].Enum, []string{"review", "audit"}) || !slices.Equal(schema.Required, []string{"name"}) {
		t.Errorf("the schema is %s", load.Schema)
	}
	for range 20 {
		if again := loader(t, s, guide.Input{}); string(again.Schema) != string(load.Schema) {
			t.Fatalf("the schema is %s and %s", load.Schema, again.Schema)
		}
	}
	if _, err := guide.Skills(nil).LoadTool(guide.Input{}, nil); thread.CodeOf(err) != thread.Configuration {
		t.Errorf("without skills: %v", err)
	}
}

func TestWhatIsAskedWronglyIsToldToTheModel(t *testing.T) {
	s := withFiles(fstest.MapFS{"a.md": {Data: []byte("A")}})
	s = append(s, guide.Skill{Name: "poor", Instructions: guide.MCPPrompt("docs", "tone", nil)},
		guide.Skill{Name: "huge", Instructions: guide.Text(strings.Repeat("a", guide.MaxSkill+1))},
		guide.Skill{Name: "mad", Instructions: guide.Instruction{Resolve: func(context.Context, guide.Input) (string, error) { panic("moon") }}})
	cases := []struct{ about, input, want string }{
		{"an unknown skill", `{"name":"cook"}`, `no skill named "cook"; there are: review, audit`},
		{"no name", `{}`, "does not fit its schema"},
		{"another key", `{"name":"review","path":"x"}`, "does not fit its schema"},
		{"a file of a locked skill", `{"name":"review","file":"a.md"}`, "load the review skill"},
		{"a file of a skill without files", `{"name":"audit","file":"a.md"}`, `no file "a.md"`},
		{"a resolver that fails", `{"name":"poor"}`, "the poor skill cannot be had: no MCP servers"},
		{"instructions that are too large", `{"name":"huge"}`, "larger than 64 KB"},
		{"a resolver that panics", `{"name":"mad"}`, "moon"},
	}
	for _, c := range cases {
		if got, isError := ask(t, loader(t, s, guide.Input{}, "audit"), c.input); !isError || !strings.Contains(got, c.want) {
			t.Errorf("%s: %v, %q does not say %q", c.about, isError, got, c.want)
		}
	}
	broken, err := s.LoadTool(guide.Input{}, func(context.Context) ([]string, error) { return nil, errors.New("no log") })
	if err != nil {
		t.Fatal(err)
	}
	if got, isError := ask(t, broken, `{"name":"review","file":"a.md"}`); !isError || !strings.Contains(got, "no log") {
		t.Errorf("when nobody knows what is loaded: %v, %q", isError, got)
	}
}

func TestASkillsFilesAreReadWithinItsFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "secret.md"), "secret")
	write(t, filepath.Join(dir, "review", "SKILL.md"), "---\nname: review\ndescription: d\n---\nDo.")
	write(t, filepath.Join(dir, "review", "a.md"), "the file a")
	write(t, filepath.Join(dir, "review", "deep", "b.md"), "the file b")
	write(t, filepath.Join(dir, "review", ".env"), "secret")
	write(t, filepath.Join(dir, "review", "image.png"), "\x89PNG\x00")
	write(t, filepath.Join(dir, "review", "large.md"), strings.Repeat("secret ", guide.MaxFile))
	write(t, filepath.Join(dir, "audit", "secret.md"), "secret")
	link(t, "../secret.md", filepath.Join(dir, "review", "link.md"))
	link(t, "../audit", filepath.Join(dir, "review", "linked"))
	link(t, filepath.Join(dir, "secret.md"), filepath.Join(dir, "review", "absolute.md"))
	trees := map[string]fs.FS{"a folder": os.DirFS(dir), "a root": rooted(t, dir)}
	for about, tree := range trees {
		s, err := guide.Folder(tree, nil)
		if err != nil || len(s) != 1 {
			t.Fatalf("%s: %v, %v", about, s, err)
		}
		load := loader(t, s, guide.Input{}, "review")
		told, _ := ask(t, load, `{"name":"review"}`)
		if !strings.HasSuffix(told, "file:\n- a.md\n- deep/b.md\n- image.png\n- large.md") {
			t.Errorf("%s: told\n%s", about, told)
		}
		for file, want := range map[string]string{
			"a.md": "the file a", "./a.md": "the file a", "deep/b.md": "the file b", "deep/../a.md": "the file a",
		} {
			if got, isError := ask(t, load, fmt.Sprintf(`{"name":"review","file":%q}`, file)); isError || got != want {
				t.Errorf("%s: %s is %q", about, file, got)
			}
		}
		for _, file := range []string{
			"../secret.md", "deep/../../secret.md", "/etc/passwd", filepath.Join(dir, "secret.md"), "link.md", "linked/secret.md",
			"absolute.md", ".env", "deep", ".", "..", "gone.md", "a.md/b", "SKILL.md", "image.png", "large.md", "review/a.md", "a.md\x00",
		} {
			input, err := json.Marshal(map[string]string{"name": "review", "file": file})
			if err != nil {
				t.Fatal(err)
			}
			if got, isError := ask(t, load, string(input)); !isError || strings.Contains(got, "secret ") || got == "secret" {
				t.Errorf("%s: %q gave %.80q", about, file, got)
			}
		}
	}
}

func TestALongListOfFilesIsCutShort(t *testing.T) {
	files := fstest.MapFS{}
	for i := range 3000 {
		files[fmt.Sprintf("f%04d.md", i)] = &fstest.MapFile{Data: []byte("x")}
	}
	load := loader(t, withFiles(files), guide.Input{}, "review")
	told, _ := ask(t, load, `{"name":"review"}`)
	if n := strings.Count(told, "\n- "); n != 101 || !strings.HasSuffix(told, "- f0099.md\n- … and more") {
		t.Errorf("%d lines, the end is %q", n, told[len(told)-40:])
	}
	if got, isError := ask(t, load, `{"name":"review","file":"f2999.md"}`); isError || got != "x" {
		t.Errorf("a file that is not listed: %q", got)
	}
}

// sealed has a folder that cannot be listed.
type sealed struct{ fstest.MapFS }

func (s sealed) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == "sealed" {
		return nil, fs.ErrPermission
	}
	return s.MapFS.ReadDir(name)
}

func TestWhatCannotBeListedIsAWarning(t *testing.T) {
	warned := ""
	s := withFiles(sealed{fstest.MapFS{"a.md": {}, "sealed/x": {}, "z.md": {}}})
	told, isError := ask(t, loader(t, s, guide.Input{Warn: func(text string) { warned += text }}), `{"name":"review"}`)
	if isError || !strings.HasSuffix(told, "- a.md\n- z.md") || !strings.Contains(warned, "review") {
		t.Errorf("told %q, warned %q", told, warned)
	}
}

func TestLoadedSkillsAreToldAgain(t *testing.T) {
	s := withFiles(fstest.MapFS{"a.md": {}})
	got, err := s.Again(t.Context(), guide.Input{}, []string{"audit", "gone", "review"})
	if err != nil || len(got) != 2 || got[0].Name != "skill audit" || got[1].Name != "skill review" {
		t.Fatalf("got %v, %v", got, err)
	}
	for _, c := range got {
		told, _ := ask(t, loader(t, s, guide.Input{}), `{"name":"`+strings.TrimPrefix(c.Name, "skill ")+`"}`)
		if c.Text != told {
			t.Errorf("%s: again %q, at first %q", c.Name, c.Text, told)
		}
	}
	if got, err := s.Again(t.Context(), guide.Input{}, nil); err != nil || got != nil {
		t.Errorf("nothing is loaded: %v, %v", got, err)
	}
	s[1].Instructions = guide.MCPPrompt("docs", "tone", nil)
	if _, err := s.Again(t.Context(), guide.Input{}, []string{"review", "audit"}); thread.CodeOf(err) != thread.Configuration || !strings.Contains(err.Error(), "skill audit") {
		t.Errorf("one that fails: %v", err)
	}
}
