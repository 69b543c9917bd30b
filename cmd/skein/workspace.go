package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

// workspaceDir is the folder that agents work in: an absolute path without links.
func (a *app) workspaceDir() (string, error) {
	dir, err := filepath.Abs(a.flags.Workspace)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", &thread.Error{Code: thread.Configuration, Op: "workspace", Message: fmt.Sprintf("the workspace %s cannot be opened", a.flags.Workspace), Hint: "--workspace names another folder", Err: err}
	}
	return dir, nil
}

// protected are the paths, from the workspace, that agents may not change: what
// sets them up, as far as it lies there.
func (a *app) protected(dir string) []string {
	paths := append(configPaths(), filepath.Join(dir, "skein.yaml"), "skein.yaml", a.file.path, a.flags.AgentsDir, a.flags.SkillsDir)
	for _, end := range []string{"", "-wal", "-shm", "-journal", ".drafts"} {
		paths = append(paths, a.flags.DB+end)
	}
	var out []string
	for _, p := range paths {
		if p == "" {
			continue
		}
		for _, found := range leadsTo(p) {
			rel, err := filepath.Rel(dir, found)
			if err == nil && filepath.IsLocal(rel) && !slices.Contains(out, filepath.ToSlash(rel)) {
				out = append(out, filepath.ToSlash(rel))
			}
		}
	}
	if skills := leadsTo(a.flags.SkillsDir); len(skills) > 0 && within(dir, skills[len(skills)-1]) {
		out = append(out, ".") // the workspace is a skill
	}
	return out
}

// mostLinks is how many links are followed of a path.
const mostLinks = 40

// leadsTo gives a path and each that it leads to, as absolute paths whose folders
// are no links. Nothing has to be there yet.
func leadsTo(p string) (out []string) {
	p, err := filepath.Abs(p)
	for range mostLinks {
		if err != nil {
			return out
		}
		p = filepath.Join(realFolder(filepath.Dir(p)), filepath.Base(p))
		out = append(out, p)
		to, noLink := os.Readlink(p)
		if noLink != nil {
			return out
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(p), to)
		}
		p = to
	}
	return out
}

// realFolder gives a folder without links, as far as it is there.
func realFolder(dir string) string {
	found, err := filepath.EvalSymlinks(dir)
	switch {
	case err == nil:
		return found
	case filepath.Dir(dir) == dir:
		return dir
	}
	return filepath.Join(realFolder(filepath.Dir(dir)), filepath.Base(dir))
}

// within says whether a folder is another one or lies in it.
func within(dir, other string) bool {
	rel, err := filepath.Rel(other, dir)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

// works says whether an agent works in the workspace: whether any of its tools, or
// of its skills', is for that.
func (w *workshop) works(x skein.Agent) bool {
	if slices.ContainsFunc(x.Tools, w.ofWorkspace) {
		return true
	}
	for _, s := range w.learnt {
		if x.Skills != nil && !slices.Contains(x.Skills, s.Name) {
			continue
		}
		if slices.ContainsFunc(s.Tools, func(t tool.Tool) bool { return w.ofWorkspace(t.Name) }) {
			return true
		}
	}
	return false
}

// ofWorkspace says whether a set or a tool of that name works in the workspace:
// those for its files do, and what MCP servers do that are started there.
func (w *workshop) ofWorkspace(name string) bool {
	for _, s := range w.own {
		if s.Name == name {
			return true
		}
		if _, ok := tool.Find(s.Tools, name); ok {
			return true
		}
	}
	return w.servers.startedHere(name)
}

// begins is asked before each turn: it keeps a thread to the folder that its agents
// work in, and tells what is amiss with the servers that the agent names.
func (w *workshop) begins(ctx context.Context, t *skein.Thread, answers skein.Agent) error {
	if err := w.app.atHome(ctx, t); err != nil {
		return err
	}
	w.servers.want(w.asks(answers))
	s, err := t.Settings(ctx)
	if err == nil {
		w.app.freeOfCost(answers, s)
	}
	if err != nil || s.Workspace != "" || !w.works(answers) {
		return err
	}
	return t.Set(ctx, skein.Settings{Workspace: w.dir})
}

// asks are the sets and tools that an agent names, and, where it may load skills,
// that those do.
func (w *workshop) asks(x skein.Agent) []string {
	if x.Skills != nil && len(x.Skills) == 0 {
		return x.Tools
	}
	return slices.Concat(x.Tools, w.bySkills)
}

// concerns tells what is amiss with the servers that a thread's agent names.
func (w *workshop) concerns(ctx context.Context, e *skein.Engine, t *skein.Thread) error {
	s, err := t.Settings(ctx)
	if err != nil {
		return err
	}
	w.concernsAgent(e.Answering(s))
	return nil
}

// concernsAgent tells what is amiss with the servers that an agent names.
func (w *workshop) concernsAgent(name string) {
	if i := slices.IndexFunc(w.app.crew, func(x skein.Agent) bool { return x.Name == name }); i >= 0 {
		w.servers.want(w.asks(w.app.crew[i]))
	}
}

// atHome says whether the present workspace is the thread's. One that is named by a
// flag or the environment becomes the thread's.
func (a *app) atHome(ctx context.Context, t *skein.Thread) error {
	s, err := t.Settings(ctx)
	if err != nil || s.Workspace == "" {
		return err
	}
	here, err := a.workspaceDir()
	switch {
	case err != nil || here == s.Workspace:
		return err
	case a.namesWorkspace():
		return t.Set(ctx, skein.Settings{Workspace: here})
	}
	return &thread.Error{
		Code: thread.Configuration, Op: "workspace", Thread: t.ID(),
		Message: fmt.Sprintf("the thread %s works in %s, and this is %s", t.ID(), s.Workspace, here),
		Hint:    "go there, or --workspace DIR names its folder",
	}
}

// opens says whether a thread, which may not be there yet, can be talked in from
// here with those settings, and tells what of them does nothing.
func (a *app) opens(e *skein.Engine, id string, s skein.Settings) error {
	t, err := e.Thread(a.ctx, id)
	if err == nil {
		if err := a.atHome(a.ctx, t); err != nil {
			return err
		}
		kept, err := t.Settings(a.ctx)
		if err != nil {
			return err
		}
		s = kept.Over(s)
	} // else it is made, or opening it says what is wrong
	return a.noTail(e, s)
}

// namesWorkspace says whether somebody has named the workspace.
func (a *app) namesWorkspace() bool {
	for _, flag := range a.parsed.Model.Flags {
		if flag.Name == "workspace" {
			source := a.source(flag)
			return source == "flag" || strings.HasPrefix(source, "environment")
		}
	}
	return false
}
