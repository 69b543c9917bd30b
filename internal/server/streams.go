package server

import (
	"context"
	"sync"
	"time"
)

// reason says why the server ends a watch; clients are told.
type reason string

const (
	deleted reason = "deleted"   // the thread was: do not come back
	revoked reason = "revoked"   // the token was: do not come back
	guarded reason = "token"     // the first token was made, and now one is needed: come back with one
	drain   reason = "drain"     // the server ends: come back in a moment
	stalled reason = "stalled"   // nothing could be sent for a minute: come back with a cursor
	unknown reason = "not-found" // there is no such thread: do not come back
	refused reason = "refused"   // the token is not good for the thread: do not come back
	failed  reason = "error"     // something failed: come back
	gone    reason = ""          // the client left or asked for it
)

// streams are what runs for clients that stay: each can be ended.
type streams struct {
	work sync.WaitGroup

	mu   sync.Mutex
	open map[*line]bool
	of   map[string]int // by person key
	shut bool
}

// line is one client that stays.
type line struct {
	person *person
	end    context.CancelCauseFunc
}

// ending is the cause of a line's end.
type ending reason

func (e ending) Error() string { return "the stream was ended: " + string(e) }

// endOf is why a stream's context ended.
func endOf(ctx context.Context) reason {
	if e, ok := context.Cause(ctx).(ending); ok { //nolint:errorlint // a cause is never wrapped here
		return reason(e)
	}
	return gone
}

// stay notes that a person's stream begins. The context ends with ctx, with the
// token, or with the server; leave must be called at the stream's end. It fails
// where the person has too many.
func (s *Server) stay(ctx context.Context, p *person) (_ context.Context, leave func(), err error) {
	ctx, end := context.WithCancelCause(ctx)
	l := &line{p, end}
	st := &s.streams
	st.mu.Lock()
	defer st.mu.Unlock()
	switch {
	case st.shut:
		end(nil)
		return nil, nil, problem(503, "the server is about to end", "try again in a moment")
	case st.of[p.key()] >= s.cfg.Limits.Streams:
		end(nil)
		return nil, nil, problem(429, "too many streams are open with this token", "close some, or watch many threads over one WebSocket")
	}
	st.open[l] = true
	st.of[p.key()]++
	st.work.Add(1)
	return ctx, func() {
		end(nil)
		st.mu.Lock()
		defer st.mu.Unlock()
		delete(st.open, l)
		if st.of[p.key()]--; st.of[p.key()] == 0 {
			delete(st.of, p.key())
		}
		st.work.Done()
	}, nil
}

// endAll ends every stream, and lets none begin.
func (s *Server) endAll(why reason) {
	s.streams.mu.Lock()
	defer s.streams.mu.Unlock()
	s.streams.shut = true
	for l := range s.streams.open {
		l.end(ending(why))
	}
}

// recheck looks at the tokens from time to time: streams of one that was revoked
// end, and once there was any token, everybody needs one.
func (s *Server) recheck(ctx context.Context) {
	tick := time.NewTicker(s.cfg.Limits.Recheck)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		s.recheckOnce(ctx)
	}
}

func (s *Server) recheckOnce(ctx context.Context) {
	defer s.survive("work")
	if err := s.checkTokens(ctx); err != nil && ctx.Err() == nil {
		s.cfg.Log.Error("the tokens cannot be read", "error", err)
	}
}

func (s *Server) checkTokens(ctx context.Context) error {
	all, err := s.cfg.Engine.Tokens(ctx)
	if err != nil {
		return err
	}
	live := map[string]bool{}
	for _, t := range all {
		live[t.ID] = live[t.ID] || t.Live()
	}
	if len(all) > 0 { // those that were revoked count too: revoking opens nothing
		s.guarded.Store(true)
	}
	s.streams.mu.Lock()
	defer s.streams.mu.Unlock()
	for l := range s.streams.open {
		switch t := l.person.token; {
		case t == nil && s.guarded.Load():
			l.end(ending(guarded))
		case t != nil && !live[t.ID]:
			l.end(ending(revoked))
		}
	}
	return nil
}
