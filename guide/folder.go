package guide

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

// skillFile is the file that makes a folder a skill.
const skillFile = "SKILL.md"

// skillHead is what may stand between the --- lines of a SKILL.md. All but Tools
// is the open layout's; what has no use here is read over.
type skillHead struct {
	Name          string `yaml:"name"`
	Description   string `yaml:"description"`
	License       any    `yaml:"license"`
	Compatibility any    `yaml:"compatibility"`
	Metadata      any    `yaml:"metadata"`
	AllowedTools  any    `yaml:"allowed-tools"`

	Tools []string `yaml:"tools"` // locked until the skill is loaded
}

// Folder reads every sub-folder that has a SKILL.md as a skill, sorted by name:
//
//	review/SKILL.md        ---
//	                       name: review
//	                       description: How we review a change.
//	                       tools: [git]
//	                       ---
//	                       Read the whole change first. …
//	review/references/…    files that may be read once it is loaded
//
// The name is the folder's. A name under tools stands for a tool or a set of
// them, which the function gives; they are locked until the skill is loaded.
// Hidden sub-folders are passed over. The error joins one of the code
// configuration for each skill that cannot be used, naming it; the others are
// given all the same. Links are not followed, which is such an error.
func Folder(dir fs.FS, tools func(name string) ([]tool.Tool, bool)) (Skills, error) {
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		return nil, &thread.Error{Code: thread.Configuration, Op: "skills", Message: "the skills' folder cannot be read", Err: err}
	}
	var out Skills
	var bad error
	for _, e := range entries {
		k, ok, err := readSkill(dir, e, tools)
		switch {
		case err != nil:
			bad = errors.Join(bad, &thread.Error{Code: thread.Configuration, Op: "skills", Message: fmt.Sprintf("the skill %q cannot be used", e.Name()), Err: err})
		case ok:
			out = append(out, k)
		}
	}
	return out, bad
}

// readSkill reads a sub-folder, and says whether it is a skill at all.
func readSkill(dir fs.FS, e fs.DirEntry, tools func(string) ([]tool.Tool, bool)) (Skill, bool, error) {
	if strings.HasPrefix(e.Name(), ".") {
		return Skill{}, false, nil
	}
	if e.Type()&fs.ModeSymlink != 0 {
		return Skill{}, false, linked(dir, e.Name())
	}
	file := path.Join(e.Name(), skillFile)
	info, err := fs.Lstat(dir, file)
	switch {
	case !e.IsDir() || errors.Is(err, fs.ErrNotExist):
		return Skill{}, false, nil
	case err != nil:
		return Skill{}, false, err
	case info.Mode()&fs.ModeSymlink != 0:
		return Skill{}, false, errors.New("its SKILL.md is a link, and links are not followed")
	}
	text, err := ReadText(dir, file, MaxSkill)
	if err != nil {
		return Skill{}, false, fmt.Errorf("its SKILL.md cannot be read: %w", err)
	}
	k, err := parseSkill(e.Name(), text, tools)
	if err != nil {
		return Skill{}, false, err
	}
	k.Files, err = fs.Sub(dir, e.Name())
	return k, err == nil, err
}

// linked says that a skill is a link. A link to a file is no skill and no error.
func linked(dir fs.FS, name string) error {
	if info, err := fs.Stat(dir, name); err == nil && !info.IsDir() {
		return nil
	}
	return errors.New("it is a link, and links are not followed; copy the folder")
}

// parseSkill makes the skill that a SKILL.md in a folder of that name tells of.
func parseSkill(folder, text string, tools func(string) ([]tool.Tool, bool)) (Skill, error) {
	head, body, err := FrontMatter([]byte(text))
	if err != nil {
		return Skill{}, err
	}
	var f skillHead
	if err := Decode(head, &f); err != nil {
		return Skill{}, fmt.Errorf("its front matter cannot be read: %w", err)
	}
	k := Skill{Name: f.Name, Description: strings.TrimSpace(f.Description), Instructions: Text(string(body))}
	k.Instructions.Name = "skill " + folder
	if f.Name == "" {
		return Skill{}, errors.New("its front matter has no name")
	}
	if f.Name != folder {
		return Skill{}, fmt.Errorf("its name is %q and its folder's %q; they must be the same", f.Name, folder)
	}
	if flaws := k.flaws(); len(flaws) > 0 {
		return Skill{}, errors.New("it " + strings.Join(flaws, "; it "))
	}
	for _, name := range f.Tools {
		found, ok := []tool.Tool(nil), false
		if tools != nil {
			found, ok = tools(name)
		}
		if !ok {
			return Skill{}, fmt.Errorf("it asks for the tool %q, and there is none", name)
		}
		k.Tools = append(k.Tools, found...)
	}
	return k, nil
}
