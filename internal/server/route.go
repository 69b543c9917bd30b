package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/skeinhq/skein"
)

// scope says who may use a path.
type scope string

const (
	public   scope = ""                 // everybody
	anyToken scope = "any"              // the holder of any token
	read     scope = skein.ScopeRead    //
	write    scope = skein.ScopeWrite   //
	approve  scope = skein.ScopeApprove //
	admin    scope = skein.ScopeAdmin   //
)

// way says how a path is answered.
type way int

const (
	plain  way = iota // at once, from a body of at most Limits.Body
	upload            // at once, from a body of at most Limits.Blob
	stream            // for as long as both sides want
	sign              // as plain; everybody may show a token, so at most Limits.Sign is read
)

// route is a path of the API. Where the path has an {id} the token must be good
// for the thread of that id.
type route struct {
	id      string
	method  string
	path    string
	scope   scope
	way     way
	tag     string
	summary string
}

// pattern is the route as [http.ServeMux] knows it.
func (r *route) pattern() string { return r.method + " " + r.path }

// routes are all paths there are, mounts aside.
var routes = []route{
	{"createThread", "POST", "/v1/threads", write, plain, "threads", "Make a thread"},
	{"listThreads", "GET", "/v1/threads", read, plain, "threads", "List the threads, the last updated first"},
	{"getThread", "GET", "/v1/threads/{id}", read, plain, "threads", "Show a thread's state"},
	{"changeThread", "PATCH", "/v1/threads/{id}", write, plain, "threads", "Change title, metadata or settings"},
	{"deleteThread", "DELETE", "/v1/threads/{id}", admin, plain, "threads", "Delete a thread; it can be brought back within 7 days"},
	{"fork", "POST", "/v1/threads/{id}/fork", write, plain, "threads", "Make a thread that goes on from a message of this one"},

	{"say", "POST", "/v1/threads/{id}/messages", write, plain, "talk", "Say something; the answer comes by the events"},
	{"reply", "POST", "/v1/threads/{id}/reply", write, plain, "talk", "Have answered what waits for an answer"},
	{"stop", "POST", "/v1/threads/{id}/stop", write, plain, "talk", "Stop the turn that runs"},
	{"decide", "POST", "/v1/threads/{id}/approvals/{callId}", approve, plain, "talk", "Allow or deny a call that waits"},
	{"rewind", "POST", "/v1/threads/{id}/rewind", write, plain, "talk", "Undo every message after one"},
	{"reset", "POST", "/v1/threads/{id}/reset", write, plain, "talk", "Undo every message"},

	{"watch", "GET", "/v1/threads/{id}/events", read, stream, "streams", "Watch a thread by server-sent events"},
	{"connect", "GET", "/v1/ws", anyToken, stream, "streams", "Watch and call over a WebSocket"},

	{"listEntries", "GET", "/v1/threads/{id}/entries", read, plain, "history", "Page through the messages"},
	{"getEntry", "GET", "/v1/threads/{id}/entries/{seq}", read, plain, "history", "Show an entry of the log whole"},
	{"showOutline", "GET", "/v1/threads/{id}/outline", read, plain, "history", "Show the outline and the tail"},
	{"listNodes", "GET", "/v1/threads/{id}/nodes", read, plain, "history", "List lines of one level"},
	{"zoom", "GET", "/v1/threads/{id}/zoom", read, plain, "history", "Open a line"},
	{"read", "GET", "/v1/threads/{id}/read", read, plain, "history", "Read messages whole"},
	{"search", "GET", "/v1/threads/{id}/search", read, plain, "history", "Search a thread"},
	{"searchAll", "GET", "/v1/search", read, plain, "history", "Search the threads that were updated last"},

	{"showPrompt", "GET", "/v1/threads/{id}/prompt", admin, plain, "model", "Show what the model is sent, or was"},
	{"listRequests", "GET", "/v1/threads/{id}/requests", read, plain, "model", "List the requests that answers were made by"},
	{"showUsage", "GET", "/v1/threads/{id}/usage", read, plain, "model", "Show what requests took"},
	{"listAgents", "GET", "/v1/agents", read, plain, "model", "List the agents"},

	{"putBlob", "PUT", "/v1/threads/{id}/blobs/{sha256}", write, upload, "blobs", "Keep bytes beside a thread"},
	{"getBlob", "GET", "/v1/threads/{id}/blobs/{sha256}", read, plain, "blobs", "Fetch bytes that a message of the thread holds"},

	{"openSession", "POST", "/v1/session", public, sign, "access", "Exchange a token for a session cookie"},
	{"showSession", "GET", "/v1/session", anyToken, plain, "access", "Show who is asking"},
	{"closeSession", "DELETE", "/v1/session", public, plain, "access", "Forget the session cookie"},
	{"makeTicket", "POST", "/v1/tickets", anyToken, plain, "access", "Make a ticket for one stream"},

	{"showAPI", "GET", "/openapi.json", public, plain, "server", "This document"},
	{"showDocs", "GET", "/docs", public, plain, "server", "This document for people"},
	{"health", "GET", "/healthz", public, plain, "server", "Whether the process runs"},
	{"ready", "GET", "/readyz", public, plain, "server", "Whether it takes requests"},
	{"metrics", "GET", "/metrics", admin, plain, "server", "Figures for Prometheus"},
}

// own says whether a path is the API's, so that no mount answers there.
func own(path string) bool {
	return path == "/v1" || strings.HasPrefix(path, "/v1/") ||
		slices.ContainsFunc(routes, func(r route) bool { return r.path == path })
}

// writes says whether the method may change something.
func writes(method string) bool {
	return method != http.MethodGet && method != http.MethodHead && method != http.MethodOptions
}
