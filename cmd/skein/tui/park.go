package tui

import (
	"context"
	"errors"
	"time"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// mind goes on with an open turn that nobody runs: where its owner is dead at
// once, and where it is parked as soon as all that it waits for is decided, by
// whomever.
func (s *shell) mind(in *seat, state *thread.Thread) {
	if state.Turn == 0 || state.Lease.Held(time.Now()) {
		return
	}
	if state.Parked {
		s.begin(in, func(context.Context) error { return errParked })
		return
	}
	in.mu.Lock()
	tried := in.tried == state.Turn
	in.tried = state.Turn // where that fails nobody spends on it again unasked
	in.mu.Unlock()
	if !tried {
		s.answer(in)
	}
}

// errParked stands for a turn that was found parked.
var errParked error = &thread.Error{Code: thread.Permission, Op: "chat", Message: "the turn waits for an approval", Details: skein.Waiting{}}

// parked says whether an error is that a turn waits for an approval.
func parked(err error) bool {
	var e *thread.Error
	if !errors.As(err, &e) {
		return false
	}
	_, ok := e.Details.(skein.Waiting)
	return ok
}

// await waits until all is decided, or something is said that the turn may hear
// before. It says whether the turn is to be gone on with.
func (s *shell) await(ctx context.Context, in *seat) (on bool, err error) {
	ctx, wake := context.WithCancel(ctx)
	defer wake()
	in.mu.Lock()
	if in.due {
		in.mu.Unlock()
		return true, nil
	}
	in.wake = wake
	in.mu.Unlock()
	s.sendIn(in, func(sitting int) any { return answering{sitting: sitting, parked: true, fresh: s.fresh()} })
	err = in.thread.AwaitDecision(ctx)
	in.mu.Lock()
	in.wake = nil
	due := in.due
	in.mu.Unlock()
	switch {
	case due:
		return true, nil
	case ctx.Err() != nil:
		return false, nil // it was stopped
	case err != nil:
		return false, err
	}
	state, err := in.thread.State(ctx)
	if err != nil || state.Turn == 0 {
		return false, err // somebody has ended the turn
	}
	return true, s.tellDecided(in, state.Turn)
}

// tellDecided brings what was decided of a turn's calls before it goes on: where that
// was done elsewhere nobody has heard of it, and the cards go as the calls run.
func (s *shell) tellDecided(in *seat, turn int64) error {
	decisions, err := s.decisions(in.thread, turn)
	if err != nil {
		return err
	}
	var events []event
	for call, note := range decisions {
		events = append(events, event{decided: &verdict{call, note}})
	}
	s.sendIn(in, func(sitting int) any { return happened{sitting: sitting, events: events} })
	return nil
}

// decide allows or denies a call, if it is the one that was looked at.
func (s *shell) decide(t *skein.Thread, sitting int, e decideCall) {
	a := e.approval
	question, err := s.stillAsks(t, e)
	switch {
	case err != nil:
	case a.State == thread.ApprovalDenied:
		err = t.Deny(s.ctx, s.cfg.Me, question, a.Reason)
	case a.Scope == thread.ScopeThread:
		err = t.ApproveAlways(s.ctx, s.cfg.Me, question)
	default:
		err = t.Approve(s.ctx, s.cfg.Me, question)
	}
	s.tell(decided{sitting: sitting, call: a.Call, err: err}, err)
}

// halt stops the thread's turn, whoever runs it, and starts no other.
func (s *shell) halt(in *seat, sitting int) {
	in.mu.Lock()
	cancel := in.cancel
	in.due, in.stopped = false, true
	in.mu.Unlock()
	s.work.Go(func() {
		err := in.thread.Stop(s.ctx)
		if cancel != nil {
			cancel() // also where it waits for another process's turn
		}
		if thread.CodeOf(err) == thread.Conflict && cancel != nil {
			err = nil // the turn has been ending already
		}
		s.tell(effectDone{sitting: sitting, err: err}, err)
	})
}

// stillAsks says whether what waits is still the call whose card was looked at:
// models use ids again.
func (s *shell) stillAsks(t *skein.Thread, e decideCall) (question string, err error) {
	if e.sum == nil {
		return e.approval.Call, nil
	}
	asked, err := t.Pending(s.ctx)
	if err != nil {
		return "", err
	}
	for _, a := range asked {
		if a.Call == e.approval.Call && sumOf(a) == *e.sum {
			return a.ID, nil
		}
	}
	return "", &thread.Error{Code: thread.NotFound, Op: "chat", Message: "that call does not wait any more"}
}

// compact has the thread's strategies act.
func (s *shell) compact(t *skein.Thread, sitting int) {
	before, err := t.State(s.ctx)
	if err == nil {
		err = t.Compact(s.ctx)
	}
	after := before
	if err == nil {
		after, err = t.State(s.ctx)
	}
	text := "compacted"
	if after.Cuts == before.Cuts {
		text = "there is nothing to compact"
	}
	s.tell(effectDone{sitting: sitting, text: text, err: err}, err)
}

// again answers what waits for an answer, or makes the newest answer again.
func (s *shell) again(in *seat, sitting int) {
	state, err := in.thread.State(s.ctx)
	waits := false
	if err == nil {
		waits, _, _, err = s.waits(in.thread, &state)
	}
	switch {
	case err != nil:
		s.tell(effectDone{sitting: sitting, err: err}, err)
	case waits:
		s.answer(in)
	default:
		s.begin(in, func(ctx context.Context) error {
			s.sendIn(in, func(sitting int) any {
				return effectDone{sitting: sitting, text: "the newest answer is undone and made again"}
			})
			return in.thread.Regenerate(ctx, s.cfg.Me)
		})
	}
}

// standing reads what an open turn waits for, what was decided in it, and what is
// queued.
func (s *shell) standing(t *skein.Thread, state *thread.Thread, st *status) error {
	st.open = state.Turn != 0
	st.held = st.open && state.Lease.Held(time.Now())
	if st.open {
		asked, err := t.Pending(s.ctx)
		if err != nil {
			return err
		}
		if st.asked, err = s.cards(t, state, asked); err != nil {
			return err
		}
		if st.decisions, err = s.decisions(t, state.Turn); err != nil {
			return err
		}
	}
	for _, seq := range state.Inbox[:min(len(state.Inbox), maxQueued)] {
		q := store.EntriesQuery{After: seq - 1, Limit: 1, Kinds: []thread.Kind{thread.QueuedKind}}
		for e, err := range t.Entries(s.ctx, q) {
			if err != nil {
				return err
			}
			if ev, ok := eventOf(&e, s.cfg.Me); ok && ev.queued != nil && e.Seq == seq {
				st.queued = append(st.queued, ev.queued)
			}
		}
	}
	return nil
}

// cards makes the cards of calls. Those that were made out of the viewer's sight
// are shown without what they hold.
func (s *shell) cards(t *skein.Thread, state *thread.Thread, asked []skein.Asked) (out []*card, err error) {
	if len(asked) == 0 {
		return nil, nil
	}
	hidden := map[string]bool{}
	for e, err := range t.Messages(s.ctx, max(0, state.Length-pageMessages), state.Length) {
		if err != nil {
			return nil, err
		}
		if e.Message == nil {
			continue
		}
		for _, c := range e.Message.Calls() {
			hidden[c.ID] = !e.Message.VisibleTo(s.cfg.Me)
		}
	}
	for _, a := range asked {
		show := cardOf
		if hidden[a.Call] {
			show = privateCard
		}
		out = append(out, show(a, s.cfg.Workspace))
	}
	return out, nil
}

const (
	maxQueued    = 20  // messages that wait are shown at the most
	maxDecisions = 100 // entries are looked through for what was decided
)

// decisions says, by the call's id, what was decided in a turn since the call was
// asked about: the first decision counts.
func (s *shell) decisions(t *skein.Thread, turn int64) (map[string]string, error) {
	out, done := map[string]string{}, map[string]bool{}
	q := store.EntriesQuery{After: turn, Newest: true, Limit: maxDecisions, Kinds: []thread.Kind{thread.ApprovalKind}}
	for e, err := range t.Entries(s.ctx, q) {
		if err != nil {
			return nil, err
		}
		a := e.Approval
		if a == nil || done[a.Call] {
			continue
		}
		if note, ok := noteOf(a); ok {
			out[a.Call] = note
		} else {
			done[a.Call] = true
		}
	}
	return out, nil
}
