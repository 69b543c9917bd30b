package live

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
)

// wire is the client's end of a WebSocket, or of an event stream: as little as can
// be, so that the load takes little of the machine that is measured.
type wire struct {
	conn net.Conn
	in   *bufio.Reader
	buf  []byte
	read atomic.Int64 // bytes that came, all of them
}

// dial asks for a path. Where receive is set, the system holds so many bytes of
// what is not read.
func dial(address, path, header string, receive int) (*wire, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	w := &wire{conn: c}
	if tcp, ok := c.(*net.TCPConn); ok && receive > 0 {
		if err := tcp.SetReadBuffer(receive); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	w.in = bufio.NewReaderSize(w, 4<<10)
	if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", path, address, header); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return w, nil
}

// upgrade opens a WebSocket.
func upgrade(address, path string, receive int) (*wire, error) {
	w, err := dial(address, path, "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n", receive)
	if err != nil {
		return nil, err
	}
	res, err := http.ReadResponse(w.in, nil)
	if err == nil && res.StatusCode != http.StatusSwitchingProtocols {
		err = fmt.Errorf("%s answers %s", path, res.Status)
	}
	if err != nil {
		return nil, errors.Join(err, w.conn.Close())
	}
	return w, nil
}

// Read reads what comes and counts it.
func (w *wire) Read(p []byte) (int, error) {
	n, err := w.conn.Read(p)
	w.read.Add(int64(n))
	return n, err
}

// The kinds of frames.
const (
	continued = 0x0
	text      = 0x1
	closing   = 0x8
	pinging   = 0x9
	ponging   = 0xA
)

// send writes a short message. Its mask is of zeros, which leaves it as it is.
func (w *wire) send(kind byte, data []byte) error {
	out := []byte{0x80 | kind}
	if len(data) < 126 {
		out = append(out, 0x80|byte(len(data)))
	} else {
		out = binary.BigEndian.AppendUint16(append(out, 0x80|126), uint16(len(data)))
	}
	_, err := w.conn.Write(append(append(out, 0, 0, 0, 0), data...))
	return err
}

// next gives the next message, which is good until the one after, and how many
// bytes it took with its frames.
func (w *wire) next() (data []byte, size int, err error) {
	w.buf = w.buf[:0]
	for {
		kind, last, n, head, err := w.frame()
		if err != nil {
			return nil, 0, err
		}
		from := len(w.buf)
		if need := from + n; cap(w.buf) < need {
			w.buf = append(make([]byte, 0, max(need, 2*cap(w.buf))), w.buf...)
		}
		w.buf = w.buf[:from+n]
		if _, err := io.ReadFull(w.in, w.buf[from:]); err != nil {
			return nil, 0, err
		}
		switch kind {
		case pinging:
			if err := w.send(ponging, w.buf[from:]); err != nil {
				return nil, 0, err
			}
			w.buf = w.buf[:from]
			continue
		case ponging:
			w.buf = w.buf[:from]
			continue
		case closing:
			return nil, 0, fmt.Errorf("the server closed: %q", w.buf[from:])
		}
		if size += head + n; last {
			return w.buf, size, nil
		}
	}
}

// frame reads a frame's head.
func (w *wire) frame() (kind byte, last bool, size, head int, err error) {
	var h [8]byte
	if _, err := io.ReadFull(w.in, h[:2]); err != nil {
		return 0, false, 0, 0, err
	}
	kind, last, size, head = h[0]&0x0F, h[0]&0x80 != 0, int(h[1]&0x7F), 2
	switch size {
	case 126:
		_, err = io.ReadFull(w.in, h[:2])
		size, head = int(binary.BigEndian.Uint16(h[:2])), 4
	case 127:
		_, err = io.ReadFull(w.in, h[:8])
		size, head = int(binary.BigEndian.Uint64(h[:8])), 10
	}
	return kind, last, size, head, err
}
