package agent

import (
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

	"github.com/skeinhq/skein/guide"
	"github.com/skeinhq/skein/internal/outline"
	"github.com/skeinhq/skein/strategy"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

// frontMatter is what may stand between the --- lines of an agent's file.
type frontMatter struct {
	Model       string            `yaml:"model"`
	MaxOutput   whole             `yaml:"max_output"`
	Thinking    string            `yaml:"thinking"`
	Include     []string          `yaml:"include"`
	Tools       []string          `yaml:"tools"`
	Skills      []string          `yaml:"skills"`
	KeepSkills  *bool             `yaml:"keep_skills"`
	Permissions *tool.Permissions `yaml:"permissions"`
	Strategy    strategies        `yaml:"strategy"`
	Tail        marks             `yaml:"tail"`
	Outline     marks             `yaml:"outline"`
	MaxAge      string            `yaml:"max_age"`
	Limits      struct {
		Steps  whole   `yaml:"steps"`
		Calls  whole   `yaml:"calls"`
		Tokens whole   `yaml:"tokens"`
		Cost   float64 `yaml:"cost"`
		Time   string  `yaml:"time"`
	} `yaml:"limits"`
}

// whole is a number without a fraction: half a step is none.
type whole int64

// UnmarshalYAML reads it.
func (w *whole) UnmarshalYAML(data []byte) error {
	n, err := strconv.ParseInt(strings.ReplaceAll(strings.TrimSpace(string(data)), "_", ""), 10, 53)
	if err != nil {
		return fmt.Errorf("%q is no whole number", strings.TrimSpace(string(data)))
	}
	*w = whole(n)
	return nil
}

// marks are written "LOW,HIGH" or [LOW, HIGH].
type marks string

// UnmarshalYAML reads either form.
func (m *marks) UnmarshalYAML(data []byte) error {
	*m = marks(strings.Trim(strings.TrimSpace(string(data)), "[]\"'"))
	return nil
}

// Parse reads an agent's Markdown file: front matter in YAML, which may be
// absent, then the instructions. own are strategies that it may name besides
// those that come with Skein.
//
//	---
//	model: echo
//	tools: [files, git]
//	permissions:
//	  - ask: write_file
//	strategy: truncate, summarize
//	---
//	You are north. …
//
// Where it says nothing of permissions, what is not read-only is asked about. What is
// read-only is allowed unless read_only, or a default of deny, says otherwise; the
// history tools always are, unless a rule names them.
// Errors have the code configuration and name the file and the field.
func Parse(name string, data []byte, own ...strategy.Strategy) (Agent, error) {
	bad := func(message string, err error) (Agent, error) {
		return Agent{}, &thread.Error{Code: thread.Configuration, Op: "agent", Message: fmt.Sprintf("the agent file %s.md %s", name, message), Err: err}
	}
	if err := CheckName(name); err != nil {
		return Agent{}, err
	}
	head, body, err := guide.FrontMatter(data)
	if err != nil {
		return bad("has a front matter that cannot be read", err)
	}
	var f frontMatter
	if err := guide.Decode(head, &f); err != nil {
		return bad("has a front matter that cannot be read", err)
	}
	a := Agent{
		Name: name, Instructions: strings.TrimSpace(string(body)), Model: f.Model,
		MaxOutput: int(f.MaxOutput), Thinking: f.Thinking, Tools: f.Tools, Skills: f.Skills,
		ForgetSkills: f.KeepSkills != nil && !*f.KeepSkills,
		Permissions:  tool.Permissions{Default: tool.Ask, ReadOnly: tool.Allow},
		Limits:       Limits{Steps: int(f.Limits.Steps), Calls: int(f.Limits.Calls), Tokens: int64(f.Limits.Tokens), Cost: f.Limits.Cost},
	}
	if f.Permissions != nil {
		a.Permissions = *f.Permissions
		if a.Permissions.Default == "" {
			a.Permissions.Default = tool.Ask
		}
		if a.Permissions.ReadOnly == "" && a.Permissions.Default != tool.Deny {
			a.Permissions.ReadOnly = tool.Allow
		}
	}
	if a.Strategy, err = f.Strategy.chain(own); err != nil {
		return bad("has a bad strategy", err)
	}
	if a.Include, err = includes(f.Include); err != nil {
		return bad("has a bad include", err)
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
	if a.Limits.Time, err = ParseAge(f.Limits.Time); err != nil {
		return bad("has a bad limit of time", err)
	}
	if l := a.Limits; l.Steps < 0 || l.Calls < 0 || l.Tokens < 0 || !(l.Cost >= 0) || a.MaxOutput < 0 {
		return bad("has a negative limit", nil)
	}
	if !slices.Contains([]string{"", "low", "medium", "high"}, a.Thinking) {
		return bad(fmt.Sprintf("asks for the thinking effort %q", a.Thinking), errors.New("known are low, medium and high"))
	}
	return a, nil
}

// includes reads what else an agent is told: AGENTS.md is the workspace's file of
// that name, mcp:server/prompt the prompt of an MCP server.
func includes(names []string) ([]guide.Instruction, error) {
	var out []guide.Instruction
	for _, n := range names {
		server, name, isPrompt := strings.Cut(strings.TrimPrefix(n, "mcp:"), "/")
		switch {
		case n == "AGENTS.md":
			out = append(out, guide.AgentsFile())
		case strings.HasPrefix(n, "mcp:") && isPrompt && server != "" && name != "":
			out = append(out, guide.MCPPrompt(server, name, nil))
		default:
			return nil, fmt.Errorf("%q cannot be included; write AGENTS.md or mcp:SERVER/PROMPT", n)
		}
	}
	return out, nil
}

// OutlineStrategy is the name of the strategy that keeps an outline.
const OutlineStrategy = "outline"

// ReadDir reads every *.md file of a folder as an agent, by name. The error
// joins one for each file that is no agent; the others are given all the same.
func ReadDir(fsys fs.FS, own ...strategy.Strategy) ([]Agent, error) {
	names, err := fs.Glob(fsys, "*.md")
	if err != nil {
		return nil, err
	}
	sort.Strings(names)
	var out []Agent
	var bad error
	for _, n := range names {
		a, err := readFile(fsys, n, own)
		if err != nil {
			bad = errors.Join(bad, err)
			continue
		}
		out = append(out, a)
	}
	return out, bad
}

func readFile(fsys fs.FS, name string, own []strategy.Strategy) (Agent, error) {
	data, err := guide.ReadText(fsys, name, guide.MaxFile)
	if err != nil {
		return Agent{}, &thread.Error{Code: thread.Configuration, Op: "agent", Message: fmt.Sprintf("the agent file %s cannot be read", name), Err: err}
	}
	return Parse(strings.TrimSuffix(path.Base(name), ".md"), []byte(data), own...)
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
		return 0, &thread.Error{Code: thread.Invalid, Op: "age", Message: fmt.Sprintf("%q is no span of time", s), Hint: "write 30d, 36h or 90m"}
	}
	return d, nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
