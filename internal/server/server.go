package server

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// Server answers requests for an engine's threads. It is an [http.Handler]; Serve
// also owns the connections. Close must be called before the engine's.
type Server struct {
	cfg     Config
	mux     *http.ServeMux
	own     *http.ServeMux // the same without mounts
	api     huma.API
	openAPI []byte

	rates    rates
	tickets  tickets
	figures  *figures
	faults   faults
	streams  streams
	turns    turns
	pump     pump
	uploads  uploads
	flight   flight
	pieces   sync.Pool   // of *[piece]byte
	guarded  atomic.Bool // a token is needed: one was made once
	draining atomic.Bool

	life   context.Context // ends when Close is done with turns
	end    context.CancelFunc
	work   sync.WaitGroup
	closed sync.Once
	err    error
}

// New makes a server, and goes on with the turns that an earlier process left.
func New(ctx context.Context, cfg Config) (*Server, error) {
	cfg, err := cfg.filled()
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, mux: http.NewServeMux(), own: http.NewServeMux(), rates: newRates(cfg.Limits), figures: newFigures()}
	s.faults = newFaults(s.figures.registry)
	s.streams.open, s.streams.of, s.turns.again = map[*line]bool{}, map[string]int{}, map[string]bool{}
	s.turns.parked = map[string]bool{}
	s.pieces.New = func() any { return new([piece]byte) }
	s.life, s.end = context.WithCancel(context.Background())
	s.api = humago.New(&doors{server: s}, description(cfg))
	s.register()
	if err := s.describe(); err != nil {
		s.end()
		return nil, err
	}
	if err := s.mount(); err != nil {
		s.end()
		return nil, err
	}
	if err := s.checkTokens(ctx); err != nil {
		s.end()
		return nil, err
	}
	s.work.Go(func() { s.recheck(s.life) })
	s.work.Go(func() {
		defer s.survive("work")
		if err := s.resume(s.life); err != nil && s.life.Err() == nil {
			s.cfg.Log.Error("what an earlier process left cannot be found", "error", err)
		}
	})
	return s, nil
}

// Close drains: streams end with a reason, no turn begins, those that run have a
// moment to end by themselves and are then left open for the next process. It
// waits for everything that the server runs.
func (s *Server) Close() error {
	s.closed.Do(func() {
		s.Drain()
		s.streams.work.Wait()
		s.turns.mu.Lock()
		s.turns.closed = true
		s.turns.mu.Unlock()
		if !s.turnsEnd() {
			s.err = s.cfg.Engine.Drain(context.Background())
		}
		s.turns.work.Wait()
		s.end()
		s.work.Wait()
	})
	return s.err
}

// Drain has /readyz say no, ends the streams and lets nothing begin. It does not
// wait.
func (s *Server) Drain() {
	s.draining.Store(true)
	s.endAll(drain)
}

// turnsEnd waits for the turns that run, so long as Limits.Grace.
func (s *Server) turnsEnd() bool {
	done := make(chan struct{})
	s.work.Go(func() {
		s.turns.work.Wait()
		close(done)
	})
	ctx, cancel := context.WithTimeout(s.life, s.cfg.Limits.Grace)
	defer cancel()
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}
