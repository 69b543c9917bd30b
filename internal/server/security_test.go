package server_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/internal/server"
	"github.com/skeinhq/skein/thread"
)

// filled is a path with values in place of its names.
func filled(path string) string {
	return strings.NewReplacer("{id}", "rope", "{seq}", "1", "{callId}", "c1", "{sha256}", strings.Repeat("0", 64)).Replace(path)
}

func TestEachPathRefusesWithoutItsScope(t *testing.T) {
	s := open(t)
	s.create("rope")
	all := map[string]string{}
	for _, scope := range skein.Scopes() {
		all[scope] = s.tokenFor(scope+"er", nil, scope)
	}
	elsewhere := s.tokenFor("elsewhere", []string{"other"}, "admin")
	s.until("tokens are needed", func() bool { return s.do("GET", "/v1/threads", nil).status == 401 })
	paths := 0
	for _, r := range server.Routes() {
		path := filled(r.Path)
		nobody := s.do(r.Method, path, nil)
		if r.Scope == "" {
			if nobody.status == 401 || nobody.status == 403 {
				t.Errorf("%s %s is for everybody: %d", r.Method, path, nobody.status)
			}
			continue
		}
		paths++
		if p := nobody.problem(t); nobody.status != 401 || p.Code != "permission" {
			t.Errorf("%s %s without a token: %d", r.Method, path, nobody.status)
		}
		if a := s.as("skein_"+strings.Repeat("x", 43)).do(r.Method, path, nil); a.status != 401 && a.status != 429 {
			t.Errorf("%s %s with a token that was never made: %d", r.Method, path, a.status)
		}
		for scope, token := range all {
			status := s.as(token).asked(r.Method, path)
			if allowed := r.Scope == "any" || scope == r.Scope || scope == "admin"; allowed == (status == 403) {
				t.Errorf("%s %s with the scope %s: %d", r.Method, path, scope, status)
			}
			if r.ID == "deleteThread" && scope == "admin" {
				s.must(s.engine.Undelete(t.Context(), "rope"))
			}
		}
		if status := s.as(elsewhere).asked(r.Method, path); strings.Contains(r.Path, "{id}") != (status == 403) {
			t.Errorf("%s %s with a token for another thread: %d", r.Method, path, status)
		}
	}
	if paths < 30 {
		t.Errorf("only %d paths need a token", paths)
	}
}

func TestATokenIsGoodForItsThreadsAlone(t *testing.T) {
	s := open(t)
	for _, id := range []string{"rope", "other"} {
		s.create(id)
		s.say(id, "the harbour")
	}
	one := s.as(s.tokenFor("ben", []string{"rope", "mine"}, "read", "write"))
	var list struct{ Items []thread.Thread }
	one.get("/v1/threads", &list)
	if len(list.Items) != 1 || list.Items[0].ID != "rope" {
		t.Errorf("listed: %+v", list.Items)
	}
	var found struct{ Items []struct{ Thread string } }
	one.get("/v1/search?q=harbour", &found)
	if len(found.Items) != 1 || found.Items[0].Thread != "rope" {
		t.Errorf("found: %+v", found.Items)
	}
	one.refused("POST", "/v1/threads", map[string]any{"id": "theirs"}, 403, thread.Permission)
	one.refused("POST", "/v1/threads", map[string]any{}, 403, thread.Permission)
	one.call("POST", "/v1/threads", map[string]any{"id": "mine"}, 201, nil)
	one.refused("POST", "/v1/threads/rope/fork", map[string]any{"id": "theirs"}, 403, thread.Permission)
	k := one.dial()
	k.write(`{"watch":1,"thread":"other"}`)
	if m := k.read(); string(m.End) != "1" || m.Reason != "refused" {
		t.Errorf("a watch of another thread: %s", m.raw)
	}
	k.write(`{"call":2,"method":"GET","path":"/v1/threads/other"}`)
	if m := k.read(); string(m.Call) != "2" || m.Status != 403 || m.Error == nil {
		t.Errorf("a call to another thread: %s", m.raw)
	}
}

func TestTheTokensNameIsTheAuthor(t *testing.T) {
	s := open(t)
	s.create("rope")
	ben := s.as(s.tokenFor("ben", nil, "read", "write"))
	w := ben.say("rope", "hello")
	var e struct{ Message thread.Message }
	ben.get("/v1/threads/rope/entries/"+itoa(w.Seq), &e)
	if e.Message.Author != "ben" {
		t.Errorf("the author is %q", e.Message.Author)
	}
	ben.refused("POST", "/v1/threads/rope/messages", map[string]any{"text": "I am ana", "author": "ana"}, 403, thread.Permission)
}

func TestWithoutTokensTheBodyNamesTheAuthor(t *testing.T) {
	s := open(t)
	s.create("rope")
	var w where
	s.call("POST", "/v1/threads/rope/messages", map[string]any{"text": "hello", "author": "ben", "reply": false}, 202, &w)
	var e struct{ Message thread.Message }
	s.get("/v1/threads/rope/entries/"+itoa(w.Seq), &e)
	if e.Message.Author != "ben" {
		t.Errorf("the author is %q", e.Message.Author)
	}
}

func TestWhatIsNotForAReaderIsAStub(t *testing.T) {
	s := open(t)
	s.create("rope")
	ana, ben := s.as(s.tokenFor("ana", nil, "admin")), s.as(s.tokenFor("ben", nil, "read", "write"))
	var secret where
	ana.call("POST", "/v1/threads/rope/messages", map[string]any{"text": "the harbour is mined", "audience": []string{"cleo"}, "reply": false}, 202, &secret)
	ana.say("rope", "hello all")
	path := "/v1/threads/rope/entries/" + itoa(secret.Seq)
	for _, p := range []string{path, "/v1/threads/rope/entries", "/v1/threads/rope/search?q=mined", "/v1/threads/rope/read?id=0&count=2", "/v1/threads/rope/zoom?id=0", "/v1/threads/rope/nodes", "/v1/threads/rope/outline", "/v1/search?q=mined"} {
		if a := ben.do("GET", p, nil); a.status != 200 || strings.Contains(string(a.body), "mined\"") || strings.Contains(string(a.body), "is mined") {
			t.Errorf("%s shows it: %d %s", p, a.status, a.body)
		}
	}
	var stub map[string]any
	ben.get(path, &stub)
	if stub["seq"] == nil || stub["id"] == nil || stub["index"] == nil || stub["message"] != nil || stub["time"] != nil {
		t.Errorf("the stub: %v", stub)
	}
	l := ben.listen("/v1/threads/rope/events")
	e, ok := l.next()
	if !ok || strings.Contains(e.data, "is mined") || !strings.Contains(e.data, "hello all") {
		t.Errorf("the stream shows: %v %s", ok, e.data)
	}
	if a := ana.do("GET", path, nil); !strings.Contains(string(a.body), "is mined") {
		t.Errorf("its author sees %s", a.body)
	}
}

// A page of another site can have its own name lead to this machine; its browser
// then sends that name.
func TestAnotherNameForThisMachineOpensNothing(t *testing.T) {
	s := open(t, withServer(func(c *server.Config) { c.Hosts = []string{"skein.example.com"} }))
	s.create("rope")
	for _, host := range []string{"evil.example", "evil.example:8417", "localhost.evil.example", "127.0.0.1.nip.io"} {
		s.refused("GET", "/v1/threads/rope", nil, 421, thread.Permission, header("Host", host))
		if _, res, err := s.tryDial(header("Host", host)); err == nil || res.StatusCode != 421 {
			t.Errorf("a WebSocket by the name %s: %v", host, err)
		}
	}
	for _, host := range []string{"localhost", "LOCALHOST:1", "127.0.0.1:9", "[::1]:9"} {
		if a := s.do("GET", "/v1/threads/rope", nil, header("Host", host)); a.status != 200 {
			t.Errorf("%s: %d", host, a.status)
		}
	}
	// By a public name, or through a proxy, a token is needed even from this machine.
	s.refused("GET", "/v1/threads/rope", nil, 401, thread.Permission, header("Host", "skein.example.com"))
	s.refused("GET", "/v1/threads/rope", nil, 401, thread.Permission, header("X-Forwarded-For", "192.0.2.1"))
}

func TestAnotherSiteCanNeitherReadNorWrite(t *testing.T) {
	s := open(t, withServer(func(c *server.Config) { c.Origins = []string{"https://app.example.com"} }))
	s.create("rope")
	for _, foreign := range []change{
		header("Origin", "https://evil.example"), header("Origin", "null"), header("Origin", "http://localhost:1"), header("Origin", "https://app.example.com.evil.example"),
		header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Site", "same-site"),
	} {
		a := s.do("GET", "/v1/threads/rope", nil, foreign)
		if a.status != 403 || a.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("a foreign read: %d %v", a.status, a.header)
		}
		s.refused("POST", "/v1/threads/rope/messages", map[string]any{"text": "gotcha", "reply": false}, 403, thread.Permission, foreign)
		s.refused("OPTIONS", "/v1/threads/rope/messages", nil, 403, thread.Permission, foreign, header("Access-Control-Request-Method", "POST"))
		if _, res, err := s.tryDial(foreign); err == nil || res.StatusCode != 403 {
			t.Errorf("a foreign WebSocket: %v", err)
		}
		s.refused("GET", "/v1/threads/rope/events", nil, 403, thread.Permission, foreign)
	}
	if st := s.state("rope"); st.Length != 0 {
		t.Errorf("a foreign site has said something")
	}
	for _, own := range []change{header("Origin", s.url), header("Sec-Fetch-Site", "same-origin"), header("Origin", "https://app.example.com")} {
		if a := s.do("POST", "/v1/threads/rope/messages", map[string]any{"text": "mine", "reply": false}, own); a.status != 202 {
			t.Errorf("our own page: %d %s", a.status, a.body)
		}
	}
	listed := s.do("OPTIONS", "/v1/threads", nil, header("Origin", "https://app.example.com"), header("Access-Control-Request-Method", "POST"))
	if listed.status != 204 || listed.header.Get("Access-Control-Allow-Origin") != "https://app.example.com" || listed.header.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("a listed site: %d %v", listed.status, listed.header)
	}
	plain := s.do("POST", "/v1/threads/rope/messages", map[string]any{"text": "form", "reply": false}, header("Content-Type", "text/plain"))
	if plain.status < 400 {
		t.Errorf("a form's type: %d", plain.status)
	}
}

func TestACookieIsOurOwnPagesAlone(t *testing.T) {
	s := open(t)
	s.create("rope")
	secret := s.tokenFor("ben", nil, "read", "write")
	s.until("tokens are needed", func() bool { return s.do("GET", "/v1/threads", nil).status == 401 })
	s.refused("POST", "/v1/session", map[string]any{"token": "skein_no"}, 401, thread.Permission, header("Origin", s.url))
	s.refused("POST", "/v1/session", map[string]any{"token": secret}, 403, thread.Permission)
	a := s.do("POST", "/v1/session", map[string]any{"token": secret}, header("Origin", s.url))
	set := a.header.Get("Set-Cookie")
	if a.status != 200 || !strings.Contains(set, "HttpOnly") || !strings.Contains(set, "SameSite=Strict") || strings.Contains(string(a.body), secret) {
		t.Fatalf("%d %s %s", a.status, set, a.body)
	}
	cookie := header("Cookie", strings.SplitN(set, ";", 2)[0])
	var who struct{ Name string }
	if a := s.do("GET", "/v1/session", nil, cookie); a.status != 200 || !bytes.Contains(a.body, []byte(`"name":"ben"`)) {
		t.Errorf("%d %s %v", a.status, a.body, who)
	}
	said := map[string]any{"text": "hello", "reply": false}
	s.refused("POST", "/v1/threads/rope/messages", said, 403, thread.Permission, cookie)
	if a := s.do("POST", "/v1/threads/rope/messages", said, cookie, header("Origin", s.url)); a.status != 202 {
		t.Errorf("with an origin: %d %s", a.status, a.body)
	}
	s.must(s.engine.RevokeToken(t.Context(), "ben"))
	s.refused("GET", "/v1/session", nil, 401, thread.Permission, cookie)
	if a := s.do("DELETE", "/v1/session", nil, cookie); a.status != 204 || !strings.Contains(a.header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("%d %v", a.status, a.header)
	}
}

func TestATicketIsGoodForOneStream(t *testing.T) {
	now := time.Now()
	s := open(t, withServer(func(c *server.Config) { c.Now = func() time.Time { return now } }))
	s.create("rope")
	ben := s.as(s.tokenFor("ben", nil, "read"))
	s.until("tokens are needed", func() bool { return s.do("GET", "/v1/threads", nil).status == 401 })
	ticket := func() string {
		var made struct{ Ticket string }
		ben.call("POST", "/v1/tickets", nil, 201, &made)
		return made.Ticket
	}
	one := ticket()
	s.refused("GET", "/v1/threads?ticket="+one, nil, 401, thread.Permission)
	l := s.listen("/v1/threads/rope/events?ticket=" + one)
	if _, ok := l.next(); !ok {
		t.Error("the stream has nothing")
	}
	s.refused("GET", "/v1/threads/rope/events?ticket="+one, nil, 401, thread.Permission)
	two := ticket()
	s.dial(func(r *http.Request) { r.URL.RawQuery = "ticket=" + two })
	late := ticket()
	now = now.Add(31 * time.Second)
	s.refused("GET", "/v1/threads/rope/events?ticket="+late, nil, 401, thread.Permission)
	last := ticket()
	s.must(s.engine.RevokeToken(t.Context(), "ben"))
	s.refused("GET", "/v1/threads/rope/events?ticket="+last, nil, 401, thread.Permission)
}

func TestARevokedTokensStreamsEnd(t *testing.T) {
	s := open(t)
	s.create("rope")
	ben := s.as(s.tokenFor("ben", nil, "read"))
	l, k := ben.listen("/v1/threads/rope/events"), ben.dial()
	l.next()
	k.write(`{"watch":"w","thread":"rope"}`)
	k.read()
	s.must(s.engine.RevokeToken(t.Context(), "ben"))
	e, ok := l.next()
	if !ok || e.kind != "end" || e.data != `{"reason":"revoked"}` {
		t.Errorf("the stream ends with %+v", e)
	}
	if _, more := l.next(); more {
		t.Error("the stream goes on")
	}
	if m := k.read(); string(m.End) != `"w"` || m.Reason != "revoked" {
		t.Errorf("the socket ends with %s", m.raw)
	}
	for {
		if _, err := k.tryRead(); err != nil {
			break
		}
	}
	ben.refused("GET", "/v1/threads/rope", nil, 401, thread.Permission)
}

func TestAStreamThatNeedsNoTokenEndsWhereOneIsNeeded(t *testing.T) {
	s := open(t)
	s.create("rope")
	l, k := s.listen("/v1/threads/rope/events"), s.dial()
	l.next()
	k.write(`{"watch":"w","thread":"rope"}`)
	k.read()
	s.tokenFor("ben", nil, "read")
	if e, ok := l.next(); !ok || e.kind != "end" || e.data != `{"reason":"token"}` {
		t.Errorf("it goes on with %+v", e)
	}
	if m := k.read(); string(m.End) != `"w"` || m.Reason != "token" {
		t.Errorf("the socket ends with %s", m.raw)
	}
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

func TestKnowingABlobsHashOpensNothing(t *testing.T) {
	s := open(t)
	s.create("rope")
	s.create("other")
	ana, ben := s.as(s.tokenFor("ana", nil, "read", "write")), s.as(s.tokenFor("ben", nil, "read", "write"))
	data := []byte("the plans of the harbour")
	path := "/v1/threads/rope/blobs/" + sum(data)
	ana.refused("PUT", "/v1/threads/rope/blobs/"+sum([]byte("else")), data, 400, thread.Invalid)
	var part thread.Part
	ana.call("PUT", path+"?name=plans.txt", data, 200, &part)
	if part.Hash != sum(data) || part.Size != int64(len(data)) || part.Name != "plans.txt" {
		t.Errorf("the part: %+v", part)
	}
	ben.refused("GET", path, nil, 404, thread.NotFound) // no message holds it yet
	steal := map[string]any{"text": "mine now", "reply": false, "blobs": []any{map[string]any{"hash": part.Hash}}}
	ben.refused("POST", "/v1/threads/rope/messages", steal, 404, thread.NotFound)

	var w where
	ana.call("POST", "/v1/threads/rope/messages", map[string]any{"text": "look", "reply": false, "audience": []string{"cleo"}, "blobs": []any{map[string]any{"hash": part.Hash, "name": "plans.txt"}}}, 202, &w)
	ben.refused("GET", path, nil, 404, thread.NotFound)
	ben.refused("GET", path+"?seq="+itoa(w.Seq), nil, 404, thread.NotFound)
	ben.refused("POST", "/v1/threads/rope/messages", steal, 404, thread.NotFound)
	ben.refused("GET", "/v1/threads/other/blobs/"+part.Hash, nil, 404, thread.NotFound)
	for _, p := range []string{path, path + "?seq=" + itoa(w.Seq)} {
		a := ana.do("GET", p, nil)
		if a.status != 200 || !bytes.Equal(a.body, data) {
			t.Errorf("%s: %d %s", p, a.status, a.body)
		}
	}
	// Who shows the bytes has them.
	ben.call("PUT", path, data, 200, nil)
	ben.call("POST", "/v1/threads/rope/messages", steal, 202, nil)
	if a := ben.do("GET", path, nil); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestAnUploadIsNeverAPage(t *testing.T) {
	s := open(t)
	s.create("rope")
	for kind, want := range map[string]string{
		"text/html": "application/octet-stream", "image/svg+xml": "application/octet-stream", "text/plain": "text/plain; charset=utf-8",
		"image/png": "image/png", "TEXT/HTML; charset=x": "application/octet-stream", "nonsense": "application/octet-stream",
	} {
		data := []byte("<script>alert('" + kind + "')</script>")
		path := "/v1/threads/rope/blobs/" + sum(data)
		if a := s.do("PUT", path, data, header("Content-Type", kind)); a.status != 200 {
			t.Fatalf("%s: %d %s", kind, a.status, a.body)
		}
		s.call("POST", "/v1/threads/rope/messages", map[string]any{"reply": false, "blobs": []any{map[string]any{"hash": sum(data), "name": "x\".html"}}}, 202, nil)
		a := s.do("GET", path, nil)
		h := a.header
		if got := h.Get("Content-Type"); got != want {
			t.Errorf("%s is served as %q", kind, got)
		}
		if !strings.HasPrefix(h.Get("Content-Disposition"), "attachment") || h.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(h.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%s: %v", kind, h)
		}
		if b := s.do("GET", path, nil, header("If-None-Match", h.Get("ETag"))); b.status != 304 {
			t.Errorf("%s again: %d", kind, b.status)
		}
	}
}

func TestWhatIsTooMuchIsRefused(t *testing.T) {
	s := open(t, withLimits(func(l *server.Limits) { l.Body, l.Blob, l.Header = 64<<10, 128<<10, 8<<10 }))
	s.create("rope")
	p := s.refused("POST", "/v1/threads/rope/messages", map[string]any{"text": strings.Repeat("x", 65<<10)}, 413, thread.Limit)
	if p.Detail == "" {
		t.Error("it says nothing")
	}
	big := bytes.Repeat([]byte("x"), 129<<10)
	s.refused("PUT", "/v1/threads/rope/blobs/"+sum(big), big, 413, thread.Limit)
	fits := bytes.Repeat([]byte("x"), 100<<10)
	s.call("PUT", "/v1/threads/rope/blobs/"+sum(fits), fits, 200, nil)
	c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	s.must(err)
	defer c.Close()
	_, err = c.Write([]byte("GET /v1/threads HTTP/1.1\r\nHost: localhost\r\nX-Long: " + strings.Repeat("x", 16<<10) + "\r\n\r\n"))
	s.must(err)
	buf := make([]byte, 1024)
	if n, err := c.Read(buf); !strings.Contains(string(buf[:n]), " 431 ") {
		t.Errorf("a long header: %q %v", buf[:n], err)
	}
}

func TestWhoComesTooOftenWaits(t *testing.T) {
	s := open(t, withLimits(func(l *server.Limits) { l.Rate, l.Burst, l.Failures = 0.001, 3, 2 }))
	ben, cleo := s.as(s.tokenFor("ben", nil, "read")), s.as(s.tokenFor("cleo", nil, "read"))
	for range 3 {
		ben.get("/v1/threads", nil)
	}
	a := ben.do("GET", "/v1/threads", nil)
	if p := a.problem(t); a.status != 429 || p.Code != "limit" || a.header.Get("Retry-After") == "" {
		t.Errorf("%d %v", a.status, a.header)
	}
	cleo.get("/v1/threads", nil)
	wrong := s.as("skein_" + strings.Repeat("y", 43))
	for range 2 {
		wrong.refused("GET", "/v1/threads", nil, 401, thread.Permission)
	}
	wrong.refused("GET", "/v1/threads", nil, 429, thread.Limit)
	cleo.get("/v1/threads", nil) // what others try at the same address is not hers
}

func TestStreamsOfATokenAreCounted(t *testing.T) {
	s := open(t, withLimits(func(l *server.Limits) { l.Streams, l.Watches = 2, 1 }))
	s.create("rope")
	ben := s.as(s.tokenFor("ben", nil, "read"))
	one := ben.listen("/v1/threads/rope/events")
	k := ben.dial()
	ben.refused("GET", "/v1/threads/rope/events", nil, 429, thread.Limit)
	k.write(`{"watch":1,"thread":"rope"}`)
	k.read()
	k.write(`{"watch":2,"thread":"rope"}`)
	if m := k.read(); string(m.End) != "2" || m.Reason != "limit" {
		t.Errorf("a second watch: %s", m.raw)
	}
	one.close()
	s.until("there is room again", func() bool {
		a, err := ben.request("GET", "/v1/threads/rope/events", nil)
		if err != nil {
			return false
		}
		defer a.Body.Close()
		return a.StatusCode == 200
	})
}

func TestASlowHeaderIsNotWaitedFor(t *testing.T) {
	s := open(t, withLimits(func(l *server.Limits) { l.HeaderTime = 50 * time.Millisecond }))
	c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	s.must(err)
	defer c.Close()
	_, err = c.Write([]byte("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: "))
	s.must(err)
	s.must(c.SetReadDeadline(time.Now().Add(patience)))
	buf := make([]byte, 1024)
	for {
		n, err := c.Read(buf)
		if strings.Contains(string(buf[:n]), "200 OK") {
			t.Fatal("half a header was answered")
		}
		if e, timeout := err.(net.Error); timeout && e.Timeout() {
			t.Fatal("the connection stays open")
		}
		if err != nil {
			return
		}
	}
}

func TestASlowBodyIsNotWaitedFor(t *testing.T) {
	s := open(t, withLimits(func(l *server.Limits) { l.BodyTime = 50 * time.Millisecond }))
	s.create("rope")
	c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	s.must(err)
	defer c.Close()
	_, err = c.Write([]byte("POST /v1/threads HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"))
	s.must(err)
	s.must(c.SetReadDeadline(time.Now().Add(patience)))
	buf := make([]byte, 4096)
	n, err := c.Read(buf)
	if e, timeout := err.(net.Error); timeout && e.Timeout() || !strings.Contains(string(buf[:n]), " 408 ") {
		t.Errorf("it was answered %q, %v", buf[:n], err)
	}
}

func TestConnectionsBeyondTheLimitAreClosed(t *testing.T) {
	s := open(t, withLimits(func(l *server.Limits) { l.Connections = 2 }))
	var held []net.Conn
	for range 2 {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		s.must(err)
		held = append(held, c)
		_, err = c.Write([]byte("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"))
		s.must(err)
		buf := make([]byte, 1024)
		if n, err := c.Read(buf); err != nil || !strings.Contains(string(buf[:n]), "200") {
			t.Fatal(err)
		}
	}
	c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	s.must(err)
	s.must(c.SetReadDeadline(time.Now().Add(patience)))
	if n, err := c.Read(make([]byte, 10)); err == nil || n > 0 {
		t.Error("a third connection is open")
	}
	c.Close()
	for _, c := range held {
		c.Close()
	}
	s.until("there is room again", func() bool {
		res, err := s.request("GET", "/healthz", nil)
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == 200
	})
}

func TestWithoutATokenItServesThisMachineAlone(t *testing.T) {
	s := open(t)
	ln, err := net.Listen("tcp", "0.0.0.0:0")
	s.must(err)
	if err := s.server.Serve(t.Context(), ln); thread.CodeOf(err) != thread.Configuration {
		t.Errorf("served: %v", err)
	}
	if _, err := net.Dial("tcp", ln.Addr().String()); err == nil {
		t.Error("the listener is still open")
	}
	s.tokenFor("ben", nil, "read")
	s.until("tokens are needed", func() bool { return s.do("GET", "/v1/threads", nil).status == 401 })
	ln, err = net.Listen("tcp", "0.0.0.0:0")
	s.must(err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.server.Serve(ctx, ln) }()
	cancel()
	s.must(<-ended)
	s.must(s.engine.RevokeToken(t.Context(), "ben")) // nobody could come in
	ln, err = net.Listen("tcp", "0.0.0.0:0")
	s.must(err)
	if err := s.server.Serve(t.Context(), ln); thread.CodeOf(err) != thread.Configuration {
		t.Errorf("served for nobody: %v", err)
	}
}

// Once there was a token everybody needs one, also after it was revoked.
func TestRevokingTheLastTokenOpensNothing(t *testing.T) {
	s := open(t)
	s.tokenFor("ben", nil, "read")
	s.until("tokens are needed", func() bool { return s.do("GET", "/v1/threads", nil).status == 401 })
	s.must(s.engine.RevokeToken(t.Context(), "ben"))
	for range 3 {
		time.Sleep(30 * time.Millisecond)
		s.refused("GET", "/v1/threads", nil, 401, thread.Permission)
	}
	s.close()
	again := openAt(t, s.path, "127.0.0.1:0")
	again.refused("GET", "/v1/threads", nil, 401, thread.Permission)
}

// A mount has a scope like any path.
func TestAMountIsBehindTheSameGate(t *testing.T) {
	shown := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("the page")) })
	s := open(t, withServer(func(c *server.Config) {
		c.Mounts = []server.Mount{{Pattern: "GET /{$}", Handler: shown}, {Pattern: "POST /mcp", Scope: "read", Handler: shown}}
	}))
	s.tokenFor("ben", nil, "read")
	s.until("tokens are needed", func() bool { return s.do("GET", "/v1/threads", nil).status == 401 })
	if a := s.do("GET", "/", nil); a.status != 200 || string(a.body) != "the page" {
		t.Errorf("%d %s", a.status, a.body)
	}
	s.refused("POST", "/mcp", nil, 401, thread.Permission)
	if _, err := server.New(t.Context(), server.Config{Engine: s.engine, Mounts: []server.Mount{{Pattern: "GET /v1/threads", Handler: shown}}}); thread.CodeOf(err) != thread.Configuration {
		t.Errorf("a mount in the place of a path: %v", err)
	}
}
