package agent

import (
	"context"
	"slices"

	"github.com/skeinhq/skein/internal/outline"
	"github.com/skeinhq/skein/internal/prompt"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/strategy"
	"github.com/skeinhq/skein/thread"
)

// Moment says when a cut is asked for.
type Moment int

// The moments. Inside a turn only HARD calls for a cut, and the newest call
// with its results stays. Where the provider has found the prompt too large a cut
// is called for in any case, and halves the tail: our estimate was too low. The
// same is done where somebody asks for it.
const (
	BetweenTurns Moment = iota
	InsideTurn
	Overflowing
	Asking
)

// forced says whether a cut is called for whatever there is.
func (m Moment) forced() bool { return m == Overflowing || m == Asking }

// reasons are what a cut's entry says of why it was made.
var reasons = map[Moment]string{BetweenTurns: "tail", InsideTurn: "tail", Overflowing: reasonOverflow, Asking: "asked"}

// Cut moves the boundary if the tail weighs too much, as far as there are lines
// to stand for what leaves. Past HARD, and where no model writes lines, it has
// the missing ones built at once. held says that a line that is not built yet has held the cut back.
func (l *Log) Cut(ctx context.Context, m Marks, when Moment) (held bool, err error) {
	weights := map[built]int{}
	err = l.Anew(ctx, func() error {
		held, err = l.cut(ctx, m, when, weights)
		return err
	})
	return held, err
}

func (l *Log) cut(ctx context.Context, m Marks, when Moment, weights map[built]int) (held bool, err error) {
	past, err := l.past(ctx)
	if err != nil {
		return false, err
	}
	tail := tailOf(past)
	limits, called := m.Tail, tail.Over(m.Tail, when != BetweenTurns)
	if when != BetweenTurns {
		limits.Keep = newestStep(past.Whole(), l.Thread.Turn)
	}
	if when.forced() {
		called = true
		limits.Low = min(limits.Low, tail.Weight()/2)
		limits.Hard = limits.Low
	}
	if !called {
		return false, nil
	}
	want := tail.Cut(limits, l.Thread.Length)
	if want == tail.Start {
		return false, nil
	}
	if l.ByRule && l.Thread.Backlog > 0 {
		if err := l.Lines.Fill(ctx, &l.Thread, want); err != nil {
			return false, err
		}
	}
	c := &cutter{ctx: ctx, log: l, weights: weights, missing: map[thread.Span]bool{}}
	lines, err := c.leaves(tail.Start, want)
	if err != nil {
		return false, err
	}
	if lines < want && (when.forced() || tail.Over(m.Tail, true)) {
		if err := l.Lines.Fill(ctx, &l.Thread, want); err != nil {
			return false, err
		}
		if lines, err = c.leaves(tail.Start, want); err != nil {
			return false, err
		}
	}
	start := tail.Cut(limits, lines)
	if start == tail.Start {
		return true, nil
	}
	return start < want, c.commit(past, tail, start, m.Outline, reasons[when])
}

// cutter makes one cut.
type cutter struct {
	ctx     context.Context
	log     *Log
	weights map[built]int        // of lines; kept while the cut is tried again
	missing map[thread.Span]bool // lines that are not built yet
	unread  []thread.Span        // lines that weigh was asked for in vain
}

// built is a line where it lies: there it never changes.
type built struct {
	origin string
	branch int64
	span   thread.Span
}

func (c *cutter) built(s thread.Span) built {
	seg, _ := c.log.Thread.SegmentAt(s.Last())
	return built{seg.Origin, seg.Branch, s}
}

// leaves reads the lines of messages [from, to) and gives the index of the
// first that has none, or to.
func (c *cutter) leaves(from, to int64) (int64, error) {
	var unread []thread.Span
	for i := from; i < to; i++ {
		s := thread.Span{ID: i, N: 1}
		if _, ok := c.weights[c.built(s)]; !ok {
			unread = append(unread, s)
		}
	}
	if err := c.read(unread); err != nil {
		return 0, err
	}
	for _, s := range unread {
		if c.missing[s] {
			return s.ID, nil
		}
	}
	return to, nil
}

// read reads lines in one go.
func (c *cutter) read(spans []thread.Span) error {
	if len(spans) == 0 {
		return nil
	}
	nodes, err := c.log.Store.Nodes(c.ctx, &c.log.Thread, spans)
	if err != nil {
		return err
	}
	for _, s := range spans {
		c.missing[s] = true
	}
	for _, n := range nodes {
		delete(c.missing, n.Span)
		c.weights[c.built(n.Span)] = prompt.LineWeight(n)
	}
	return nil
}

// weigh is the outline's Weigher. A line that was not read yet is noted.
func (c *cutter) weigh(s thread.Span) (int, bool) {
	w, ok := c.weights[c.built(s)]
	if !ok && !c.missing[s] {
		c.unread = append(c.unread, s)
	}
	return w, ok
}

// grow is Outline.Grow, tried with the lines that are known until none is asked for
// that is not: they are read a few hundred at a time, and not one by one.
func (c *cutter) grow(old outline.Outline, start int64, m outline.Marks) (outline.Outline, error) {
	for {
		c.unread = c.unread[:0]
		grown, _ := old.Grow(start, m, c.weigh)
		if len(c.unread) == 0 {
			return grown, nil
		}
		if err := c.read(c.unread); err != nil {
			return grown, err
		}
	}
}

func (c *cutter) commit(past Past, tail outline.Tail, start int64, m outline.Marks, reason string) error {
	old := outline.Outline{Boundary: past.Boundary()}
	cut := thread.Cut{Number: c.log.Thread.Cuts + 1, Strategy: OutlineStrategy, Prev: c.log.Thread.Cut, Reason: reason}
	if c.log.Base != OutlineStrategy {
		cut.Chain = string(c.log.Base)
	}
	if past.Cut != nil {
		old.Merging = past.Cut.Merging
	}
	for _, n := range past.Outline {
		old.Lines = append(old.Lines, outline.Line{Span: n.Span, Weight: prompt.LineWeight(n)})
	}
	grown, err := c.grow(old, start, m)
	if err != nil {
		return err
	}
	for _, l := range grown.Lines {
		cut.Outline = append(cut.Outline, l.Span)
	}
	cut.Boundary, cut.Merging = grown.Boundary, grown.Merging
	c.stay(&cut, past, start)
	left := outline.Tail{Messages: tail.Messages[start-tail.Start:]}
	cut.Before = thread.CutWeight{Outline: old.Weight(), Tail: tail.Weight()}
	cut.After = thread.CutWeight{Outline: grown.Weight(), Tail: left.Weight()}
	_, err = c.log.Commit(c.ctx, []store.New{{Entry: thread.Entry{Kind: thread.CutKind, Index: thread.NoIndex, Cut: &cut}}})
	return err
}

// stay says of a cut what stays as it was: results that were shortened before and
// have not left, and skills that the leaving messages loaded.
func (c *cutter) stay(cut *thread.Cut, past Past, start int64) {
	if len(past.Kept) > 0 && start < past.Cut.Length {
		cut.Kept, cut.Length = strategy.Encode(past.Kept[start-past.Boundary():]), past.Cut.Length
	}
	whole := past.Whole()
	shown := loadedIn(whole[start-past.first():])
	gone := without(past.every(), shown)
	if c.log.ForgetSkills {
		cut.Locked = without(union(past.locked(), gone), shown)
		return
	}
	cut.Skills = gone
}

// tailOf gives the tail as the outline's rules see it.
func tailOf(p Past) outline.Tail {
	whole := p.Whole()
	t := outline.Tail{Start: p.first(), Messages: make([]outline.Message, len(whole))}
	for i := range whole {
		e := &whole[i]
		m := outline.Message{Weight: Weight(e)}
		if e.Message != nil {
			for _, part := range e.Message.Parts {
				m.Bytes += bodyBytes(part)
				switch part.Type {
				case thread.CallPart:
					m.Calls = append(m.Calls, part.ID)
				case thread.ResultPart:
					// A call that ran at the provider's has its result beside it.
					if own := slices.Index(m.Calls, part.Call); own >= 0 {
						m.Calls = slices.Delete(m.Calls, own, own+1)
						continue
					}
					m.Results = append(m.Results, part.Call)
				}
			}
		}
		t.Messages[i] = m
	}
	return t
}

// bodyBytes is what a part adds to a request's body: bytes travel as base64.
func bodyBytes(p thread.Part) int64 {
	n := int64(len(p.Text)+len(p.Input)+len(p.Signature)) + p.Size*4/3
	for _, q := range p.Parts {
		n += bodyBytes(q)
	}
	return n
}

// newestStep is how many the running turn's newest call and what follows it are.
func newestStep(messages []thread.Entry, turn int64) int {
	for i := len(messages) - 1; i >= 0; i-- {
		if m := messages[i].Message; m != nil && m.Turn == turn && len(m.Calls()) > 0 {
			return len(messages) - i
		}
	}
	return 1
}
