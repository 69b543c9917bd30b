package server

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/skeinhq/skein/thread"
)

// doors is the mux as the API's library sees it: nothing is let in but through a
// gate of the table.
type doors struct{ server *Server }

// HandleFunc adds a path, which must be one of the table.
func (d *doors) HandleFunc(pattern string, h func(http.ResponseWriter, *http.Request)) {
	i := slices.IndexFunc(routes, func(r route) bool { return r.pattern() == pattern })
	if i < 0 {
		panic("server: " + pattern + " is not in the table of routes")
	}
	h = d.server.gate(&routes[i], h)
	d.server.mux.HandleFunc(pattern, h)
	d.server.own.HandleFunc(pattern, h)
}

// ServeHTTP is never called: the server's own mux answers.
func (d *doors) ServeHTTP(w http.ResponseWriter, r *http.Request) { d.server.mux.ServeHTTP(w, r) }

// mount adds what is served beside the API.
func (s *Server) mount() (err error) {
	defer func() { // a pattern that cannot be, or that stands already
		if p := recover(); p != nil {
			err = &thread.Error{Code: thread.Configuration, Op: "server", Message: fmt.Sprint(p)}
		}
	}()
	for _, m := range s.cfg.Mounts {
		rt := &route{id: m.Pattern, scope: scope(m.Scope), tag: "mount"}
		s.mux.HandleFunc(m.Pattern, s.gate(rt, m.Handler.ServeHTTP))
	}
	return nil
}

// description is what the document says of the API as a whole.
func description(cfg Config) huma.Config {
	c := huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "Skein", Version: cfg.Version,
				Description: "Conversations that never end: threads, windowed views of them, and the way back.",
			},
			Components: &huma.Components{
				Schemas: huma.NewMapRegistry("#/components/schemas/", schemaName),
				SecuritySchemes: map[string]*huma.SecurityScheme{
					"token":   {Type: "http", Scheme: "bearer", Description: "A token of skein token create."},
					"session": {Type: "apiKey", In: "cookie", Name: cookieName, Description: "A session of POST /v1/session."},
					"ticket":  {Type: "apiKey", In: "query", Name: "ticket", Description: "A ticket of POST /v1/tickets, for one stream."},
				},
			},
		},
		Formats:       map[string]huma.Format{"application/json": format, "json": format},
		DefaultFormat: "application/json",
	}
	c.Components.Schemas.RegisterTypeAlias(reflect.TypeFor[thread.Entry](), reflect.TypeFor[LogEntry]())
	return c
}

// schemaName names a type in the document: by its own name where it is one of the
// nouns or of this package, else with its package's before it.
func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name := huma.DefaultSchemaNamer(t, hint)
	switch pkg := path.Base(t.PkgPath()); pkg {
	case ".", "thread", "server":
		return name
	default:
		return strings.ToUpper(pkg[:1]) + pkg[1:] + name
	}
}

// security says in the document how a route's scope is shown.
func (rt *route) security() []map[string][]string {
	if rt.scope == public {
		return nil
	}
	scopes := []string{string(rt.scope)}
	ways := []map[string][]string{{"token": scopes}, {"session": scopes}}
	if rt.way == stream {
		ways = append(ways, map[string][]string{"ticket": scopes})
	}
	return ways
}

// successes are the statuses of operations that succeed with another than 200.
var successes = map[string]int{
	"createThread": http.StatusCreated, "fork": http.StatusCreated,
	"say": http.StatusAccepted, "reply": http.StatusAccepted, "decide": http.StatusAccepted, "makeTicket": http.StatusCreated,
	"deleteThread": http.StatusNoContent, "stop": http.StatusNoContent, "closeSession": http.StatusNoContent,
}

// handle registers an operation of the table.
func handle[I, O any](s *Server, id string, f func(context.Context, *I) (*O, error)) {
	i := slices.IndexFunc(routes, func(r route) bool { return r.id == id })
	if i < 0 {
		panic("server: the operation " + id + " is not in the table of routes")
	}
	rt := &routes[i]
	size, patience := s.cfg.Limits.body(rt.way)
	op := huma.Operation{
		OperationID: rt.id, Method: rt.method, Path: rt.path, Summary: rt.summary, Tags: []string{rt.tag},
		Security: rt.security(), DefaultStatus: successes[id],
		MaxBodyBytes: size + 1, BodyReadTimeout: patience, RejectUnknownQueryParameters: true,
		Middlewares: huma.Middlewares{isJSON},
	}
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := f(ctx, in)
		if err == nil {
			return out, nil
		}
		p, told := problemOf(err)
		switch f := thread.FaultOf(err); {
		case f != nil:
			s.fault("handler", f)
		case !told && ctx.Err() == nil:
			s.cfg.Log.Error("an operation failed", "operation", id, "error", err)
		}
		return nil, p
	})
}

// raw is an answer that an operation writes itself.
func raw(f func(w http.ResponseWriter, r *http.Request)) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		r, w := unwrap(ctx)
		f(w, r)
	}}
}

// register adds every operation.
func (s *Server) register() {
	handle(s, "createThread", s.createThread)
	handle(s, "listThreads", s.listThreads)
	handle(s, "getThread", s.getThread)
	handle(s, "changeThread", s.changeThread)
	handle(s, "deleteThread", s.deleteThread)
	handle(s, "fork", s.fork)

	handle(s, "say", s.say)
	handle(s, "reply", s.reply)
	handle(s, "stop", s.stop)
	handle(s, "decide", s.decide)
	handle(s, "rewind", s.rewind)
	handle(s, "reset", s.reset)

	handle(s, "watch", s.watch)
	handle(s, "connect", s.connect)

	handle(s, "listEntries", s.listEntries)
	handle(s, "getEntry", s.getEntry)
	handle(s, "showOutline", s.showOutline)
	handle(s, "listNodes", s.listNodes)
	handle(s, "zoom", s.zoom)
	handle(s, "read", s.read)
	handle(s, "search", s.search)
	handle(s, "searchAll", s.searchAll)

	handle(s, "showPrompt", s.showPrompt)
	handle(s, "listRequests", s.listRequests)
	handle(s, "showUsage", s.showUsage)
	handle(s, "listAgents", s.listAgents)

	handle(s, "putBlob", s.putBlob)
	handle(s, "getBlob", s.getBlob)

	handle(s, "openSession", s.openSession)
	handle(s, "showSession", s.showSession)
	handle(s, "closeSession", s.closeSession)
	handle(s, "makeTicket", s.makeTicket)

	handle(s, "showAPI", s.showAPI)
	handle(s, "showDocs", s.showDocs)
	handle(s, "health", s.health)
	handle(s, "ready", s.ready)
	handle(s, "metrics", s.metrics)
}

// describe encodes the document once.
func (s *Server) describe() error {
	s.finishDocument()
	data, err := s.api.OpenAPI().MarshalJSON()
	s.openAPI = bytes.TrimSpace(data)
	return err
}
