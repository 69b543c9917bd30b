package tui

import (
	"context"
	"slices"
	"sync"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

// seat is a thread that was opened. What answers in it goes on when another
// thread is looked at.
type seat struct {
	thread *skein.Thread

	mu      sync.Mutex
	says    []sayText
	saying  bool                        // a goroutine empties says
	due     bool                        // something waits for an answer
	first   func(context.Context) error // what is done before that; nil: nothing
	running bool                        // a goroutine answers, or waits for a decision
	wake    context.CancelFunc          // ends the wait for a decision; nil: none is waited for
	cancel  context.CancelFunc
	stopped bool
	tried   int64 // the turn of a dead owner that was gone on with
}

// say puts text in the line of what is said in that thread: in order, one after
// the other.
func (s *shell) say(in *seat, sitting int, e sayText) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.says = append(in.says, e)
	if in.saying {
		return
	}
	in.saying = true
	s.work.Go(func() {
		for {
			in.mu.Lock()
			if len(in.says) == 0 {
				in.saying = false
				in.mu.Unlock()
				return
			}
			next := in.says[0]
			in.says = in.says[1:]
			in.mu.Unlock()
			entry, err := in.thread.Say(s.ctx, s.cfg.Me, next.text, slices.Concat(whens[next.when], []skein.SayOption{skein.Key(next.key)})...)
			told := said{sitting: sitting, key: next.key, seq: entry.Seq, queued: entry.Kind == thread.QueuedKind, err: err}
			if err == nil {
				told.remark = s.miss(in.thread, next.text)
			}
			s.tell(told, err)
			if err == nil {
				s.answer(in)
			}
		}
	})
}

// miss gives, once, what is to be said of a text that names somebody who is no
// agent, or why that cannot be told: the text itself is said already.
func (s *shell) miss(t *skein.Thread, text string) string {
	name, remark, err := Missed(s.ctx, s.cfg.Engine, t, text)
	if err != nil {
		return err.Error()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.missed[name] {
		return ""
	}
	s.missed[name] = true
	return remark
}

// whens are the options of saying, by when it is to be heard.
var whens = map[string][]skein.SayOption{thread.WhenNow: {skein.Now()}}

// answering says whether an answer is being made; one that waits for a decision is
// not.
func (in *seat) answering() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.running && in.wake == nil
}

// answer answers whatever waits in that thread, until nothing does.
func (s *shell) answer(in *seat) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.due = true
	switch {
	case in.wake != nil:
		in.wake()
	case !in.running:
		s.run(in)
	}
}

// begin does something first, then answers whatever waits. Where an answer is
// being made already, that goes on alone.
func (s *shell) begin(in *seat, first func(context.Context) error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.running {
		return
	}
	in.first = first
	s.run(in)
}

// run begins to answer; in.mu is held.
func (s *shell) run(in *seat) {
	in.running = true
	s.work.Go(func() {
		var err error
		stopped := false
		s.sendIn(in, func(sitting int) any { return answering{sitting: sitting, on: true} })
		for {
			ctx, cancel, step := s.next(in)
			if step == nil {
				break
			}
			on := false
			if err = step(ctx); parked(err) {
				if on, err = s.await(ctx, in); on {
					s.sendIn(in, func(sitting int) any { return answering{sitting: sitting, on: true} })
				}
			}
			cancel()
			in.mu.Lock()
			stopped = in.stopped
			if thread.CodeOf(err) == thread.Aborted {
				in.due = false // somebody has stopped it: what is queued waits
			}
			in.due = in.due || on && !stopped
			in.cancel = nil
			in.mu.Unlock()
		}
		s.sendIn(in, func(sitting int) any {
			return answering{sitting: sitting, stopped: stopped, fresh: s.fresh(), err: err}
		})
	})
}

// next gives what is to be done next in a thread; nil where that is nothing.
func (s *shell) next(in *seat) (context.Context, context.CancelFunc, func(context.Context) error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	step := in.first
	if step == nil && in.due {
		step = in.thread.Reply
		in.due = false
	}
	if in.first = nil; step == nil || s.ctx.Err() != nil {
		in.running = false
		return nil, nil, nil
	}
	ctx, cancel := context.WithCancel(s.ctx)
	in.cancel, in.stopped = cancel, false
	return ctx, cancel, step
}

// sendIn brings a message of a thread, where that is the one looked at.
func (s *shell) sendIn(in *seat, msg func(sitting int) any) {
	s.mu.Lock()
	now, sitting := s.now, s.sitting
	s.mu.Unlock()
	if now == in && s.ctx.Err() == nil {
		s.send(msg(sitting))
	}
}
