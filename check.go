package skein

import (
	"context"
	"fmt"
	"iter"

	"github.com/skeinhq/skein/internal/prompt"
	"github.com/skeinhq/skein/thread"
)

// Check streams every fault that it finds in the store and in what is derived
// from it: each thread's outline must tile its past and its prompt be valid. A
// healthy database yields nothing.
func (e *Engine) Check(ctx context.Context) iter.Seq[error] {
	return func(yield func(error) bool) {
		for err := range e.store.Check(ctx) {
			if !yield(err) {
				return
			}
		}
		for state, err := range e.Threads(ctx) {
			if err != nil {
				yield(err)
				return
			}
			if err := e.checkPrompt(ctx, state.ID); err != nil && !yield(fmt.Errorf("thread %s: %w", state.ID, err)) {
				return
			}
		}
	}
}

// checkPrompt builds a thread's prompt as it would be sent and validates it
// (I3, I7).
func (e *Engine) checkPrompt(ctx context.Context, id string) error {
	p, err := e.handle(id).Prompt(ctx, "")
	switch thread.CodeOf(err) {
	case thread.Limit:
		return nil // the newest messages are too long for the model: the next turn cuts them
	case thread.Configuration:
		return nil // its agent or model is not known here, which is no fault of the store
	}
	if err != nil {
		return err
	}
	rules, err := e.cfg.Rules.Rules(p.Request.Model)
	if err != nil {
		return err
	}
	if len(p.Request.Messages) == 0 {
		return nil // nothing was ever said
	}
	return prompt.Validate(&p.Request, rules)
}

// keeper is what a store on disk can do besides.
type keeper interface {
	Backup(ctx context.Context, path string) error
	Repair(ctx context.Context) error
}

// Backup copies the store to a file while it is in use; the file must not be
// there. Errors: configuration (the store is not on disk), invalid, storage.
func (e *Engine) Backup(ctx context.Context, path string) error {
	k, err := e.keeper("backup")
	if err != nil {
		return err
	}
	return k.Backup(ctx, path)
}

// Repair rebuilds what is derived and builds the lines that are missing.
func (e *Engine) Repair(ctx context.Context) error {
	k, err := e.keeper("repair")
	if err != nil {
		return err
	}
	if err := k.Repair(ctx); err != nil {
		return err
	}
	for state, err := range e.Threads(ctx) {
		if err != nil {
			return err
		}
		if err := e.lines.Fill(ctx, &state, state.Length); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) keeper(op string) (keeper, error) {
	if k, ok := e.store.(keeper); ok {
		return k, nil
	}
	return nil, &thread.Error{Code: thread.Configuration, Op: op, Message: "this store keeps nothing on disk"}
}
