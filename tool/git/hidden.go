package git

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/skeinhq/skein/internal/process"
	"github.com/skeinhq/skein/tool"
)

// maxWithout is the most bytes of paths that git is told to leave out.
const maxWithout = 100_000

// sifting is a call of git by somebody from whom files are hidden. It first lists
// all files that the command could show, from what does not change meanwhile (the
// mirror's index and commits by their hashes), and then has git leave out those
// that are hidden. What could show a file without its path is refused.
type sifting struct {
	*mirror
	caller   tool.Caller
	in       input
	path     string // cleaned; "." for all
	revision string // by hashes
}

// refused is the answer where it cannot be told which files would be shown.
func refused(what string) error {
	return fmt.Errorf("some files are kept from the git tool by the permissions, and %s; name a commit, or a file as revision:path", what)
}

// files lists the files that a command prints, each with a NUL.
func (s sifting) files(ctx context.Context, into map[string]bool, args ...string) error {
	args = append(args, "--")
	if s.path != "." {
		args = append(args, s.path)
	}
	out, err := process.Ask(ctx, s.command(args...))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("some files are kept from the git tool, and which of them this is about cannot be told: %w; name a folder, or ask for less", err)
	}
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name != "" {
			into[name] = true
		}
	}
	return nil
}

// paths gives the patterns for what is to be shown, and how many of the files are
// left out by them.
func (s sifting) paths(files map[string]bool) (patterns []string, hidden int, err error) {
	without := map[string]bool{}
	for name := range files {
		if by, is := s.caller.Hides(s.path, name); is {
			without[by] = true
			hidden++
		}
	}
	patterns = []string{":(top,literal)" + s.path}
	if s.path == "." {
		patterns[0] = ":(top)"
	}
	size := 0
	for _, p := range slices.Sorted(maps.Keys(without)) {
		patterns = append(patterns, ":(top,exclude,literal)"+p)
		size += len(p)
	}
	if size > maxWithout {
		return nil, 0, fmt.Errorf("%d of the files that this is about are kept from the git tool by the permissions, which is too many at once; name a folder", hidden)
	}
	return patterns, hidden, nil
}

// run runs a command on all of these files that are not hidden.
func (s sifting) run(ctx context.Context, c command, files map[string]bool, args ...string) (string, error) {
	patterns, hidden, err := s.paths(files)
	if err != nil {
		return "", err
	}
	ended, err := process.Run(ctx, s.without(append(append(args, "--"), patterns...)...))
	if err != nil {
		return ended.Output, err
	}
	text, err := s.told(ctx, c, s.in, s.revision, ended)
	return withNote(text, hidden), err
}

func withNote(text string, hidden int) string {
	if hidden > 0 && text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + tool.LeftOut(hidden)
}

// status has the states of all files listed, and shows those of files that are not
// hidden.
func (s sifting) status(ctx context.Context, c command) (string, error) {
	args := []string{"status", "--porcelain=v1", "-z", "--branch", "--no-renames", "--untracked-files=normal", "--ignore-submodules=dirty", "--"}
	if s.path != "." {
		args = append(args, s.path)
	}
	said, err := process.Ask(ctx, s.command(args...))
	if err != nil {
		return "", err
	}
	var out strings.Builder
	hidden, shown := 0, 0
	for line := range strings.SplitSeq(strings.TrimSuffix(string(said), "\x00"), "\x00") {
		if strings.HasPrefix(line, "## ") {
			out.WriteString(quoted(line) + "\n")
			continue
		}
		if len(line) < 4 || line[2] != ' ' {
			return "", errors.New("the status of the repository cannot be read")
		}
		if _, is := s.caller.Hides(s.path, strings.TrimSuffix(line[3:], "/")); is {
			hidden++
			continue
		}
		shown++
		out.WriteString(line[:3] + quoted(line[3:]) + "\n")
	}
	if shown == 0 {
		out.WriteString("[" + c.nothing + "]\n")
	}
	return withNote(out.String(), hidden), nil
}

// diff compares commits, the index and files. What is compared with a file that
// has no commit could be any file.
func (s sifting) diff(ctx context.Context, c command) (string, error) {
	from, dots, to := parts(s.revision)
	for _, end := range []string{from, to} {
		if end == "" {
			continue
		}
		if _, err := s.lookUp(ctx, end+"^{commit}"); err != nil {
			return "", errors.Join(ctx.Err(), refused("what is not a commit cannot be compared"))
		}
	}
	if s.in.Staged && s.revision == "" {
		if head, err := s.lookUp(ctx, "HEAD"); err == nil { // there may be no commit yet
			s.revision = head
		}
	}
	shown := c.args(s.in)
	listed := []string{"diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=dirty"}
	if dots == "" {
		listed = append(listed, "--cached") // what is compared with files is in the index
	}
	if s.revision != "" {
		shown, listed = append(shown, s.revision), append(listed, s.revision)
	}
	files := map[string]bool{}
	err := s.files(ctx, files, listed...)
	if err == nil && dots == "" {
		err = s.files(ctx, files, "ls-files", "-z")
	}
	if err != nil {
		return "", err
	}
	return s.run(ctx, c, files, shown...)
}

// changed lists the files that commits change, by each of their parents.
func (s sifting) changed(ctx context.Context, commits ...string) (map[string]bool, error) {
	files := map[string]bool{}
	args := []string{"log", "--no-walk=unsorted", "-m", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-show-signature", "--format="}
	return files, s.files(ctx, files, append(args, commits...)...)
}

// log shows commits, and with stat their files. Without, a log names no file.
func (s sifting) log(ctx context.Context, c command) (string, error) {
	bare := s.in
	bare.Stat = false
	args := c.args(bare)
	if s.revision != "" {
		args = append(args, s.revision)
	}
	if !s.in.Stat {
		return s.run(ctx, c, nil, args...)
	}
	if args = append(args, "--format=%H", "--"); s.path != "." {
		args = append(args, s.path)
	}
	out, err := process.Ask(ctx, s.command(args...))
	if err != nil {
		return "", err
	}
	commits := strings.Fields(string(out))
	if len(commits) == 0 {
		return "[" + c.nothing + "]", nil
	}
	files, err := s.changed(ctx, commits...)
	if err != nil {
		return "", err
	}
	// A commit that has only hidden files is shown without them.
	return s.run(ctx, c, files, slices.Concat(c.args(s.in), []string{"--no-walk=unsorted", "--sparse"}, commits)...)
}

// show shows a commit, or what a revision names by its path. Of anything else the
// path is not known.
func (s sifting) show(ctx context.Context, c command) (string, error) {
	hash := s.revision
	if hash == "" {
		var err error
		if hash, err = s.lookUp(ctx, "HEAD"); err != nil {
			return "", err
		}
	}
	if commit, err := s.lookUp(ctx, hash+"^{commit}"); err == nil {
		files, err := s.changed(ctx, commit)
		if err != nil {
			return "", err
		}
		args := append(c.args(s.in), hash)
		if s.in.Path == "" {
			args = append(args, "--sparse") // a commit that has only hidden files is shown without them
		}
		return s.run(ctx, c, files, args...)
	}
	name, named := fileIn(s.in.Revision)
	if !named {
		return "", errors.Join(ctx.Err(), refused("what is not a commit may be any of them"))
	}
	name, err := cleanPath(name)
	if err != nil {
		return "", err
	}
	kind, err := process.Ask(ctx, s.command("cat-file", "-t", hash))
	if err != nil {
		return "", err
	}
	switch strings.TrimSpace(string(kind)) {
	case "tree":
		return s.tree(ctx, name)
	case "blob":
		ended, err := process.Run(ctx, s.command(append(c.args(s.in), hash, "--")...))
		if err != nil {
			return ended.Output, err
		}
		return s.told(ctx, c, s.in, s.revision, ended)
	}
	return "", refused("a tag of something else than a commit may be of any of them")
}

// tree lists a folder of the past.
func (s sifting) tree(ctx context.Context, name string) (string, error) {
	listed, err := process.Ask(ctx, s.command("ls-tree", "-z", "--full-tree", s.revision))
	if err != nil {
		return "", err
	}
	var out strings.Builder
	hidden := 0
	fmt.Fprintf(&out, "tree %s\n\n", s.revision)
	for line := range strings.SplitSeq(strings.TrimSuffix(string(listed), "\x00"), "\x00") {
		about, entry, ok := strings.Cut(line, "\t")
		if !ok {
			continue
		}
		if _, is := s.caller.Hides(name, path.Join(name, entry)); is {
			hidden++
			continue
		}
		out.WriteString(quoted(entry))
		if strings.Contains(about, " tree ") {
			out.WriteByte('/')
		}
		out.WriteByte('\n')
	}
	return withNote(out.String(), hidden), nil
}
