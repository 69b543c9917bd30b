package server

import (
	"context"
	"sync"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

// turns run answers, one goroutine a thread. Who asked for one may leave.
type turns struct {
	work sync.WaitGroup

	mu     sync.Mutex
	again  map[string]bool // by thread id: it runs; true: look once more after that
	parked map[string]bool // by thread id: somebody waits here for a decision
	closed bool
}

// answer has what is due in the thread answered, and does not wait for it. Whoever
// asks for an answer has it promised first: what was stopped since is not due.
func (s *Server) answer(t *skein.Thread) {
	s.turns.mu.Lock()
	defer s.turns.mu.Unlock()
	if s.turns.closed {
		return // the next process goes on
	}
	if _, runs := s.turns.again[t.ID()]; runs {
		s.turns.again[t.ID()] = true
		return
	}
	s.turns.again[t.ID()] = false
	s.turns.work.Go(func() { s.answerAll(t) })
}

func (s *Server) answerAll(t *skein.Thread) {
	s.figures.running.Inc()
	defer s.figures.running.Dec()
	for more := true; more; more = s.more(t.ID()) {
		err := s.attempt(t)
		s.outcome(t.ID(), err)
		if thread.CodeOf(err) == thread.Permission {
			s.await(t)
		}
	}
}

// attempt answers. Where that panics outside of any turn it has failed, too.
func (s *Server) attempt(t *skein.Thread) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &thread.Error{Code: thread.Response, Op: "reply", Thread: t.ID(), Message: "the answer failed badly", Err: thread.Caught(p)}
		}
	}()
	return t.Resume(s.life)
}

// await goes on with a parked turn once somebody has decided, in whatever process.
func (s *Server) await(t *skein.Thread) {
	s.turns.mu.Lock()
	defer s.turns.mu.Unlock()
	if s.turns.closed || s.turns.parked[t.ID()] {
		return
	}
	s.turns.parked[t.ID()] = true
	s.work.Go(func() { // not the turns': nobody waits for these at a drain
		defer s.survive("turn")
		err := s.decision(t)
		if err == nil {
			s.answer(t)
		}
	})
}

// decision waits for one.
func (s *Server) decision(t *skein.Thread) error {
	defer func() {
		s.turns.mu.Lock()
		defer s.turns.mu.Unlock()
		delete(s.turns.parked, t.ID())
	}()
	return t.AwaitDecision(s.life)
}

// more says whether somebody asked for an answer while one was made.
func (s *Server) more(id string) bool {
	s.turns.mu.Lock()
	defer s.turns.mu.Unlock()
	if s.turns.again[id] && !s.turns.closed {
		s.turns.again[id] = false
		return true
	}
	delete(s.turns.again, id)
	return false
}

// outcome counts how a turn ended. What failed stands in the thread's log too,
// unless it could not even begin.
func (s *Server) outcome(id string, err error) {
	switch code := thread.CodeOf(err); {
	case err == nil:
		s.figures.turns.WithLabelValues("done").Inc()
	case thread.FaultOf(err) != nil:
		s.figures.turns.WithLabelValues(string(code)).Inc()
		s.fault("turn", thread.FaultOf(err))
	case code == thread.Permission || code == thread.Aborted:
		s.figures.turns.WithLabelValues(string(code)).Inc()
	default:
		s.figures.turns.WithLabelValues(string(code)).Inc()
		s.cfg.Log.Warn("an answer failed", "thread", id, "error", err)
	}
}

// mostResumed is how many of the threads that were updated last are looked at for
// turns that a process left behind.
const mostResumed = 10_000

// resume goes on with the turns that an earlier process left open or queued, and
// begins those that it promised.
func (s *Server) resume(ctx context.Context) error {
	seen := 0
	for state, err := range s.cfg.Engine.Threads(ctx) {
		if err != nil {
			return err
		}
		if seen++; seen > mostResumed {
			return nil
		}
		if err := s.resumeOne(ctx, &state); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) resumeOne(ctx context.Context, state *thread.Thread) error {
	if due, err := s.cfg.Engine.Promised(ctx, *state); err != nil || !due {
		return err
	}
	t, err := s.cfg.Engine.Thread(ctx, state.ID)
	switch {
	case thread.CodeOf(err) == thread.NotFound:
		return nil // deleted meanwhile
	case err != nil:
		return err
	case state.Parked:
		s.await(t)
	default:
		s.answer(t)
	}
	return nil
}
