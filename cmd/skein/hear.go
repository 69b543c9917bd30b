package main

import (
	"context"
	"errors"
	"iter"
	"os"
	"os/signal"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

// retry has answered what no answer came to, or else the newest answer made again.
func (c *chat) retry() error {
	c.pending = false
	waits, err := c.unanswered()
	if err != nil {
		return err
	}
	if waits {
		return c.follow(c.thread.StreamReply)
	}
	return c.follow(func(ctx context.Context) iter.Seq2[skein.Piece, error] { return c.thread.StreamRegenerate(ctx, c.me()) })
}

// unanswered says whether anything waits for an answer.
func (c *chat) unanswered() (bool, error) {
	state, err := c.thread.State(c.ctx)
	if err != nil || state.Turn != 0 || len(state.Inbox) > 0 {
		return err == nil, err
	}
	for e, err := range c.thread.Messages(c.ctx, state.Length-1, state.Length) {
		return err == nil && e.Message != nil && e.Message.Role != thread.Assistant, err
	}
	return false, nil
}

// follow prints an answer as it comes. Where a call in it waits for an approval the
// question is shown, and the decision is waited for.
func (c *chat) follow(answers answers) error {
	_, err := c.hear(answers)
	asked, ok := waitsFor(err)
	if !ok {
		return err
	}
	return c.park(asked)
}

// answers are those to come, piece by piece.
type answers func(context.Context) iter.Seq2[skein.Piece, error]

// heard is a piece of an answer, or what it failed by.
type heard struct {
	piece skein.Piece
	err   error
}

// hear prints an answer as it comes and gives how many pieces came. Lines that are
// typed meanwhile wait, but for those that are for the running turn.
func (c *chat) hear(answers answers) (pieces int, err error) {
	ctx, stop := signal.NotifyContext(c.ctx, os.Interrupt)
	defer stop()
	coming := make(chan heard)
	go func() {
		defer close(coming)
		for p, err := range answers(ctx) {
			coming <- heard{p, err}
		}
	}()
	out := &answer{chat: c}
	c.halted = false
	for {
		select {
		case h, more := <-coming:
			switch {
			case !more:
				return pieces, errors.Join(out.end(), err, c.keepHeld())
			case h.err != nil:
				err = errors.Join(err, out.end(), c.stopped(ctx, h.err))
			case err == nil:
				pieces++
				if err = out.add(h.piece); err != nil {
					stop()
				}
			}
		case line := <-c.meanwhile(ctx):
			over, e := c.interject(out, line)
			err = errors.Join(err, e)
			if over || e != nil {
				stop()
			}
		}
	}
}

// stopped tells that an interrupt, and not err, has ended an answer, or that
// somebody else has stopped it. Of a command that was typed here that is told
// already.
func (c *chat) stopped(ctx context.Context, err error) error {
	typed := c.halted
	switch {
	case c.ctx.Err() != nil:
	case typed && thread.CodeOf(err) == thread.Aborted:
		return nil
	case ctx.Err() != nil:
		c.halted = true
		return c.note(c.words.stopped)
	case thread.CodeOf(err) == thread.Aborted:
		c.halted = true
		return &thread.Error{Code: thread.Aborted, Op: "chat", Thread: c.thread.ID(), Message: "the turn was stopped from elsewhere", Hint: "what came of the answer is kept"}
	}
	return err
}
