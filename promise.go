package skein

import (
	"context"
	"slices"

	"github.com/skeinhq/skein/internal/agent"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// promise is the document by which a message is to be answered even where this
// process dies before a turn has begun. The turn that begins removes it, in the
// same commit; so does a rewind or a reset. It names one message: a newer promise
// takes its place, since one turn answers all that waits.
type promise struct {
	ID    string `json:"id"`    // of the message's entry
	After int64  `json:"after"` // a seq before that entry's
}

// kept is the document's name where none is promised any more.
var kept = thread.Doc{Name: thread.PromiseDoc}

func (p promise) doc() (thread.Doc, error) {
	data, err := thread.Encode(p)
	return thread.Doc{Name: thread.PromiseDoc, Data: data}, err
}

// Promise is Say, and durable with the message is that it is to be answered:
// whoever opens the store later finds that by [Engine.Promised] until a turn has begun, or
// until the message was undone, or Stop was called. Nobody answers yet. A client
// key that is known promises nothing anew.
//
// Errors: those of Say.
func (t *Thread) Promise(ctx context.Context, author, text string, options ...SayOption) (thread.Entry, error) {
	return t.say(ctx, author, text, options, func(state *thread.Thread, n *store.New) ([]thread.Doc, error) {
		n.ID = store.NewID()
		d, err := promise{n.ID, state.Tip}.doc()
		return []thread.Doc{d}, err
	})
}

// PromiseReply is Promise for what was said before: that Reply will be called is
// durable then. Where nothing waits there is nothing to promise.
func (t *Thread) PromiseReply(ctx context.Context) error {
	state, err := t.State(ctx)
	if err != nil || state.Turn != 0 || len(state.Inbox) > 0 || state.Last == 0 {
		return err // an open turn, and what is queued, is found without a promise
	}
	st := t.engine.store
	last, err := st.Entry(ctx, &state, state.Last)
	if err != nil || last.Message == nil || last.Message.Role == thread.Assistant {
		return err
	}
	d, err := promise{last.ID, last.Seq - 1}.doc()
	if err != nil {
		return err
	}
	if err := st.PutDocs(ctx, state.Key, []thread.Doc{d}); err != nil {
		return err
	}
	if state, err = t.State(ctx); err != nil || state.Turn == 0 {
		return err
	}
	err = st.SwapDoc(ctx, state.Key, kept, d.Data) // a turn began before it was written
	if thread.CodeOf(err) == thread.Conflict {
		return nil
	}
	return err
}

// Promised says whether a thread of that state holds a message that was promised an
// answer and for which no turn has begun. Reply keeps the promise.
//
// Errors: storage.
func (e *Engine) Promised(ctx context.Context, state thread.Thread) (bool, error) {
	var p promise
	if err := agent.ReadDoc(ctx, e.store, state.Key, thread.PromiseDoc, &p); err != nil || p.ID == "" {
		return false, err
	}
	q := store.EntriesQuery{After: p.After, Kinds: []thread.Kind{thread.MessageKind, thread.QueuedKind}}
	found := false
	for x, err := range e.store.Entries(ctx, &state, q) {
		switch {
		case err != nil:
			return false, err
		case x.ID == p.ID && x.Kind == thread.QueuedKind:
			return slices.Contains(state.Inbox, x.Seq), nil
		case x.ID == p.ID:
			found = true
		case x.Message != nil && x.Message.Role == thread.Assistant:
			found = false
		}
	}
	return found, nil
}

// release forgets what was promised in the thread.
func (e *Engine) release(ctx context.Context, key thread.Key) error {
	if _, found, err := e.store.Doc(ctx, key, thread.PromiseDoc); err != nil || !found {
		return err
	}
	return e.store.PutDocs(ctx, key, []thread.Doc{kept})
}
