package mcp

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

// Server is how one MCP server is reached: by a command, which speaks over its
// standard input and output, or by a URL, which speaks streamable HTTP.
type Server struct {
	Name string `yaml:"-"` // 1 to 32 letters, digits, _ or -; its tools begin with it

	Command []string          `yaml:"command,omitempty"` // program and arguments; no shell is between
	Env     map[string]string `yaml:"env,omitempty"`     // beside PATH, HOME, LANG and TMPDIR, which are ours; nothing else is passed on
	Dir     string            `yaml:"dir,omitempty"`     // where the command runs, and the one root that the server is told

	URL     string            `yaml:"url,omitempty"`     // http or https
	Headers map[string]string `yaml:"headers,omitempty"` // sent to the URL's host alone

	Timeout time.Duration `yaml:"timeout,omitempty"` // of one call; 60 s, at most tool.Deadline
	Trust   bool          `yaml:"trust,omitempty"`   // believe the server where it says that a tool only reads
}

// Timeout is how long a call may take where the server's entry does not say.
const Timeout = 60 * time.Second

func (s Server) timeout() time.Duration {
	if s.Timeout == 0 {
		return Timeout
	}
	return s.Timeout
}

var (
	nameShape   = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_-]{0,31}$`)
	headerShape = regexp.MustCompile("^[a-zA-Z0-9!#$%&'*+.^_`|~-]+$")
)

// Check says what is wrong with a configuration, naming the server: a name that
// is malformed or taken, not exactly one of Command and URL, and settings that
// belong to the other. Errors: configuration.
func Check(servers []Server) error {
	for i, s := range servers {
		wrong := s.wrong()
		for _, other := range servers[:i] {
			if wrong == "" {
				wrong = clash(s.Name, other.Name)
			}
		}
		if wrong != "" {
			return &thread.Error{Code: thread.Configuration, Op: "mcp", Message: fmt.Sprintf("the MCP server %q cannot be used: %s", s.Name, wrong)}
		}
	}
	return nil
}

func (s Server) wrong() string {
	switch {
	case !nameShape.MatchString(s.Name):
		return "its name must be 1 to 32 letters, digits, _ or -, and begin with a letter or digit"
	case (len(s.Command) == 0) == (s.URL == ""):
		return "it needs either a command or a url"
	case s.Timeout < 0 || s.Timeout > tool.Deadline:
		return fmt.Sprintf("its timeout must be between 0 and %v", tool.Deadline)
	case s.URL != "":
		return s.wrongURL()
	}
	return s.wrongCommand()
}

func (s Server) wrongCommand() string {
	if s.Command[0] == "" {
		return "its command names no program"
	}
	if len(s.Headers) > 0 {
		return "headers belong to a url, and it has a command"
	}
	if slices.ContainsFunc(append(slices.Clone(s.Command), s.Dir), hasNUL) {
		return "its command or dir holds a NUL character"
	}
	for name, value := range s.Env {
		if name == "" || strings.Contains(name, "=") || hasNUL(name) || hasNUL(value) {
			return fmt.Sprintf("its env %q cannot be set", name)
		}
	}
	return ""
}

func (s Server) wrongURL() string {
	u, err := url.Parse(s.URL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return "its url must be a whole http or https URL"
	}
	if u.User != nil {
		return "its url holds a user or password, which belong in its headers"
	}
	if len(s.Env) > 0 {
		return "env belongs to a command, and it has a url"
	}
	for name, value := range s.Headers {
		if !headerShape.MatchString(name) || strings.ContainsAny(value, "\r\n\x00") {
			return fmt.Sprintf("its header %q cannot be sent", name)
		}
	}
	return ""
}

func hasNUL(s string) bool { return strings.Contains(s, "\x00") }

// clash says why two servers cannot stand beside each other. Their tools begin
// with their name and _, so neither may begin with the other's.
func clash(name, other string) string {
	if name == other {
		return "another server has its name"
	}
	if strings.HasPrefix(name, other+"_") || strings.HasPrefix(other, name+"_") {
		return fmt.Sprintf("its tools' names could be those of %q; rename one of them", other)
	}
	return ""
}
