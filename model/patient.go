package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/skeinhq/skein/thread"
)

// Policy says how long a [Patient] model waits, and how often it tries. The
// zero value of a field stands for its default.
type Policy struct {
	Tries int           // at most so many requests for an answer; default 5
	Wait  time.Duration // at most so long between them, all waits together; default 2 minutes
	First time.Duration // until the first byte of an answer; default 2 minutes
	Idle  time.Duration // between two bytes of an answer; default 5 minutes
	Whole time.Duration // of one try from its request to its end; default 30 minutes
	Pause time.Duration // about, before the second try; it doubles with each; default half a second
}

func (p Policy) filled() Policy {
	p.Tries = cmp.Or(p.Tries, 5)
	p.Wait = cmp.Or(p.Wait, 2*time.Minute)
	p.First = cmp.Or(p.First, 2*time.Minute)
	p.Idle = cmp.Or(p.Idle, 5*time.Minute)
	p.Whole = cmp.Or(p.Whole, 30*time.Minute)
	p.Pause = cmp.Or(p.Pause, 500*time.Millisecond)
	return p
}

// Patient gives a model that asks m again where it failed in a way that may
// pass: too many requests, a provider's own fault, an answer that broke off or
// does not come. It waits as long as the provider asks for, else a little
// longer each time. Before each new try it yields a Retry event, whose text
// says why: what came so far is void.
//
// A provider that asks for a longer wait than is left is not waited for: its
// error comes at once.
func Patient(m Model, p Policy) Model { return patient{m, p.filled()} }

type patient struct {
	model  Model
	policy Policy
}

// Stream asks until there is an answer or no use in asking.
func (p patient) Stream(ctx context.Context, r *Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		pauses := backoff.NewExponentialBackOff()
		pauses.InitialInterval, pauses.Multiplier, pauses.MaxInterval = p.policy.Pause, 2, p.policy.Wait
		left := p.policy.Wait
		for try := 1; ; try++ {
			err := p.once(ctx, r, func(e Event) bool { return yield(e, nil) })
			if err == nil || errors.Is(err, errLeft) {
				return
			}
			f, ok := FailureOf(err)
			pause := max(f.After, pauses.NextBackOff())
			if f.After > 0 {
				pause = f.After
			}
			if !ok || !f.Again || try >= p.policy.Tries || pause > left || ctx.Err() != nil {
				yield(Event{}, err)
				return
			}
			left -= pause
			if !yield(Event{Type: Retry, Text: fmt.Sprintf("%s; again in %s", reason(err), pause.Round(100*time.Millisecond))}, nil) {
				return
			}
			if err := Wait(ctx, pause); err != nil {
				yield(Event{}, err)
				return
			}
		}
	}
}

// errLeft says that whoever reads the answer has left the loop.
var errLeft = errors.New("the reader left")

// once asks once, and ends the request where nothing comes for too long, or
// where something comes for ever.
func (p patient) once(ctx context.Context, r *Request, yield func(Event) bool) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	watch := time.AfterFunc(p.policy.First, func() { end(errSilent) })
	defer watch.Stop()
	whole := time.AfterFunc(p.policy.Whole, func() { end(errEndless) })
	defer whole.Stop()
	ctx = context.WithValue(ctx, pulseKey{}, func() { watch.Reset(p.policy.Idle) })
	for e, err := range p.model.Stream(ctx, r) {
		Pulse(ctx)
		switch {
		case errors.Is(context.Cause(ctx), errSilent):
			return &thread.Error{Code: thread.Timeout, Op: "model", Message: "the model said nothing for too long", Hint: "try again", Err: err, Details: Failure{Again: true}}
		case errors.Is(context.Cause(ctx), errEndless) && e.Type != Done:
			return &thread.Error{Code: thread.Timeout, Op: "model", Message: "the model's answer took too long", Hint: "try again", Err: err, Details: Failure{Again: true}}
		case err != nil:
			return err
		case !yield(e):
			return errLeft
		}
	}
	return nil
}

var (
	errSilent  = errors.New("nothing came for too long")
	errEndless = errors.New("the answer took too long")
)

type pulseKey struct{}

// Pulse tells the [Patient] model that asks with ctx, if one does, that the
// provider is still there. Providers call it for every piece that arrives, also
// where it brings no event.
func Pulse(ctx context.Context) {
	if beat, ok := ctx.Value(pulseKey{}).(func()); ok {
		beat()
	}
}

// reason is an error's own sentence without its cause.
func reason(err error) string {
	var e *thread.Error
	if errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}
