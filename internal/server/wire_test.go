package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// wired is a wire of a server, with its client's end.
func wired(t *testing.T) (*wire, net.Conn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	client, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{Conn: c, stall: time.Minute, late: func() {}}
	if w.fd, err = socketOf(c.(*net.TCPConn)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = w.Close()
		_ = client.Close()
	})
	return w, client
}

// fill offers frames until one has no room, and gives how many went in.
func (w *wire) fill(frame []byte) (n int) {
	for n = 1; w.offer(frame); n++ {
	}
	return n
}

// What has no room is owed, whole frames follow each other whoever writes them, and
// who must not wait does not.
func TestFramesOfManyFollowEachOther(t *testing.T) {
	w, client := wired(t)
	var late atomic.Int32
	w.late = func() { late.Add(1) }
	frame := append(bytes.Repeat([]byte("y"), 999), '\n')
	sent := w.fill(frame)
	if _, err := w.Write([]byte("a ping\n")); err != nil { // of a library that is not kept waiting
		t.Fatal(err)
	}
	if late.Load() == 0 {
		t.Error("nobody was told that a ping is owed")
	}
	var work sync.WaitGroup
	for i := range 4 {
		work.Go(func() {
			for range 200 {
				if err := w.write(frame); err != nil {
					t.Error(err)
				}
				if _, err := fmt.Fprintf(w, "ping %d\n", i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	ended := make(chan error, 1)
	go func() {
		work.Wait()
		err := w.write(nil)
		_ = w.Close()
		ended <- err
	}()
	all, err := io.ReadAll(client)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	frames, pings := 0, 0
	for line := range bytes.Lines(all) {
		switch {
		case bytes.Equal(line, frame):
			frames++
		case bytes.HasPrefix(line, []byte("ping ")) || string(line) == "a ping\n":
			pings++
		default:
			t.Fatalf("after %d frames and %d pings: %.80q", frames, pings, line)
		}
	}
	if frames != sent+800 || pings != 801 {
		t.Errorf("%d frames and %d pings, want %d and 801", frames, pings, sent+800)
	}
}

// A client that pings and does not read is not owed more and more.
func TestWhatIsOwedIsBounded(t *testing.T) {
	w, _ := wired(t)
	w.stall = time.Millisecond
	w.fill(make([]byte, 1000))
	for range mostOwed {
		if _, err := w.Write([]byte("pong")); err != nil {
			if err != errStalled {
				t.Errorf("it ended with %v", err)
			}
			return
		}
	}
	t.Errorf("%d bytes are owed", len(w.owed))
}

// A goodbye has gone out when the library ends the connection, in front of what is
// left of a long message, and nothing follows it.
func TestAGoodbyeIsTheLastThing(t *testing.T) {
	w, client := wired(t)
	frame := append([]byte{text}, append(bytes.Repeat([]byte("y"), 998), '\n')...)
	sent := w.fill(frame)
	ended := make(chan error, 1)
	go func() {
		_, err := w.Write([]byte{0x80 | goodbye, '\n'})
		if w.write(frame) == nil || !w.offer(frame) {
			t.Error("something is written after a goodbye")
		}
		ended <- errors.Join(err, w.Close())
	}()
	all, err := io.ReadAll(client)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if want := append(bytes.Repeat(frame, sent), 0x80|goodbye, '\n'); !bytes.Equal(all, want) {
		t.Errorf("%d bytes came, want %d", len(all), len(want))
	}
}

// A client that reads nothing has its connection ended, and its number is not
// written to any more.
func TestAWireThatMakesNoProgressEnds(t *testing.T) {
	w, _ := wired(t)
	w.stall = time.Millisecond
	w.fill(make([]byte, 1000))
	var err error
	for err == nil {
		err = w.write(make([]byte, 64<<10))
	}
	if err != errStalled {
		t.Errorf("it ended with %v", err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if w.offer([]byte("more")) || w.fd != 0 {
		t.Error("a closed connection was written to")
	}
}
