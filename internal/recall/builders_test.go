package recall_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/skeinhq/skein/internal/line"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/store/memory"
	"github.com/skeinhq/skein/thread"
)

// talk is a thread that is being written.
type talk struct {
	t  testing.TB
	st store.Store
	th thread.Thread
}

func begin(t testing.TB, st store.Store) *talk {
	t.Helper()
	th, err := st.Create(t.Context(), store.NewThread{Key: thread.Key{ID: "t"}})
	if err != nil {
		t.Fatal(err)
	}
	return &talk{t: t, st: st, th: th}
}

func inMemory(t testing.TB) *talk {
	t.Helper()
	st := memory.New(memory.Options{})
	t.Cleanup(func() {
		for err := range st.Check(context.Background()) {
			t.Errorf("the store is not as it should be: %v", err)
		}
	})
	return begin(t, st)
}

// put appends messages, with their own lines where they are short enough.
func (k *talk) put(messages ...thread.Message) *talk {
	k.t.Helper()
	d := store.Draft{}
	for _, m := range messages {
		n := store.New{Entry: thread.Say(m)}
		if text, ok := line.Verbatim(&m); ok {
			n.Line = text
		}
		d.Entries = append(d.Entries, n)
	}
	w, err := k.st.Append(k.t.Context(), k.th.Key, d)
	if err != nil {
		k.t.Fatal(err)
	}
	k.th = w.Thread
	return k
}

// rewind undoes all but the first n messages.
func (k *talk) rewind(n int64) *talk {
	k.t.Helper()
	for e, err := range k.st.Messages(k.t.Context(), &k.th, n-1, n) {
		if err != nil {
			k.t.Fatal(err)
		}
		r := thread.Entry{Kind: thread.RewindKind, Index: thread.NoIndex, Rewind: &thread.Rewind{To: e.Seq, Index: e.Index}}
		w, err := k.st.Commit(k.t.Context(), k.th.Key, store.Draft{Entries: []store.New{{Entry: r}}}, store.Guard{Tip: k.th.Tip})
		if err != nil {
			k.t.Fatal(err)
		}
		k.th = w.Thread
	}
	return k
}

// String is the conversation, for tests that fail.
func (k *talk) String() string {
	var b strings.Builder
	for e, err := range k.st.Messages(k.t.Context(), &k.th, 0, k.th.Length) {
		if err != nil {
			return err.Error()
		}
		fmt.Fprintf(&b, "%d %s\n", e.Index, line.Clip(line.Leaf(e.Message), 200))
	}
	return b.String()
}

// user, agent and tool make messages.
func user(author, text string) thread.Message {
	return thread.Message{Author: author, Role: thread.User, To: []string{"north"}, Parts: []thread.Part{thread.Text(text)}}
}

func agent(text string) thread.Message {
	return thread.Message{Author: "north", Role: thread.Assistant, Parts: []thread.Part{thread.Text(text)}}
}

func tool(name, call, text string) thread.Message {
	return thread.Message{Author: name, To: []string{"north"}, Role: thread.Tool, Parts: []thread.Part{thread.Result(call, name, text, false)}}
}

func calling(name, call, input string) thread.Message {
	return thread.Message{Author: "north", Role: thread.Assistant, Parts: []thread.Part{thread.Call(call, name, []byte(input))}}
}

func secret(m thread.Message, audience ...string) thread.Message {
	m.Audience = audience
	return m
}
