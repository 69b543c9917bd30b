package skein_test

import (
	"context"
	"iter"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/echo"
	"github.com/skeinhq/skein/thread"
)

// lineWriter writes no line for what it is asked first, and names no price.
type lineWriter struct{ calls *atomic.Int64 }

func (w lineWriter) Stream(_ context.Context, r *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		text := "I would rather not."
		if w.calls.Add(1) > 3 {
			_, rest, _ := strings.Cut(r.Messages[0].Parts[0].Text, `<entry id="`)
			id, _, _ := strings.Cut(rest, `"`)
			text = id + "|a long thing"
		}
		yield(model.Event{Type: model.Done, Parts: []thread.Part{thread.Text(text)}, Stop: thread.StopEnd, Usage: thread.Usage{Input: 1000, CacheRead: 100, Output: 50}}, nil)
	}
}

func TestTheLinesAndTheThreadTellTheSamePrice(t *testing.T) {
	const name = "claude-haiku-4-5"
	rules, err := model.BuiltIn().Rules(name)
	if err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int64
	models := func(asked string) (model.Model, error) {
		if asked == name {
			return lineWriter{&calls}, nil
		}
		return echo.Model{}, nil
	}
	e := engine(t, skein.Config{Models: models, Model: model.Echo, LineModel: name})
	th := open(t, e, "main", skein.Settings{})
	ctx := context.Background()
	for range 3 {
		ask(t, th, strings.Repeat("a long thing to say, ", 60))
	}
	var billed, nodes, told thread.Usage
	refused := false
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		billed, nodes, refused = thread.Usage{}, thread.Usage{}, false
		for n, err := range th.Lines(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			if n.Usage != nil {
				nodes.Add(*n.Usage)
				refused = refused || n.By == thread.ByExtractive
			}
		}
		for range calls.Load() {
			billed.Add(thread.Usage{Input: 1000, CacheRead: 100, Output: 50})
		}
		u, err := th.Usage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		o, err := th.Outline(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if told = u.Lines; o.Backlog == 0 && told.Input == billed.Input && nodes.Input == billed.Input {
			break
		}
	}
	billed.Cost = rules.Cost(billed)
	near := func(a, b thread.Usage) bool {
		cost := math.Abs(a.Cost - b.Cost)
		a.Cost, b.Cost = 0, 0
		return a == b && cost < 1e-9
	}
	if !near(nodes, billed) || !near(told, billed) || billed.Cost == 0 || !refused {
		t.Errorf("billed %+v\nnodes  %+v\nthread %+v\nrefused %v", billed, nodes, told, refused)
	}
}
