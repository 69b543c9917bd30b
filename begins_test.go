package skein_test

import (
	"context"
	"errors"
	"testing"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/store/memory"
)

// TestATurnThatMayNotBeginLeavesTheThreadAsItIs: what was said waits, and an answer that
// may not be made again stays.
func TestATurnThatMayNotBeginLeavesTheThreadAsItIs(t *testing.T) {
	ctx := context.Background()
	refused := errors.New("not from here")
	var answer error
	var asked []string
	e := engine(t, skein.Config{
		Store: memory.New(memory.Options{}), Model: "scripted", Models: script(t, "first", "second", "third"),
		Begins: func(_ context.Context, th *skein.Thread, a skein.Agent) error {
			asked = append(asked, th.ID()+" "+a.Name)
			return answer
		},
	})
	th := open(t, e, "main", skein.Settings{})
	ask(t, th, "hello")
	answer = refused
	if _, err := th.Ask(ctx, "ana", "again"); !errors.Is(err, refused) {
		t.Fatalf("Ask gave %v", err)
	}
	state, err := th.State(ctx)
	if err != nil || state.Turn != 0 || state.Length != 3 {
		t.Fatalf("%+v, %v", state, err)
	}
	answer = nil
	if err := th.Reply(ctx); err != nil {
		t.Fatal(err)
	}
	answer = refused
	if err := th.Regenerate(ctx, "ana"); !errors.Is(err, refused) {
		t.Errorf("Regenerate gave %v", err)
	}
	for _, err := range th.StreamRegenerate(ctx, "ana") {
		if !errors.Is(err, refused) {
			t.Errorf("StreamRegenerate gave %v", err)
		}
	}
	state, err = th.State(ctx)
	if err != nil || state.Length != 4 {
		t.Errorf("the answer is gone: %+v, %v", state, err)
	}
	for _, a := range asked {
		if a != "main north" {
			t.Errorf("asked of %q", a)
		}
	}
}

func TestSettingsAreGivenBack(t *testing.T) {
	ctx := context.Background()
	a, err := skein.ParseAgent("north", []byte("---\nstrategy: truncate\n---\nYou are north."))
	if err != nil {
		t.Fatal(err)
	}
	e := engine(t, skein.Config{Store: memory.New(memory.Options{}), Agents: []skein.Agent{a}})
	th := open(t, e, "main", skein.Settings{Strategy: "sliding", Model: "echo"})
	inForce := func() skein.Force {
		s, err := th.Settings(ctx)
		if err != nil {
			t.Fatal(err)
		}
		f, err := e.InForce(s)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	if got, want := inForce(), (skein.Force{Agent: "north", Model: skein.Choice{Name: "echo", By: skein.ByThread}, Strategy: skein.Choice{Name: "sliding", By: skein.ByThread}}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if err := th.Set(ctx, skein.Settings{Strategy: skein.Unset, Model: skein.Unset}); err != nil {
		t.Fatal(err)
	}
	if got, want := inForce(), (skein.Force{Agent: "north", Model: skein.Choice{Name: "echo", By: skein.ByDefault}, Strategy: skein.Choice{Name: "truncate", By: skein.ByAgent}}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestWhatCallsGaveIsStreamed(t *testing.T) {
	e := engine(t, skein.Config{Store: memory.New(memory.Options{}), Model: "scripted",
		Models: script(t, `{"calls":[{"id":"c1","name":"read","input":{"id":0,"count":1}}]}`, "Read.")})
	th := open(t, e, "main", skein.Settings{})
	var order []string
	for p, err := range th.Stream(context.Background(), "ana", "read it") {
		switch {
		case err != nil:
			t.Fatal(err)
		case p.Call != nil:
			order = append(order, p.Author+" calls "+p.Call.Name)
		case p.Result != nil:
			order = append(order, p.Author+" gives "+p.To+" "+p.Result.Call)
		case p.Text != "" && (len(order) == 0 || order[len(order)-1] != "text"):
			order = append(order, "text")
		}
	}
	if want := []string{"north calls read", "read gives north c1", "text"}; len(order) != 3 || order[0] != want[0] || order[1] != want[1] || order[2] != want[2] {
		t.Errorf("%q, want %q", order, want)
	}
}
