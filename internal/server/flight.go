package server

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"
)

// flight is how many bytes of blobs are on their way at once: each is whole in
// memory meanwhile.
type flight struct {
	mu    sync.Mutex
	bytes int64
	freed chan struct{} // closed when some have arrived
}

// enter waits for room for so many bytes among the most there may be. leave must be
// called when they have arrived; ok is false where there was no room in time.
func (f *flight) enter(ctx context.Context, bytes, most int64, patience time.Duration) (leave func(), ok bool) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		freed := f.take(bytes, most)
		if freed == nil {
			return func() { f.leave(bytes) }, true
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, false
		}
	}
}

// take takes room at once, or gives what to wait for.
func (f *flight) take(bytes, most int64) (freed chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bytes+bytes <= most {
		f.bytes += bytes
		return nil
	}
	if f.freed == nil {
		f.freed = make(chan struct{})
	}
	return f.freed
}

func (f *flight) leave(bytes int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bytes -= bytes
	if f.freed != nil {
		close(f.freed)
		f.freed = nil
	}
}

// fly makes room for a blob, or says that there is none.
func (s *Server) fly(w http.ResponseWriter, r *http.Request, bytes int64) (leave func(), ok bool) {
	l := &s.cfg.Limits
	leave, ok = s.flight.enter(r.Context(), min(max(bytes, 0), l.Blobs), l.Blobs, l.BlobTime)
	if !ok {
		s.figures.limited.Inc()
		w.Header().Set("Retry-After", "5")
		problem(http.StatusServiceUnavailable, "too many blobs are on their way", "try again in a moment").write(w)
	}
	return leave, ok
}

// arriving is a blob's body. It may take as long as any answer, so long as a piece
// of it comes within Limits.Stall.
type arriving struct {
	io.ReadCloser
	control *http.ResponseController
	stall   time.Duration
	until   time.Time
	since   int // bytes since the deadline was moved
}

func (a *arriving) Read(b []byte) (int, error) {
	n, err := a.ReadCloser.Read(b)
	if a.since += n; a.since >= piece {
		a.since = 0
		next := time.Now().Add(a.stall)
		if next.After(a.until) {
			next = a.until
		}
		_ = a.control.SetReadDeadline(next) // where there are none, none is moved
	}
	return n, err
}

// depart writes a blob piece by piece; each must be taken within Limits.Stall.
func (s *Server) depart(w http.ResponseWriter, data []byte) {
	c := http.NewResponseController(w)
	until := time.Now().Add(s.cfg.Limits.AnswerTime)
	for len(data) > 0 {
		next := time.Now().Add(s.cfg.Limits.Stall)
		if next.After(until) {
			next = until
		}
		_ = c.SetWriteDeadline(next) // where there are none, none is moved
		n, err := w.Write(data[:min(piece, len(data))])
		if err != nil {
			return // whoever asked has left, or takes nothing
		}
		data = data[n:]
	}
}
