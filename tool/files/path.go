package files

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxPath is the most bytes of a path, and maxLinks the most links on the way to
// a file.
const (
	maxPath  = 4096
	maxLinks = 40
)

// clean gives a path of the model in its one form: slashes, from the workspace,
// without . and empty parts.
func clean(p string) (string, error) {
	switch {
	case p == "":
		return "", errors.New("path is empty; give a path from the workspace, such as docs/readme.md")
	case len(p) > maxPath:
		return "", fmt.Errorf("the path has %d bytes; at most %d are possible", len(p), maxPath)
	case !utf8.ValidString(p) || strings.ContainsRune(p, 0):
		return "", fmt.Errorf("the path %s holds a NUL or is no UTF-8; name the file as list_files does", strconv.QuoteToASCII(p))
	}
	if runtime.GOOS == "windows" {
		p = strings.ReplaceAll(p, `\`, "/")
	}
	if strings.HasPrefix(p, "/") || filepath.VolumeName(p) != "" {
		return "", fmt.Errorf("the path %s is absolute; give it from the workspace, without a slash in front", shown(p))
	}
	for part := range strings.SplitSeq(p, "/") {
		if part == ".." {
			return "", fmt.Errorf("the path %s holds ..; give it from the workspace, whose files alone can be reached", shown(p))
		}
	}
	p = path.Clean(p)
	if !filepath.IsLocal(filepath.FromSlash(p)) {
		return "", fmt.Errorf("%s is no name of a file in the workspace", shown(p))
	}
	return p, refuseGit(p)
}

// refuseGit refuses what lies in a folder .git, as systems may spell it that do
// not tell letters apart.
func refuseGit(p string) error {
	for part := range strings.SplitSeq(p, "/") {
		if isGit(part) {
			return fmt.Errorf("%s is git's own; look at the repository with the git tool", shown(p))
		}
	}
	return nil
}

// isGit knows the name .git: in any case, with characters in it that some systems
// leave out, with dots and spaces behind it that others do, and as a short name.
func isGit(name string) bool {
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, name)
	name, _, _ = strings.Cut(name, ":") // a stream of a file
	name = strings.TrimRight(name, " .")
	return strings.EqualFold(name, ".git") || strings.EqualFold(name, "git~1")
}

// resolve gives where a clean path leads when all links on its way are followed.
// What does not exist leads to itself. Links may lead nowhere but into the
// workspace.
func (w *Workspace) resolve(p string) (string, error) {
	done, rest := ".", strings.Split(p, "/")
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..": // of a link: done has no links any more, so this is its parent
			if done == "." {
				return "", outside(p)
			}
			done = path.Dir(done)
			continue
		}
		next, info, err := w.step(done, part)
		if errors.Is(err, fs.ErrNotExist) {
			done = path.Join(append([]string{next}, rest...)...)
			if !filepath.IsLocal(filepath.FromSlash(done)) {
				return "", outside(p)
			}
			break
		}
		if err != nil {
			return "", w.trouble(p, err)
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("%s leads through too many links", shown(p))
		}
		to, err := w.root.Readlink(filepath.FromSlash(next))
		if err != nil {
			return "", w.trouble(p, err)
		}
		to = filepath.ToSlash(to)
		if strings.HasPrefix(to, "/") || filepath.VolumeName(to) != "" {
			return "", outside(p)
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return done, refuseGit(done)
}

func outside(p string) error {
	return fmt.Errorf("%s is a link, or behind one, that leads out of the workspace; only files in it can be reached", shown(p))
}

// step gives the entry of a folder that has this name, or else the one entry
// whose name is the same in another Unicode normalization.
func (w *Workspace) step(dir, name string) (string, fs.FileInfo, error) {
	next := path.Join(dir, name)
	info, err := w.root.Lstat(filepath.FromSlash(next))
	if !errors.Is(err, fs.ErrNotExist) || isASCII(name) {
		return next, info, err
	}
	entries, _, listErr := w.entries(dir, maxEntries)
	if listErr != nil {
		return next, info, err // the folder is not there either
	}
	want := norm.NFC.String(name)
	for _, e := range entries {
		if norm.NFC.String(e.Name()) == want {
			next = path.Join(dir, e.Name())
			info, err = w.root.Lstat(filepath.FromSlash(next))
			return next, info, err
		}
	}
	return next, info, err
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// at gives where a path of the model leads.
func (w *Workspace) at(p string) (string, error) {
	p, err := clean(p)
	if err != nil {
		return "", err
	}
	return w.resolve(p)
}

// trouble says in words for a model what the system has said about a file.
func (w *Workspace) trouble(p string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no %s in the workspace; list_files shows what there is", shown(p))
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s may not be opened: the system refuses it", shown(p))
	}
	var of *fs.PathError
	if errors.As(err, &of) {
		err = of.Err
	}
	return fmt.Errorf("%s cannot be reached: %w", shown(p), err)
}

// shown is a path as a model reads it: as it is, or quoted where it would not
// stay on its line.
func shown(p string) string {
	odd := func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }
	if p == "" || strings.HasPrefix(p, `"`) || strings.IndexFunc(p, odd) >= 0 {
		return strconv.Quote(p)
	}
	return p
}
