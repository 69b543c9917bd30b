package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
	"github.com/skeinhq/skein/tool/mcp"
)

// serversKey is where the settings file has MCP servers.
const serversKey = "mcp"

// mcpServers reads what the settings file has under "mcp", in the order of the
// names. Variables of the environment still stand in it by their names.
func (f *configFile) mcpServers() ([]mcp.Server, error) {
	v, ok := f.values[serversKey]
	if !ok {
		return nil, nil
	}
	var named map[string]mcp.Server
	data, err := yaml.Marshal(v)
	if err == nil {
		err = yaml.UnmarshalWithOptions(data, &named, yaml.Strict())
	}
	if err != nil {
		return nil, f.badServers(errors.New(strings.SplitN(err.Error(), "\n", 2)[0]))
	}
	var out []mcp.Server
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if slices.Contains(setNames(), name) {
			return nil, f.badServers(fmt.Errorf("%q is the name of a set that is there already", name))
		}
		s := named[name]
		s.Name = name
		out = append(out, s)
	}
	if err := mcp.Check(out); err != nil {
		return nil, f.badServers(err)
	}
	return out, nil
}

func (f *configFile) badServers(err error) error {
	return &thread.Error{Code: thread.Configuration, Op: "config", Message: fmt.Sprintf("the MCP servers of the settings file %s are wrong", f.path), Err: err}
}

// namedServers are the MCP servers as skein config shows them: how each is reached,
// without what may be secret.
func (a *app) namedServers() ([]setting, error) {
	all, err := a.file.mcpServers()
	if err != nil {
		return nil, err
	}
	var out []setting
	for _, s := range all {
		how := model.Shown(s.URL)
		if s.URL == "" {
			how = s.Command[0]
			if more := len(s.Command) - 1; more > 0 {
				how += " with " + counted(more, "argument", "arguments")
			}
		}
		if s.Trust {
			how += ", trusted"
		}
		out = append(out, setting{serversKey + "." + s.Name, how, "file " + a.file.path})
	}
	return out, nil
}

// servers are the MCP servers of the settings file. Each is connected to when it
// is first needed.
type servers struct {
	app     *app
	reaches bool
	all     []mcp.Server

	mu   sync.Mutex // guards open
	open map[string]*mcp.Client

	telling sync.Mutex          // guards the rest
	amiss   map[string][]string // what is to be told of a server, once somebody works with it
	wanted  map[string]bool     // somebody does
}

// warn tells what is amiss with a server to who works with it, and to no other.
func (s *servers) warn(server, text string) {
	s.telling.Lock()
	defer s.telling.Unlock()
	if s.wanted[server] {
		s.app.warn(text)
		return
	}
	s.amiss[server] = append(s.amiss[server], text)
}

// want says that somebody works with the servers that those names are of.
func (s *servers) want(names []string) {
	s.telling.Lock()
	defer s.telling.Unlock()
	for _, n := range names {
		server, ok := s.behind(n)
		if !ok || s.wanted[server] {
			continue
		}
		s.wanted[server] = true
		for _, text := range s.amiss[server] {
			s.app.warn(text)
		}
		delete(s.amiss, server)
	}
}

// startedHere says whether a name is of a server that is started in the workspace.
func (s *servers) startedHere(name string) bool {
	server, ok := s.behind(name)
	return ok && slices.ContainsFunc(s.all, func(x mcp.Server) bool { return x.Name == server && x.URL == "" })
}

func (a *app) openServers(workspace string, reaches bool) (*servers, error) {
	all, err := a.file.mcpServers()
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].URL == "" && all[i].Dir == "" {
			all[i].Dir = workspace
		}
	}
	return &servers{app: a, reaches: reaches, all: all, open: map[string]*mcp.Client{}, amiss: map[string][]string{}, wanted: map[string]bool{}}, nil
}

// behind gives the server that a set or a tool of that name is of.
func (s *servers) behind(name string) (server string, ok bool) {
	for _, x := range s.all {
		if x.Name == name || strings.HasPrefix(name, x.Name+"_") {
			return x.Name, true
		}
	}
	return "", false
}

// sets gives the sets of the servers that those names are of, which are started
// where they are not yet; of the others it gives empty ones.
func (s *servers) sets(ctx context.Context, names []string) []tool.Set {
	needed := map[string]bool{}
	for _, n := range names {
		server, ok := s.behind(n)
		needed[server] = needed[server] || ok
	}
	out := make([]tool.Set, len(s.all))
	var asked sync.WaitGroup
	for i, x := range s.all {
		out[i].Name = x.Name
		if !s.reaches || !needed[x.Name] {
			continue
		}
		asked.Go(func() {
			for _, set := range s.client(x).Sets(ctx) {
				out[i] = set
			}
		})
	}
	asked.Wait()
	return out
}

// client gives the connection to a server. One that needs variables which are not
// set is not connected to, and that is told.
func (s *servers) client(x mcp.Server) *mcp.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.open[x.Name]; ok {
		return c
	}
	var list []mcp.Server
	filled, err := filledIn(x)
	if err != nil {
		s.warn(x.Name, err.Error())
	} else {
		list = append(list, filled)
	}
	c := mcp.Open(s.app.ctx, list, func(text string) { s.warn(x.Name, text) })
	s.open[x.Name] = c
	return c
}

// prompt gives a prompt of a server.
func (s *servers) prompt(ctx context.Context, server, name string, args map[string]string) (string, error) {
	i := slices.IndexFunc(s.all, func(x mcp.Server) bool { return x.Name == server })
	switch {
	case i < 0:
		return "", &thread.Error{Code: thread.Configuration, Op: "prompt", Message: fmt.Sprintf("there is no MCP server named %q", server), Hint: "add it under mcp: in skein.yaml"}
	case !s.reaches:
		return "", &thread.Error{Code: thread.Configuration, Op: "prompt", Message: "this command starts no MCP servers"}
	}
	return s.client(s.all[i]).Prompt(ctx, server, name, args)
}

func (s *servers) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	var closing sync.WaitGroup
	for _, c := range s.open {
		closing.Go(c.Close)
	}
	closing.Wait()
}

var variableShape = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// filledIn gives a server with variables of the environment in the place of their
// names, ${NAME}, in the values of env and headers.
func filledIn(s mcp.Server) (mcp.Server, error) {
	var missing []string
	fill := func(values map[string]string) map[string]string {
		out := maps.Clone(values)
		for key, value := range out {
			out[key] = variableShape.ReplaceAllStringFunc(value, func(ref string) string {
				name := variableShape.FindStringSubmatch(ref)[1]
				found, ok := os.LookupEnv(name)
				if !ok && !slices.Contains(missing, name) {
					missing = append(missing, name)
				}
				return found
			})
		}
		return out
	}
	s.Env, s.Headers = fill(s.Env), fill(s.Headers)
	if len(missing) > 0 {
		slices.Sort(missing)
		return s, fmt.Errorf("the MCP server %s is not started: set %s", s.Name, strings.Join(missing, ", "))
	}
	return s, nil
}
