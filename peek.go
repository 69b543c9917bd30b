package skein

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// Entry reads one entry of the thread's log, undone ones too, and says whether it
// is undone. Errors: not-found, storage.
func (t *Thread) Entry(ctx context.Context, seq int64) (e thread.Entry, undone bool, err error) {
	state, err := t.State(ctx)
	if err != nil {
		return thread.Entry{}, false, err
	}
	if e, err = t.engine.store.Entry(ctx, &state, seq); err != nil {
		return thread.Entry{}, false, err
	}
	return e, e.Kind == thread.MessageKind && !state.Active(state.OriginAt(seq), e.Branch, e.Index), nil
}

// Blob reads bytes that the thread, or one of its family of forks, keeps.
// Errors: not-found, storage.
func (t *Thread) Blob(ctx context.Context, hash string) (mediaType string, data []byte, err error) {
	state, err := t.State(ctx)
	if err != nil {
		return "", nil, err
	}
	return t.engine.store.Blob(ctx, state.Key, hash)
}

// MaxNodes is the most lines that Nodes gives at once.
const MaxNodes = 500

// Nodes reads lines of one level, count of them from the one that begins at the
// message from on; those that are not built are left out. Level 0 are lines of
// single messages, level 1 those of pairs, and so on.
//
// Errors: invalid (a number out of range), storage.
func (t *Thread) Nodes(ctx context.Context, level int, from, count int64) ([]thread.Node, error) {
	if level < 0 || level > 40 || from < 0 || count < 1 || count > MaxNodes {
		return nil, &thread.Error{Code: thread.Invalid, Op: "nodes", Thread: t.id, Message: "the level, the first message or the count is out of range", Hint: fmt.Sprintf("level 0 to 40, from 0 or more, count 1 to %d", MaxNodes)}
	}
	state, err := t.State(ctx)
	if err != nil {
		return nil, err
	}
	n := int64(1) << level
	var spans []thread.Span
	for id := (from + n - 1) &^ (n - 1); id+n <= state.Length && int64(len(spans)) < count; id += n {
		spans = append(spans, thread.Span{ID: id, N: n})
	}
	return t.engine.store.Nodes(ctx, &state, spans)
}

// SetMeta puts other metadata in the place of the thread's own; empty: none.
// Errors: invalid (no JSON, or too much), not-found, storage.
func (t *Thread) SetMeta(ctx context.Context, meta json.RawMessage) error {
	state, err := t.State(ctx)
	if err != nil {
		return err
	}
	return t.engine.store.SetMeta(ctx, state.Key, meta)
}

// ThreadsAfter gives the threads that follow last in the list, at most limit (0:
// 100); after the zero thread the whole list begins, with the thread that was
// updated last.
func (e *Engine) ThreadsAfter(ctx context.Context, last thread.Thread, limit int) ([]thread.Thread, error) {
	return e.store.Threads(ctx, store.ThreadsQuery{Space: e.cfg.Space, Limit: limit, Before: last.Updated, BeforeID: last.ID})
}

// Ready says whether the engine's store answers. Errors: storage.
func (e *Engine) Ready(ctx context.Context) error {
	_, err := e.store.Changed(ctx)
	return err
}
