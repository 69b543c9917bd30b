package skein_test

import (
	"context"
	"iter"
	"path/filepath"
	"testing"
	"time"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// half says half an answer and then nothing until it is stopped.
type half struct{ said chan struct{} }

func (h half) Stream(ctx context.Context, _ *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		if yield(model.Event{Type: model.TextDelta, Text: "Half "}, nil) {
			close(h.said)
			<-ctx.Done()
			yield(model.Event{}, ctx.Err())
		}
	}
}

// A turn that a drain stops is as one whose process died: the next engine goes
// on with it, and it is answered once.
func TestADrainedTurnIsTakenUpByTheNextEngine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "skein.db")
	h := half{make(chan struct{})}
	first, err := skein.Open(t.Context(), skein.Config{Store: openSQLite(t, path, time.Now), Models: func(string) (model.Model, error) { return h, nil }})
	if err != nil {
		t.Fatal(err)
	}
	th := open(t, first, "rope", skein.Settings{})
	if _, err := th.Say(t.Context(), "ana", "hello"); err != nil {
		t.Fatal(err)
	}
	replied := make(chan error, 1)
	go func() { replied <- th.Reply(context.Background()) }()
	<-h.said
	if err := first.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-replied; thread.CodeOf(err) != thread.Aborted {
		t.Errorf("the reply ended with %v", err)
	}
	state, err := th.State(t.Context())
	if err != nil || state.Turn == 0 || state.Lease.Held(time.Now()) {
		t.Fatalf("after the drain: turn %d, lease %+v, %v", state.Turn, state.Lease, err)
	}
	if _, err := th.Say(t.Context(), "ana", "still here?"); err != nil {
		t.Errorf("saying after a drain: %v", err)
	}
	if err := th.Reply(t.Context()); thread.CodeOf(err) != thread.Aborted {
		t.Errorf("replying after a drain: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}

	second := engine(t, skein.Config{Store: openSQLite(t, path, time.Now)})
	th = open(t, second, "rope", skein.Settings{})
	if err := th.Reply(t.Context()); err != nil {
		t.Fatal(err)
	}
	var ended []thread.Stop
	answers := 0
	for e, err := range th.Entries(t.Context(), store.EntriesQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Turn != nil && e.Turn.State == thread.TurnEnded {
			ended = append(ended, e.Turn.Reason)
		}
		if e.Message != nil && e.Message.Role == thread.Assistant && e.Message.Turn == state.Turn {
			answers++
		}
	}
	if answers != 1 || len(ended) != 2 || ended[0] != thread.StopEnd || ended[1] != thread.StopEnd {
		t.Errorf("%d answers, turns ended %q:\n%s", answers, ended, logged(t, th))
	}
}
