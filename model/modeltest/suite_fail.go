package modeltest

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// told is what an error must say: its code, whether the same request may do
// better later, and whether there is a way out for people.
type told struct {
	code  thread.Code
	again bool
	hint  bool
}

// tells are the errors that the troubles must become.
var tells = map[Trouble]told{
	RateLimit:   {thread.Quota, true, true},
	Quota:       {thread.Quota, false, true},
	Overloaded:  {thread.Provider, true, true},
	ServerError: {thread.Provider, true, true},
	Gateway:     {thread.Provider, true, true},
	Overflow:    {thread.Limit, false, true},
	Forbidden:   {thread.Configuration, false, true},
	Policy:      {thread.Provider, false, false},
	Cut:         {thread.Provider, true, true},
	Truncated:   {thread.Provider, true, true},
	Garbage:     {thread.Response, true, true},
}

func (s *suite) tells(e *thread.Error, want told) model.Failure {
	s.Helper()
	f, ok := model.FailureOf(e)
	if e.Code != want.code || f.Again != want.again || want.hint && e.Hint == "" {
		s.Errorf("got code %s, again %v, hint %q; want %s, %v\nerror: %v", e.Code, f.Again, e.Hint, want.code, want.again, e)
	}
	if !ok {
		s.Errorf("the error has no model.Failure: %#v", e)
	}
	return f
}

var failures = append(troubles(), []trial{
	{"a wrong key is told as one", func(c Caps) bool { return c.Key }, func(s *suite) {
		s.server.config.Key = "another"
		e, _ := s.refused(s.Context(), s.model, s.request(say("ana: hello")))
		if f := s.tells(e, told{thread.Configuration, false, true}); f.Status != 401 {
			s.Errorf("status %d", f.Status)
		}
	}},
	{"an unknown model is told as one", func(c Caps) bool { return c.Unknown != "" }, func(s *suite) {
		r := s.request(say("ana: hello"))
		r.Model = s.caps.Unknown
		e, _ := s.refused(s.Context(), s.model, r)
		s.tells(e, told{thread.Configuration, false, true})
		if !strings.Contains(e.Error(), s.caps.Unknown) {
			s.Errorf("the model is not named: %v", e)
		}
	}},
	{"a rate limit says how long to wait", nil, func(s *suite) {
		s.server.Script(Reply{Trouble: RateLimit, RetryAfter: Duration(7 * time.Second)})
		e, _ := s.refused(s.Context(), s.model, s.request(say("ana: hello")))
		if f := s.tells(e, tells[RateLimit]); f.After != 7*time.Second || f.Status != 429 {
			s.Errorf("%+v", f)
		}
	}},
	{"a prompt over the window is a limit", nil, func(s *suite) {
		s.server.Script(Fail(Overflow))
		e, _ := s.refused(s.Context(), s.model, s.request(say("ana: hello")))
		if !model.Overflows(e) {
			s.Errorf("it is not told as an overflow: %#v", e)
		}
	}},
	{"an invalid request is the provider's refusal", nil, func(s *suite) {
		r := s.request(say("ana: hello"), saidBack([]thread.Part{thread.Call("c1", "zoom", nil)}), say("ana: and?"))
		e, _ := s.refused(s.Context(), s.model, r)
		if f := s.tells(e, told{thread.Provider, false, false}); f.Status != 400 {
			s.Errorf("%+v", f)
		}
	}},
	{"a server that is not there is told as one", nil, func(s *suite) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			s.Fatal(err)
		}
		url := "http://" + l.Addr().String()
		if err := l.Close(); err != nil {
			s.Fatal(err)
		}
		e, _ := s.refused(s.Context(), s.open(s.T, url), s.request(say("ana: hello")))
		s.tells(e, told{thread.Provider, true, true})
	}},
	{"what went wrong once is asked again", nil, func(s *suite) {
		s.server.Script(Fail(Overloaded), Reply{Parts: Say("half of an answer").Parts, Trouble: Cut, After: 2}, Say("whole"))
		m := model.Patient(s.model, model.Policy{Pause: time.Millisecond})
		h := s.listen(s.Context(), m, s.request(say("ana: hello")))
		if h.err != nil {
			s.Fatal(h.err)
		}
		void := 0
		for _, e := range h.events {
			if e.Type == model.Retry {
				void++
			}
		}
		if textOf(h.done.Parts) != "whole" || void != 2 || len(s.server.Exchanges()) != 3 {
			s.Errorf("%+v after %d new tries and %d requests", h.done, void, len(s.server.Exchanges()))
		}
	}},
}...)

// troubles are the trials of each trouble, before an answer and in its middle.
func troubles() []trial {
	var out []trial
	for _, t := range []Trouble{RateLimit, Quota, Overloaded, ServerError, Gateway, Overflow, Forbidden, Policy} {
		out = append(out, trial{"instead of an answer: " + string(t), nil, func(s *suite) {
			s.server.Script(Fail(t))
			e, h := s.refused(s.Context(), s.model, s.request(say("ana: hello")))
			s.tells(e, tells[t])
			if len(h.events) > 0 || len(s.server.Exchanges()) != 1 {
				s.Errorf("%d events, %d requests", len(h.events), len(s.server.Exchanges()))
			}
		}})
	}
	for _, t := range []Trouble{Cut, Truncated, Garbage, Overloaded, ServerError, RateLimit} {
		for name, after := range map[string]int{"before the first piece": 0, "in the middle": 3} {
			if after == 0 && !t.later() {
				continue
			}
			out = append(out, trial{name + ": " + string(t), nil, func(s *suite) {
				s.server.Script(Reply{Parts: Say("one two three four five").Parts, Trouble: t, After: after})
				e, h := s.refused(s.Context(), s.model, s.request(say("ana: hello")))
				s.tells(e, tells[t])
				if got := h.text(model.TextDelta); after > 0 && got != "one two three " {
					s.Errorf("%q had come", got)
				}
			}})
		}
	}
	return out
}

var endings = []trial{
	{"an answer that is too long says so", nil, func(s *suite) {
		s.server.Script(Reply{Parts: Say("It goes on and").Parts, Stop: thread.StopLength})
		if h := s.ask(s.request(say("ana: tell"))); h.done.Stop != thread.StopLength || textOf(h.done.Parts) != "It goes on and" {
			s.Errorf("%+v", h.done)
		}
	}},
	{"a refusal says so", func(c Caps) bool { return c.Refusal }, func(s *suite) {
		s.server.Script(Reply{Parts: Say("I can't help with that.").Parts, Stop: thread.StopRefusal})
		if h := s.ask(s.request(say("ana: tell"))); h.done.Stop != thread.StopRefusal || textOf(h.done.Parts) != "I can't help with that." {
			s.Errorf("%+v", h.done)
		}
	}},
	{"a stopped answer ends at once", nil, func(s *suite) {
		s.server.Script(Reply{Parts: Say("one two three four").Parts, Pause: Duration(time.Minute), After: 2})
		ctx, stop := context.WithCancel(s.Context())
		defer stop()
		var failed error
		for e, err := range s.model.Stream(ctx, s.request(say("ana: hello"))) {
			if err != nil {
				failed = err
				continue
			}
			if e.Type == model.TextDelta {
				stop()
			}
		}
		if thread.CodeOf(failed) != thread.Aborted {
			s.Errorf("got %v", failed)
		}
		s.soon("the request goes on", func() bool { return s.server.Running() == 0 })
	}},
	{"a reader that leaves ends the request", nil, func(s *suite) {
		s.server.Script(Reply{Parts: Say("one two three four").Parts, Pause: Duration(time.Minute), After: 2})
		for e, err := range s.model.Stream(s.Context(), s.request(say("ana: hello"))) {
			if err != nil {
				s.Fatal(err)
			}
			if e.Type == model.TextDelta {
				break
			}
		}
		s.soon("the request goes on", func() bool { return s.server.Running() == 0 })
	}},
	{"a deadline ends an answer that stalls", nil, func(s *suite) {
		s.server.Script(Reply{Parts: Say("one two three four").Parts, Pause: Duration(time.Minute), After: 2})
		s.late()
	}},
	{"a deadline ends an answer that does not begin", nil, func(s *suite) {
		s.server.Script(Reply{Parts: Say("one").Parts, Delay: Duration(time.Minute)})
		s.late()
	}},
	{"an answer that is only slow is waited for", nil, func(s *suite) {
		s.server.Script(Reply{Parts: Say("one two three four").Parts, Delay: Duration(50 * time.Millisecond), Pause: Duration(50 * time.Millisecond), After: 2, Pace: 200})
		if got := textOf(s.ask(s.request(say("ana: hello"))).done.Parts); got != "one two three four" {
			s.Errorf("got %q", got)
		}
	}},
}

// late expects that a deadline ends a request and is told as one.
func (s *suite) late() {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), 200*time.Millisecond)
	defer cancel()
	e, _ := s.refused(ctx, s.model, s.request(say("ana: hello")))
	if e.Code != thread.Timeout || errors.Is(s.Context().Err(), context.Canceled) {
		s.Errorf("got code %s: %v", e.Code, e)
	}
	s.soon("the request goes on", func() bool { return s.server.Running() == 0 })
}
