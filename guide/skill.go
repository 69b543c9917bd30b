package guide

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

// LoadSkill is the reserved name of the tool that loads skills.
const LoadSkill = "load_skill"

// The most that a skill's name and description may have, in characters, and its
// instructions, in bytes: whole, they are one result of a tool.
const (
	MaxName        = 64
	MaxDescription = 1024
	MaxSkill       = 64 << 10
)

// Skill is a way to do some kind of work, which an agent loads when it has such
// work to do.
type Skill struct {
	Name         string // lower-case letters, digits and single dashes between them
	Description  string // what it is for and when to load it
	Instructions Instruction
	Tools        []tool.Tool // locked until the skill is loaded
	Files        fs.FS       // what may be read once it is loaded; nil: nothing
}

// Skills is the skills of an agent. Each of their tools belongs to one of them.
type Skills []Skill

var nameShape = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// flaws says what is wrong with the skill by itself.
func (k Skill) flaws() []string {
	var flaws []string
	if !nameShape.MatchString(k.Name) || len(k.Name) > MaxName {
		flaws = append(flaws, fmt.Sprintf("needs a name of lower-case letters, digits and dashes between them, at most %d", MaxName))
	}
	if strings.TrimSpace(k.Description) == "" {
		flaws = append(flaws, "has no description")
	}
	if n := utf8.RuneCountInString(k.Description); n > MaxDescription {
		flaws = append(flaws, fmt.Sprintf("has a description of %d characters, the most is %d", n, MaxDescription))
	}
	if k.Instructions.Resolve == nil {
		flaws = append(flaws, "has no instructions")
	}
	return flaws
}

// Check says whether the skills can stand beside each other and beside the
// agent's other tools. Its error joins one of the code configuration for each
// skill that is not well formed, each name of a skill or tool that stands twice,
// naming both places, and each tool that is named load_skill.
func (s Skills) Check(others []tool.Tool) error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, &thread.Error{Code: thread.Configuration, Op: "skills", Message: fmt.Sprintf(format, args...)})
	}
	places := map[string]string{LoadSkill: "the one that loads skills"}
	place := func(t tool.Tool, where string) {
		if before, ok := places[t.Name]; ok {
			bad("two tools have the name %q: %s and %s", t.Name, before, where)
			return
		}
		places[t.Name] = where
	}
	for _, t := range others {
		place(t, "one of the agent's own")
	}
	seen := map[string]int{}
	for i, k := range s {
		for _, flaw := range k.flaws() {
			bad("the skill %q %s", k.Name, flaw)
		}
		if before, ok := seen[k.Name]; ok {
			bad("two skills have the name %q: number %d (%s) and number %d (%s)", k.Name, before+1, oneLine(s[before].Description), i+1, oneLine(k.Description))
			continue
		}
		seen[k.Name] = i
		for _, t := range k.Tools {
			place(t, fmt.Sprintf("one of the skill %q", k.Name))
			if err := tool.Check([]tool.Tool{t}); err != nil {
				errs = append(errs, &thread.Error{Code: thread.Configuration, Op: "skills", Message: fmt.Sprintf("the skill %q has a tool that cannot be used", k.Name), Err: err})
			}
		}
	}
	return errors.Join(errs...)
}

// Catalogue is the end of the instructions: a header and a line for each skill.
// It is empty without skills. A description takes one line, whatever it holds.
func (s Skills) Catalogue() string {
	if len(s) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Skills, each for the work its line names; before such work, load it with " + LoadSkill + ":")
	for _, k := range s {
		fmt.Fprintf(&b, "\n- %s: %s", oneLine(k.Name), oneLine(k.Description))
	}
	return b.String()
}

// Tools gives the tools of all skills, in order. They are told to the model
// whether or not their skill is loaded, and after them the one of
// [Skills.LoadTool].
func (s Skills) Tools() []tool.Tool {
	var out []tool.Tool
	for _, k := range s {
		out = append(out, k.Tools...)
	}
	return out
}

// Denied says whether a tool is locked, its skill being none of the loaded ones,
// and tells the model why.
func (s Skills) Denied(name string, loaded []string) (reason string, denied bool) {
	for _, k := range s {
		if _, ok := tool.Find(k.Tools, name); ok && !slices.Contains(loaded, k.Name) {
			return fmt.Sprintf("Load the %s skill with %s before using %s", k.Name, LoadSkill, name), true
		}
	}
	return "", false
}

// find gives the skill of that name.
func (s Skills) find(name string) (Skill, bool) {
	i := slices.IndexFunc(s, func(k Skill) bool { return k.Name == name })
	if i < 0 {
		return Skill{}, false
	}
	return s[i], true
}

func (s Skills) names() []string {
	names := make([]string, len(s))
	for i, k := range s {
		names[i] = k.Name
	}
	return names
}
