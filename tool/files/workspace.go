package files

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/skeinhq/skein/tool"
)

// Set is the name under which an agent's file asks for the four tools on files,
// and SearchSet for the search through them.
const (
	Set       = "files"
	SearchSet = "search_files"
)

// Workspace is a folder that agents work in. It remembers which thread has read
// what, so one Workspace serves all threads that work in the folder, for as long
// as they do. It is safe for use by several goroutines.
type Workspace struct {
	root      *os.Root
	protected []string
	seen      *seen

	writing sync.Mutex // held from the look at a file's content until it is replaced
}

// New makes the workspace of a folder. Whoever opened root closes it, after the
// last call. What lies at or below the protected paths, slash-separated and from the
// workspace, is read and never changed: it is what sets the agents up.
func New(root *os.Root, protected ...string) *Workspace {
	return &Workspace{root: root, protected: protected, seen: newSeen()}
}

// mayChange says whether the file at a path may be changed, and where not, why.
func (w *Workspace) mayChange(p string) error {
	for _, q := range w.protected {
		if q == "." || strings.EqualFold(p, q) || len(p) > len(q) && p[len(q)] == '/' && strings.EqualFold(p[:len(q)], q) {
			return fmt.Errorf("%s belongs to what sets the agents up, which only people change", shown(p))
		}
	}
	return nil
}

// Tools makes the tools of the set files: read_file, list_files, write_file and
// edit_file.
func (w *Workspace) Tools() ([]tool.Tool, error) {
	read, err := tool.Make(tool.Tool{Name: "read_file", ReadOnly: true, Description: readDescription, Resources: w.reaches("")}, w.read)
	if err != nil {
		return nil, err
	}
	list, err := tool.Make(tool.Tool{Name: "list_files", ReadOnly: true, Description: listDescription, Resources: w.reaches(".")}, w.list)
	if err != nil {
		return nil, err
	}
	write, err := tool.Make(tool.Tool{Name: "write_file", Description: writeDescription, Resources: w.reaches("")}, w.write)
	if err != nil {
		return nil, err
	}
	edit, err := tool.Make(tool.Tool{Name: "edit_file", Description: editDescription, Resources: w.reaches("")}, w.edit)
	return []tool.Tool{read, list, write, edit}, err
}

// Search makes search_files, the tool of the set of that name.
func (w *Workspace) Search() (tool.Tool, error) {
	return tool.Make(tool.Tool{Name: SearchSet, ReadOnly: true, Description: searchDescription, Resources: w.reaches(".")}, w.search)
}

// reaches tells the path of an input, and the one it leads to if that is another;
// an input without one has the path absent.
func (w *Workspace) reaches(absent string) func(json.RawMessage) (tool.Resources, error) {
	return func(raw json.RawMessage) (tool.Resources, error) {
		in := struct{ Path string }{}
		if err := json.Unmarshal(raw, &in); err != nil {
			return tool.Resources{}, err
		}
		if in.Path == "" {
			in.Path = absent
		}
		named, err := clean(in.Path)
		if err != nil {
			return tool.Resources{}, err
		}
		real, err := w.resolve(named)
		if err != nil {
			return tool.Resources{}, err
		}
		if real == named {
			return tool.Resources{Paths: []string{named}}, nil
		}
		return tool.Resources{Paths: []string{named, real}}, nil
	}
}

// key says whose reading of which file is meant.
func key(ctx context.Context, path string) seenKey {
	return seenKey{thread: tool.CallerOf(ctx).Thread, path: path}
}
