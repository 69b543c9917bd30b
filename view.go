package skein

import (
	"context"

	"github.com/skeinhq/skein/internal/agent"
	"github.com/skeinhq/skein/internal/window"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

// ViewOptions say how to view a thread: Tail (messages that the window begins
// with; default 50, at most 500), From and Epoch (to go on after what was seen
// before), Viewer (whose view it is: what is not for them shows as stubs; empty:
// somebody who may see everything), Interval (the shortest time between two
// appends to a text that is being made; default 33 ms).
type ViewOptions = window.Options

// Watch is one reader's view of a thread, kept up from the moment of the call:
// Next waits for the next frame, Poll does not wait, Notify has a function called
// when there is something, Hold keeps frames back, Close ends it. A reader that is
// 100 commits or 1 MiB of messages behind gets one snapshot instead of what it has
// missed. A Watch has no goroutine of its own.
type Watch = window.Watch

// Frame is one batch for a watch's client: N (its number), Seq (the cursor after
// it, 0 where it does not move), Parts (the JSON of its operations, in pieces that
// are shared between watches and must not be changed).
type Frame = window.Frame

// Ready is what [Watch.Take] has found.
type Ready = window.Ready

// What Take finds.
const (
	Nothing = window.Nothing // the function of Notify is called when there is something
	Last    = window.Last    // a frame, and after it Nothing
	More    = window.More    // a frame, and there may be another
	Slow    = window.Slow    // what only Poll gives
)

// PageQuery says which messages a page holds: Before and After (seqs, exclusive),
// Limit (default 50, at most 200, and 4 MiB), Order (newest first, or OldestFirst),
// Cursor (to go on where a page ended), Inactive (undone messages too), Viewer.
type PageQuery = window.PageQuery

// Order says in which order a page's messages come.
type Order = window.Order

// The orders of a page.
const (
	NewestFirst = window.NewestFirst
	OldestFirst = window.OldestFirst
)

// View opens a watch on the thread's window: its first frame is a snapshot, and
// nothing falls between that and what follows. What other processes commit to the
// same store shows within about 200 ms. The watch must be closed.
//
// Errors: not-found (the thread was deleted), invalid (options), aborted (the
// engine was closed), storage. Next gives not-found and aborted too, where the
// thread is deleted or the engine closes meanwhile.
func (t *Thread) View(ctx context.Context, o ViewOptions) (*Watch, error) {
	return t.engine.hub.rooms.Watch(ctx, t.id, o)
}

// Page reads a piece of the thread's history: its messages, also those before
// resets, and on request those that were undone.
//
// Errors: not-found, invalid (a limit or an order that there is not; a cursor of
// another order, thread or incarnation of the log), storage.
func (t *Thread) Page(ctx context.Context, q PageQuery) (view.Page, error) {
	state, err := t.State(ctx)
	if err != nil {
		return view.Page{}, err
	}
	return window.ReadPage(ctx, t.engine.store, &state, q)
}

func (e *Engine) newRooms() *window.Rooms {
	return window.New(window.Config{Store: e.store, Space: e.cfg.Space, Gather: e.cfg.Gather, Agent: e.standing, Go: e.goOn, Report: e.report})
}

// standing says who answers in a thread and how they stand. Where the thread asks
// for an agent or a model that is not here, what is not known is left out.
func (e *Engine) standing(ctx context.Context, state *thread.Thread) (view.Agent, error) {
	var s Settings
	if err := agent.ReadDoc(ctx, e.store, state.Key, thread.SettingsDoc, &s); err != nil {
		return view.Agent{}, err
	}
	out := view.Agent{Name: e.Answering(s), Model: s.Model, Backlog: state.Backlog, Turn: state.Turn}
	var err error
	if out.Error, err = e.lastError(ctx, state); err != nil {
		return out, err
	}
	t := e.handle(state.ID)
	c, err := e.cast(ctx, eyes{}, s, nil)
	switch {
	case thread.CodeOf(err) == thread.Configuration:
		return out, nil
	case err != nil:
		return out, err
	}
	out.Model = c.model
	for _, x := range c.tools {
		out.Tools = append(out.Tools, x.Name)
	}
	if len(c.skills) > 0 {
		past, err := t.past(ctx, state, c)
		if err != nil {
			return out, err
		}
		out.Skills = past.Loaded(c.agent.Name)
	}
	if state.Turn == 0 {
		return out, nil
	}
	log := &agent.Log{Store: e.store, Thread: *state, Recent: &t.recent, Base: agent.BaseOf(c.chain)}
	waiting, err := log.Pending(ctx)
	for _, a := range waiting.Asked {
		out.Waiting = append(out.Waiting, view.Asked(a))
	}
	return out, err
}

// lookForTurn is how many of the newest entries are looked at for the end of a
// turn.
const lookForTurn = 256

// lastError gives what the newest turn failed with, nil where it did not.
func (e *Engine) lastError(ctx context.Context, state *thread.Thread) (*thread.Error, error) {
	for x, err := range e.store.Entries(ctx, state, store.EntriesQuery{After: max(0, state.Tip-lookForTurn), Kinds: []thread.Kind{thread.TurnKind}, Newest: true}) {
		if err != nil {
			return nil, err
		}
		if n := x.Turn; n != nil && n.State == thread.TurnEnded {
			return n.Error, nil
		}
	}
	return nil, nil
}
