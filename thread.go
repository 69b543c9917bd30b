package skein

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"

	"github.com/skeinhq/skein/internal/agent"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// Thread is one conversation, as an engine has it open. Its methods may be
// called from many goroutines and need no closing.
type Thread struct {
	engine *Engine
	id     string
	recent agent.Recent

	unanswered atomic.Int64 // tokens said since the tail was last looked at
}

// ID is the thread's id.
func (t *Thread) ID() string { return t.id }

// State reads the thread's state.
func (t *Thread) State(ctx context.Context) (thread.Thread, error) {
	return t.engine.store.Thread(ctx, t.engine.cfg.Space, t.id)
}

// Settings reads what was given for the thread.
func (t *Thread) Settings(ctx context.Context) (Settings, error) {
	state, err := t.State(ctx)
	if err != nil {
		return Settings{}, err
	}
	var s Settings
	err = agent.ReadDoc(ctx, t.engine.store, state.Key, thread.SettingsDoc, &s)
	return s, err
}

// Set writes what s sets over the thread's settings.
func (t *Thread) Set(ctx context.Context, s Settings) error {
	if err := t.engine.checkSettings(s); err != nil {
		return err
	}
	state, err := t.State(ctx)
	if err != nil {
		return err
	}
	defer t.engine.hub.rooms.Stale(t.id)
	return change(ctx, t.engine.store, state.Key, thread.SettingsDoc, func(old Settings) Settings { return old.Over(s) })
}

// change changes a document, again where somebody else has changed it meanwhile.
// What does not change is not written.
func change[T comparable](ctx context.Context, st store.Store, key thread.Key, name string, with func(T) T) error {
	for {
		was, found, err := st.Doc(ctx, key, name)
		if err != nil {
			return err
		}
		var old T
		if found {
			if err := agent.DecodeDoc(key, name, was, &old); err != nil {
				return err
			}
		}
		changed := with(old)
		if changed == old {
			return nil
		}
		data, err := thread.Encode(changed)
		if err != nil {
			return err
		}
		err = st.SwapDoc(ctx, key, thread.Doc{Name: name, Data: data}, was)
		if thread.CodeOf(err) != thread.Conflict {
			return err
		}
	}
}

// Usage reads what the thread's requests took.
func (t *Thread) Usage(ctx context.Context) (Usage, error) {
	state, err := t.State(ctx)
	if err != nil {
		return Usage{}, err
	}
	var u Usage
	if err := agent.ReadDoc(ctx, t.engine.store, state.Key, thread.UsageDoc, &u); err != nil {
		return Usage{}, err
	}
	err = agent.ReadDoc(ctx, t.engine.store, state.Key, thread.LinesDoc, &u.Lines)
	return u, err
}

// MaxText is the most bytes of text that one message may have.
const MaxText = 4 << 20

// SayOption says more about a message.
type SayOption func(*thread.Message, *store.New)

// To addresses the message. Without it a message that begins with @name is for
// that agent, else it is for the thread's.
func To(names ...string) SayOption {
	return func(m *thread.Message, _ *store.New) { m.To = names }
}

// Audience limits who sees the message.
func Audience(names ...string) SayOption {
	return func(m *thread.Message, _ *store.New) { m.Audience = names }
}

// Key makes a retry safe: the same key and content again writes nothing and
// gives the first entry; other content is a conflict.
func Key(key string) SayOption {
	return func(_ *thread.Message, n *store.New) { n.Key = key }
}

// Now has a message that is said while a turn runs heard by that turn, before its
// next call of a tool or the model. Without it a turn of its own answers, after that
// one.
func Now() SayOption {
	return func(_ *thread.Message, n *store.New) { n.When = thread.WhenNow }
}

// With adds parts to the message, such as a blob that was put before.
func With(parts ...thread.Part) SayOption {
	return func(m *thread.Message, _ *store.New) { m.Parts = append(m.Parts, parts...) }
}

// Say stores what somebody says and gives its entry; nobody answers yet. While
// a turn runs it is queued, and answered after that turn. It never conflicts.
//
// Errors: invalid (no text, too much text, a bad name), conflict (the key is
// taken by other content), not-found, storage.
func (t *Thread) Say(ctx context.Context, author, text string, options ...SayOption) (thread.Entry, error) {
	return t.say(ctx, author, text, options, nil)
}

// say stores a message, and in the same write the documents that beside gives, if
// it is there.
func (t *Thread) say(ctx context.Context, author, text string, options []SayOption, beside func(*thread.Thread, *store.New) ([]thread.Doc, error)) (thread.Entry, error) {
	key := thread.Key{Space: t.engine.cfg.Space, ID: t.id} // of whatever family: the thread's state need not be read
	m := thread.Message{Author: author, Role: thread.User}
	if text = clean(text); text != "" {
		m.Parts = []thread.Part{thread.Text(text)}
	}
	n := store.New{}
	for _, o := range options {
		o(&m, &n)
	}
	if err := t.checkSaid(ctx, key, &m); err != nil {
		return thread.Entry{}, err
	}
	if len(m.To) == 0 {
		var err error
		if m.To, err = t.addressed(ctx, key, text); err != nil {
			return thread.Entry{}, err
		}
		m.To = slices.DeleteFunc(m.To, func(name string) bool { return !m.VisibleTo(name) })
	}
	once, when := n.Key, n.When
	n = agent.Compose(thread.Say(m))
	n.Key, n.When, n.QueueIfBusy = once, when, true
	var docs []thread.Doc
	if beside != nil {
		state, err := t.State(ctx)
		if err != nil {
			return thread.Entry{}, err
		}
		if docs, err = beside(&state, &n); err != nil {
			return thread.Entry{}, err
		}
	}
	w, err := t.engine.store.Append(ctx, key, store.Draft{Entries: []store.New{n}, Docs: docs})
	if err != nil {
		return thread.Entry{}, err
	}
	t.engine.committed(w, nil)
	t.engine.mindTail(t, &w)
	return w.Entries[0], nil
}

func (t *Thread) checkSaid(ctx context.Context, key thread.Key, m *thread.Message) error {
	if err := agent.CheckName(m.Author); err != nil {
		return err
	}
	for _, name := range append(append([]string(nil), m.To...), m.Audience...) {
		if err := agent.CheckName(name); err != nil {
			return err
		}
	}
	size := 0
	for i, p := range m.Parts {
		size += len(p.Text)
		if err := t.checkPart(ctx, key, i, p); err != nil {
			return err
		}
	}
	switch {
	case len(m.Parts) == 0:
		return &thread.Error{Code: thread.Invalid, Op: "say", Thread: t.id, Message: "there is nothing to say", Hint: "give a text or a part"}
	case size > MaxText:
		return &thread.Error{Code: thread.Invalid, Op: "say", Thread: t.id, Message: fmt.Sprintf("the message has %d bytes of text, the most is %d", size, MaxText), Hint: "attach it as a file"}
	}
	return nil
}

// checkPart refuses what nobody can say: only texts, and blobs that are there.
func (t *Thread) checkPart(ctx context.Context, key thread.Key, i int, p thread.Part) error {
	switch {
	case p.Type == thread.TextPart && strings.TrimSpace(p.Text) != "":
		return nil
	case p.Type == thread.BlobPart && p.Size >= 0:
		_, data, err := t.engine.store.Blob(ctx, key, p.Hash)
		if err == nil && int64(len(data)) != p.Size {
			break
		}
		return err
	}
	return &thread.Error{Code: thread.Invalid, Op: "say", Thread: t.id, Message: fmt.Sprintf("part %d of the message cannot be said", i+1), Hint: "say texts that are not blank, and parts that PutBlob gave"}
}

// Named gives whom a text names at its beginning, with an @; empty where nobody
// is named.
func Named(text string) string {
	rest, ok := strings.CutPrefix(text, "@")
	if !ok {
		return ""
	}
	if end := strings.IndexFunc(rest, unicode.IsSpace); end >= 0 {
		rest = rest[:end]
	}
	return strings.TrimRight(rest, ",:;")
}

// addressed gives whom a text is for: the agent it names first, else the
// thread's.
func (t *Thread) addressed(ctx context.Context, key thread.Key, text string) ([]string, error) {
	if name := Named(text); name != "" {
		if _, err := t.engine.agent(name); err == nil {
			return []string{name}, nil
		}
	}
	var s Settings
	if err := agent.ReadDoc(ctx, t.engine.store, key, thread.SettingsDoc, &s); err != nil {
		return nil, err
	}
	return []string{t.engine.Answering(s)}, nil
}

// clean makes foreign text fit to be stored: valid UTF-8, without blank ends.
func clean(s string) string { return strings.TrimSpace(strings.ToValidUTF8(s, "\uFFFD")) }

// Title names the thread.
func (t *Thread) Title(ctx context.Context, title, by string) error {
	state, err := t.State(ctx)
	if err != nil {
		return err
	}
	e := thread.Entry{Kind: thread.TitleKind, Index: thread.NoIndex, Title: &thread.Title{Title: clean(title), By: by}}
	w, err := t.engine.store.Append(ctx, state.Key, store.Draft{Entries: []store.New{{Entry: e}}})
	if err != nil {
		return err
	}
	t.engine.committed(w, nil)
	return nil
}

// Entries reads the thread's log by seq.
func (t *Thread) Entries(ctx context.Context, q store.EntriesQuery) iter.Seq2[thread.Entry, error] {
	return func(yield func(thread.Entry, error) bool) {
		state, err := t.State(ctx)
		if err != nil {
			yield(thread.Entry{}, err)
			return
		}
		t.engine.store.Entries(ctx, &state, q)(yield)
	}
}

// Messages reads the active messages with indexes from … to, exclusive.
func (t *Thread) Messages(ctx context.Context, from, to int64) iter.Seq2[thread.Entry, error] {
	return func(yield func(thread.Entry, error) bool) {
		state, err := t.State(ctx)
		if err != nil {
			yield(thread.Entry{}, err)
			return
		}
		t.engine.store.Messages(ctx, &state, max(0, from), min(to, state.Length))(yield)
	}
}

// PutBlob keeps bytes beside the thread and gives the part that stands for them
// in a message.
func (t *Thread) PutBlob(ctx context.Context, name, mediaType string, data []byte) (thread.Part, error) {
	state, err := t.State(ctx)
	if err != nil {
		return thread.Part{}, err
	}
	hash, err := t.engine.store.PutBlob(ctx, state.Key, mediaType, data)
	if err != nil {
		return thread.Part{}, err
	}
	return thread.Part{Type: thread.BlobPart, Name: name, Hash: hash, MediaType: mediaType, Size: int64(len(data))}, nil
}

// Delete hides the thread. Engine.Undelete brings it back within KeepDeleted;
// Engine.Purge removes it for good after that.
func (t *Thread) Delete(ctx context.Context) error {
	state, err := t.State(ctx)
	if err != nil {
		return err
	}
	if err := t.engine.store.Delete(ctx, state.Key); err != nil {
		return err
	}
	t.engine.hub.rooms.Stale(t.id)
	return nil
}
