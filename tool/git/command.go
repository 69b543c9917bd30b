package git

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The commands that there are.
const (
	status = "status"
	diff   = "diff"
	log    = "log"
	show   = "show"
)

// The bounds of what is asked for: commits if no number is given and at most, and
// bytes of a path or a revision.
const (
	usualCommits = 20
	maxCommits   = 500
	maxPath      = 4096
	maxRevision  = 512
)

// command is one way to look at a repository.
type command struct {
	name    string
	args    func(input) []string
	takes   []string // arguments beside path
	ranges  bool     // a revision may be two
	nothing string   // what an empty output means

	// sift does the same where files are hidden.
	sift func(sifting, context.Context, command) (string, error)
}

// plain is what every command that shows changes is told, so that it shows them
// as they are stored.
var plain = []string{"--no-color", "--no-ext-diff", "--no-textconv", "--submodule=short", "--ignore-submodules=dirty"}

var commands = []command{
	{
		name: status, nothing: "nothing has changed", sift: sifting.status,
		args: func(input) []string {
			return []string{"status", "--short", "--branch", "--untracked-files=normal", "--ignore-submodules=dirty"}
		},
	},
	{
		name: diff, takes: []string{"revision", "staged", "stat"}, ranges: true, nothing: "no differences", sift: sifting.diff,
		args: func(in input) []string {
			args := slices.Concat([]string{"diff"}, plain, stat(in))
			if in.Staged {
				args = append(args, "--cached")
			}
			return args
		},
	},
	{
		name: log, takes: []string{"revision", "stat", "limit"}, ranges: true, nothing: "no commits", sift: sifting.log,
		args: func(in input) []string {
			n := in.Limit
			if n == 0 {
				n = usualCommits
			}
			return slices.Concat([]string{"log", "--no-show-signature", "--decorate=short", "--date=iso", "--max-count=" + strconv.Itoa(n)}, plain, stat(in))
		},
	},
	{
		name: show, takes: []string{"revision", "stat"}, nothing: "it is empty", sift: sifting.show,
		args: func(in input) []string {
			return slices.Concat([]string{"show", "--no-show-signature", "--decorate=short", "--date=iso"}, plain, stat(in))
		},
	},
}

func stat(in input) []string {
	if in.Stat {
		return []string{"--stat=120"}
	}
	return nil
}

func find(name string) (command, error) {
	for _, c := range commands {
		if c.name == name {
			return c, nil
		}
	}
	return command{}, fmt.Errorf("there is no command %q; there are status, diff, log and show", name)
}

// check says what of an input the command cannot use.
func (c command) check(in input) error {
	for _, given := range []struct {
		name string
		is   bool
	}{{"revision", in.Revision != ""}, {"staged", in.Staged}, {"stat", in.Stat}, {"limit", in.Limit != 0}} {
		if given.is && !slices.Contains(c.takes, given.name) {
			return fmt.Errorf("%s takes no %s; leave it out", c.name, given.name)
		}
	}
	switch {
	case in.Limit < 0 || in.Limit > maxCommits:
		return fmt.Errorf("limit is %d; it must be between 1 and %d", in.Limit, maxCommits)
	case in.Staged && strings.Contains(in.Revision, ".."):
		return errors.New("staged compares the index with one revision; leave staged out to compare two revisions")
	case in.Path != "" && fileOf(in.Revision) != "":
		return errors.New("the revision names a file already; leave path out")
	}
	return nil
}

// cleanPath gives a path from the workspace in its one form; an empty one is the
// workspace itself.
func cleanPath(p string) (string, error) {
	switch {
	case p == "":
		return ".", nil
	case len(p) > maxPath:
		return "", fmt.Errorf("the path has %d bytes; at most %d are possible", len(p), maxPath)
	case !utf8.ValidString(p) || strings.ContainsRune(p, 0):
		return "", fmt.Errorf("the path %s holds a NUL or is no UTF-8", strconv.QuoteToASCII(p))
	}
	if runtime.GOOS == "windows" {
		p = strings.ReplaceAll(p, `\`, "/")
	}
	if strings.HasPrefix(p, "/") || slices.Contains(strings.Split(p, "/"), "..") || !filepath.IsLocal(filepath.FromSlash(p)) {
		return "", fmt.Errorf("the path %s is none in the workspace; give it from there, and neither with / in front nor with .. in it", quoted(p))
	}
	return path.Clean(p), nil
}

// quoted is a word of the model as it reads it again.
func quoted(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) >= 0 {
		return strconv.Quote(s)
	}
	return s
}
