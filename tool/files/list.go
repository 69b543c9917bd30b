package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/skeinhq/skein/tool"
)

// maxListed is the most entries that a list tells.
const maxListed = 1000

const listDescription = `Lists files and folders of the workspace, by name; a folder has a / behind it, a link says where it leads. Folders .git are left out.`

type listInput struct {
	Path  string `json:"path,omitempty" jsonschema:"folder to list, from the workspace; the workspace itself if left out"`
	Glob  string `json:"glob,omitempty" jsonschema:"only what matches, from that folder: *.go is for names at any depth, src/**/*.{ts,tsx} for paths"`
	Depth int    `json:"depth,omitempty" jsonschema:"how many folders deep to go; if left out, 1 without a glob and any depth with one"`
}

func (w *Workspace) list(ctx context.Context, in listInput) (string, error) {
	dir, err := w.folder(in.Path)
	if err != nil {
		return "", err
	}
	g, err := parseGlob(in.Glob)
	if err != nil {
		return "", err
	}
	switch {
	case in.Depth < 0:
		return "", fmt.Errorf("depth is %d; it must be 1 or more", in.Depth)
	case in.Depth == 0 && g == nil:
		in.Depth = 1
	}
	var out strings.Builder
	count, more := 0, 0
	k := &walk{w: w, from: dir, depth: in.Depth, left: maxEntries, caller: tool.CallerOf(ctx)}
	err = k.each(ctx, func(p string, e fs.DirEntry) error {
		line, shows := k.entry(p, e)
		if !shows {
			k.hidden++
			return nil
		}
		if !g.match(from(dir, p)) {
			return nil
		}
		if count == maxListed || out.Len() > maxText {
			more++
			return nil
		}
		count++
		out.WriteString(line + "\n")
		return nil
	})
	if err != nil {
		return "", err
	}
	if more > 0 {
		fmt.Fprintf(&out, "[%d more are left out; list a folder of it, or use a glob]\n", more)
	}
	if count == 0 {
		out.WriteString("[nothing matches]\n")
	}
	out.WriteString(k.missed())
	return out.String(), nil
}

// missed says what a walk has not looked at.
func (k *walk) missed() string {
	var out strings.Builder
	if k.partial {
		fmt.Fprintf(&out, "[there are more than %d files and folders, and the rest was not looked at; name a folder]\n", maxEntries)
	}
	if n := len(k.shut); n > 0 {
		fmt.Fprintf(&out, "[%d folders could not be opened, %s among them]\n", n, shown(k.shut[0]))
	}
	out.WriteString(tool.LeftOut(k.hidden))
	return out.String()
}

// folder gives where a folder of the model is.
func (w *Workspace) folder(p string) (string, error) {
	if p == "" {
		p = "."
	}
	dir, err := w.at(p)
	if err != nil {
		return "", err
	}
	info, err := w.root.Stat(filepath.FromSlash(dir))
	if err != nil {
		return "", w.trouble(p, err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is %s; read_file reads files", shown(p), aFile(info.Mode()))
	}
	return dir, nil
}

func aFile(mode fs.FileMode) string {
	if mode.IsRegular() {
		return "a file"
	}
	return kindOf(mode)
}

// from gives a path from a folder that it lies in.
func from(dir, p string) string {
	if dir == "." {
		return p
	}
	return strings.TrimPrefix(p, dir+"/")
}

// entry is an entry's line in a list. A link to what is hidden is not shown.
// Where anything is hidden, others show where they lead in the end, since what they
// hold may name what is hidden on the way.
func (k *walk) entry(p string, e fs.DirEntry) (line string, shows bool) {
	if k.caller.Hidden == nil || e.Type()&fs.ModeSymlink == 0 {
		return k.w.entry(p, e), true
	}
	to, err := k.w.resolve(p)
	if err != nil {
		return shown(p) + " (a link that leads to nothing here)", true
	}
	_, hidden := k.caller.Hides(".", to)
	return shown(p) + " -> " + shown(to), !hidden
}

func (w *Workspace) entry(p string, e fs.DirEntry) string {
	line := shown(p)
	if !utf8.ValidString(p) {
		line += " (its name is no UTF-8: it cannot be opened here)"
	}
	switch mode := e.Type(); {
	case mode.IsDir():
		return line + "/"
	case mode&fs.ModeSymlink != 0:
		to, err := w.root.Readlink(filepath.FromSlash(p))
		if errors.Is(err, fs.ErrNotExist) {
			return line // it has gone meanwhile
		}
		if err != nil {
			return line + " (a link that cannot be read)"
		}
		return line + " -> " + shown(filepath.ToSlash(to))
	case !mode.IsRegular():
		return line + " (" + kindOf(mode) + ")"
	}
	return line
}
