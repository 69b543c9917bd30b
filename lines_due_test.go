package skein_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/skeinhq/skein"
)

// Lines wait a moment for others. Whatever becomes of their thread meanwhile, they are
// built wherever they are seen.
func TestLinesAreBuiltInAThreadThatComesBackAndInForks(t *testing.T) {
	e := engine(t, skein.Config{})
	long := strings.Repeat("the ship sails at noon ", 60)
	said := func(id string) *skein.Thread {
		a, err := e.OpenThread(t.Context(), id, skein.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Say(t.Context(), "ana", long); err != nil {
			t.Fatal(err)
		}
		untilBuilt(t, a)
		if _, err := a.Say(t.Context(), "ana", long); err != nil { // its line waits
			t.Fatal(err)
		}
		return a
	}
	a := said("a")
	if err := a.Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond) // whoever would have built it has ended
	if err := e.Undelete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	untilBuilt(t, a)

	b := said("b")
	fork, err := b.Fork(t.Context(), 1, "fork", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	untilBuilt(t, fork)
}

func untilBuilt(t *testing.T, th *skein.Thread) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		state, err := th.State(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if state.Backlog == 0 {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%d lines of %s stay due", state.Backlog, state.ID)
		case <-time.After(time.Millisecond):
		}
	}
}
