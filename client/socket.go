package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

// socket is a link over a WebSocket. A goroutine of its own looks after it.
type socket struct {
	conn  *websocket.Conn
	pace  Pace
	pulse pulse
	held  chan bool // the newest wish that was not passed on

	life context.Context // until close
	end  context.CancelCauseFunc
	work sync.WaitGroup
}

// watchNumber is the number that the one watch of a socket has.
const watchNumber = 1

// noSocketError says that something on the way lets no WebSocket through.
type noSocketError struct{ status string }

func (e noSocketError) Error() string { return "no WebSocket comes through: " + e.status }

func (c *Client) dialSocket(ctx context.Context, id string, a ask) (link, error) {
	u := c.address(nil, "v1", "ws")
	u.Scheme = strings.Replace(u.Scheme, "http", "ws", 1)
	dialing, cancel := context.WithTimeout(ctx, c.cfg.Pace.Patience)
	defer cancel()
	conn, resp, err := websocket.Dial(dialing, u.String(), &websocket.DialOptions{HTTPClient: c.cfg.HTTP, HTTPHeader: c.header()})
	if err != nil {
		return nil, c.refusal(ctx, resp, err)
	}
	conn.SetReadLimit(mostFrame)
	s := &socket{conn: conn, pace: c.cfg.Pace, held: make(chan bool, 1)}
	s.life, s.end = context.WithCancelCause(ctx)
	begin := map[string]any{"watch": watchNumber, "thread": id}
	if a.Tail != 0 {
		begin["tail"] = a.Tail
	}
	if a.From != 0 {
		begin["from"] = a.From
	}
	if a.Epoch != "" {
		begin["epoch"] = a.Epoch
	}
	if err := s.write(begin); err != nil {
		s.close()
		return nil, lost(err)
	}
	s.work.Go(s.mind)
	return s, nil
}

// refusal reads why a handshake failed: the server's problem, or something on the
// way that knows no WebSockets.
func (c *Client) refusal(ctx context.Context, resp *http.Response, err error) error {
	if resp == nil || resp.StatusCode == http.StatusSwitchingProtocols {
		return c.unreachable(ctx, err)
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/problem+json") || resp.StatusCode >= 500 {
		return problem(resp)
	}
	return noSocketError{resp.Status}
}

func (s *socket) write(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(s.life, s.pace.Patience)
	defer cancel()
	return s.conn.Write(ctx, websocket.MessageText, data)
}

// mind passes wishes on and finds out whether the other side is still there: a
// socket may stay open for hours after that.
func (s *socket) mind() {
	tick := time.NewTicker(s.pace.Ping)
	defer tick.Stop()
	for {
		select {
		case <-s.life.Done():
			return
		case on := <-s.held:
			if err := s.write(map[string]any{"hold": watchNumber, "on": on}); err != nil {
				s.end(lost(err))
			}
		case <-tick.C:
			s.ping()
		}
	}
}

// ping ends the socket where neither the answer to a ping nor anything else comes
// in time, though somebody waits for it.
func (s *socket) ping() {
	asked := time.Now()
	ctx, cancel := context.WithTimeout(s.life, s.pace.Patience)
	defer cancel()
	if err := s.conn.Ping(ctx); err != nil && s.pulse.silentSince(asked) {
		s.end(errDead)
	}
}

// message is a frame of the socket.
type message struct {
	W      int       `json:"w"`
	N      int64     `json:"n"`
	Ops    []view.Op `json:"ops"`
	End    int       `json:"end"`
	Reason string    `json:"reason"`
}

func (s *socket) read(ctx context.Context) (frame, error) {
	stop := context.AfterFunc(ctx, func() { s.end(context.Cause(ctx)) })
	defer stop()
	for {
		data, err := s.next()
		if err != nil {
			if cause := context.Cause(s.life); cause != nil {
				return frame{}, cause
			}
			return frame{}, lost(err)
		}
		var m message
		if err := json.Unmarshal(data, &m); err != nil {
			return frame{}, err
		}
		switch {
		case m.W == watchNumber:
			return frame{batch: view.Batch{N: m.N, Ops: m.Ops}}, nil
		case m.End == watchNumber:
			return frame{end: true, why: m.Reason}, nil
		}
	}
}

func (s *socket) next() ([]byte, error) {
	defer s.pulse.wait()()
	_, r, err := s.conn.Reader(s.life)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(beating{r, &s.pulse})
}

// beating is a reader whose bytes show that the link is alive.
type beating struct {
	r     io.Reader
	pulse *pulse
}

func (b beating) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if n > 0 {
		b.pulse.beat()
	}
	return n, err
}

func (s *socket) hold(on bool) {
	select {
	case <-s.held: // a wish that was not passed on is none any more
	default:
	}
	s.held <- on
}

func (s *socket) close() {
	s.end(&thread.Error{Code: thread.Aborted, Op: "watch", Message: "the watch was left"})
	s.work.Wait()
	_ = s.conn.CloseNow() // the other side may be dead: nobody waits for its farewell
}
