package mcp_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skeinhq/skein/tool/mcp"
)

func TestHeadersAreSentToTheServerAlone(t *testing.T) {
	var strangers, known atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		strangers.Add(1)
		w.WriteHeader(http.StatusTeapot)
	}))
	defer elsewhere.Close()
	var away atomic.Bool
	srv := web(t, full(), func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer hush" {
				t.Errorf("%s without its header", r.Method)
			}
			known.Add(1)
			switch {
			case away.Load():
				http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
			case r.URL.Path == "/old":
				http.Redirect(w, r, "/new", http.StatusTemporaryRedirect)
			default:
				h.ServeHTTP(w, r)
			}
		})
	})
	b := open(t, mcp.Server{Name: "srv", URL: srv.URL + "/old", Headers: map[string]string{"Authorization": "Bearer hush"}, Timeout: ample})
	b.expect("srv_add", `{"a":2,"b":3}`, false, "5") // within its host a redirect is followed
	away.Store(true)
	b.expect("srv_add", `{"a":2,"b":3}`, true, "the MCP server srv", "another host")
	if strangers.Load() != 0 || known.Load() == 0 {
		t.Errorf("%d requests went elsewhere, %d home", strangers.Load(), known.Load())
	}
	if strings.Contains(b.warnings(), "hush") {
		t.Error(b.warnings())
	}
}

func TestAServerThatOpensNoStreamIsUsedWithoutOne(t *testing.T) {
	// It takes the request for its stream, and never begins to answer.
	srv := web(t, full(), func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				<-r.Context().Done()
				return
			}
			h.ServeHTTP(w, r)
		})
	})
	b := open(t, mcp.Server{Name: "srv", URL: srv.URL, Timeout: ample})
	b.expect("srv_add", `{"a":2,"b":3}`, false, "5")
}

func TestAServerOfTheWebThatWasStartedAnewIsConnectedToAgain(t *testing.T) {
	var anew atomic.Bool
	first, second := handler(t, full()), handler(t, full())
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if anew.Load() {
			second.ServeHTTP(w, r)
			return
		}
		first.ServeHTTP(w, r)
	}))
	defer srv.Close()
	b := open(t, mcp.Server{Name: "srv", URL: srv.URL, Timeout: ample})
	b.expect("srv_add", `{"a":2,"b":3}`, false, "5")
	anew.Store(true)
	b.expect("srv_add", `{"a":2,"b":3}`, true, "the MCP server srv broke off", "session not found")
	b.expect("srv_add", `{"a":2,"b":3}`, false, "5")
	b.Close()
	srv.CloseClientConnections()
}

// By hand: a server that answers each method with a body of its own.
func TestServersOfTheWebThatMisbehave(t *testing.T) {
	const hello = `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"hand","version":"1"}}}`
	const list = `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"act","inputSchema":{"type":"object"}}]}}`
	for about, c := range map[string]struct {
		act  func(w http.ResponseWriter, r *http.Request, id string)
		want string
	}{
		"an endless body": {func(w http.ResponseWriter, r *http.Request, _ string) {
			w.Header().Set("Content-Type", "application/json")
			for block := bytes.Repeat([]byte(" "), 1<<20); ; {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		}, "more than 16 MiB"},
		"an endless stream": {func(w http.ResponseWriter, r *http.Request, _ string) {
			w.Header().Set("Content-Type", "text/event-stream")
			for event := []byte(": " + strings.Repeat("x", 1<<20) + "\n\n"); ; {
				if _, err := w.Write(event); err != nil {
					return
				}
			}
		}, "request terminated without response"},
		"no JSON": {func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, "<html>")
		}, "broke off"},
		"another type": {func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<html>")
		}, "text/html"},
		"busy":         {func(w http.ResponseWriter, _ *http.Request, _ string) { w.WriteHeader(http.StatusServiceUnavailable) }, "Service Unavailable"},
		"unauthorized": {func(w http.ResponseWriter, _ *http.Request, _ string) { w.WriteHeader(http.StatusUnauthorized) }, "Unauthorized"},
		"no answer":    {func(_ http.ResponseWriter, r *http.Request, _ string) { <-r.Context().Done() }, "did not answer within"},
	} {
		t.Run(about, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var id, method string
				if r.Method == http.MethodPost {
					id, method = asked(t, r)
				}
				answer := map[string]string{"initialize": hello, "tools/list": list, "ping": `{"jsonrpc":"2.0","id":%s,"result":{}}`}[method]
				switch {
				case method == "tools/call":
					c.act(w, r, id)
				case answer != "":
					w.Header().Set("Content-Type", "application/json")
					fmt.Fprintf(w, answer, id)
				case r.Method == http.MethodPost:
					w.WriteHeader(http.StatusAccepted)
				default:
					w.WriteHeader(http.StatusMethodNotAllowed)
				}
			}))
			defer srv.Close()
			timeout := ample
			if about == "no answer" {
				timeout = 300 * time.Millisecond
			}
			b := open(t, mcp.Server{Name: "srv", URL: srv.URL, Timeout: timeout})
			b.expect("srv_act", `{}`, true, "the MCP server srv", c.want)
			if sets := b.Sets(context.Background()); len(sets[0].Tools) != 1 {
				t.Errorf("the tools are gone: %+v", sets)
			}
			b.Close()
			srv.CloseClientConnections()
		})
	}
}
