package server

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/prometheus/client_golang/prometheus"
)

// sink takes all that is written.
type sink struct{ net.Conn }

func (sink) SetWriteDeadline(time.Time) error { return nil }
func (sink) Write(p []byte) (int, error)      { return len(p), nil }

// Where a socket's turn panics while its client is said goodbye to, and does not
// answer, nobody waits for that.
func TestATurnThatPanicsKeepsNobodyWaiting(t *testing.T) {
	s := &Server{figures: newFigures(), faults: newFaults(prometheus.NewRegistry())}
	s.cfg.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	s.pieces.New = func() any { return new([piece]byte) }
	s.pump.running = 1 << 20 // the test runs it
	accepted, over := make(chan *websocket.Conn, 1), make(chan struct{})
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, err := websocket.Accept(w, r, nil); err == nil {
			accepted <- c
			<-over
		}
	}))
	defer h.Close()
	defer close(over)
	client, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(h.URL, "http"), nil)
	if err != nil {
		t.Fatal(err)
	}
	conn := <-accepted
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = conn.Close(websocket.StatusGoingAway, "stop") // the client reads nothing, so it answers nothing
	}()
	time.Sleep(100 * time.Millisecond) // that has begun
	bad := &socket{server: s, ctx: context.Background(), conn: conn, out: &wire{Conn: sink{}, stall: time.Minute}}
	bad.wake(&watching{name: "x"}) // it watches nothing, which panics
	good := &socket{server: s, ctx: context.Background(), out: &wire{Conn: sink{}, stall: time.Minute}}
	told := make(chan struct{})
	good.send([]byte("hello"), func() { close(told) })
	ran := make(chan struct{})
	go func() {
		defer close(ran)
		s.pump.run()
	}()
	select {
	case <-told:
	case <-time.After(4 * time.Second): // the goodbye waits for five
		t.Error("another socket waits for the goodbye")
	}
	_ = client.CloseNow()
	<-closed
	<-ran
	bad.work.Wait()
	good.work.Wait()
}

// Who waits longest comes first, and where somebody always waits the queue does not
// grow.
func TestThePumpTakesInOrder(t *testing.T) {
	p := &pump{running: 1 << 20} // so that it starts nothing
	sockets := make([]*socket, 5000)
	for i := range sockets {
		sockets[i] = &socket{}
	}
	added := 0
	add := func(n int) {
		for range n {
			p.add(sockets[added%len(sockets)])
			added++
		}
	}
	add(3000)
	var some [inARow]*socket
	for came := 0; came < 50_000; {
		n := p.take(&some)
		for _, k := range some[:n] {
			if k != sockets[came%len(sockets)] {
				t.Fatalf("another than the %d-th came", came)
			}
			came++
		}
		add(n)
	}
	if n := len(p.waiting); n > 3*3000 {
		t.Errorf("3000 wait in a queue of %d", n)
	}
	left := 0
	for n := p.take(&some); n > 0; n = p.take(&some) {
		left += n
	}
	if left != 3000 || p.running != 1<<20-1 {
		t.Errorf("%d were left, want 3000; then nobody waits, and %d run", left, p.running)
	}
}
