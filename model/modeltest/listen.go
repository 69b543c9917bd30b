package modeltest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/skeinhq/skein/thread"
)

// Listener is a server that listens.
type Listener struct {
	URL string // such as http://127.0.0.1:8418

	server *http.Server
	done   chan error
}

// Listen serves h at an address of the loopback, until Close. It fails with
// invalid where the address is another, and with configuration where it is
// taken.
func Listen(h http.Handler, addr string) (*Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, &thread.Error{Code: thread.Invalid, Op: "listen", Message: "the address has no port", Hint: "as 127.0.0.1:8418", Err: err}
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, &thread.Error{Code: thread.Invalid, Op: "listen", Message: "a fake provider listens on the loopback only", Hint: "as 127.0.0.1:8418"}
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, &thread.Error{Code: thread.Configuration, Op: "listen", Message: "the address cannot be listened on", Hint: "another --addr", Err: err}
	}
	out := &Listener{URL: "http://" + l.Addr().String(), server: &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}, done: make(chan error, 1)}
	go func() { out.done <- out.server.Serve(l) }()
	return out, nil
}

// Close stops at once, with whatever is being answered, and waits until all is
// done.
func (l *Listener) Close() error {
	closed := l.server.Close()
	if err := <-l.done; !errors.Is(err, http.ErrServerClosed) {
		closed = errors.Join(closed, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return errors.Join(closed, l.server.Shutdown(ctx))
}

// Start starts a server for one test and gives its URL.
func Start(t testing.TB, c Config) (*Server, string) {
	t.Helper()
	s := NewServer(c)
	return s, StartHandler(t, s)
}

// StartHandler serves h for one test and gives its URL.
func StartHandler(t testing.TB, h http.Handler) string {
	t.Helper()
	l, err := Listen(h, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("the server did not close: %v", err)
		}
	})
	return l.URL
}
