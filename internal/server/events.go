package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

// Cursor is where a watch begins.
type Cursor struct {
	Tail  int    `query:"tail" minimum:"0" maximum:"500" doc:"How many messages the window begins with; default 50."`
	From  int64  `query:"from" minimum:"0" doc:"Only what follows: the last seq that was seen, and 1."`
	Epoch string `query:"epoch" maxLength:"100" doc:"The epoch that from is of."`
}

func (c Cursor) options(p *person) skein.ViewOptions {
	return skein.ViewOptions{Tail: c.Tail, From: c.From, Epoch: c.Epoch, Viewer: p.name}
}

// after is the cursor that a Last-Event-ID asks for: epoch.seq. What is none is of
// an epoch that never was, so that the client starts afresh.
func (c Cursor) after(id string) Cursor {
	epoch, last, _ := strings.Cut(id, ".")
	seq, err := strconv.ParseInt(last, 10, 64)
	if err != nil || seq < 0 || seq == math.MaxInt64 {
		c.From, c.Epoch = 1, "none"
		return c
	}
	c.From, c.Epoch = seq+1, epoch
	return c
}

func (s *Server) watch(ctx context.Context, in *struct {
	InThread
	Cursor
	Ticket string `query:"ticket" maxLength:"100" doc:"In the place of a token."`
	LastID string `header:"Last-Event-ID" maxLength:"200" doc:"The id of the last event that was seen; it wins over from and epoch."`
}) (*huma.StreamResponse, error) {
	t, err := s.thread(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	state, err := t.State(ctx)
	if err != nil {
		return nil, err
	}
	c := in.Cursor
	if in.LastID != "" {
		c = c.after(in.LastID)
	}
	p := by(ctx)
	ctx, leave, err := s.stay(ctx, p)
	if err != nil {
		return nil, err
	}
	w, err := t.View(ctx, c.options(p))
	if err != nil {
		leave()
		return nil, err
	}
	return raw(func(rw http.ResponseWriter, r *http.Request) {
		defer leave()
		defer w.Close()
		rw.Header().Set("Content-Type", "text/event-stream")
		rw.Header().Set("X-Accel-Buffering", "no")
		rw.WriteHeader(http.StatusOK)
		if r.Method == http.MethodHead {
			return // that is all it asks for
		}
		shrink(r.Context())
		e := &events{server: s, out: rw, control: http.NewResponseController(rw), epoch: state.Epoch}
		e.run(ctx, w)
	}), nil
}

// events writes a watch as server-sent events.
type events struct {
	server  *Server
	out     http.ResponseWriter
	control *http.ResponseController
	epoch   string
	buf     []byte
}

// The comings back of clients, in milliseconds: somewhere between, so that they
// do not all come at once.
const (
	backLeast = 1000
	backMost  = 3000
)

// run writes until the client leaves or the watch ends.
func (e *events) run(ctx context.Context, w *skein.Watch) {
	f := e.server.figures
	f.streams.WithLabelValues("sse").Inc()
	f.watches.Inc()
	defer f.streams.WithLabelValues("sse").Dec()
	defer f.watches.Dec()
	err := e.send(fmt.Appendf(nil, "retry: %d\n\n", backLeast+rand.IntN(backMost-backLeast))) //nolint:gosec // jitter is no secret
	for err == nil {
		err = e.next(ctx, w)
	}
	why := e.server.reasonOf(ctx, err)
	if why == gone {
		return
	}
	f.ended.WithLabelValues(string(why)).Inc()
	if why != stalled {
		_ = e.send(fmt.Appendf(nil, "event: end\ndata: {\"reason\":%q}\n\n", string(why))) // it ends in any case
	}
}

// next writes the next frame, or a comment where there is none for a while.
func (e *events) next(ctx context.Context, w *skein.Watch) error {
	wait, cancel := context.WithTimeout(ctx, e.server.cfg.Limits.Ping)
	defer cancel()
	f, err := w.Next(wait)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return e.send([]byte(":\n\n"))
	}
	if err != nil {
		return err
	}
	e.buf = e.buf[:0]
	if f.Seq != 0 {
		e.buf = fmt.Appendf(e.buf, "id: %s.%d\n", e.epoch, f.Seq)
	}
	e.buf = fmt.Appendf(e.buf, `data: {"n":%d,"ops":`, f.N)
	parts := make([]io.Reader, 0, len(f.Parts)+2)
	parts = append(parts, bytes.NewReader(e.buf))
	for _, p := range f.Parts {
		parts = append(parts, bytes.NewReader(p))
	}
	parts = append(parts, strings.NewReader("}\n\n"))
	e.server.figures.frames.WithLabelValues("sse").Inc()
	return e.copy(io.MultiReader(parts...))
}

// piece is how much is written before a client must have shown progress.
const piece = 16 << 10

// send writes a few bytes.
func (e *events) send(data []byte) error { return e.copy(bytes.NewReader(data)) }

// errStalled is the error of a write that made no progress.
var errStalled = errors.New("the client reads nothing")

// copy writes piece by piece: a client may take as long as it needs, so long as
// it takes something.
func (e *events) copy(from io.Reader) error {
	buf := e.server.pieces.Get().(*[piece]byte)
	defer e.server.pieces.Put(buf)
	for {
		n, err := io.ReadFull(from, buf[:])
		if n > 0 {
			if failed := e.write(buf[:n]); failed != nil {
				return failed
			}
		}
		if err != nil {
			return nil // the end: these readers do not fail
		}
	}
}

func (e *events) write(data []byte) error {
	if err := e.control.SetWriteDeadline(time.Now().Add(e.server.cfg.Limits.Stall)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	_, err := e.out.Write(data)
	if err == nil {
		err = e.control.Flush()
	}
	e.server.figures.bytes.WithLabelValues("sse").Add(float64(len(data)))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return errStalled
	}
	return err
}

// reasonOf says why a watch ended with that error, in words for its client.
func (s *Server) reasonOf(ctx context.Context, err error) reason {
	switch {
	case errors.Is(err, errStalled): // which also ends a request's context
		return stalled
	case ctx.Err() != nil:
		return endOf(ctx)
	case thread.FaultOf(err) != nil:
		s.fault("watch", thread.FaultOf(err))
		return failed
	case thread.CodeOf(err) == thread.NotFound:
		return deleted
	case thread.CodeOf(err) == thread.Aborted:
		return drain
	case thread.CodeOf(err) == "":
		return gone // the connection broke
	}
	s.cfg.Log.Error("a watch failed", "error", err)
	return failed
}
