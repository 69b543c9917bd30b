package server_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/skeinhq/skein/internal/server"
	"github.com/skeinhq/skein/view"
)

// slowly is a connection of which a client reads little at a time, and nothing
// while it is not let.
type slowly struct {
	net.Conn
	let   chan struct{} // closed: it reads
	pause time.Duration // after each 16 KB
}

func (c *slowly) Read(b []byte) (int, error) {
	<-c.let
	time.Sleep(c.pause)
	return c.Conn.Read(b[:min(len(b), 16<<10)])
}

// dialSlowly opens a socket over a connection that reads only once let is closed.
func (s *site) dialSlowly(pause time.Duration) (k *socket, let chan struct{}) {
	s.Helper()
	let = make(chan struct{})
	start := make(chan struct{})
	slow := &slowly{let: start, pause: 0}
	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		if err := c.(*net.TCPConn).SetReadBuffer(128 << 10); err != nil {
			return nil, err
		}
		slow.Conn = c
		return slow, nil
	}}
	s.Cleanup(transport.CloseIdleConnections)
	close(start)
	one := s.as(s.token)
	one.client = &http.Client{Transport: transport}
	k = one.dial()
	slow.let, slow.pause = let, pause
	return k, let
}

// fill says n messages of so many bytes each.
func (s *site) fill(id string, n, size int) {
	s.Helper()
	t, err := s.engine.Thread(s.Context(), id)
	s.must(err)
	for i := range n {
		_, err := t.Say(s.Context(), "ana", fmt.Sprintf("%d %s", i, strings.Repeat("x", size)))
		s.must(err)
	}
}

// A message of four megabytes goes out in fragments, and a ping passes between
// them.
func TestAPingPassesALongMessage(t *testing.T) {
	s := open(t)
	s.create("rope")
	s.fill("rope", 16, 240<<10)
	k, let := s.dialSlowly(2 * time.Millisecond)
	close(let)
	k.write(`{"watch":1,"thread":"rope"}`)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, in, err := k.conn.Reader(ctx)
	s.must(err)
	first := make([]byte, 64<<10)
	_, err = io.ReadFull(in, first)
	s.must(err)
	pong := make(chan error, 1)
	go func() { pong <- k.conn.Ping(ctx) }()
	total, after := len(first), 0
	for answered := false; ; {
		n, err := in.Read(first)
		total += n
		if !answered {
			select {
			case err := <-pong:
				s.must(err)
				answered, after = true, total
			default:
			}
		}
		if err == io.EOF {
			break
		}
		s.must(err)
	}
	if total < 3<<20 || after == 0 || after > total/2 {
		t.Errorf("the pong came after %d of %d bytes", after, total)
	}
}

// A client that reads nothing for a while is sent one snapshot, not all that it
// has missed.
func TestASlowReaderGetsOneSnapshot(t *testing.T) {
	s := open(t)
	s.create("rope")
	k, let := s.dialSlowly(0)
	r := &view.Replica{}
	k.write(`{"watch":1,"thread":"rope","tail":20}`)
	s.fill("rope", 400, 4<<10)
	close(let)
	frames, snapshots, bytesRead := 0, 0, 0
	for r.View().Length < 400 {
		m := k.read()
		frames++
		bytesRead += len(m.raw)
		if bytes.HasPrefix(m.Ops, []byte(`[["r",`)) {
			snapshots++
		}
		apply(t, r, m.raw)
	}
	if snapshots < 2 || frames > 300 || bytesRead > 1200<<10 {
		t.Errorf("%d frames, %d snapshots, %d bytes", frames, snapshots, bytesRead)
	}
	if v := r.View(); len(v.Entries) == 0 || v.Entries[len(v.Entries)-1].Index != 399 {
		t.Errorf("the end: %s", encoded(v))
	}
}

// One large snapshot on its way to a slow client is progress, however long it
// takes: no loop of reconnections.
func TestALargeSnapshotMayTakeItsTime(t *testing.T) {
	s := open(t, withLimits(func(l *server.Limits) { l.Stall, l.Ping = time.Second, 300*time.Millisecond }))
	s.create("rope")
	s.fill("rope", 16, 240<<10)
	k, let := s.dialSlowly(4 * time.Millisecond)
	close(let)
	k.write(`{"watch":1,"thread":"rope"}`)
	r := &view.Replica{}
	begun := time.Now()
	apply(t, r, k.read().raw)
	if took := time.Since(begun); took < time.Second {
		t.Skipf("the client was too fast to show it: %v", took)
	}
	if len(r.View().Entries) == 0 {
		t.Error("the snapshot is empty")
	}
}

func TestAClientWithoutProgressIsLetGo(t *testing.T) {
	s := open(t, withLimits(func(l *server.Limits) { l.Stall = 100 * time.Millisecond }))
	s.create("rope")
	s.fill("rope", 16, 240<<10)
	k, let := s.dialSlowly(0)
	k.write(`{"watch":1,"thread":"rope"}`)
	c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	s.must(err)
	defer c.Close()
	_, err = c.Write([]byte("GET /v1/threads/rope/events HTTP/1.1\r\nHost: localhost\r\n\r\n"))
	s.must(err)
	m := ""
	defer func() {
		if t.Failed() {
			for _, line := range strings.Split(m, "\n") {
				if strings.HasPrefix(line, "skein_") && strings.Contains(line, "stream") || strings.Contains(line, "watch") {
					t.Log(line)
				}
			}
		}
	}()
	s.until("both are let go", func() bool {
		m = string(s.do("GET", "/metrics", nil).body)
		return strings.Contains(m, `skein_streams_ended_total{reason="stalled"} 2`) && strings.Contains(m, `skein_streams{transport="sse"} 0`) && strings.Contains(m, `skein_streams{transport="websocket"} 0`)
	})
	close(let)
}

// A socket that stays open with nobody behind it is found by the ping.
func TestADeadSocketIsFoundByThePing(t *testing.T) {
	s := open(t, withLimits(func(l *server.Limits) { l.Ping, l.Stall = 20*time.Millisecond, 500*time.Millisecond }))
	c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	s.must(err)
	defer c.Close()
	_, err = c.Write([]byte("GET /v1/ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"))
	s.must(err)
	in := bufio.NewReader(c)
	res, err := http.ReadResponse(in, nil)
	s.must(err)
	if res.StatusCode != 101 {
		t.Fatal(res.Status)
	}
	alive := s.dial()
	go func() {
		for {
			if _, _, err := alive.conn.Read(context.Background()); err != nil {
				return
			}
		}
	}()
	s.must(c.SetReadDeadline(time.Now().Add(patience)))
	data, err := io.ReadAll(in)
	if e, ok := err.(net.Error); ok && e.Timeout() {
		t.Errorf("it stays open: %q", data)
	}
	s.must(alive.conn.Write(t.Context(), websocket.MessageText, []byte(`{"ping":1}`)))
	s.must(alive.conn.Close(websocket.StatusNormalClosure, ""))
}

// Others do not wait for those who do not read.
func TestStalledClientsMoveNobodyElse(t *testing.T) {
	s := open(t)
	s.create("rope")
	s.fill("rope", 8, 200<<10)
	for range 10 {
		k, let := s.dialSlowly(0)
		k.write(`{"watch":1,"thread":"rope"}`)
		t.Cleanup(func() { close(let) })
	}
	l := s.listen("/v1/threads/rope/events?tail=1")
	var r view.Replica
	l.follow(&r, "a snapshot", func(v view.View) bool { return v.Length == 8 })
	for i := range 20 {
		w := s.say("rope", fmt.Sprint("short ", i))
		l.follow(&r, "it comes", func(v view.View) bool { return len(v.Entries) > 0 && v.Entries[len(v.Entries)-1].Seq == w.Seq })
	}
}

// Ten thousand appends at once have distinct, ordered seqs, and every watcher has
// them in that order.
func TestManyAtOnceComeInOneOrder(t *testing.T) {
	s := open(t, withLimits(func(l *server.Limits) { l.Rate, l.Burst, l.AddressRate, l.AddressBurst = 1e6, 1e6, 1e6, 1e6 }))
	s.create("rope")
	l := s.listen("/v1/threads/rope/events")
	th, err := s.engine.Thread(t.Context(), "rope")
	s.must(err)
	const writers, each = 200, 50
	seqs := make(chan int64, writers*each)
	for range writers {
		go func() {
			for range each {
				e, err := th.Say(context.Background(), "ben", "hello")
				if err != nil {
					t.Error(err)
				}
				seqs <- e.Seq
			}
		}()
	}
	seen := map[int64]bool{}
	for range writers * each {
		seq := <-seqs
		if seen[seq] {
			t.Errorf("%d was given twice", seq)
		}
		seen[seq] = true
	}
	var r view.Replica
	l.follow(&r, "all", func(v view.View) bool { return v.Length == writers*each })
	var last int64
	for _, e := range r.View().Entries {
		if e.Seq <= last || e.Index > 0 && e.Prev != e.Seq-1 {
			t.Errorf("entry %d with prev %d after %d", e.Seq, e.Prev, last)
		}
		last = e.Seq
	}
}
