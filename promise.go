package skein

import (
	"context"
	"slices"

	"github.com/skeinhq/skein/internal/agent"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// promise is the document by which messages are to be answered even where this
// process dies before a turn has begun. The turn that begins removes it, in the
// same commit; so do a stop and a reset, and a rewind but for what stays.
type promise struct {
	IDs   []string `json:"ids"`   // of the messages' entries, oldest first
	After int64    `json:"after"` // a seq before those entries'
}

// mostPromised is how many messages a promise names: one turn answers all that
// waits, and only a rewind asks which they are.
const mostPromised = 16

// kept is the document where nothing is promised any more.
var kept = thread.Doc{Name: thread.PromiseDoc}

// and promises one message more. Where they are too many, the oldest and the newest
// stay.
func (p promise) and(id string, after int64) promise {
	switch {
	case len(p.IDs) == 0:
		return promise{[]string{id}, after}
	case slices.Contains(p.IDs, id):
		return p
	case len(p.IDs) == mostPromised:
		p.IDs = slices.Delete(p.IDs, 1, 2)
	}
	return promise{append(p.IDs, id), min(p.After, after)}
}

func (p promise) doc() (thread.Doc, error) {
	if len(p.IDs) == 0 {
		return kept, nil
	}
	data, err := thread.Encode(p)
	return thread.Doc{Name: thread.PromiseDoc, Data: data}, err
}

// Promise is Say, and durable with the message is that it is to be answered:
// whoever opens the store later finds that by [Engine.Promised] until a turn has begun, or
// until the message was undone, or Stop was called. Nobody answers yet. A client
// key that is known promises nothing anew, also where it was only said before.
//
// Errors: those of Say.
func (t *Thread) Promise(ctx context.Context, author, text string, options ...SayOption) (thread.Entry, error) {
	return t.say(ctx, author, text, options, func(state *thread.Thread, n *store.New) ([]thread.Doc, error) {
		n.ID = store.NewID()
		d, err := t.engine.promising(ctx, state.Key, n.ID, state.Tip)
		return []thread.Doc{d}, err
	})
}

// PromiseReply is Promise for what was said before: that Reply will be called is
// durable then, also while a turn runs that may come to nothing. Where nothing waits
// there is nothing to promise.
func (t *Thread) PromiseReply(ctx context.Context) error {
	state, err := t.State(ctx)
	if err != nil || len(state.Inbox) > 0 || state.Last == 0 {
		return err // what is queued is found without a promise
	}
	st := t.engine.store
	last, err := st.Entry(ctx, &state, state.Last)
	if err != nil || last.Message == nil || last.Message.Role == thread.Assistant {
		return err
	}
	d, err := t.engine.promising(ctx, state.Key, last.ID, last.Seq-1)
	if err != nil {
		return err
	}
	return st.PutDocs(ctx, state.Key, []thread.Doc{d})
}

// promising makes the document that promises one message more.
func (e *Engine) promising(ctx context.Context, key thread.Key, id string, after int64) (thread.Doc, error) {
	var p promise
	if err := agent.ReadDoc(ctx, e.store, key, thread.PromiseDoc, &p); err != nil {
		return thread.Doc{}, err
	}
	return p.and(id, after).doc()
}

// Promised says whether an answer is due in a thread of that state: a turn is open,
// messages are queued, or one was promised an answer and no turn has begun for it.
// Resume and Reply keep the promise.
//
// Errors: storage.
func (e *Engine) Promised(ctx context.Context, state thread.Thread) (bool, error) {
	if state.Turn != 0 || len(state.Inbox) > 0 {
		return true, nil
	}
	p, err := e.owed(ctx, &state, state.Tip)
	return len(p.IDs) > 0, err
}

// owed gives what was promised up to a seq and has no answer.
func (e *Engine) owed(ctx context.Context, state *thread.Thread, to int64) (promise, error) {
	var p promise
	if err := agent.ReadDoc(ctx, e.store, state.Key, thread.PromiseDoc, &p); err != nil || len(p.IDs) == 0 {
		return promise{}, err
	}
	owed := promise{After: p.After}
	q := store.EntriesQuery{After: p.After, Kinds: []thread.Kind{thread.MessageKind}}
	for x, err := range e.store.Entries(ctx, state, q) {
		switch {
		case err != nil:
			return promise{}, err
		case !x.IsMessage() || x.Message == nil:
		case x.Message.Role == thread.Assistant:
			owed.IDs = nil // it has answered all before it
		case x.Seq <= to && slices.Contains(p.IDs, x.ID):
			owed.IDs = append(owed.IDs, x.ID)
		}
	}
	return owed, nil
}

// release forgets what was promised in the thread.
func (e *Engine) release(ctx context.Context, key thread.Key) error {
	if _, found, err := e.store.Doc(ctx, key, thread.PromiseDoc); err != nil || !found {
		return err
	}
	return e.store.PutDocs(ctx, key, []thread.Doc{kept})
}
