package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/internal/server"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/echo"
	"github.com/skeinhq/skein/store/sqlite"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

// patience is how long a test waits for what must come.
const patience = time.Minute

// site is a server on a real socket, over a real database.
type site struct {
	testing.TB
	path   string
	engine *skein.Engine
	server *server.Server
	url    string
	token  string // shown with every request; empty: none
	client *http.Client

	stop  context.CancelFunc
	ended chan error
	once  sync.Once
}

// settings change a site before it opens.
type settings func(*site, *skein.Config, *server.Config)

func withModel(m model.Model) settings {
	return func(s *site, c *skein.Config, _ *server.Config) {
		c.Models = func(string) (model.Model, error) { return m, nil }
	}
}

func withLimits(f func(*server.Limits)) settings {
	return func(_ *site, _ *skein.Config, c *server.Config) { f(&c.Limits) }
}

func withServer(f func(*server.Config)) settings {
	return func(_ *site, _ *skein.Config, c *server.Config) { f(c) }
}

// open opens a site on a new database.
func open(t testing.TB, with ...settings) *site {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "skein.db"), "127.0.0.1:0", with...)
}

// openAt opens a site on a database, at an address.
func openAt(t testing.TB, path, address string, with ...settings) *site {
	t.Helper()
	s := &site{TB: t, path: path, client: &http.Client{Transport: &http.Transport{}}, ended: make(chan error, 1)}
	st, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	s.must(err)
	ec := skein.Config{Store: st, Models: func(string) (model.Model, error) { return echo.Model{}, nil }}
	sc := server.Config{Name: "ana"}
	sc.Limits.Recheck, sc.Limits.Grace = 20*time.Millisecond, 50*time.Millisecond
	for _, w := range with {
		w(s, &ec, &sc)
	}
	s.engine, err = skein.Open(t.Context(), ec)
	s.must(err)
	sc.Engine = s.engine
	s.server, err = server.New(t.Context(), sc)
	s.must(err)
	ln, err := net.Listen("tcp", address)
	s.must(err)
	s.url = "http://" + ln.Addr().String()
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	go func() { s.ended <- s.server.Serve(ctx, ln) }()
	t.Cleanup(s.close)
	return s
}

// close ends the site as a process does that is asked to.
func (s *site) close() {
	s.once.Do(func() {
		s.client.CloseIdleConnections()
		s.stop()
		if err := <-s.ended; err != nil {
			s.Errorf("serve: %v", err)
		}
		if err := s.server.Close(); err != nil {
			s.Errorf("close the server: %v", err)
		}
		for err := range s.engine.Check(context.Background()) {
			s.Errorf("check: %v", err)
		}
		if err := s.engine.Close(); err != nil {
			s.Errorf("close the engine: %v", err)
		}
	})
}

func (s *site) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// tokenFor makes a token and gives its secret.
func (s *site) tokenFor(name string, threads []string, scopes ...string) string {
	s.Helper()
	secret, _, err := s.engine.CreateToken(s.Context(), name, scopes, threads)
	s.must(err)
	return secret
}

// as is the site as the holder of a token sees it.
func (s *site) as(token string) *site {
	return &site{TB: s.TB, path: s.path, engine: s.engine, server: s.server, url: s.url, token: token, client: s.client}
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// into reads the answer into a value.
func (a answer) into(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal(a.body, v); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
}

// problem is a problem document.
type problem struct {
	Type, Title, Detail, Code, Hint string
	Status                          int
	Errors                          []struct{ Location, Message string }
}

func (a answer) problem(t testing.TB) problem {
	t.Helper()
	var p problem
	if err := json.Unmarshal(a.body, &p); err != nil || a.header.Get("Content-Type") != "application/problem+json" {
		t.Fatalf("not a problem: %d %s %s", a.status, a.header.Get("Content-Type"), a.body)
	}
	if p.Status != a.status || p.Detail == "" || p.Code == "" || p.Title == "" {
		t.Errorf("the problem is incomplete: %d %s", a.status, a.body)
	}
	return p
}

// change changes a request before it is sent.
type change func(*http.Request)

func header(name, value string) change {
	return func(r *http.Request) {
		if name == "Host" {
			r.Host = value
			return
		}
		r.Header.Set(name, value)
	}
}

// request asks; body is JSON, or bytes.
func (s *site) request(method, path string, body any, changes ...change) (*http.Response, error) {
	s.Helper()
	var reader io.Reader
	kind := ""
	switch b := body.(type) {
	case nil:
	case []byte:
		reader, kind = bytes.NewReader(b), "application/octet-stream"
	case string:
		reader, kind = strings.NewReader(b), "application/json"
	default:
		data, err := json.Marshal(b)
		s.must(err)
		reader, kind = bytes.NewReader(data), "application/json"
	}
	r, err := http.NewRequestWithContext(s.Context(), method, s.url+path, reader)
	s.must(err)
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	if s.token != "" {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	for _, c := range changes {
		c(r)
	}
	return s.client.Do(r)
}

func (s *site) do(method, path string, body any, changes ...change) answer {
	s.Helper()
	res, err := s.request(method, path, body, changes...)
	s.must(err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	s.must(err)
	return answer{res.StatusCode, res.Header, data}
}

// asked asks, and takes the status alone: what answers may be a stream.
func (s *site) asked(method, path string) int {
	s.Helper()
	res, err := s.request(method, path, nil)
	s.must(err)
	s.must(res.Body.Close())
	return res.StatusCode
}

// get asks and reads what comes into a value.
func (s *site) get(path string, into any) {
	s.Helper()
	s.call("GET", path, nil, 200, into)
}

// call asks for something that must succeed with that status.
func (s *site) call(method, path string, body any, status int, into any) {
	s.Helper()
	a := s.do(method, path, body)
	if a.status != status {
		s.Fatalf("%s %s: %d, want %d: %s", method, path, a.status, status, a.body)
	}
	if into != nil {
		if err := json.Unmarshal(a.body, into); err != nil {
			s.Fatalf("%s %s: %v: %s", method, path, err, a.body)
		}
	}
}

// refused asks for something that must fail with that status and code.
func (s *site) refused(method, path string, body any, status int, code thread.Code, changes ...change) problem {
	s.Helper()
	a := s.do(method, path, body, changes...)
	if a.status != status {
		s.Fatalf("%s %s: %d, want %d: %s", method, path, a.status, status, a.body)
	}
	p := a.problem(s.TB)
	if p.Code != string(code) {
		s.Errorf("%s %s: code %q, want %q: %s", method, path, p.Code, code, a.body)
	}
	return p
}

func (s *site) create(id string) {
	s.Helper()
	s.call("POST", "/v1/threads", map[string]any{"id": id}, 201, nil)
}

// where is where a message stands.
type where struct {
	ID    string `json:"id"`
	Seq   int64  `json:"seq"`
	Index *int64 `json:"index"`
}

// say says something that nobody answers.
func (s *site) say(id, text string) where {
	s.Helper()
	var w where
	s.call("POST", "/v1/threads/"+id+"/messages", map[string]any{"text": text, "reply": false}, 202, &w)
	return w
}

// ask says something that is answered by and by.
func (s *site) ask(id, text string) where {
	s.Helper()
	var w where
	s.call("POST", "/v1/threads/"+id+"/messages", map[string]any{"text": text}, 202, &w)
	return w
}

// until waits for something to be so.
func (s *site) until(what string, ok func() bool) {
	s.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.Fatalf("%s: it never was", what)
		}
	}
}

func (s *site) state(id string) thread.Thread {
	s.Helper()
	t, err := s.engine.Thread(context.Background(), id)
	s.must(err)
	st, err := t.State(context.Background())
	s.must(err)
	return st
}

func (s *site) answered(id string, length int64) {
	s.Helper()
	s.until(fmt.Sprintf("%s has %d messages and no turn", id, length), func() bool {
		st := s.state(id)
		return st.Length == length && st.Turn == 0
	})
}

// event is one server-sent event.
type event struct {
	id, kind, data string
	comment        bool
}

// listener is a standard reader of server-sent events.
type listener struct {
	testing.TB
	res    *http.Response
	cancel context.CancelFunc
	in     *bufio.Reader
	retry  string
	lastID string
	raw    bytes.Buffer
}

func (s *site) listen(path string, changes ...change) *listener {
	s.Helper()
	ctx, cancel := context.WithCancel(s.Context())
	s.Cleanup(cancel)
	res, err := s.request("GET", path, nil, append(changes, func(r *http.Request) { *r = *r.WithContext(ctx) })...)
	s.must(err)
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
		data, _ := io.ReadAll(res.Body)
		s.Fatalf("listen %s: %d %s %s", path, res.StatusCode, res.Header.Get("Content-Type"), data)
	}
	l := &listener{TB: s.TB, res: res, cancel: cancel}
	l.in = bufio.NewReaderSize(io.TeeReader(res.Body, &l.raw), 4096)
	s.Cleanup(l.close)
	return l
}

func (l *listener) close() {
	l.cancel()
	l.res.Body.Close()
}

// next reads the next event or comment; ok is false at the end.
func (l *listener) next() (e event, ok bool) {
	for {
		line, err := l.in.ReadString('\n')
		if err != nil {
			return e, false
		}
		line = strings.TrimSuffix(line, "\n")
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "" && e == (event{}):
		case line == "":
			return e, true
		case name == "":
			e.comment = true
		case name == "id":
			e.id, l.lastID = value, value
		case name == "event":
			e.kind = value
		case name == "data":
			e.data += value
		case name == "retry":
			l.retry = value
		}
	}
}

// follow applies events to a replica until it is as wanted.
func (l *listener) follow(r *view.Replica, what string, ok func(view.View) bool) {
	l.Helper()
	timer := time.AfterFunc(patience, l.cancel)
	defer timer.Stop()
	for !ok(r.View()) {
		e, more := l.next()
		if !more {
			l.Fatalf("%s: the stream ended; the view is %s", what, encoded(r.View()))
		}
		if e.comment || e.kind != "" {
			continue
		}
		apply(l.TB, r, []byte(e.data))
	}
}

func apply(t testing.TB, r *view.Replica, data []byte) view.Batch {
	t.Helper()
	var b view.Batch
	if err := json.Unmarshal(data, &b); err != nil {
		t.Fatalf("%v: %.300s", err, data)
	}
	if err := r.Applied(b); err != nil {
		t.Fatalf("%v: %.300s", err, data)
	}
	return b
}

func encoded(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	if len(data) > 2000 {
		return string(data[:2000]) + "…"
	}
	return string(data)
}

// socket is a client's WebSocket.
type socket struct {
	testing.TB
	conn *websocket.Conn
}

func (s *site) dial(changes ...change) *socket {
	s.Helper()
	c, res, err := s.tryDial(changes...)
	if err != nil {
		status := 0
		if res != nil {
			status = res.StatusCode
		}
		s.Fatalf("dial: %v (%d)", err, status)
	}
	return c
}

func (s *site) tryDial(changes ...change) (*socket, *http.Response, error) {
	s.Helper()
	r, err := http.NewRequest("GET", s.url+"/v1/ws", nil)
	s.must(err)
	if s.token != "" {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	for _, c := range changes {
		c(r)
	}
	u := "ws" + strings.TrimPrefix(r.URL.String(), "http")
	conn, res, err := websocket.Dial(s.Context(), u, &websocket.DialOptions{HTTPHeader: r.Header, HTTPClient: s.client, Host: r.Host})
	if err != nil {
		return nil, res, err
	}
	conn.SetReadLimit(64 << 20)
	s.Cleanup(func() { conn.CloseNow() })
	return &socket{s.TB, conn}, res, nil
}

func (k *socket) write(text string) {
	k.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := k.conn.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
		k.Fatalf("write %s: %v", text, err)
	}
}

// reply is any message of the server.
type reply struct {
	W      json.RawMessage `json:"w"`
	N      int64           `json:"n"`
	Ops    json.RawMessage `json:"ops"`
	Call   json.RawMessage `json:"call"`
	Status int             `json:"status"`
	OK     json.RawMessage `json:"ok"`
	Error  *problem        `json:"error"`
	End    json.RawMessage `json:"end"`
	Reason string          `json:"reason"`
	Pong   json.RawMessage `json:"pong"`
	raw    []byte
}

func (k *socket) read() reply {
	k.Helper()
	m, err := k.tryRead()
	if err != nil {
		k.Fatalf("read: %v", err)
	}
	return m
}

func (k *socket) tryRead() (reply, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, data, err := k.conn.Read(ctx)
	if err != nil {
		return reply{}, err
	}
	var m reply
	err = json.Unmarshal(data, &m)
	m.raw = data
	return m, err
}

// follow applies frames to the replicas of the watches until one is as wanted.
func (k *socket) follow(rs map[string]*view.Replica, what string, ok func() bool) {
	k.Helper()
	for !ok() {
		m := k.read()
		switch {
		case m.W != nil:
			r := rs[string(m.W)]
			if r == nil {
				k.Fatalf("%s: a frame of an unknown watch: %.200s", what, m.raw)
			}
			apply(k.TB, r, m.raw)
		default:
			k.Fatalf("%s: instead came %.300s", what, m.raw)
		}
	}
}

// dictated is a model that says what a test tells it to; the end of the channel
// is the end of the answer.
type dictated chan string

func (d dictated) Stream(ctx context.Context, _ *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		text := ""
		for {
			select {
			case piece := <-d:
				if piece == "" {
					yield(model.Event{Type: model.Done, Parts: []thread.Part{thread.Text(text)}, Stop: thread.StopEnd}, nil)
					return
				}
				text += piece
				if !yield(model.Event{Type: model.TextDelta, Text: piece}, nil) {
					return
				}
			case <-ctx.Done():
				yield(model.Event{}, ctx.Err())
				return
			}
		}
	}
}

// end ends the answer.
func (d dictated) end() { d <- "" }

// texts are the window's messages.
func texts(v view.View) []string {
	var out []string
	for _, e := range v.Entries {
		if e.Message == nil {
			out = append(out, "(hidden)")
			continue
		}
		out = append(out, e.Message.PlainText())
	}
	return out
}

func live(v view.View) string {
	if v.Docs.Live == nil {
		return ""
	}
	return v.Docs.Live.Text
}
