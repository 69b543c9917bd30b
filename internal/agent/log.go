package agent

import (
	"context"
	"encoding/json"

	"github.com/skeinhq/skein/internal/line"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// Log is a thread as the owner of its turn has it: its state as of the last
// commit, and the one way to commit. It is used by one goroutine at a time.
type Log struct {
	Store     store.Store
	Thread    thread.Thread // replaced by every commit
	Fence     int64
	Recent    *Recent
	Lines     *line.Builder
	ByRule    bool                              // no model writes lines: a cut has them built rather than wait
	Published func(store.Written, []thread.Doc) // hears of every commit, after it is durable

	Base         Base // whose cuts count
	ForgetSkills bool // a skill whose loading has left is locked again
	Parked       bool // the open turn waits for an approval
}

// past gives what the prompt is made from.
func (l *Log) past(ctx context.Context) (Past, error) {
	return l.Recent.Load(ctx, l.Store, &l.Thread, l.Base, 0)
}

// Commit writes entries and documents under the log's fence, as what follows
// the state that it holds.
func (l *Log) Commit(ctx context.Context, entries []store.New, docs ...thread.Doc) (store.Written, error) {
	w, err := l.Store.Commit(ctx, l.Thread.Key, store.Draft{Entries: entries, Docs: docs}, store.Guard{Tip: l.Thread.Tip, Fence: l.Fence})
	if err != nil {
		return store.Written{}, err
	}
	l.Thread = w.Thread
	l.Published(w, docs)
	return w, nil
}

// Refresh reads the thread's state anew: what others said meanwhile shows.
func (l *Log) Refresh(ctx context.Context) error {
	t, err := l.Store.Thread(ctx, l.Thread.Space, l.Thread.ID)
	if err != nil {
		return err
	}
	l.Thread = t
	return nil
}

// Anew does work, and does it again on the state as it is by then where somebody
// has said something in between: while no turn is open a saying may come before
// any commit. Where the lease was lost the conflict stays.
func (l *Log) Anew(ctx context.Context, work func() error) error {
	for {
		tip := l.Thread.Tip
		err := work()
		if thread.CodeOf(err) != thread.Conflict {
			return err
		}
		if err := l.Refresh(ctx); err != nil {
			return err
		}
		if l.Thread.Tip == tip || l.Thread.Lease.Fence != l.Fence {
			return err
		}
	}
}

// Compose makes the entry of a message that is to be written: with its weight,
// and its line where it is short enough to be its own.
func Compose(e thread.Entry) store.New {
	e.Kind, e.Index = thread.MessageKind, thread.NoIndex
	e.Message.Weight = e.Message.Weigh()
	n := store.New{Entry: e}
	if text, fits := line.Verbatim(e.Message); fits {
		n.Line = text
	}
	return n
}

func event(t thread.Turn) store.New {
	return store.New{Entry: thread.Entry{Kind: thread.TurnKind, Index: thread.NoIndex, Turn: &t}}
}

// doc writes a document.
func doc(name string, v any) (thread.Doc, error) {
	data, err := thread.Encode(v)
	return thread.Doc{Name: name, Data: data}, err
}

// ReadDoc reads a document into v, which stays as it is where there is none.
func ReadDoc(ctx context.Context, st store.Store, key thread.Key, name string, v any) error {
	data, ok, err := st.Doc(ctx, key, name)
	if err != nil || !ok {
		return err
	}
	return DecodeDoc(key, name, data, v)
}

// DecodeDoc reads a document's bytes into v.
func DecodeDoc(key thread.Key, name string, data json.RawMessage, v any) error {
	if err := json.Unmarshal(data, v); err != nil {
		return &thread.Error{Code: thread.Storage, Op: "document", Thread: key.ID, Message: "the document " + name + " cannot be read", Err: err}
	}
	return nil
}
