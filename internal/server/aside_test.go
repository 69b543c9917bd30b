package server_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/skeinhq/skein/internal/server"
	"github.com/skeinhq/skein/model/scripted"
	"github.com/skeinhq/skein/thread"
)

// entries are those of a log as a site's token sees them.
func (s *site) entries(id string) (out []server.LogEntry) {
	s.Helper()
	for seq := range s.state(id).Tip {
		var e server.LogEntry
		s.get(fmt.Sprintf("/v1/threads/%s/entries/%d", id, seq+1), &e)
		out = append(out, e)
	}
	return out
}

func TestACallThatIsNotForSomebodyIsNeitherShownNorDecided(t *testing.T) {
	var rung []string
	s := open(t, asking(t, &rung))
	s.create("rope")
	ben := s.as(s.tokenFor("ben", nil, "read", "write", "approve"))
	dan := s.as(s.tokenFor("dan", nil, "read", "approve"))
	ben.call("POST", "/v1/threads/rope/messages", map[string]any{"text": "Ring it", "audience": []string{"north", "ben"}}, 202, nil)
	th, err := s.engine.Thread(t.Context(), "rope")
	s.must(err)
	call := ""
	s.until("the call waits", func() bool {
		asked, err := th.Pending(t.Context())
		s.must(err)
		if len(asked) == 1 {
			call = asked[0].Call
		}
		return call != ""
	})
	asks := func(e server.LogEntry) bool { return e.Approval != nil }
	if seen := dan.entries("rope"); slices.ContainsFunc(seen, asks) {
		t.Errorf("dan sees %s", encoded(seen))
	}
	if seen := ben.entries("rope"); !slices.ContainsFunc(seen, asks) {
		t.Errorf("ben sees %s", encoded(seen))
	}
	path := "/v1/threads/rope/approvals/" + call
	none := dan.refused("POST", "/v1/threads/rope/approvals/none", map[string]any{"decision": "allow"}, 404, thread.NotFound)
	hidden := dan.refused("POST", path, map[string]any{"decision": "allow", "scope": "thread"}, 404, thread.NotFound)
	if none.Detail != hidden.Detail || strings.Contains(none.Hint+hidden.Hint, call) || len(rung) != 0 {
		t.Errorf("dan is told %+v and %+v; rung %q", none, hidden, rung)
	}
	ben.call("POST", path, map[string]any{"decision": "allow"}, 202, nil)
	s.until("the turn is over", func() bool { return s.state("rope").Turn == 0 && s.state("rope").Length >= 4 })
	for _, e := range dan.entries("rope") {
		if e.Approval != nil || e.Message != nil || e.Turn != nil && e.Turn.Call != "" {
			t.Errorf("dan sees %s", encoded(e))
		}
	}
	var made struct{ Items []server.RequestMade }
	dan.get("/v1/threads/rope/requests", &made)
	if len(made.Items) != 0 {
		t.Errorf("dan sees the requests %s", encoded(made))
	}
	ben.get("/v1/threads/rope/requests", &made)
	if len(made.Items) != 2 {
		t.Errorf("ben sees the requests %s", encoded(made))
	}
}

func TestAFailureThatIsNotForSomebodyIsNotShown(t *testing.T) {
	m, err := scripted.Read(strings.NewReader("Fine.\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, withModel(m))
	s.create("rope")
	ben := s.as(s.tokenFor("ben", nil, "read", "write"))
	dan := s.as(s.tokenFor("dan", nil, "read"))
	fails := func(e server.LogEntry) bool { return e.Turn != nil && e.Turn.Error != nil }
	ben.ask("rope", "First")
	s.answered("rope", 2)
	failures := func(of *site) int {
		return len(slices.DeleteFunc(of.entries("rope"), func(e server.LogEntry) bool { return !fails(e) }))
	}
	agent := s.engine.Agents()[0]
	ben.call("POST", "/v1/threads/rope/messages", map[string]any{"text": "Aside", "audience": []string{agent, "ben"}}, 202, nil)
	s.until("a turn fails", func() bool { return failures(ben) == 1 })
	if n := failures(dan); n != 0 {
		t.Errorf("dan sees %d failures: %s", n, encoded(dan.entries("rope")))
	}
}

// Revoking opens nothing.
func TestATokenIsNeededOnceOneWasMade(t *testing.T) {
	s := open(t)
	s.tokenFor("ben", nil, "read")
	s.must(s.engine.RevokeToken(t.Context(), "ben"))
	s.until("tokens are needed", func() bool { return s.do("GET", "/v1/threads", nil).status == 401 })
	s.close()
	again := openAt(t, s.path, "127.0.0.1:0")
	again.refused("GET", "/v1/threads", nil, 401, thread.Permission)
}

func TestASessionsSocketMayWrite(t *testing.T) {
	s := open(t)
	s.create("rope")
	a := s.do("POST", "/v1/session", map[string]any{"token": s.tokenFor("ben", nil, "read", "write")}, header("Origin", s.url))
	cookie := header("Cookie", strings.SplitN(a.header.Get("Set-Cookie"), ";", 2)[0])
	if _, res, err := s.tryDial(cookie); err == nil || res == nil || res.StatusCode != 403 {
		t.Errorf("a socket that does not say which page it is of: %v", err)
	}
	k := s.dial(cookie, header("Origin", s.url))
	k.write(`{"call":1,"method":"POST","path":"/v1/threads/rope/messages","body":{"text":"hi","reply":false}}`)
	if m := k.read(); m.Status != 202 {
		t.Errorf("%s", m.raw)
	}
}

// Somebody may follow another site's link to the page, and that is all.
func TestALinkOfAnotherSiteLeadsToThePageAlone(t *testing.T) {
	shown := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("the page")) })
	s := open(t, withServer(func(c *server.Config) {
		c.Mounts = []server.Mount{{Pattern: "/", Handler: shown}, {Pattern: "/mcp", Scope: "read", Handler: shown}}
	}))
	follow := func(method, path, mode, dest string) int {
		return s.do(method, path, nil, header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Mode", mode), header("Sec-Fetch-Dest", dest)).status
	}
	for _, c := range []struct {
		method, path, mode, dest string
		status                   int
	}{
		{"GET", "/", "navigate", "document", 200},
		{"GET", "/a/thread", "navigate", "document", 200},
		{"GET", "/", "navigate", "iframe", 403},
		{"GET", "/", "no-cors", "image", 403},
		{"GET", "/", "cors", "empty", 403},
		{"POST", "/", "navigate", "document", 403},
		{"GET", "/mcp", "navigate", "document", 403},
		{"GET", "/v1/threads", "navigate", "document", 403},
		{"GET", "/v1/none", "navigate", "document", 403},
		{"GET", "/v1//threads", "navigate", "document", 403},
		{"GET", "/x/../v1/threads", "navigate", "document", 403},
		{"GET", "/metrics", "navigate", "document", 403},
		{"GET", "/docs", "navigate", "document", 403},
	} {
		if got := follow(c.method, c.path, c.mode, c.dest); got != c.status {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// A page that is mounted at / answers nowhere among the API's paths.
func TestAMountedPageDoesNotHideTheAPI(t *testing.T) {
	shown := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("the page")) })
	s := open(t, withServer(func(c *server.Config) { c.Mounts = []server.Mount{{Pattern: "/", Handler: shown}} }))
	for _, path := range []string{"/v1", "/v1/", "/v1/none", "/v1/threads/rope/none"} {
		s.refused("GET", path, nil, 404, thread.NotFound)
	}
	for path, allowed := range map[string]string{"/v1/threads": "GET, HEAD, POST", "/healthz": "GET, HEAD", "/readyz": "GET, HEAD", "/metrics": "GET, HEAD"} {
		a := s.do("DELETE", path, nil)
		if a.problem(t); a.status != 405 || a.header.Get("Allow") != allowed {
			t.Errorf("%s: %d, allowed %q: %s", path, a.status, a.header.Get("Allow"), a.body)
		}
	}
	if a := s.do("GET", "/v1x", nil); a.status != 200 || !bytes.Equal(a.body, []byte("the page")) {
		t.Errorf("beside the API: %d %s", a.status, a.body)
	}
}
