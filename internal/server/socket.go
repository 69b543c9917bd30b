package server

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/danielgtaylor/huma/v2"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

func (s *Server) connect(ctx context.Context, _ *struct {
	Ticket string `query:"ticket" maxLength:"100" doc:"In the place of a token."`
}) (*huma.StreamResponse, error) {
	p := by(ctx)
	return raw(func(w http.ResponseWriter, r *http.Request) {
		// The socket outlives the request, and keeps nothing of it.
		ctx, leave, err := s.stay(context.Background(), p)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		// The origin was looked at before, and is one of the list.
		out := &wire{stall: s.cfg.Limits.Stall}
		conn, err := websocket.Accept(&upgrading{w, out}, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
		if err != nil {
			leave()
			return // it has answered
		}
		shrink(r.Context())
		conn.SetReadLimit(s.cfg.Limits.Body + 1<<10)
		k := &socket{server: s, conn: conn, out: out, ctx: ctx, person: p, host: strings.Clone(r.Host), remote: strings.Clone(r.RemoteAddr), watches: map[string]*watching{}}
		out.late = k.owe
		go func() { // which s.streams waits for; the request's own goroutine holds much more memory
			defer leave()
			k.run()
		}()
	}), nil
}

// socket is one client's WebSocket: one goroutine that reads, and one that writes
// while there is something to write.
type socket struct {
	server *Server
	work   sync.WaitGroup // the writer, calls, pings

	mu      sync.Mutex  // taken after a room's: nothing of a watch is called under it
	ready   []*watching // that may have something
	owing   bool        // the wire has something that it could not write at once
	writing bool
	ended   bool
	replies []reply // in their order, before frames
	queued  int     // bytes of replies
	talk    int     // of these, bytes of what no operation answered
	calls   int     // that run
	watches map[string]*watching
	beat    *time.Timer

	conn   *websocket.Conn // reads, and writes what is not data
	out    *wire           // writes data
	ctx    context.Context // ends with the token or the server; its cause says why
	person *person
	host   string
	remote string
}

// watching is a watch of a socket.
type watching struct {
	name   string // as the client calls it, in JSON
	watch  *skein.Watch
	queued bool        // among the ready
	timer  *time.Timer // when there may be something again
	over   bool
}

// reply is what is to be written beside frames.
type reply struct {
	data []byte
	done func()
	talk int // bytes, where no operation answered
}

// run reads until the client leaves, and waits for all that it has begun.
func (k *socket) run() {
	f := k.server.figures
	f.streams.WithLabelValues("websocket").Inc()
	defer f.streams.WithLabelValues("websocket").Dec()
	k.mu.Lock()
	k.beat = time.AfterFunc(k.server.cfg.Limits.Ping, k.ping)
	k.mu.Unlock()
	k.work.Add(1)
	stop := context.AfterFunc(k.ctx, func() {
		defer k.work.Done()
		defer k.survive()
		k.goodbye(endOf(k.ctx))
	})
	k.read()
	if stop() {
		k.work.Done()
	}
	k.end()
	_ = k.conn.CloseNow() // it is over in any case
	k.work.Wait()
}

// read hears what the client says until it leaves.
func (k *socket) read() {
	defer k.survive()
	for {
		kind, data, err := k.conn.Read(context.Background())
		if err != nil {
			return
		}
		if kind != websocket.MessageText {
			_ = k.conn.Close(websocket.StatusUnsupportedData, "write JSON as text")
			return
		}
		k.hear(data)
	}
}

// survive is deferred around all that is done for the socket: a panic ends it, and no
// other.
func (k *socket) survive() {
	if p := recover(); p != nil {
		k.server.fault("socket", thread.Caught(p))
		k.work.Go(func() { _ = k.conn.CloseNow() }) // it may wait for a goodbye, and others wait for their turn
	}
}

// end lets nothing begin any more and closes the watches.
func (k *socket) end() {
	k.mu.Lock()
	k.ended = true
	k.beat.Stop()
	var all []*watching
	for _, w := range k.watches {
		all = append(all, w)
	}
	k.mu.Unlock()
	for _, w := range all {
		k.leave(w)
	}
}

// start runs work that the socket waits for, unless it is over.
func (k *socket) start(work func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.ended {
		k.work.Go(func() {
			defer k.survive()
			work()
		})
	}
}

// goodbye tells the client that the server ends the socket, and why.
func (k *socket) goodbye(why reason) {
	k.mu.Lock()
	var names []string
	for name := range k.watches {
		names = append(names, name)
	}
	k.mu.Unlock()
	told := make(chan struct{})
	for _, name := range names {
		k.server.figures.ended.WithLabelValues(string(why)).Inc()
		k.send(ended(name, why), nil)
	}
	k.send(ended("null", why), func() { close(told) })
	select {
	case <-told:
	case <-time.After(2 * time.Second): // it reads nothing
	}
	code := websocket.StatusGoingAway
	if why == revoked {
		code = websocket.StatusPolicyViolation
	}
	_ = k.conn.Close(code, string(why))
}

// ended is the message that ends a watch; null ends all.
func ended(name string, why reason) []byte {
	return []byte(`{"end":` + name + `,"reason":"` + string(why) + `"}`)
}

// ping sees whether the client is still there. A pong may take as long as any
// other progress.
func (k *socket) ping() {
	k.start(func() {
		ctx, cancel := context.WithTimeout(context.Background(), k.server.cfg.Limits.Stall)
		defer cancel()
		if k.conn.Ping(ctx) != nil {
			_ = k.conn.CloseNow() // nobody is there
			return
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		if !k.ended {
			k.beat.Reset(k.server.cfg.Limits.Ping)
		}
	})
}

// request is a message of the client: one of watch, hold, unwatch, call, ping.
type request struct {
	Watch   json.RawMessage `json:"watch"`
	Thread  string          `json:"thread"`
	Tail    int             `json:"tail"`
	From    int64           `json:"from"`
	Epoch   string          `json:"epoch"`
	Hold    json.RawMessage `json:"hold"`
	On      bool            `json:"on"`
	Unwatch json.RawMessage `json:"unwatch"`
	Call    json.RawMessage `json:"call"`
	Method  string          `json:"method"`
	Path    string          `json:"path"`
	Body    json.RawMessage `json:"body"`
	Ping    json.RawMessage `json:"ping"`
}

// hear does what a message asks for.
func (k *socket) hear(data []byte) {
	var r request
	if err := json.Unmarshal(data, &r); err != nil {
		k.complain("the message is not an object of this protocol")
		return
	}
	for _, m := range []struct {
		name json.RawMessage
		do   func(name string, r *request)
	}{{r.Watch, k.open}, {r.Hold, k.hold}, {r.Unwatch, k.unwatch}, {r.Call, k.call}, {r.Ping, k.pong}} {
		if m.name == nil {
			continue
		}
		name := string(m.name)
		if len(name) > 64 || name == "" || name[0] == '{' || name[0] == '[' {
			k.complain("a name is a short text or a number")
			return
		}
		m.do(name, &r)
		return
	}
	k.complain("a message is one of watch, hold, unwatch, call and ping")
}

func (k *socket) complain(detail string) {
	k.sendJSON(map[string]any{"error": problem(http.StatusBadRequest, detail, "see docs/protocol.md")})
}

func (k *socket) sendJSON(v any) {
	data, err := thread.Encode(v)
	if err != nil {
		k.server.cfg.Log.Error("a reply cannot be written", "error", err)
		return
	}
	k.send(data, nil)
}

func (k *socket) pong(name string, _ *request) { k.send([]byte(`{"pong":`+name+`}`), nil) }

// open begins a watch. One of the same name ends without a word.
func (k *socket) open(name string, r *request) {
	w, why := k.begin(name, r)
	if why != "" {
		k.send(ended(name, why), nil)
		return
	}
	w.watch.Notify(func() { k.wake(w) })
	k.wake(w)
}

func (k *socket) begin(name string, r *request) (*watching, reason) {
	k.unwatch(name, nil)
	k.mu.Lock()
	full := len(k.watches) >= k.server.cfg.Limits.Watches
	k.mu.Unlock()
	switch {
	case full:
		return nil, "limit"
	case !k.person.may(read, r.Thread):
		return nil, refused
	}
	t, err := k.server.thread(k.ctx, r.Thread)
	if err != nil {
		return nil, k.why(err)
	}
	v, err := t.View(k.ctx, Cursor{r.Tail, r.From, r.Epoch}.options(k.person))
	if err != nil {
		return nil, k.why(err)
	}
	w := &watching{name: name, watch: v}
	k.mu.Lock()
	k.watches[name] = w
	k.mu.Unlock()
	k.server.figures.watches.Inc()
	return w, ""
}

// why is a watch's error in a word.
func (k *socket) why(err error) reason {
	switch thread.CodeOf(err) {
	case thread.NotFound:
		return unknown
	case thread.Invalid:
		return "invalid"
	}
	if r := k.server.reasonOf(k.ctx, err); r != gone {
		return r
	}
	return failed
}

func (k *socket) hold(name string, r *request) {
	if w := k.find(name); w != nil {
		w.watch.Hold(r.On)
	}
}

func (k *socket) unwatch(name string, _ *request) {
	if w := k.find(name); w != nil {
		k.leave(w)
	}
}

func (k *socket) find(name string) *watching {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.watches[name]
}

// leave ends a watch.
func (k *socket) leave(w *watching) {
	k.mu.Lock()
	was := w.over
	w.over = true
	if k.watches[w.name] == w {
		delete(k.watches, w.name)
	}
	if w.timer != nil {
		w.timer.Stop()
	}
	k.mu.Unlock()
	if !was {
		w.watch.Close()
		k.server.figures.watches.Dec()
	}
}
