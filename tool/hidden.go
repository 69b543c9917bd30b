package tool

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// Hides gives what a call of the tool that runs must not show of the files that it
// comes upon and was not called for by name: the paths that the tool could not be
// called for alone without being denied or asked about. It is for paths from the
// workspace, and in it. v is what was said of the
// call. What it was asked about, and what is allowed for the whole thread, somebody
// has answered. Nil: nothing is hidden.
func (p Permissions) Hides(t Tool, v Verdict, allowed Allowed) func(path string) bool {
	b := hiding{verdict: v, always: allowed.Has(t, Resources{})}
	for i, r := range p.Rules {
		if b.rule(t.Name, r, i+1); b.done {
			return b.hidden()
		}
	}
	b.step(p.otherwise(t, Resources{}).Decision, 0, nil)
	return b.hidden()
}

// hiding is rules on their way to what they hide.
type hiding struct {
	verdict Verdict
	always  bool // what the tool is asked about is allowed
	steps   []step
	some    bool // a step hides
	done    bool // the last step is for all paths
}

// step is a rule: which paths it is for, and whether it hides them.
type step struct {
	globs []*regexp.Regexp // nil: for all
	hides bool
}

func (b *hiding) step(d Decision, number int, globs []*regexp.Regexp) {
	answered := b.always || b.verdict.Decision == Ask && b.verdict.Rule == number
	s := step{globs: globs, hides: d != Allow && (d != Ask || !answered)}
	b.steps = append(b.steps, s)
	b.some = b.some || s.hides
	b.done = globs == nil
}

// rule adds what a rule says of the tool's calls. One that cannot be used denies.
func (b *hiding) rule(name string, r Rule, number int) {
	if !r.Decision.known() {
		b.step(Deny, number, nil)
		return
	}
	if len(r.Tools) > 0 {
		named, err := matchAny(namesDialect, r.Tools, []string{name})
		if err != nil {
			b.step(Deny, number, nil)
			return
		}
		if !named {
			return
		}
	}
	if len(r.Paths) == 0 {
		if len(r.Commands) == 0 {
			b.step(r.Decision, number, nil)
		}
		return
	}
	globs := make([]*regexp.Regexp, 0, len(r.Paths))
	for _, g := range r.Paths {
		re, err := pathsDialect.compile(g)
		if err != nil {
			b.step(r.Decision, number, globs)
			b.step(Deny, number, nil)
			return
		}
		globs = append(globs, re)
	}
	b.step(r.Decision, number, globs)
}

func (b *hiding) hidden() func(string) bool {
	if !b.some {
		return nil
	}
	return func(p string) bool {
		p = path.Clean(p)
		for _, s := range b.steps {
			if s.is(p) {
				return s.hides
			}
		}
		return true
	}
}

func (s step) is(p string) bool {
	for _, re := range s.globs {
		if re.MatchString(p) {
			return true
		}
	}
	return s.globs == nil
}

// Hides gives what hides a path that lies in a folder: the first of the folders on
// the way to it, or itself. The folder it starts from hides nothing.
func (c Caller) Hides(from, p string) (by string, is bool) {
	if c.Hidden == nil {
		return "", false
	}
	base := from + "/"
	if from == "." {
		base = ""
	}
	rest, within := strings.CutPrefix(p, base)
	if !within {
		return "", false
	}
	for i := 0; i < len(rest); i++ {
		if rest[i] == '/' && c.Hidden(base+rest[:i]) {
			return base + rest[:i], true
		}
	}
	return p, c.Hidden(p)
}

// LeftOut is what a tool says of so many files and folders that were hidden from
// it; "" for none.
func LeftOut(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("[%d files or folders are left out: the permissions keep them from this tool; a call that names one is refused, or somebody is asked]\n", n)
}
