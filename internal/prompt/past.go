package prompt

import (
	"fmt"
	"slices"
	"time"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// Past is what of a thread a prompt is made from.
type Past struct {
	Thread   string // its id
	Length   int64  // active messages
	Requests int64  // made so far, undone ones included

	// Cut is the cut in force, nil before the first. Boundary is what Since
	// answered: the index of the first message that is sent as it was said. Outline
	// tiles [0, Boundary) where the thread was cut so and is empty where not;
	// Messages are the entries of [Boundary, Length). Kept is what a strategy other
	// than the outline has left of the messages before Boundary, as they are sent:
	// some shortened, some new. New ones have no index and, in the place of an
	// author's, an empty name.
	Cut      *thread.Cut
	Boundary int64
	Outline  []thread.Node
	Kept     []thread.Entry
	Messages []thread.Entry

	// Previous is the agent's request before, from its newest active reply; nil
	// where there is none. Without it, the newest reply in Messages is asked.
	Previous *thread.Request
}

// Turn is the moment a prompt is made for.
type Turn struct {
	// Time is that of the turn's first entry, between turns that of the newest
	// message. The zero time tells no date.
	Time time.Time

	// Contexts are told, besides the built-in today, where they are new or have
	// changed.
	Contexts []thread.Context
}

// Input is all that a prompt is a function of.
type Input struct {
	Definition Definition
	Past       Past
	Turn       Turn
	Rules      model.Rules
}

// cut is the number of the cut in force, 0 before the first.
func (p *Past) cut() int64 {
	if p.Cut == nil {
		return 0
	}
	return p.Cut.Number
}

// whole gives what stands after the lines.
func (p *Past) whole() []thread.Entry {
	if len(p.Kept) == 0 {
		return p.Messages
	}
	return slices.Concat(p.Kept, p.Messages)
}

// newest is the time of the newest message.
func (p *Past) newest() (time.Time, bool) {
	if n := len(p.Messages); n > 0 {
		return p.Messages[n-1].Time, true
	}
	if n := len(p.Kept); n > 0 {
		return p.Kept[n-1].Time, true
	}
	if n := len(p.Outline); n > 0 {
		return p.Outline[n-1].Time, true
	}
	return time.Time{}, false
}

// check says where the past is not whole: lines that do not tile what is
// before the boundary, messages that are missing after it.
func (p *Past) check() error {
	at := int64(0)
	for _, n := range p.Outline {
		if n.Span.ID != at {
			return p.broken("line %s stands where the line of message %d should", n.Span, at)
		}
		at = n.Span.End()
	}
	kept := p.Cut != nil && p.Cut.Kept != nil
	end := p.Boundary
	if kept {
		end = p.Cut.Boundary
	}
	if len(p.Outline) > 0 && at != end {
		return p.broken("the lines end at %d, the whole messages start at %d", at, end)
	}
	if !kept && p.Cut != nil && p.Cut.Boundary > 0 && p.Boundary == p.Cut.Boundary && len(p.Outline) == 0 {
		return p.broken("the lines before message %d are missing", p.Boundary)
	}
	for i, e := range p.Messages {
		if e.Index != p.Boundary+int64(i) || e.Kind != thread.MessageKind {
			return p.broken("the entry at seq %d stands where message %d should", e.Seq, p.Boundary+int64(i))
		}
	}
	if end := p.Boundary + int64(len(p.Messages)); end != p.Length {
		return p.broken("the messages end at %d of %d", end, p.Length)
	}
	return nil
}

func (p *Past) broken(format string, args ...any) error {
	return &thread.Error{Code: thread.Storage, Op: "prompt", Thread: p.Thread, Message: "the past is not whole: " + fmt.Sprintf(format, args...), Hint: "skein doctor checks the thread"}
}
