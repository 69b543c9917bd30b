package server

import (
	"bytes"
	"encoding/json"
	"net/http"
	"path"
	"strings"

	"github.com/skeinhq/skein/thread"
)

// mostQueued is how many bytes of replies may wait for a socket to take them.
const mostQueued = 8 << 20

// called is the answer of an operation that was called over a socket.
type called struct {
	Call   json.RawMessage `json:"call"`
	Status int             `json:"status"`
	OK     json.RawMessage `json:"ok,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// call does an operation of the API, beside whatever else runs.
func (k *socket) call(name string, r *request) {
	k.mu.Lock()
	full := k.calls >= k.server.cfg.Limits.Calls || k.queued > mostQueued
	if !full {
		k.calls++
	}
	k.mu.Unlock()
	if full {
		k.answer(name, problem(http.StatusTooManyRequests, "too many calls run on this socket", "wait for some of their answers"))
		return
	}
	k.start(func() {
		defer func() {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.calls--
		}()
		k.carry(name, r)
	})
}

// answer refuses a call.
func (k *socket) answer(name string, p *Problem) {
	data, err := thread.Encode(p)
	if err != nil {
		k.server.cfg.Log.Error("a problem cannot be written", "error", err)
		return
	}
	k.sendJSON(called{Call: json.RawMessage(name), Status: p.Status, Error: data})
}

// carry does the call as if it had come by itself: the same table and the same
// scopes hold.
func (k *socket) carry(name string, r *request) {
	if r.Method == "" {
		r.Method = http.MethodGet
	}
	if !strings.HasPrefix(r.Path, "/") {
		k.answer(name, problem(http.StatusBadRequest, "a call names a path", `write {"call": 1, "method": "GET", "path": "/v1/threads"}`))
		return
	}
	caller := *k.person
	caller.cookie = false // the page was looked at when the socket was opened
	req, err := http.NewRequestWithContext(as(k.ctx, &caller), r.Method, r.Path, bytes.NewReader(r.Body))
	if err != nil {
		k.answer(name, problem(http.StatusBadRequest, "the call's method or path is malformed", ""))
		return
	}
	req.Host, req.RemoteAddr, req.RequestURI = k.host, k.remote, r.Path
	req.Header.Set("Content-Type", "application/json")
	_, pattern := k.server.mux.Handler(req)
	if !callable(pattern) || req.URL.Host != "" || path.Clean(req.URL.Path) != req.URL.Path {
		k.answer(name, problem(http.StatusNotFound, "no such operation can be called over a socket", "streams, blobs and pages are fetched by themselves"))
		return
	}
	out := &kept{statusOf: statusOf{header: http.Header{}}}
	k.server.mux.ServeHTTP(out, req)
	c := called{Call: json.RawMessage(name), Status: out.status}
	body := bytes.TrimSpace(out.body.Bytes())
	if len(body) == 0 || r.Method == http.MethodHead {
		body = []byte("null")
	}
	if out.status < 400 {
		c.OK = body
	} else {
		c.Error = body
	}
	data, err := thread.Encode(c)
	if err != nil {
		k.server.cfg.Log.Error("an answer cannot be written", "error", err)
		k.answer(name, problem(http.StatusInternalServerError, "the answer cannot be written", "the server's log says more"))
		return
	}
	k.queue(reply{data: data})
}

// callable says whether a path answers at once and in JSON.
func callable(pattern string) bool {
	for i := range routes {
		rt := &routes[i]
		if rt.pattern() == pattern {
			return rt.way == plain && rt.id != "getBlob" && rt.tag != "access" && rt.id != "showDocs" && rt.id != "metrics"
		}
	}
	return false
}

// kept keeps an answer.
type kept struct {
	statusOf
	body bytes.Buffer
}

func (k *kept) Write(b []byte) (int, error) {
	if k.status == 0 {
		k.status = http.StatusOK
	}
	return k.body.Write(b)
}
