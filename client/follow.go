package client

import (
	"context"
	"errors"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

// follower is a watcher while its updates are taken.
type follower struct {
	*Watcher
	yield func(Update, error) bool
	retry retry
}

// follow connects again and again. It ends when ctx does, when the loop is left or
// when the thread is gone.
func (f *follower) follow(ctx context.Context) {
	for f.waitWhileHeld(ctx) {
		if !f.become(CatchingUp, "") {
			return
		}
		err := f.connected(ctx)
		var e *thread.Error
		switch {
		case ctx.Err() != nil || errors.Is(err, errLeft):
			return
		case errors.Is(err, errHeld):
			continue
		case errors.As(err, &e) && final(e):
			f.mark(Gone, e.Message)
			f.yield(f.update(nil), e)
			return
		}
		if !f.become(Offline, err.Error()) {
			return
		}
		pause(ctx, f.retry.down())
	}
}

// errLeft says that whoever took the updates takes no more.
var errLeft = errors.New("the watch was left")

// waitWhileHeld waits until something is wanted, where there is no link that could
// be held; false: ctx has ended.
func (f *follower) waitWhileHeld(ctx context.Context) bool {
	for {
		f.mu.Lock()
		wait, changed := f.held && f.transport == Events, f.changed
		f.mu.Unlock()
		if !wait || ctx.Err() != nil {
			return ctx.Err() == nil
		}
		if !f.become(Offline, errHeld.Error()) {
			return false
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// connected follows the thread over one link, and gives why that ended.
func (f *follower) connected(ctx context.Context) error {
	l, err := f.dial(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	defer f.carry(nil)
	f.carry(l)
	f.retry.up()
	for {
		in, err := l.read(ctx)
		if err != nil {
			return err
		}
		if in.end {
			return ended(f.thread, in.why)
		}
		if err := f.apply(&in.batch); err != nil {
			return err
		}
		if !f.yield(f.update(&in.batch), nil) {
			return errLeft
		}
	}
}

// dial makes a link, and goes over to events where no WebSocket comes through.
func (f *follower) dial(ctx context.Context) (link, error) {
	a := f.ask()
	if f.transport != Events {
		l, err := f.client.dialSocket(ctx, f.thread, a)
		var none noSocketError
		if !errors.As(err, &none) || f.transport == WebSocket {
			return l, err
		}
		f.mu.Lock()
		f.transport = Events
		f.mu.Unlock()
	}
	return f.client.openStream(ctx, f.thread, a)
}

// ask gives what the watch begins with: from the second time on, what follows on
// what is held.
func (f *follower) ask() ask {
	f.mu.Lock()
	defer f.mu.Unlock()
	a := ask{Tail: f.options.Tail, From: f.options.From}
	if f.seen {
		a.From, a.Epoch = f.replica.Resume()
	}
	return a
}

// carry notes which link there is, and passes on a wish that came meanwhile.
func (f *follower) carry(l link) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.link = l
	if l != nil && f.held {
		l.hold(true)
	}
}

func (f *follower) apply(b *view.Batch) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.replica.Applied(*b); err != nil {
		return err
	}
	f.seen, f.state, f.reason = true, Live, ""
	f.note()
	return nil
}

func (f *follower) mark(s State, reason string) (changed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.state == s && f.reason == reason {
		return false
	}
	f.state, f.reason = s, reason
	f.note()
	return true
}

// become marks a state and tells of it; false: the loop was left.
func (f *follower) become(s State, reason string) bool {
	return !f.mark(s, reason) || f.yield(f.update(nil), nil)
}

// ended is the error of a watch that the server ended.
func ended(id, why string) error {
	code, ok := gone[why]
	if !ok {
		return errors.New("the server ended the watch: " + why)
	}
	return &thread.Error{Code: code, Op: "watch", Thread: id, Message: "the server ended the watch: " + why}
}
