package agent

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/skeinhq/skein/internal/outline"
	"github.com/skeinhq/skein/thread"
)

// frontMatter is what may stand between the --- lines of an agent's file.
type frontMatter struct {
	Model     string   `yaml:"model"`
	MaxOutput int      `yaml:"max_output"`
	Thinking  string   `yaml:"thinking"`
	Tools     []string `yaml:"tools"`
	Strategy  string   `yaml:"strategy"`
	Tail      marks    `yaml:"tail"`
	Outline   marks    `yaml:"outline"`
	MaxAge    string   `yaml:"max_age"`
	Limits    struct {
		Steps int `yaml:"steps"`
	} `yaml:"limits"`
}

// marks are written "LOW,HIGH" or [LOW, HIGH].
type marks string

// UnmarshalYAML reads either form.
func (m *marks) UnmarshalYAML(data []byte) error {
	*m = marks(strings.Trim(strings.TrimSpace(string(data)), "[]\"'"))
	return nil
}

// Parse reads an agent's Markdown file: front matter in YAML, which may be
// absent, then the instructions.
//
//	---
//	model: echo
//	tail: 20000,40000
//	---
//	You are north. …
//
// Errors have the code configuration and name the file and the field.
func Parse(name string, data []byte) (Agent, error) {
	bad := func(message string, err error) (Agent, error) {
		return Agent{}, &thread.Error{Code: thread.Configuration, Op: "agent", Message: fmt.Sprintf("the agent file %s.md %s", name, message), Err: err}
	}
	if err := CheckName(name); err != nil {
		return Agent{}, err
	}
	head, body, err := split(data)
	if err != nil {
		return bad("is not well formed", err)
	}
	if err := CheckYAML(head); err != nil {
		return bad("has a front matter that cannot be read", err)
	}
	var f frontMatter
	if len(bytes.TrimSpace(head)) > 0 {
		// The line before the head is the one of the dashes: errors name the file's line.
		if err := yaml.UnmarshalWithOptions(append([]byte("\n"), head...), &f, yaml.Strict()); err != nil {
			return bad("has a front matter that cannot be read", errors.New(firstLine(err.Error())))
		}
	}
	a := Agent{
		Name: name, Instructions: strings.TrimSpace(string(body)), Model: f.Model,
		MaxOutput: f.MaxOutput, Thinking: f.Thinking, Tools: f.Tools, MaxSteps: f.Limits.Steps,
	}
	if f.Strategy != "" && f.Strategy != OutlineStrategy {
		return bad(fmt.Sprintf("names the strategy %q", f.Strategy), errors.New("only outline is known"))
	}
	if a.Tail, err = ParseMarks(string(f.Tail)); err != nil {
		return bad("has a bad tail", err)
	}
	if a.Outline, err = ParseMarks(string(f.Outline)); err != nil {
		return bad("has a bad outline", err)
	}
	if a.MaxAge, err = ParseAge(f.MaxAge); err != nil {
		return bad("has a bad max_age", err)
	}
	if a.MaxSteps < 0 || a.MaxOutput < 0 {
		return bad("has a negative limit", nil)
	}
	if !slices.Contains([]string{"", "low", "medium", "high"}, a.Thinking) {
		return bad(fmt.Sprintf("asks for the thinking effort %q", a.Thinking), errors.New("known are low, medium and high"))
	}
	return a, nil
}

// OutlineStrategy is the name of the strategy that keeps an outline.
const OutlineStrategy = "outline"

// ReadDir reads every *.md file of a folder as an agent, by name. The error
// joins one for each file that is no agent; the others are given all the same.
func ReadDir(fsys fs.FS) ([]Agent, error) {
	names, err := fs.Glob(fsys, "*.md")
	if err != nil {
		return nil, err
	}
	sort.Strings(names)
	var out []Agent
	var bad error
	for _, n := range names {
		a, err := readFile(fsys, n)
		if err != nil {
			bad = errors.Join(bad, err)
			continue
		}
		out = append(out, a)
	}
	return out, bad
}

func readFile(fsys fs.FS, name string) (Agent, error) {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return Agent{}, &thread.Error{Code: thread.Configuration, Op: "agent", Message: fmt.Sprintf("the agent file %s cannot be read", name), Err: err}
	}
	return Parse(strings.TrimSuffix(path.Base(name), ".md"), data)
}

var nameShape = regexp.MustCompile(`^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{0,63}$`)

// CheckName says whether a name can be an author's or an agent's: letters,
// digits, dots, dashes and underscores, up to 64, not starting with a mark.
func CheckName(name string) error {
	if nameShape.MatchString(name) {
		return nil
	}
	return &thread.Error{Code: thread.Invalid, Op: "name", Message: fmt.Sprintf("%q cannot be a name", name), Hint: "use letters, digits, dots, dashes and underscores, at most 64, starting with a letter or digit"}
}

// ParseMarks reads "LOW,HIGH". The empty text gives the zero marks.
func ParseMarks(s string) (outline.Marks, error) {
	if s == "" {
		return outline.Marks{}, nil
	}
	low, high, _ := strings.Cut(s, ",")
	l, err1 := strconv.Atoi(strings.TrimSpace(low))
	h, err2 := strconv.Atoi(strings.TrimSpace(high))
	if err1 != nil || err2 != nil || l < 0 || h < 1 || l > h {
		return outline.Marks{}, &thread.Error{Code: thread.Invalid, Op: "marks", Message: fmt.Sprintf("%q is not a pair of marks", s), Hint: "write LOW,HIGH in tokens, such as 20000,40000, with LOW at most HIGH"}
	}
	return outline.Marks{Low: l, High: h}, nil
}

// ParseAge reads a duration, in which d stands for days: "30d", "36h".
func ParseAge(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	var d time.Duration
	var err error
	if days, ok := strings.CutSuffix(s, "d"); ok {
		var n float64
		n, err = strconv.ParseFloat(days, 64)
		d = time.Duration(n * 24 * float64(time.Hour))
	} else {
		d, err = time.ParseDuration(s)
	}
	if err != nil || d <= 0 {
		return 0, &thread.Error{Code: thread.Invalid, Op: "age", Message: fmt.Sprintf("%q is not an age", s), Hint: "write 30d, 36h or 90m"}
	}
	return d, nil
}

// The most that a settings text may hold: a parser's memory grows with nesting.
const (
	maxYAML      = 64 << 10
	maxYAMLDepth = 16
)

// CheckYAML refuses a settings text that is too long or nested too deeply to be
// one, before a parser sees it.
func CheckYAML(data []byte) error {
	if len(data) > maxYAML {
		return fmt.Errorf("it has %d bytes, the most is %d", len(data), maxYAML)
	}
	depth := 0
	for line := range bytes.Lines(data) {
		opened := bytes.Count(line, []byte("[")) + bytes.Count(line, []byte("{")) - bytes.Count(line, []byte("]")) - bytes.Count(line, []byte("}"))
		indent := len(line) - len(bytes.TrimLeft(line, " -"))
		if depth += max(opened, -depth); depth > maxYAMLDepth || indent > 4*maxYAMLDepth {
			return fmt.Errorf("it is nested more than %d deep", maxYAMLDepth)
		}
	}
	return nil
}

// split parts the front matter from the body.
func split(data []byte) (head, body []byte, err error) {
	data = bytes.ReplaceAll(bytes.TrimPrefix(data, []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
	rest, ok := bytes.CutPrefix(data, []byte("---\n"))
	if !ok {
		return nil, data, nil
	}
	if body, ok := bytes.CutPrefix(rest, []byte("---\n")); ok {
		return nil, body, nil
	}
	head, body, ok = bytes.Cut(rest, []byte("\n---\n"))
	if !ok {
		if head, ok = bytes.CutSuffix(rest, []byte("\n---")); !ok {
			return nil, nil, errors.New("the front matter that starts with --- does not end with ---")
		}
	}
	return head, body, nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
