package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/guide"
	"github.com/skeinhq/skein/internal/agent"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// configFile is skein.yaml: the long flags' names and their values.
type configFile struct {
	path   string
	values map[string]any
}

// configPaths are where skein.yaml may lie: here, or with the user's settings.
func configPaths() []string {
	paths := []string{"skein.yaml"}
	if dir, err := os.UserConfigDir(); err == nil {
		paths = append(paths, filepath.Join(dir, "skein", "skein.yaml"))
	}
	if named := os.Getenv("SKEIN_CONFIG"); named != "" {
		return []string{named}
	}
	return paths
}

func readConfig() (*configFile, error) {
	for _, path := range configPaths() {
		text, err := guide.ReadText(os.DirFS(filepath.Dir(path)), filepath.Base(path), guide.MaxFile)
		if errors.Is(err, fs.ErrNotExist) && os.Getenv("SKEIN_CONFIG") == "" {
			continue
		}
		bad := func(err error) error {
			return &thread.Error{Code: thread.Configuration, Op: "config", Message: fmt.Sprintf("the settings file %s cannot be read", path), Err: err}
		}
		if err != nil {
			return nil, bad(err)
		}
		f := &configFile{path: path, values: map[string]any{}}
		if err := guide.DecodeYAML([]byte(text), &f.values); err != nil {
			return nil, bad(err)
		}
		return f, nil
	}
	return &configFile{}, nil
}

// resolver lets the settings file give what neither a flag nor the environment
// does.
func (a *app) resolver() kong.Resolver {
	return &fileResolver{app: a}
}

type fileResolver struct{ app *app }

// Validate refuses keys that are no flags.
func (r *fileResolver) Validate(k *kong.Application) error {
	f := r.app.file
	known := []string{providersKey, serversKey}
	for _, flag := range k.Flags {
		if configurable(flag) {
			known = append(known, flag.Name)
		}
	}
	for key := range f.values {
		if !slices.Contains(known, key) {
			return &thread.Error{Code: thread.Configuration, Op: "config", Message: fmt.Sprintf("the settings file %s has the unknown key %q", f.path, key), Hint: "known: " + strings.Join(known, ", ")}
		}
	}
	return nil
}

// configurable says whether a flag is a setting.
func configurable(flag *kong.Flag) bool { return flag.Name != "help" && flag.Name != "version" }

// Resolve gives the file's value of a flag. A list stands for its items joined by
// commas.
func (r *fileResolver) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if _, set := fromEnvironment(flag); set {
		return nil, nil
	}
	switch v := r.app.file.values[flag.Name].(type) {
	case nil:
		return nil, nil
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = fmt.Sprint(item)
		}
		return strings.Join(items, ","), nil
	default:
		return fmt.Sprint(v), nil
	}
}

func fromEnvironment(flag *kong.Flag) (name string, set bool) {
	for _, name := range flag.Envs {
		if _, ok := os.LookupEnv(name); ok {
			return name, true
		}
	}
	return "", false
}

type configCmd struct {
	Thread string `arg:"" optional:"" help:"Show what is in force in this thread."`
}

func (configCmd) Help() string {
	return example("skein config", "skein config launch", "skein config --json")
}

// setting is one line of skein config.
type setting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

// Run prints every setting in force and where it comes from: a flag, the
// environment, the settings file, the thread or the default; then the providers
// and MCP servers of the settings file. Keys are never shown, nor what else an address may hold
// that is secret.
func (c configCmd) Run(a *app) error {
	kept, answers := map[string]string{}, agent.North
	if c.Thread != "" {
		err := a.inThread(toRead, c.Thread, func(_ *skein.Engine, t *skein.Thread) error {
			s, err := t.Settings(a.ctx)
			answers = cmp.Or(s.Agent, agent.North)
			kept = map[string]string{"agent": s.Agent, "model": s.Model, "strategy": s.Strategy, "zone": s.Zone, "tail": written(s.Tail), "outline": written(s.Outline), "workspace": s.Workspace}
			return err
		})
		if err != nil {
			return err
		}
	}
	if a.flags.Agent != "" {
		answers = a.flags.Agent
	}
	file := a.inFile(answers)
	var all []setting
	for _, flag := range a.parsed.Model.Flags {
		if configurable(flag) {
			all = append(all, a.inForce(flag, kept[flag.Name], file[flag.Name], answers))
		}
	}
	named, err := a.namedProviders()
	if err != nil {
		return err
	}
	servers, err := a.namedServers()
	if err != nil {
		return err
	}
	all = append(append(all, named...), servers...)
	if a.flags.JSON {
		return a.printJSON(all)
	}
	for _, s := range all {
		value := s.Value
		if value == "" {
			value = "–"
		}
		if err := a.printf("%-13s %-40s %s\n", s.Name, safe(value), safe(s.Source)); err != nil {
			return err
		}
	}
	return nil
}

// namedProviders are the providers that the settings file names: of what kind each
// is, and where.
func (a *app) namedProviders() ([]setting, error) {
	named, err := a.file.providers()
	if err != nil {
		return nil, err
	}
	all, err := a.providers()
	if err != nil {
		return nil, err
	}
	var out []setting
	for _, p := range all {
		if _, ok := named[p.name]; !ok {
			continue
		}
		where := "at the vendor's own address"
		if p.URL != "" {
			where = model.Shown(p.URL)
		}
		out = append(out, setting{providersKey + "." + p.name, p.Kind + " " + where, "file " + a.file.path})
	}
	return out, nil
}

// inFile is what the file of an agent says, by the flags' names.
func (a *app) inFile(name string) map[string]string {
	crew := a.agents()
	i := slices.IndexFunc(crew, func(x skein.Agent) bool { return x.Name == name })
	if i < 0 {
		return nil
	}
	x := crew[i]
	out := map[string]string{"model": x.Model, "tail": written(x.Tail), "outline": written(x.Outline)}
	if len(x.Strategy) > 0 {
		out["strategy"] = x.Strategy.String()
	}
	return out
}

// inForce is a flag's value and its source. What the thread keeps is in force
// unless something else is given, then what the agent's file says.
func (a *app) inForce(flag *kong.Flag, kept, file, answers string) setting {
	s := setting{flag.Name, fmt.Sprint(flag.Target.Interface()), a.source(flag)}
	if strings.HasSuffix(flag.Name, "-url") {
		s.Value = model.Shown(s.Value)
	}
	gives := s.Value == skein.Unset && (flag.Name == "model" || flag.Name == "strategy")
	switch {
	case s.Source != "default" && !gives:
		return s
	case kept != "" && !gives:
		return setting{flag.Name, kept, "thread"}
	case file != "":
		return setting{flag.Name, file, "the file of agent " + answers}
	case gives:
		s.Value, s.Source = "", "default"
	}
	if s.Value == "" {
		s.Value = a.unset(flag.Name)
	}
	return s
}

// unset is what is in force where nothing is given.
func (a *app) unset(name string) string {
	switch name {
	case "me":
		return a.me()
	case "agent":
		return agent.North
	case "model":
		return a.modelName()
	case "tail":
		return written(agent.DefaultTail)
	case "outline":
		return written(agent.DefaultOutline)
	case "strategy":
		return agent.OutlineStrategy
	case "zone":
		return "UTC"
	}
	return ""
}

func written(m skein.Marks) string {
	if m == (skein.Marks{}) {
		return ""
	}
	return fmt.Sprintf("%d,%d", m.Low, m.High)
}

func (a *app) source(flag *kong.Flag) string {
	for _, p := range a.parsed.Path {
		if p.Flag == flag && !p.Resolved {
			return "flag"
		}
	}
	if name, set := fromEnvironment(flag); set {
		return "environment " + name
	}
	if _, ok := a.file.values[flag.Name]; ok {
		return "file " + a.file.path
	}
	return "default"
}

// example is the end of a command's help.
func example(lines ...string) string {
	return "Example:\n\n  " + strings.Join(lines, "\n  ")
}
