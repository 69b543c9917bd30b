package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/skeinhq/skein/client"
	"github.com/skeinhq/skein/view"
)

// fake serves models over the wire, and can be cut, stalled and refused at will.
type fake struct {
	*httptest.Server
	models map[string]*model

	mu      sync.Mutex
	conns   map[net.Conn]bool // whether each is alive: a dead one is open, and reads and writes nothing more
	opened  int               // WebSockets and streams, together
	asked   []string          // what watches were begun with
	refuses int               // a status that watches are refused with
	noSocks bool              // something on the way knows no WebSockets
	tamper  func(*view.Batch)
	end     map[*ending]bool
	before  func() // called before a page is read
}

// ending ends one watch with a reason.
type ending struct{ with func(reason string) }

func serve(t *testing.T, ids ...string) *fake {
	s := &fake{models: map[string]*model{}, conns: map[net.Conn]bool{}, end: map[*ending]bool{}}
	for _, id := range ids {
		s.models[id] = newModel(id)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/ws", s.socket)
	mux.HandleFunc("GET /v1/threads/{id}/events", s.events)
	mux.HandleFunc("GET /v1/threads/{id}/entries", s.entries)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, http.StatusNotFound, "not-found", "there is nothing at "+r.Method+" "+r.URL.Path)
	})
	s.Server = httptest.NewUnstartedServer(mux)
	s.Listener = &listener{s.Listener, s}
	s.Start()
	t.Cleanup(func() {
		s.cut()
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *fake) client(t *testing.T, cfg client.Config) *client.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	cfg.URL, cfg.HTTP = s.URL, &http.Client{Transport: transport}
	if cfg.Pace == (client.Pace{}) {
		cfg.Pace = client.Pace{Min: time.Millisecond, Max: 8 * time.Millisecond}
	}
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// listener notes connections, to break them.
type listener struct {
	net.Listener
	server *fake
}

func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	w := &wire{c, l.server}
	l.server.mu.Lock()
	l.server.conns[w] = true
	l.server.mu.Unlock()
	return w, nil
}

// wire is a connection that can be dead and open at once.
type wire struct {
	net.Conn
	server *fake
}

func (w *wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	if err == nil && w.dead() {
		return w.Read(p) // what comes is lost
	}
	return n, err
}

func (w *wire) Write(p []byte) (int, error) {
	if w.dead() {
		return len(p), nil // and what goes
	}
	return w.Conn.Write(p)
}

func (w *wire) dead() bool {
	w.server.mu.Lock()
	defer w.server.mu.Unlock()
	alive, open := w.server.conns[w]
	return open && !alive
}

// cut breaks every connection there is.
func (s *fake) cut() {
	s.mu.Lock()
	conns := s.conns
	s.conns = map[net.Conn]bool{}
	s.mu.Unlock()
	for c := range conns {
		_ = c.Close()
	}
}

// die has every connection that is open now read and write nothing more; new ones
// live.
func (s *fake) die() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		s.conns[c] = false
	}
}

func (s *fake) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func (s *fake) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}

func fail(w http.ResponseWriter, status int, code, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"status": status, "code": code, "detail": detail, "hint": "look again"})
}

func refuse(w http.ResponseWriter, status int) {
	if status == http.StatusServiceUnavailable {
		fail(w, status, "aborted", "the server is about to end")
		return
	}
	fail(w, status, "permission", "the token is not valid")
}

func (s *fake) entries(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	before := s.before
	s.before = nil
	s.mu.Unlock()
	if before != nil {
		before()
	}
	m := s.models[r.PathValue("id")]
	if m == nil {
		fail(w, http.StatusNotFound, "not-found", "there is no such thread")
		return
	}
	limit := 50
	if l := r.FormValue("limit"); l != "" {
		limit = number(l)
	}
	_ = json.NewEncoder(w).Encode(m.page(int64(number(r.FormValue("before"))), limit))
}

func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// begin opens a watch that puts what it is sent into a queue.
func (s *fake) begin(id string, tail, from int, epoch string) (*model, *seat, chan view.Batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened++
	s.asked = append(s.asked, fmt.Sprintf("%s tail=%d from=%d epoch=%s", id, tail, from, epoch))
	m := s.models[id]
	if m == nil {
		return nil, nil, nil
	}
	if tail == 0 {
		tail = view.DefaultTail
	}
	queue := make(chan view.Batch, 10_000)
	seat := m.watch(tail, int64(from), epoch, func(b view.Batch) {
		if s.tamper != nil {
			s.tamper(&b)
		}
		queue <- b
	})
	return m, seat, queue
}

func (s *fake) socket(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	status, none := s.refuses, s.noSocks
	s.mu.Unlock()
	if none {
		http.Error(w, "what is an Upgrade?", http.StatusBadRequest)
		return
	}
	if status != 0 {
		refuse(w, status)
		return
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	put := func(v any) { _ = conn.Write(ctx, websocket.MessageText, encoded(v)) }
	for {
		_, data, err := conn.Read(ctx)
		if err != nil {
			return
		}
		var f struct {
			Watch  int
			Thread string
			Tail   int
			From   int
			Epoch  string
			Hold   int
			On     bool
		}
		if json.Unmarshal(data, &f) != nil || f.Watch == 0 {
			continue
		}
		m, seat, queue := s.begin(f.Thread, f.Tail, f.From, f.Epoch)
		if m == nil {
			put(map[string]any{"end": f.Watch, "reason": "not-found"})
			continue
		}
		defer m.leave(seat)
		e := &ending{func(reason string) { put(map[string]any{"end": f.Watch, "reason": reason}) }}
		s.set(func() { s.end[e] = true })
		defer s.set(func() { delete(s.end, e) })
		go func() {
			for {
				select {
				case <-ctx.Done():
					return
				case b := <-queue:
					put(map[string]any{"w": f.Watch, "n": b.N, "ops": b.Ops})
				}
			}
		}()
		for { // what comes after a watch is about it
			_, data, err := conn.Read(ctx)
			if err != nil {
				return
			}
			if json.Unmarshal(data, &f) == nil && f.Hold == f.Watch {
				m.hold(seat, f.On)
			}
		}
	}
}

func (s *fake) events(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	status := s.refuses
	s.mu.Unlock()
	if status != 0 {
		refuse(w, status)
		return
	}
	m, seat, queue := s.begin(r.PathValue("id"), number(r.FormValue("tail")), number(r.FormValue("from")), r.FormValue("epoch"))
	if m == nil {
		fail(w, http.StatusNotFound, "not-found", "there is no such thread")
		return
	}
	defer m.leave(seat)
	why := make(chan string, 1)
	e := &ending{func(reason string) { why <- reason }}
	s.set(func() { s.end[e] = true })
	defer s.set(func() { delete(s.end, e) })
	w.Header().Set("Content-Type", "text/event-stream")
	flusher := http.NewResponseController(w)
	alive := time.NewTicker(5 * time.Millisecond)
	defer alive.Stop()
	for {
		var text string
		select {
		case <-r.Context().Done():
			return
		case <-alive.C:
			text = ": alive\n\n"
		case b := <-queue:
			text = "id: e.1\ndata: " + strings.TrimSpace(string(encoded(b))) + "\n\n"
		case reason := <-why:
			text = "event: end\ndata: " + string(encoded(map[string]string{"reason": reason})) + "\n\n"
		}
		if _, err := w.Write([]byte(text)); err != nil || flusher.Flush() != nil {
			return
		}
		if strings.HasPrefix(text, "event: end") {
			return
		}
	}
}

// endAll ends every watch with a reason.
func (s *fake) endAll(reason string) {
	s.mu.Lock()
	var all []*ending
	for e := range s.end {
		all = append(all, e)
	}
	s.mu.Unlock()
	for _, e := range all {
		e.with(reason)
	}
}
