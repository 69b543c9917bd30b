package strategy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/skeinhq/skein/thread"
)

// Step runs one strategy over the input, validates what it wants sent, checks
// that it shrinks, and gives the cut to be logged with what is sent after it. The
// outline cuts by itself: of it nothing comes.
//
// A strategy that fails, or whose result is not smaller, leaves all as it was: the
// turn goes on and a warning says so. It is not tried again before the messages
// have grown by a tenth, or are other ones, or are too large for the model.
//
// Errors: configuration (the result is not valid, or the strategy cannot be run as
// it is set up), limit (what must stay is too large, Details is an [Irreducible]),
// response (it failed and the prompt is too large without it), aborted. Usage and
// Noted are given with an error too.
func Step(ctx context.Context, s Strategy, in Input) (Outcome, error) {
	out := Outcome{Messages: in.Messages, Noted: in.Noted}
	if s.Compact == nil || len(in.Messages) == 0 {
		return out, nil
	}
	notes := readNotes(in.Noted)
	if notes.vain(s.Name, &in) {
		if in.over() && !in.Followed {
			return out, tooLarge(s.Name, errors.New("it was tried before in vain, and nothing has changed since"))
		}
		return out, nil
	}
	given := in
	given.Messages = slices.Clone(in.Messages) // a function may build its list in place
	r, err := s.Compact(ctx, given)
	out.Usage = r.Usage
	switch {
	case err != nil && ctx.Err() != nil:
		return out, err
	case err == nil && r.Messages == nil:
		return out, nil
	}
	var after []Message
	var before, left Weight
	if err == nil {
		if after, err = settle(in.Messages, r.Messages); err == nil {
			err = validate(in.Messages, after)
		}
		if err != nil {
			return out, err
		}
		if equal(in.Messages, after) {
			return out, nil
		}
		before, left = Weigh(in.Messages), Weigh(after)
		if left.Tokens >= before.Tokens {
			err = &thread.Error{Code: thread.Response, Op: "compact", Message: fmt.Sprintf("what it left is not smaller: %d tokens of %d", left.Tokens, before.Tokens)}
		}
	}
	if err != nil {
		return failed(s.Name, &in, out, notes, err)
	}
	out.Messages = after
	out.Noted = notes.without(s.Name).encode(in.Noted)
	out.Cut = &thread.Cut{
		Strategy: s.Name, Agent: in.Agent, Step: in.Step,
		Boundary: oldest(after), Kept: Encode(after), Gone: gone(in.Messages, after),
		Reason: cmp.Or(r.Reason, s.Name),
		Before: weighed(in.Messages, before), After: weighed(after, left),
	}
	if r.Usage != (thread.Usage{}) {
		out.Cut.Usage = &r.Usage
	}
	return out, nil
}

// failed decides what a failure means: the turn ends by it where the strategy was
// set up wrongly, and where the prompt is too large without it.
func failed(name string, in *Input, out Outcome, notes notes, err error) (Outcome, error) {
	var e *thread.Error
	if errors.As(err, &e) {
		if _, ok := e.Details.(Irreducible); ok || e.Code == thread.Configuration {
			return out, err
		}
	}
	out.Noted = notes.with(name, in).encode(in.Noted)
	if in.over() && !in.Followed {
		return out, tooLarge(name, err)
	}
	out.Warning = fmt.Sprintf("the context strategy %s failed, and the turn goes on without it: %v", name, err)
	return out, nil
}

func tooLarge(name string, cause error) error {
	return &thread.Error{
		Code: thread.Response, Op: "compact", Err: cause,
		Message: fmt.Sprintf("the prompt is too large for the model, and the context strategy %s failed", name),
		Hint:    "say it again, choose another strategy or a model for summaries, or rewind",
	}
}

// settle gives a strategy's messages the form in which the log can keep them:
// those that it has stay its own, with results shortened or not, and those that
// were edited or are new are as they will be read back.
func settle(before, after []Message) ([]Message, error) {
	place := make(map[int64]*Message, len(before))
	for i := range before {
		if before[i].Seq != 0 {
			place[before[i].Seq] = &before[i]
		}
	}
	out := make([]Message, 0, len(after))
	for i := range after {
		m := &after[i]
		b := place[m.Seq]
		if m.Seq != 0 && b == nil {
			out = append(out, *m) // validation names it
			continue
		}
		s, err := settled(b, m)
		if err != nil {
			return nil, broken("part", i, "cannot be stored: %v", err).error()
		}
		out = append(out, s)
	}
	return out, nil
}

// settled settles one message; was is the one before, nil for a new one.
func settled(was, m *Message) (Message, error) {
	if was != nil {
		switch {
		case same(m.Message, was.Message) && (was.edited || m.Results == was.Results):
			return *was, nil
		case same(m.Message, was.Message):
			return was.laid(m.Results), nil
		}
		if laid := was.laid(m.Results); same(m.Message, laid.Message) {
			return laid, nil
		}
	}
	if m.Message == nil {
		out := *m // validation names it
		out.edited = true
		return out, nil
	}
	stored, err := asStored(m.Message)
	if err != nil {
		return Message{}, err
	}
	if was == nil {
		return New(*stored), nil
	}
	out := *was
	out.whole, out.edited, out.Results, out.Message = was.original(), true, 0, stored
	return out, nil
}

// asStored is a message as it is read back, weighed anew.
func asStored(m *thread.Message) (*thread.Message, error) {
	data, err := thread.Encode(m)
	if err != nil {
		return nil, err
	}
	var out thread.Message
	if err := json.Unmarshal(data, &out); err != nil {
		return nil, err
	}
	out.Weight = out.Weigh()
	return &out, nil
}

func same(a, b *thread.Message) bool { return a == b || reflect.DeepEqual(a, b) }

// equal says whether the same is sent.
func equal(a, b []Message) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Seq != b[i].Seq || !same(a[i].Message, b[i].Message) {
			return false
		}
	}
	return true
}

// oldest is the lowest index among the messages; 0 where none has one.
func oldest(messages []Message) int64 {
	for i := range messages {
		if messages[i].Seq != 0 {
			return messages[i].Index
		}
	}
	return 0
}

func weighed(messages []Message, w Weight) thread.CutWeight {
	return thread.CutWeight{Tail: w.Tokens, Messages: len(messages), Characters: w.Characters}
}
