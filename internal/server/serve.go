package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

// Serve answers on the listener, which it closes, until ctx ends; then it drains
// and waits until every answer is given and every stream ended, for at most ten
// seconds. It serves only where CheckReach lets it.
//
// Errors: those of CheckReach and of the listener.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	if err := CheckReach(context.WithoutCancel(ctx), s.cfg.Engine, ln.Addr()); err != nil {
		return errors.Join(err, ln.Close())
	}
	web := &http.Server{
		Handler:           s.noted(),
		ReadHeaderTimeout: s.cfg.Limits.HeaderTime,
		IdleTimeout:       s.cfg.Limits.IdleTime,
		MaxHeaderBytes:    s.cfg.Limits.Header,
		ErrorLog:          slog.NewLogLogger(s.cfg.Log.Handler(), slog.LevelDebug),
		ConnContext:       func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
	}
	ended := make(chan error, 1)
	go func() {
		ended <- web.Serve(&limited{Listener: ln, server: s, room: make(chan struct{}, s.cfg.Limits.Connections)})
	}()
	select {
	case err := <-ended:
		s.Drain()
		s.streams.work.Wait()
		return err
	case <-ctx.Done():
	}
	s.Drain()
	last, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := web.Shutdown(last)
	if err != nil {
		err = errors.Join(err, web.Close())
	}
	s.streams.work.Wait()
	if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// CheckReach refuses to serve at an address that others reach where no token is good
// for anything: without one nobody is let in from elsewhere, so none was meant to be.
// Tokens that were revoked do not count; that there were any still has everybody need
// one, also at this machine.
//
// Errors: configuration, storage.
func CheckReach(ctx context.Context, e *skein.Engine, at net.Addr) error {
	if isLoopback(at.String()) {
		return nil
	}
	all, err := e.Tokens(ctx)
	if err != nil || slices.ContainsFunc(all, func(t skein.Token) bool { return t.Live() }) {
		return err
	}
	return &thread.Error{
		Code: thread.Configuration, Op: "serve", Message: "others reach " + at.String() + ", and without a token the server is for this machine alone",
		Hint: "make one with skein token create, or listen at 127.0.0.1",
	}
}

// connKey is where a request's connection is in its context.
type connKey struct{}

// buffered is how much the kernel holds of a stream, so that a client that reads
// nothing is noticed before much was written in vain.
const buffered = 16 << 10

// shrink makes the kernel's buffer of a stream's connection small. Where the
// connection is of another kind its own is left.
func shrink(ctx context.Context) {
	c, _ := ctx.Value(connKey{}).(net.Conn)
	if inner, ok := c.(*counted); ok {
		c = inner.Conn
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(buffered) // a hint: nothing rests on it
	}
}

// limited lets so many connections be open at once. Those beyond are closed at
// once, so that who waits is not waited for.
type limited struct {
	net.Listener
	server *Server
	room   chan struct{}
}

func (l *limited) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case l.room <- struct{}{}:
			l.server.figures.connections.Inc()
			return &counted{Conn: c, leave: func() {
				l.server.figures.connections.Dec()
				<-l.room
			}}, nil
		default:
			l.server.figures.limited.Inc()
			_ = c.Close() // nobody has spoken on it yet
		}
	}
}

// counted is a connection that makes room when it is closed.
type counted struct {
	net.Conn
	once  sync.Once
	leave func()
}

func (c *counted) Close() error {
	c.once.Do(c.leave)
	return c.Conn.Close()
}
