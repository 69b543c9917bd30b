package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/skeinhq/skein/internal/agent"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/store/memory"
	"github.com/skeinhq/skein/thread"
)

// Whatever was loaded before, a state gets its own messages: an older one after
// a newer one, a limited one after a whole one and the other way round.
func TestRecentGivesEachStateItsOwn(t *testing.T) {
	ctx := context.Background()
	st := memory.New(memory.Options{})
	defer st.Close()
	state, err := st.Create(ctx, store.NewThread{Key: thread.Key{ID: "t"}})
	if err != nil {
		t.Fatal(err)
	}
	states := []thread.Thread{state}
	for i := range 1200 {
		m := thread.Message{Author: "ana", Role: thread.User, Parts: []thread.Part{thread.Text(fmt.Sprintf("message %d %s", i, strings.Repeat("x", 40)))}}
		w, err := st.Append(ctx, state.Key, store.Draft{Entries: []store.New{agent.Compose(thread.Say(m))}})
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, w.Thread)
	}
	var r agent.Recent
	for _, c := range []struct{ at, limit int }{{1200, 100}, {10, 0}, {1200, 0}, {600, 100}, {1200, 5000}, {300, 50}, {0, 0}, {1200, 100}, {1199, 0}} {
		past, err := r.Load(ctx, st, &states[c.at], agent.OutlineStrategy, c.limit)
		if err != nil {
			t.Fatal(err)
		}
		if end := past.From + int64(len(past.Messages)); end != int64(c.at) || c.limit == 0 && past.From != 0 {
			t.Errorf("the state of %d messages with limit %d: [%d, %d)", c.at, c.limit, past.From, end)
		}
		for i, e := range past.Messages {
			if e.Index != past.From+int64(i) {
				t.Fatalf("message %d stands where %d should", e.Index, past.From+int64(i))
			}
		}
	}
	r.Forget()
	if past, err := r.Load(ctx, st, &states[5], agent.OutlineStrategy, 0); err != nil || len(past.Messages) != 5 {
		t.Errorf("after Forget: %d messages, %v", len(past.Messages), err)
	}
}
