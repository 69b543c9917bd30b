package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skeinhq/skein/tool"
)

// maxEntries is the most entries that one call looks at.
const maxEntries = 50_000

// entries gives what is in a folder, by name, and whether that was all: at most
// most entries are read.
func (w *Workspace) entries(dir string, most int) (found []fs.DirEntry, all bool, err error) {
	f, err := w.root.OpenFile(filepath.FromSlash(dir), os.O_RDONLY|dontWait, 0)
	if err != nil {
		return nil, false, w.trouble(dir, err)
	}
	defer f.Close()
	for len(found) <= most {
		some, err := f.ReadDir(min(1000, most+1-len(found)))
		found = append(found, some...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, false, w.trouble(dir, err)
		}
	}
	all = len(found) <= most
	found = found[:min(len(found), most)]
	slices.SortFunc(found, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return found, all, nil
}

// walk is a way through a folder and those in it, in the order of names. Folders
// .git are left out, and so is what is hidden from the caller, with all that is in
// it; links are not followed.
type walk struct {
	w       *Workspace
	from    string
	depth   int // how many folders deep; 0: as deep as there are folders
	left    int // entries that may still be looked at
	caller  tool.Caller
	hidden  int // entries that the caller must not see
	partial bool
	shut    []string // folders that could not be read
}

// errEnough ends a walk that has found enough.
var errEnough = errors.New("enough")

// each calls visit with the path of each entry, from the workspace.
func (k *walk) each(ctx context.Context, visit func(p string, e fs.DirEntry) error) error {
	err := k.in(ctx, k.from, 1, visit)
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

func (k *walk) in(ctx context.Context, dir string, level int, visit func(string, fs.DirEntry) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	found, all, err := k.w.entries(dir, k.left)
	if err != nil && dir != k.from {
		k.shut = append(k.shut, dir)
		return nil
	}
	if err != nil {
		return err
	}
	k.left -= len(found)
	k.partial = k.partial || !all
	for _, e := range found {
		if isGit(e.Name()) {
			continue
		}
		p := path.Join(dir, e.Name())
		if _, hidden := k.caller.Hides(dir, p); hidden {
			k.hidden++
			continue
		}
		if err := visit(p, e); err != nil {
			return err
		}
		if !e.IsDir() || k.depth > 0 && level >= k.depth {
			continue
		}
		if err := k.in(ctx, p, level+1, visit); err != nil {
			return err
		}
	}
	return nil
}
