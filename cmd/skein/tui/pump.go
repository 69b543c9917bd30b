package tui

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/skeinhq/skein/thread"
)

const (
	frame     = time.Second / 30 // events are brought so often at most
	lookEvery = time.Second      // so often the log is looked at for what others said
)

// pump gathers what happens in a thread and brings it in frames: the first event
// at once, what follows in the next frame.
type pump struct {
	mu     sync.Mutex
	events []event
	tip    int64
	length int64
	due    int64 // lines
	lost   bool  // events were lost
	more   chan struct{}
}

// watch brings what happens in a sitting until its context ends.
func (s *shell) watch(ctx context.Context, in *seat, sitting int, batches iter.Seq2[thread.Batch, error]) {
	p := &pump{more: make(chan struct{}, 1)}
	var work sync.WaitGroup
	work.Go(func() {
		for b, err := range batches {
			p.take(&b, err, s.cfg.Me)
		}
	})
	work.Go(func() { s.look(ctx, in, sitting) })
	p.bring(ctx, sitting, s.send)
	work.Wait()
}

// take adds a batch's events.
func (p *pump) take(b *thread.Batch, err error, viewer string) {
	p.mu.Lock()
	switch {
	case err != nil:
		p.lost = p.lost || thread.CodeOf(err) == thread.Limit
	case b.Live != nil:
		p.piece(pieceOf(b.Live))
	case len(b.Events) > 0 && len(b.Entries)+len(b.Nodes)+len(b.Docs) == 0:
		for i := range b.Events {
			p.tell(&b.Events[i])
		}
	default:
		for i := range b.Entries {
			if e, ok := eventOf(&b.Entries[i], viewer); ok {
				p.events = append(p.events, e)
			}
		}
		p.tip, p.length, p.due = b.Thread.Tip, b.Thread.Length, b.Thread.Backlog
	}
	p.mu.Unlock()
	select {
	case p.more <- struct{}{}:
	default:
	}
}

// piece adds a piece of an answer to the one before where it goes on from it.
func (p *pump) piece(next piece) {
	if n := len(p.events); n > 0 {
		if last := p.events[n-1].piece; last != nil && last.id == next.id && last.kind == next.kind && next.kind != "retry" {
			last.text += next.text
			return
		}
	}
	p.events = append(p.events, event{piece: &next})
}

// tell adds what no entry shows.
func (p *pump) tell(e *thread.Event) {
	switch at := (printed{call: e.CallID, name: e.Name, at: e.Time}); e.Type {
	case thread.WarningEvent:
		p.events = append(p.events, event{warning: safeLine(e.Reason)})
	case thread.ToolEvent:
		p.events = append(p.events, event{begun: &at})
	case thread.OutputEvent:
		for i := len(p.events) - 1; i >= 0 && p.events[i].message == nil; i-- {
			if last := p.events[i].printed; last != nil && last.call == at.call {
				last.text = ending(last.text+e.Text, maxPrinted)
				return
			}
		}
		at.text = ending(e.Text, maxPrinted)
		p.events = append(p.events, event{printed: &at})
	}
}

func eventOf(e *thread.Entry, viewer string) (event, bool) {
	switch {
	case e.IsMessage():
		m := messageOf(e, viewer)
		out := event{message: &m, key: e.Key}
		if e.Message != nil {
			out.taken = e.Message.Queued
		}
		return out, true
	case e.Queued != nil && e.Queued.Message != nil:
		m := e.Queued.Message
		text := safe(m.PlainText())
		if !m.VisibleTo(viewer) {
			text = "(private)"
		}
		return event{queued: &waiting{key: e.Key, seq: e.Seq, author: safeLine(m.Author), text: text, when: e.Queued.When}}, true
	case e.Approval != nil:
		note, ok := noteOf(e.Approval)
		if !ok {
			return event{asked: true}, true
		}
		return event{decided: &verdict{e.Approval.Call, note}}, true
	case e.Rewind != nil || e.Reset != nil:
		return event{undone: true}, true
	case e.Title != nil:
		return event{title: &e.Title.Title}, true
	}
	if a, ok := asideOf(e, viewer); ok {
		return event{aside: &a}, true
	}
	return event{}, false
}

// bring sends what was gathered, a frame apart.
func (p *pump) bring(ctx context.Context, sitting int, send func(any)) {
	for {
		select {
		case <-p.more:
		case <-ctx.Done():
			return
		}
		p.mu.Lock()
		h := happened{sitting: sitting, events: p.events, tip: p.tip, length: p.length, backlog: p.due}
		lost := p.lost
		p.events, p.tip, p.lost = nil, 0, false
		p.mu.Unlock()
		if lost {
			send(fellBehind{sitting})
			continue
		}
		send(h)
		t := time.NewTimer(frame)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return
		}
	}
}

// look finds what other processes did: they commit without this one's engine
// hearing of it, and their hold on a turn ends by the clock alone.
func (s *shell) look(ctx context.Context, in *seat, sitting int) {
	t := in.thread
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var seen int64
	held := false // somebody owned the turn: what waits may be asked for once nobody does
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		s.send(ticked{sitting})
		state, err := t.State(ctx)
		holds := err == nil && state.Lease.Held(time.Now())
		if err != nil || state.Tip == seen && holds == held {
			if err != nil && ctx.Err() == nil && !errors.Is(err, context.Canceled) {
				s.send(statusRead{sitting: sitting, err: err})
			}
			continue
		}
		seen, held = state.Tip, holds
		st, _, err := s.status(t, true)
		if ctx.Err() == nil {
			s.send(statusRead{sitting, st, err})
			s.mind(in, &state)
		}
	}
}
