package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/guide"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
	"github.com/skeinhq/skein/tool/files"
	"github.com/skeinhq/skein/tool/git"
	"github.com/skeinhq/skein/tool/history"
	"github.com/skeinhq/skein/tool/shell"
)

// workshop is what agents work with: a folder, the tools for it, and MCP servers.
// It is closed after the engine.
type workshop struct {
	app     *app
	dir     string
	root    *os.Root
	own     []tool.Set // the tools for the folder
	servers *servers
	named   []string     // tools and sets that agents and skills ask for
	learnt  guide.Skills // once they are read

	bySkills []string // of servers, what skills ask for
}

// openWorkshop opens the workspace. reaches says whether MCP servers may be
// started: a command that asks no model needs none.
func (a *app) openWorkshop(agents []skein.Agent, reaches bool) (*workshop, error) {
	dir, err := a.workspaceDir()
	if err != nil {
		return nil, err
	}
	servers, err := a.openServers(dir, reaches)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, &thread.Error{Code: thread.Configuration, Op: "workspace", Message: fmt.Sprintf("the workspace %s cannot be opened", a.flags.Workspace), Hint: "--workspace names another folder", Err: err}
	}
	w := &workshop{app: a, dir: dir, root: root, servers: servers}
	for _, x := range agents {
		w.named = append(w.named, x.Tools...)
	}
	for _, s := range w.offered() {
		tools, err := s.make()
		if err != nil && slices.Contains(w.named, s.name) {
			a.warn(fmt.Sprintf("the tools %s are not there: %s", s.name, oneLine(err)))
		}
		w.own = append(w.own, tool.Set{Name: s.name, Tools: tools})
	}
	return w, nil
}

// offer is a set of tools for the workspace, and how it is made.
type offer struct {
	name string
	make func() ([]tool.Tool, error)
}

// offered are the sets that there are besides those of MCP servers.
func (w *workshop) offered() []offer {
	space := files.New(w.root, w.app.protected(w.dir)...)
	return []offer{
		{files.Set, space.Tools},
		{files.SearchSet, func() ([]tool.Tool, error) { return single(space.Search()) }},
		{git.Set, func() ([]tool.Tool, error) { return single(git.Tool(w.dir)) }},
		{shell.Set, func() ([]tool.Tool, error) { return single(shell.Tool(w.dir, shell.Options{})) }},
	}
}

func single(t tool.Tool, err error) ([]tool.Tool, error) {
	if err != nil {
		return nil, err
	}
	return []tool.Tool{t}, nil
}

// setNames are the names of sets that no server may take.
func setNames() []string {
	return []string{history.Set, files.Set, files.SearchSet, git.Set, shell.Set}
}

// sets gives all the tools that agents may name. Of a server that cannot be reached
// the set is there, and empty, and so is what agents name of its tools.
func (w *workshop) sets(ctx context.Context) []tool.Set {
	out := append(slices.Clone(w.own), w.servers.sets(ctx, w.named)...)
	known := map[string]bool{}
	for _, s := range out {
		known[s.Name] = true
		for _, t := range s.Tools {
			known[t.Name] = true
		}
	}
	for _, name := range w.named {
		if _, ofServer := w.servers.behind(name); ofServer && !known[name] {
			known[name] = true
			out = append(out, tool.Set{Name: name})
		}
	}
	return out
}

// called gives the set or the tool of a name, for a skill.
func (w *workshop) called(name string) ([]tool.Tool, bool) {
	if server, ok := w.servers.behind(name); ok {
		w.named, w.bySkills = append(w.named, name), append(w.bySkills, name)
		return pick(w.servers.sets(w.app.ctx, []string{server}), name), true
	}
	i := slices.IndexFunc(w.own, func(s tool.Set) bool { return s.Name == name })
	if i >= 0 {
		return w.own[i].Tools, true
	}
	found := pick(w.own, name)
	return found, len(found) > 0
}

// pick gives the tools of the set of that name, or the one tool.
func pick(sets []tool.Set, name string) []tool.Tool {
	for _, s := range sets {
		if s.Name == name {
			return s.Tools
		}
		if t, ok := tool.Find(s.Tools, name); ok {
			return []tool.Tool{t}
		}
	}
	return nil
}

// skills reads the folder of skills. What is no skill, or cannot stand beside the
// others, is told of and left out.
func (w *workshop) skills() (guide.Skills, error) {
	dir := w.app.flags.SkillsDir
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	past, err := history.Tools(nil, nil)
	if err != nil {
		return nil, err
	}
	found, bad := guide.Folder(os.DirFS(dir), w.called)
	if bad != nil {
		for line := range strings.Lines(bad.Error()) {
			w.app.leftOut(line)
		}
	}
	var out guide.Skills
	for _, s := range found {
		if err := append(slices.Clone(out), s).Check(past); err != nil {
			w.app.leftOut(oneLine(err))
			continue
		}
		out = append(out, s)
	}
	w.learnt = out
	return out, nil
}

func (a *app) leftOut(what string) { a.warn("left out: " + strings.TrimSpace(what)) }

// close ends what the workshop has started.
func (w *workshop) close() error {
	w.servers.close()
	return w.root.Close()
}
