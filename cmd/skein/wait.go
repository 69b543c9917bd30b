package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// wait is a talk's wait for what has to come before a turn goes on. Its goroutine
// ends with it.
type wait struct {
	since int64         // what of the log was shown when it began
	ended chan struct{} // closed when it has come, or failed
	err   error         // read after that
	stop  func()
	then  func(since int64) error
}

// errLeft ends a talk whose turn goes on waiting without it.
var errLeft = errors.New("its turn stays open")

// wait begins to wait until until returns; then goes on.
func (c *chat) wait(since int64, until func(context.Context) error, then func(since int64) error) {
	c.unwait()
	ctx, stop := signal.NotifyContext(c.ctx, os.Interrupt)
	w := &wait{since: since, ended: make(chan struct{}), stop: stop, then: then}
	go func() {
		defer close(w.ended)
		w.err = until(ctx)
	}()
	c.waiting = w
}

// unwait waits no longer.
func (c *chat) unwait() {
	if c.waiting == nil {
		return
	}
	c.waiting.stop()
	<-c.waiting.ended
	c.waiting = nil
}

// waited goes on after a wait that has an end. An interrupt leaves the talk; the
// turn stays as it is.
func (c *chat) waited() error {
	w := c.waiting
	c.unwait()
	if c.person {
		if err := c.printf("\n"); err != nil { // the prompt sign stands there
			return err
		}
	}
	if w.err != nil && c.ctx.Err() == nil && errors.Is(w.err, context.Canceled) {
		id := c.thread.ID()
		return &thread.Error{Code: thread.Aborted, Op: "chat", Thread: id, Message: "the talk was left", Hint: fmt.Sprintf("skein approvals lists what waits, skein reply %s goes on", id), Err: errLeft}
	}
	if w.err != nil {
		return w.err
	}
	return w.then(w.since)
}

// resume goes on with a turn that was open when the talk began: at its question, at
// the end of who runs it, or at once where nobody does.
func (c *chat) resume() error {
	state, err := c.thread.State(c.ctx)
	if err != nil || state.Turn == 0 {
		return err
	}
	asked, err := c.thread.Pending(c.ctx)
	switch {
	case err != nil:
		return err
	case len(asked) > 0:
		return c.park(asked)
	case state.Lease.Held(time.Now()):
		c.wait(state.Tip, c.untilFree, c.takeOver)
		return c.note(c.words.elsewhere)
	}
	return c.told(c.takeOver(state.Tip))
}

// lookForOwner is how often it is looked whether another process still runs the
// turn.
const lookForOwner = 200 * time.Millisecond

// untilFree waits until nobody runs the thread's turn.
func (c *chat) untilFree(ctx context.Context) error {
	for {
		state, err := c.thread.State(ctx)
		if err != nil || state.Turn == 0 || !state.Lease.Held(time.Now()) {
			return err
		}
		if err := model.Wait(ctx, lookForOwner); err != nil {
			return err
		}
	}
}

// takeOver goes on after another process: with what it has said, or, where it died
// or left the turn open, with the turn.
func (c *chat) takeOver(since int64) error {
	state, err := c.thread.State(c.ctx)
	if err != nil {
		return err
	}
	if state.Turn == 0 {
		return c.catchUp(since)
	}
	asked, err := c.thread.Pending(c.ctx)
	if err != nil {
		return err
	}
	if len(asked) == 0 {
		if err := c.note(c.words.resumed); err != nil {
			return err
		}
	}
	return c.proceed(since)
}

// goOn goes on at once, after a command that let the turn do so.
func (c *chat) goOn() error {
	c.goesOn = false
	state, err := c.thread.State(c.ctx)
	if err != nil {
		return err
	}
	since := state.Tip
	c.known = state.Tip
	if c.waiting != nil {
		since = c.waiting.since
	}
	c.unwait()
	return c.proceed(since)
}

// proceed has the open turn go on and prints what comes of it, or what came of it
// since elsewhere.
func (c *chat) proceed(since int64) error {
	state, err := c.thread.State(c.ctx)
	if err != nil {
		return err
	}
	if state.Turn == 0 {
		// What is queued stays so where the turn was stopped: else it was taken.
		return errors.Join(c.catchUp(since), c.mindQueue())
	}
	pieces, err := c.hear(c.thread.StreamReply)
	if asked, ok := waitsFor(err); ok {
		return c.park(asked)
	}
	if err != nil || pieces > 0 {
		return err
	}
	return c.catchUp(since)
}

// park shows what the turn waits for and waits for the decision, wherever it is
// taken; unless something was said meanwhile that the turn is to hear first. The wait
// has begun when the question is seen: an interrupt is then for it.
func (c *chat) park(asked []skein.Asked) error {
	if c.goesOn {
		return c.goOn()
	}
	since, err := c.askedAt()
	if err != nil {
		return err
	}
	c.wait(max(since, c.known), c.thread.AwaitDecision, func(since int64) error {
		return errors.Join(c.showDecided(since), c.proceed(since))
	})
	return c.showAsked(asked)
}

// askedAt gives the seq of the newest question.
func (c *chat) askedAt() (int64, error) {
	q := store.EntriesQuery{Kinds: []thread.Kind{thread.ApprovalKind}, Newest: true}
	for e, err := range c.thread.Entries(c.ctx, q) {
		if err != nil || e.Approval != nil && e.Approval.State == thread.ApprovalAsked {
			return e.Seq, err
		}
	}
	return 0, nil
}

// catchUp prints the answers that others have had made since.
func (c *chat) catchUp(since int64) error {
	out := &answer{chat: c}
	for e, err := range c.thread.Entries(c.ctx, store.EntriesQuery{After: since, Kinds: []thread.Kind{thread.MessageKind}}) {
		if err != nil {
			return err
		}
		pieces := skein.PiecesOf(&e)
		if m := e.Message; m != nil && m.Role == thread.Assistant && m.PlainText() != "" {
			pieces = append([]skein.Piece{{ID: e.ID, Author: m.Author, Text: m.PlainText()}}, pieces...)
		}
		for _, p := range pieces {
			if err := out.add(p); err != nil {
				return err
			}
		}
	}
	return out.end()
}

// sayLater says what is answered after the turn that is open.
func (c *chat) sayLater(text string) error {
	e, err := c.thread.Say(c.ctx, c.me(), text)
	if err != nil || c.flags.JSON {
		return err
	}
	if e.Kind != thread.QueuedKind {
		return nil // the turn has ended meanwhile
	}
	return c.note(c.words.later)
}

// note prints words of our own; programs have no use for them.
func (c *chat) note(words string) error {
	if c.flags.JSON {
		return nil
	}
	return c.printf("%s", words)
}
