package server

import (
	"bufio"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// upgrading is an answer that becomes a WebSocket over a wire.
type upgrading struct {
	http.ResponseWriter
	wire *wire
}

// What is kept for a socket that says nothing, beside its goroutine: room for a
// short request, and for what is not data.
const (
	readsAhead = 512
	writesTill = 256
)

// Hijack takes the connection, with buffers of its own: those of a request would be
// kept for as long as the socket is open.
func (u *upgrading) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, old, err := http.NewResponseController(u.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	u.wire.Conn = c
	if inner, ok := c.(*counted); ok {
		c = inner.Conn
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		if u.wire.fd, err = socketOf(tcp); err != nil {
			return nil, nil, errors.Join(err, u.wire.Close())
		}
	}
	if n := old.Reader.Buffered(); n > 0 {
		u.wire.early = make([]byte, n)
		if _, err := old.Reader.Read(u.wire.early); err != nil {
			return nil, nil, errors.Join(err, u.wire.Close())
		}
	}
	return u.wire, bufio.NewReadWriter(bufio.NewReaderSize(u.wire, readsAhead), bufio.NewWriterSize(u.wire, writesTill)), nil
}

// wire is a WebSocket's connection. Who gives it whole frames may do so at any time:
// they go out one after the other, and what has no room at once is owed.
type wire struct {
	// What every frame touches stands together: there are thousands of wires, and
	// each is one more place in memory.
	mu   sync.Mutex // held while something is written; guards due and said
	open sync.Mutex // guards fd and owed; never held for longer than a call of the system takes
	fd   uintptr    // for writing without waiting; 0: that cannot be
	owed []byte     // goes before all else
	said bool       // a goodbye

	due time.Time // when a write that makes no progress ends

	net.Conn
	early []byte // came with the request
	stall time.Duration
	late  func() // called when something is owed that somebody else has to write
}

// mostOwed is how much may be owed: the rest of a frame, and pings, pongs and a
// goodbye that wait for it.
const mostOwed = 64 << 10

func (w *wire) Read(p []byte) (int, error) {
	if len(w.early) > 0 {
		n := copy(p, w.early)
		if w.early = w.early[n:]; len(w.early) == 0 {
			w.early = nil
		}
		return n, nil
	}
	return w.Conn.Read(p)
}

// Write takes a frame of the library: a ping, a pong, a goodbye. It does not wait, as
// the library would end the connection over that; but a goodbye is followed by the
// connection's end, and who pings and pings is heard again when pongs have gone out.
func (w *wire) Write(p []byte) (int, error) {
	if p[0]&0xF == goodbye {
		return len(p), w.write(p)
	}
	if w.offer(p) {
		return len(p), nil
	}
	w.open.Lock()
	owed := len(w.owed)
	w.open.Unlock()
	if owed > mostOwed {
		return len(p), w.write(nil)
	}
	w.late()
	return len(p), nil
}

// offer writes without waiting. What has no room, or comes while somebody waits for
// room, is owed; it says whether nothing is.
func (w *wire) offer(p []byte) bool {
	free := w.mu.TryLock()
	if free {
		defer w.mu.Unlock()
	}
	w.open.Lock()
	defer w.open.Unlock()
	if free && w.said {
		return true // nobody listens any more
	}
	if free && len(w.owed) == 0 && w.fd != 0 {
		p = p[writeNow(w.fd, p):]
	}
	w.owed = append(w.owed, p...)
	return len(w.owed) == 0
}

// write writes what is owed, and then a frame, for as long as the client makes
// progress. Nothing follows a goodbye.
func (w *wire) write(p []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		if w.said {
			return net.ErrClosed
		}
		w.open.Lock()
		owed := w.owed
		w.owed = nil
		w.open.Unlock()
		if len(owed) == 0 {
			w.said = len(p) > 0 && p[0]&0xF == goodbye
			return w.wait(p)
		}
		if err := w.wait(owed); err != nil {
			return err
		}
	}
}

// wait writes piece by piece, for as long as there is progress.
func (w *wire) wait(p []byte) error {
	for len(p) > 0 {
		// The deadline is moved now and then, and is never sooner than a stall.
		if now := time.Now(); w.due.Sub(now) < w.stall {
			w.due = now.Add(w.stall + w.stall/8)
			if err := w.SetWriteDeadline(w.due); err != nil {
				return err
			}
		}
		n, err := w.Conn.Write(p[:min(len(p), piece)])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return errStalled
		}
		if err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

// Close closes the connection. Its number may be another's from then on.
func (w *wire) Close() error {
	w.open.Lock()
	w.fd = 0
	w.open.Unlock()
	return w.Conn.Close()
}

// The kinds of frames that are written here.
const (
	continued = 0
	text      = 1
	goodbye   = 8
)

// longestHead is how long a frame's head may be.
const longestHead = 10

// appendHead begins a frame of so many bytes.
func appendHead(b []byte, kind byte, last bool, size int) []byte {
	if last {
		kind |= 0x80
	}
	switch {
	case size < 126:
		return append(b, kind, byte(size))
	case size < 1<<16:
		return binary.BigEndian.AppendUint16(append(b, kind, 126), uint16(size))
	}
	return binary.BigEndian.AppendUint64(append(b, kind, 127), uint64(size))
}
