package storetest

import (
	"errors"
	"time"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

var guards = []test{
	{"CommitConflictsOnlyWithWhatDoesNotFloat", func(s *suite) {
		s.create("a")
		s.talk("a", 1)
		s.commit("a", turn(thread.TurnBegun, 0))
		tip := s.state("a").Tip
		q := say("wait")
		q.QueueIfBusy = true
		s.append("a", q, title("x"), store.New{Entry: thread.Entry{Kind: thread.ApprovalKind, Approval: &thread.Approval{Call: "c", State: "asked"}}})
		w, err := s.Commit(s.ctx, key("a"), draft(say("step")), store.Guard{Tip: tip})
		s.must(err)
		_, err = s.Commit(s.ctx, key("a"), draft(say("late step")), store.Guard{Tip: tip})
		s.refused(err, thread.Conflict)
		_, err = s.Commit(s.ctx, key("a"), draft(say("step 2")), store.Guard{Tip: w.Thread.Tip})
		s.must(err)
		// Saying never conflicts, but a commit that has not seen it does.
		tip = s.state("a").Tip
		s.append("a", say("said"))
		_, err = s.Commit(s.ctx, key("a"), draft(say("step 3")), store.Guard{Tip: tip})
		s.refused(err, thread.Conflict)
		_, err = s.Commit(s.ctx, key("nobody"), draft(say("x")), store.Guard{})
		s.refused(err, thread.NotFound)
	}},
	{"DocumentsNeverMoveTheTip", func(s *suite) {
		s.create("a")
		s.talk("a", 1)
		w, err := s.Commit(s.ctx, key("a"), store.Draft{Docs: []thread.Doc{{Name: "x", Data: []byte("1")}}}, store.Guard{Tip: 1})
		s.must(err)
		if w.Thread.Tip != 1 {
			s.Fatalf("tip %d", w.Thread.Tip)
		}
	}},
	{"ALeaseHasOneOwner", func(s *suite) {
		s.create("a")
		l, err := s.Acquire(s.ctx, key("a"), "p", time.Minute)
		s.must(err)
		if l.Owner != "p" || l.Fence != 1 || !l.Until.Equal(store.Stamp(s.clock.Now().Add(time.Minute))) {
			s.Fatalf("lease %+v", l)
		}
		_, err = s.Acquire(s.ctx, key("a"), "q", time.Minute)
		s.refused(err, thread.Conflict)
		var e *thread.Error
		errors.As(err, &e)
		if held, ok := e.Details.(thread.Lease); !ok || held != l {
			s.Fatalf("details %+v, want %+v", e.Details, l)
		}
		s.clock.Add(50 * time.Second)
		l, err = s.Acquire(s.ctx, key("a"), "p", time.Minute)
		s.must(err)
		if l.Fence != 1 {
			s.Fatalf("renewing changed the fence to %d", l.Fence)
		}
		s.clock.Add(59 * time.Second)
		_, err = s.Acquire(s.ctx, key("a"), "q", time.Minute)
		s.refused(err, thread.Conflict)
		s.clock.Add(2 * time.Second)
		l, err = s.Acquire(s.ctx, key("a"), "q", time.Minute)
		s.must(err)
		if l.Owner != "q" || l.Fence != 2 {
			s.Fatalf("taken over: %+v", l)
		}
		if t := s.state("a"); t.Lease != l || t.Tip != 0 {
			s.Fatalf("state %+v", t)
		}
		_, err = s.Acquire(s.ctx, key("a"), "", time.Minute)
		s.refused(err, thread.Invalid)
		_, err = s.Acquire(s.ctx, key("a"), "p", 0)
		s.refused(err, thread.Invalid)
		_, err = s.Acquire(s.ctx, key("nobody"), "p", time.Minute)
		s.refused(err, thread.NotFound)
	}},
	{"ALateOwnerIsRefusedByItsFence", func(s *suite) {
		s.create("a")
		p, err := s.Acquire(s.ctx, key("a"), "p", time.Minute)
		s.must(err)
		_, err = s.Commit(s.ctx, key("a"), draft(say("mine")), store.Guard{Fence: p.Fence})
		s.must(err)
		_, err = s.Commit(s.ctx, key("a"), draft(say("nobody's")), store.Guard{Tip: 1})
		s.refused(err, thread.Conflict)
		s.clock.Add(2 * time.Minute)
		q, err := s.Acquire(s.ctx, key("a"), "q", time.Minute)
		s.must(err)
		_, err = s.Commit(s.ctx, key("a"), draft(say("late")), store.Guard{Tip: 1, Fence: p.Fence})
		s.refused(err, thread.Conflict)
		s.refused(s.Release(s.ctx, key("a"), p.Fence, false), thread.Conflict)
		_, err = s.Commit(s.ctx, key("a"), draft(say("q's")), store.Guard{Tip: 1, Fence: q.Fence})
		s.must(err)
		s.must(s.Release(s.ctx, key("a"), q.Fence, true))
		s.must(s.Release(s.ctx, key("a"), q.Fence, true))
		if t := s.state("a"); !t.Parked || t.Lease.Held(s.clock.Now()) || t.Lease.Fence != q.Fence {
			s.Fatalf("released: %+v", t)
		}
		_, err = s.Commit(s.ctx, key("a"), draft(say("after")), store.Guard{Tip: 2, Fence: q.Fence})
		s.refused(err, thread.Conflict)
		_, err = s.Commit(s.ctx, key("a"), draft(say("free")), store.Guard{Tip: 2})
		s.must(err)
		again, err := s.Acquire(s.ctx, key("a"), "q", time.Minute)
		s.must(err)
		if again.Fence <= q.Fence || s.state("a").Parked {
			s.Fatalf("after a release: %+v, parked %v", again, s.state("a").Parked)
		}
	}},
	{"EndingATurnUnparksIt", func(s *suite) {
		s.create("a")
		l, err := s.Acquire(s.ctx, key("a"), "p", time.Minute)
		s.must(err)
		_, err = s.Commit(s.ctx, key("a"), draft(turn(thread.TurnBegun, 0)), store.Guard{Fence: l.Fence})
		s.must(err)
		s.must(s.Release(s.ctx, key("a"), l.Fence, true))
		if w := s.commit("a", turn(thread.TurnEnded, 1)); w.Thread.Parked || w.Thread.Turn != 0 {
			s.Fatalf("%+v", w.Thread)
		}
	}},
	{"AppendNeedsNoLease", func(s *suite) {
		s.create("a")
		_, err := s.Acquire(s.ctx, key("a"), "p", time.Minute)
		s.must(err)
		s.talk("a", 1)
	}},
}
