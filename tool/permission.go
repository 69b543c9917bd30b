package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skeinhq/skein/thread"
)

// Decision is what permissions say of a call.
type Decision string

// The decisions.
const (
	Allow Decision = "allow"
	Deny  Decision = "deny"
	Ask   Decision = "ask" // a person decides
)

// MaxRules is the most rules that permissions may have.
const MaxRules = 1000

// Rule decides about some calls. Tools, Paths and Commands are globs: * and ?
// match any characters (in paths, within a segment), ** between slashes any
// number of segments, [a-z] and [!a-z] one character, {a,b} either; \ takes a
// character as it is. A name that begins with a dot is like any other.
//
// Without Tools a rule is for every tool. With Paths or Commands it is only for
// calls that reach a path or run a command, and then
//
//   - an allow rule matches where each of the call's paths and its command match
//     a glob. A path that is absolute or has a .. in it never does, whatever the
//     globs, and no wildcard matches a character by which a shell makes one
//     command two (; & | < > ( ) $ ` or a newline): "git *" is not "git log; rm x";
//   - a deny or ask rule matches where any of the paths does, or the command, or
//     any part of the command between those characters.
//
// Paths are matched cleaned, from the workspace, and so the workspace itself is
// "."; commands with blanks squeezed.
//
// A deny or ask rule sees the commands of a line as a shell does: without quotes
// and redirections, behind settings and words such as if, in substitutions, by the
// last part of a path, and as what env, sudo, xargs, sh -c, eval, find -exec and the
// like run. Where the name of a command is not written out ($x, $(…), r?, {a,b}),
// or the line is too tangled to tell, every deny and ask rule with commands matches.
//
// A rule reads a command line; it does not know what the programs in it do: a
// script, make, an alias or python run others, and git may be called with an option
// before its command. What must not happen is kept out by allowing what may and
// asking about the rest, not by denying names.
type Rule struct {
	Decision Decision
	Tools    []string
	Paths    []string
	Commands []string
	Reason   string // for the model and for people
}

// Permissions are rules, of which the first that matches decides. The zero value
// allows everything.
type Permissions struct {
	Rules    []Rule
	Default  Decision // where no rule matches; "" is Allow
	ReadOnly Decision // the same for a read-only tool; "" is Default
}

// Verdict is what permissions say of one call, and why.
type Verdict struct {
	Decision  Decision
	Reason    string    // the rule's, or what is wrong
	Rule      int       // the rule that decided, from 1; 0: none did
	Resources Resources // what the call reaches
}

// Check says whether the permissions can be used.
//
// Errors: configuration, naming the rule by its number and the glob.
func (p Permissions) Check() error {
	bad := func(format string, args ...any) error {
		return &thread.Error{Code: thread.Configuration, Op: "permissions", Message: fmt.Sprintf(format, args...)}
	}
	for _, s := range []struct {
		name  string
		value Decision
	}{{"default", p.Default}, {"read-only default", p.ReadOnly}} {
		if s.value != "" && !s.value.known() {
			return bad("the %s of the permissions is %q; it must be allow, deny or ask", s.name, s.value)
		}
	}
	if len(p.Rules) > MaxRules {
		return bad("there are %d rules, the most is %d", len(p.Rules), MaxRules)
	}
	for i, r := range p.Rules {
		if err := r.check(); err != nil {
			return bad("rule %d of the permissions %v", i+1, err)
		}
	}
	return nil
}

func (d Decision) known() bool { return d == Allow || d == Deny || d == Ask }

// check says what is wrong with a rule; its error completes "rule 3 … ".
func (r Rule) check() error {
	if !r.Decision.known() {
		return fmt.Errorf("decides %q; it must be allow, deny or ask", r.Decision)
	}
	for _, list := range []struct {
		what    string
		dialect dialect
		globs   []string
	}{{"tool", namesDialect, r.Tools}, {"path", pathsDialect, r.Paths}, {"command", commandsDialect, r.Commands}} {
		for _, g := range list.globs {
			if _, err := list.dialect.compile(g); err != nil {
				return fmt.Errorf("has a %s that cannot be read: the glob %q %w", list.what, g, err)
			}
		}
	}
	for _, g := range r.Paths {
		if err := r.checkPath(g); err != nil {
			return fmt.Errorf("has a path that never matches: the glob %q %w", g, err)
		}
	}
	return nil
}

// checkPath finds globs that are written as paths never are.
func (r Rule) checkPath(glob string) error {
	segments := strings.Split(strings.TrimPrefix(glob, "/"), "/")
	switch {
	case r.Decision == Allow && (strings.HasPrefix(glob, "/") || slices.Contains(segments, "..")):
		return errors.New("leaves the workspace, and nothing outside of it can be allowed")
	case strings.HasSuffix(glob, "/"):
		return fmt.Errorf("ends with a slash; write %s** for what is in the folder", glob)
	case glob != "." && (slices.Contains(segments, ".") || slices.Contains(segments, "")):
		return errors.New("has a segment that is empty or a dot; paths are written like src/main.go")
	}
	return nil
}

// Decide says what is to become of a call. Where permissions cannot be used
// (Check says so) the answer is Deny.
//
// The error is for the model to read: the input does not fit the tool's schema, or
// what it reaches cannot be told. The verdict is then Deny too.
func (p Permissions) Decide(t Tool, input json.RawMessage) (Verdict, error) {
	if err := t.CheckInput(input); err != nil {
		return Verdict{Decision: Deny, Reason: err.Error()}, err
	}
	reached, err := t.reach(input)
	if err != nil {
		return Verdict{Decision: Deny, Reason: err.Error()}, err
	}
	for i, r := range p.Rules {
		applies, err := r.matches(t.Name, reached)
		if err == nil && !r.Decision.known() {
			err = r.check()
		}
		if err != nil {
			return Verdict{Deny, fmt.Sprintf("rule %d of the permissions %v", i+1, err), i + 1, reached}, nil
		}
		if applies {
			return Verdict{r.Decision, r.Reason, i + 1, reached}, nil
		}
	}
	return p.otherwise(t, reached), nil
}

// otherwise is the verdict where no rule matches.
func (p Permissions) otherwise(t Tool, reached Resources) Verdict {
	d := p.Default
	if t.ReadOnly && p.ReadOnly != "" {
		d = p.ReadOnly
	}
	switch {
	case d == "":
		d = Allow
	case !d.known():
		return Verdict{Deny, fmt.Sprintf("the default of the permissions is %q", d), 0, reached}
	}
	return Verdict{Decision: d, Resources: reached}
}

// reach asks a tool what an input reaches. One that panics has failed, and takes
// nothing else down.
func (t Tool) reach(input json.RawMessage) (r Resources, err error) {
	if t.Resources == nil {
		return Resources{}, nil
	}
	defer func() {
		if p := recover(); p != nil {
			r, err = Resources{}, fmt.Errorf("what a call of %s reaches cannot be told: %v", t.Name, p)
		}
	}()
	if r, err = t.Resources(input); err != nil {
		var typed *thread.Error
		if errors.As(err, &typed) {
			err = errors.New(typed.Message)
		}
		return Resources{}, fmt.Errorf("what the call of %s reaches cannot be told: %w", t.Name, err)
	}
	return r, nil
}

// matches says whether the rule is for this call.
func (r Rule) matches(name string, reached Resources) (bool, error) {
	if len(r.Tools) > 0 {
		named, err := matchAny(namesDialect, r.Tools, []string{name})
		if err != nil || !named {
			return false, err
		}
	}
	if r.Decision == Allow {
		return r.allows(reached)
	}
	return r.touches(reached)
}

// allows says whether all that the call reaches is what the rule allows.
func (r Rule) allows(reached Resources) (bool, error) {
	if slices.ContainsFunc(reached.Paths, leaves) {
		return false, nil
	}
	if len(r.Paths) == 0 && len(r.Commands) == 0 {
		return true, nil
	}
	some := false
	if len(r.Paths) > 0 {
		for _, p := range reached.Paths {
			if ok, err := matchAny(pathsDialect, r.Paths, []string{path.Clean(p)}); err != nil || !ok {
				return false, err
			}
			some = true
		}
	}
	if len(r.Commands) > 0 && reached.Command != "" {
		line, ok := allowable(reached.Command)
		if !ok {
			return false, nil
		}
		if ok, err := matchAny(allowedCommandsDialect, r.Commands, []string{line}); err != nil || !ok {
			return false, err
		}
		some = true
	}
	return some, nil
}

// touches says whether anything that the call reaches is what the rule is about.
func (r Rule) touches(reached Resources) (bool, error) {
	if len(r.Paths) == 0 && len(r.Commands) == 0 {
		return true, nil
	}
	paths := make([]string, len(reached.Paths))
	for i, p := range reached.Paths {
		paths[i] = path.Clean(p)
	}
	if ok, err := matchAny(pathsDialect, r.Paths, paths); err != nil || ok {
		return ok, err
	}
	if reached.Command == "" {
		return false, nil
	}
	texts, unsure := commandsIn(reached.Command)
	some, err := matchAny(commandsDialect, r.Commands, texts)
	return some || unsure && len(r.Commands) > 0, err
}

// leaves says whether a path may lead out of the workspace: after a link, even a
// .. that takes back a segment before it.
func leaves(p string) bool {
	return slices.Contains(strings.Split(p, "/"), "..") || !filepath.IsLocal(filepath.FromSlash(path.Clean(p)))
}

// matchAny says whether one of the texts matches one of the globs.
func matchAny(d dialect, globs, texts []string) (bool, error) {
	for _, g := range globs {
		re, err := d.compile(g)
		if err != nil {
			return false, fmt.Errorf("has the glob %q, which %w", g, err)
		}
		if slices.ContainsFunc(texts, re.MatchString) {
			return true, nil
		}
	}
	return false, nil
}
