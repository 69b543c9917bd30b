package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/skeinhq/skein/thread"
)

// innards are words that only this program's makers know.
var innards = []string{"json:", "strconv", "Go ", "struct", "unmarshal", "int64", "*thread", "http:", "tcp ", "EOF", "nil", "goroutine", "sql", "SQL", "context canceled", "deadline exceeded", "runtime", "panic", "huma"}

// Whatever is wrong with a request, it is told in words of the protocol, as a
// problem.
func TestWhatIsWrongIsToldInWordsOfTheProtocol(t *testing.T) {
	s := open(t)
	s.create("rope")
	s.say("rope", "hello")
	const rope = "/v1/threads/rope"
	zeros := strings.Repeat("0", 64)
	k := s.dial()
	for _, c := range []struct {
		method, path string
		body         any
		status       int
	}{
		{"POST", rope + "/messages", `{"text":`, 400},
		{"POST", rope + "/messages", `[]`, 422},
		{"POST", rope + "/messages", `{"text":1}`, 422},
		{"POST", rope + "/messages", `{"text":"x","nope":1}`, 422},
		{"POST", rope + "/messages", `{"text":"x"} and`, 400},
		{"POST", rope + "/messages", "{\"text\":\"\xff", 400},
		{"POST", rope + "/messages", nil, 400},
		{"POST", rope + "/messages", `{"text":"x","audience":["a b/c"]}`, 400},
		{"POST", rope + "/messages", `{"text":"x","meta":[1]}`, 400},
		{"POST", rope + "/messages", `{"text":"x","when":"never"}`, 422},
		{"POST", rope + "/messages", `{"text":"x","blobs":[{"hash":"z"}]}`, 422},
		{"POST", rope + "/messages", `{"text":" "}`, 400},
		{"POST", rope + "/rewind", `{"seq":99999999999999999999}`, 422},
		{"POST", rope + "/rewind", `{"seq":1e3}`, 422},
		{"POST", rope + "/rewind", `{"seq":1.5}`, 422},
		{"POST", rope + "/rewind", `{"seq":77}`, 404},
		{"POST", rope + "/fork", `{"seq":-1}`, 422},
		{"POST", rope + "/approvals/x", `{"decision":"perhaps"}`, 422},
		{"POST", rope + "/approvals/x", `{"decision":"allow"}`, 404},
		{"POST", "/v1/threads", `{"id":"a b"}`, 400},
		{"POST", "/v1/threads", `{"id":"rope"}`, 409},
		{"POST", "/v1/threads", `{"settings":{"zone":"Nowhere"}}`, 400},
		{"POST", "/v1/threads", `{"settings":{"agent":"nobody"}}`, 422},
		{"POST", "/v1/threads", `{"settings":{"tail":{"low":1e30,"high":2}}}`, 422},
		{"GET", "/v1/threads?limit=x", nil, 422},
		{"GET", "/v1/threads?limit=99999999999999999999", nil, 422},
		{"GET", "/v1/threads?cursor=%ff", nil, 400},
		{"GET", "/v1/threads?nope=1", nil, 422},
		{"GET", rope + "/entries?inactive=perhaps", nil, 422},
		{"GET", rope + "/entries?cursor=abc", nil, 400},
		{"GET", rope + "/entries/x", nil, 422},
		{"GET", rope + "/entries/99", nil, 404},
		{"GET", rope + "/zoom", nil, 422},
		{"GET", rope + "/zoom?id=0&n=3", nil, 404},
		{"GET", rope + "/read?id=9223372036854775807&count=1000", nil, 404},
		{"GET", rope + "/prompt?agent=nobody", nil, 422},
		{"GET", rope + "/prompt?at=77", nil, 404},
		{"GET", rope + "/events?tail=9999", nil, 422},
		{"GET", rope + "/search?q=", nil, 422},
		{"GET", rope + "/blobs/xyz", nil, 422},
		{"GET", rope + "/blobs/" + zeros, nil, 404},
		{"PUT", rope + "/blobs/" + zeros, []byte("x"), 400},
		{"GET", "/v1/threads/%00", nil, 404},
		{"GET", "/v1/ws", nil, 426},
	} {
		a := s.do(c.method, c.path, c.body)
		name := fmt.Sprintf("%s %s %v", c.method, c.path, c.body)
		if a.status != c.status {
			t.Errorf("%s: %d, want %d: %s", name, a.status, c.status, a.body)
		}
		a.problem(t)
		body := a.body
		if text, ok := c.body.(string); ok && json.Valid([]byte(text)) {
			k.write(fmt.Sprintf(`{"call":1,"method":%q,"path":%q,"body":%s}`, c.method, c.path, text))
			body = append(bytes.Clone(body), k.read().raw...)
		}
		for _, word := range innards {
			if bytes.Contains(body, []byte(word)) {
				t.Errorf("%s: it says %q: %s", name, word, body)
			}
		}
	}
}

// A body that does not say that it is JSON is not read, where JSON is wanted.
func TestABodySaysThatItIsJSON(t *testing.T) {
	s := open(t)
	s.create("rope")
	const path = "/v1/threads/rope/messages"
	body := `{"text":"hello","reply":false}`
	for kind, status := range map[string]int{
		"application/json": 202, "application/json; charset=utf-8": 202, "Application/JSON": 202,
		"": 415, "text/plain": 415, "text/plain; application/json": 415, "application/x-www-form-urlencoded": 415, "application/jsonx": 415, "application/cbor": 415, ";": 415,
	} {
		if a := s.do("POST", path, body, header("Content-Type", kind)); a.status != status {
			t.Errorf("%q: %d, want %d: %s", kind, a.status, status, a.body)
		} else if status == 415 {
			a.problem(t)
		}
	}
	if n := s.state("rope").Length; n != 3 {
		t.Errorf("%d messages were said, want 3", n)
	}
	s.call("POST", "/v1/threads/rope/stop", nil, 204, nil) // takes none
}

func TestAnAddressForWebSocketsSaysSo(t *testing.T) {
	s := open(t)
	good := map[string]string{"Connection": "keep-alive, Upgrade", "Upgrade": "WebSocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
	for name, wrong := range map[string][2]string{
		"no upgrade": {"Upgrade", ""}, "another protocol": {"Upgrade", "h2c"}, "no connection": {"Connection", "keep-alive"},
		"another version": {"Sec-WebSocket-Version", "8"}, "no key": {"Sec-WebSocket-Key", ""}, "a short key": {"Sec-WebSocket-Key", "eA=="},
	} {
		a := s.do("GET", "/v1/ws", nil, func(r *http.Request) {
			for k, v := range good {
				r.Header.Set(k, v)
			}
			r.Header.Set(wrong[0], wrong[1])
		})
		if a.status != 426 || a.header.Get("Upgrade") != "websocket" || a.header.Get("Sec-Websocket-Version") != "13" {
			t.Errorf("%s: %d %v", name, a.status, a.header)
		}
		a.problem(t)
	}
}

// A client may set much of a thread, but never the folder that its agents work in.
func TestNobodyChoosesAFolderOfTheServersMachine(t *testing.T) {
	s := open(t)
	s.create("rope")
	th, err := s.engine.Thread(t.Context(), "rope")
	s.must(err)
	check := func(s *site) {
		body := map[string]any{"settings": map[string]any{"workspace": "/etc", "zone": "Europe/Berlin"}}
		s.refused("PATCH", "/v1/threads/rope", body, 422, thread.Invalid)
		body["id"] = "other"
		s.refused("POST", "/v1/threads", body, 422, thread.Invalid)
		if got := s.asked("GET", "/v1/threads/other"); got != 404 {
			t.Errorf("the thread was made: %d", got)
		}
		if set, err := th.Settings(t.Context()); err != nil || set.Workspace != "" || set.Zone != "" {
			t.Errorf("set: %+v, %v", set, err)
		}
	}
	check(s)
	admin := s.as(s.tokenFor("root", nil, "admin"))
	check(admin)
	admin.call("PATCH", "/v1/threads/rope", map[string]any{"settings": map[string]any{"zone": "Europe/Berlin", "tail": map[string]any{"low": 100, "high": 200}}}, 200, nil)
	if set, err := th.Settings(t.Context()); err != nil || set.Zone != "Europe/Berlin" || set.Tail.High != 200 {
		t.Errorf("set: %+v, %v", set, err)
	}
}

// What is refused leaves nothing behind.
func TestAThreadWithTooMuchMetadataIsNotMade(t *testing.T) {
	s := open(t)
	s.refused("POST", "/v1/threads", map[string]any{"id": "rope", "meta": strings.Repeat("x", 65<<10)}, 400, thread.Invalid)
	if got := s.asked("GET", "/v1/threads/rope"); got != 404 {
		t.Errorf("it was made: %d", got)
	}
}
