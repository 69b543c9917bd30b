package skein_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/store/memory"
	"github.com/skeinhq/skein/store/sqlite"
	"github.com/skeinhq/skein/strategy"
	"github.com/skeinhq/skein/thread"
)

// fickle is a model whose answers follow from the request's number: it thinks,
// calls tools one or several at a time, and says much or little.
type fickle struct{}

func (fickle) Stream(_ context.Context, r *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		n := int(r.Number)
		if n == 0 {
			yield(model.Event{Type: model.Done, Parts: []thread.Part{thread.Text("they spoke of the launch")}, Stop: thread.StopEnd}, nil)
			return
		}
		var parts []thread.Part
		stop := thread.StopEnd
		if n%3 == 0 {
			parts = append(parts, thread.Part{Type: thread.ThinkingPart, Text: fmt.Sprintf("thought %d", n), Signature: fmt.Sprintf("sig-%d", n), Provider: "echo", Model: r.Model})
		}
		if n%5 != 0 {
			parts = append(parts, thread.Text(fmt.Sprintf("answer %d %s", n, strings.Repeat("and so on, ", n*7%23))))
		}
		for i := range []int{0, 1, 0, 3, 0}[n%5] + (5-n%5)/5 {
			parts = append(parts, thread.Call(fmt.Sprintf("c%d-%d", n, i), []string{"zoom", "search", "nothing"}[(n+i)%3], json.RawMessage([]string{`{"id":0,"n":1}`, `{"query":"so"}`, `{}`}[(n+i)%3])))
			stop = thread.StopCalls
		}
		if len(parts) == 0 || stop == thread.StopEnd && n%5 == 0 {
			parts = append(parts, thread.Text("yes"))
		}
		yield(model.Event{Type: model.Done, Parts: parts, Stop: stop}, nil)
	}
}

// sent is the messages of the request that would be sent, one JSON text each,
// without what is told only now.
func sent(t *rapid.T, th *skein.Thread) (messages []string, cut int64) {
	p, err := th.Prompt(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range p.Request.Messages {
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		messages = append(messages, string(data))
	}
	return messages[:len(messages)-len(p.Told)], p.Stamp.Cut
}

// pastRequestsAreTheSame makes every active answer's prompt again: it has the
// hash that was stored with the answer.
func pastRequestsAreTheSame(t *rapid.T, th *skein.Thread) {
	ctx := context.Background()
	for e, err := range th.Messages(ctx, 0, 1000) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Message.Request == nil {
			continue
		}
		p, err := th.PromptAt(ctx, e.Seq)
		if err != nil {
			t.Fatalf("the prompt of the answer at %d: %v", e.Seq, err)
		}
		if want := e.Message.Request; p.Stamp.Hash != want.Hash || p.Tokens != want.Tokens {
			t.Fatalf("the prompt of the answer at %d has hash %s and %d tokens, it was sent with %s and %d", e.Seq, p.Stamp.Hash, p.Tokens, want.Hash, want.Tokens)
		}
	}
}

// strategies act early, so that short conversations meet them.
func strategies() []strategy.Strategy {
	return []strategy.Strategy{
		strategy.SummarizeHistory(strategy.Summarize{TriggerCharacters: 3000, KeepRecentMessages: 2}),
		strategy.TruncateToolResults(strategy.Truncate{KeepRecent: 1, MaxCharacters: 90, BatchTokens: 40}),
		strategy.SlidingWindow(strategy.Sliding{Tokens: 500, BatchTokens: 150}),
	}
}

// Whatever is said, done and undone, memory and SQLite give the same prompt, a
// fresh engine gives it again (I6), it is valid (I7, by Check), and between cuts
// it grows at its end only (I5). What is only stored may leave more than HARD
// whole, which a turn would cut first; until then a window is shown.
func TestPromptsOfRandomConversations(t *testing.T) {
	dir := t.TempDir()
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		runs++
		path := filepath.Join(dir, fmt.Sprintf("%d.db", runs))
		now := start
		clock := func() time.Time { return now }
		stores := []func() store.Store{
			func() store.Store { return memory.New(memory.Options{Now: clock}) },
			func() store.Store {
				st, err := sqlite.Open(ctx, path, sqlite.Options{Now: clock})
				if err != nil {
					t.Fatal(err)
				}
				return st
			},
		}
		chains := []string{"outline", "outline", "truncate,outline", "summarize", "truncate,summarize", "sliding", "truncate"}
		id := "t"
		chain := rapid.SampledFrom(chains).Draw(t, "strategy")
		open := func(st store.Store) (*skein.Engine, *skein.Thread) {
			e, err := skein.Open(ctx, skein.Config{Store: st, Models: func(string) (model.Model, error) { return fickle{}, nil }, Now: clock, Strategies: strategies()})
			if err != nil {
				t.Fatal(err)
			}
			th, err := e.OpenThread(ctx, id, skein.Settings{Tail: skein.Marks{Low: 100, High: 250}, Outline: skein.Marks{Low: 150, High: 300}, Strategy: chain})
			if err != nil {
				t.Fatal(err)
			}
			return e, th
		}
		var engines []*skein.Engine
		var threads []*skein.Thread
		for _, st := range stores {
			e, th := open(st())
			engines, threads = append(engines, e), append(threads, th)
		}
		defer func() {
			for _, e := range engines {
				for err := range e.Check(ctx) {
					t.Errorf("check: %v", err)
				}
				if err := e.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			}
		}()
		var before []string
		var cut int64
		for round := range rapid.IntRange(1, 12).Draw(t, "steps") {
			undone := false
			now = now.Add(time.Hour)
			step := rapid.SampledFrom([]string{"ask", "ask", "ask", "ask", "store", "rewind", "reset", "restart", "switch", "fork"}).Draw(t, "step")
			text := rapid.SampledFrom(launch).Draw(t, "text") + strings.Repeat(" over and over", rapid.IntRange(0, 60).Draw(t, "length"))
			at := rapid.Int64Range(0, 30).Draw(t, "at")
			if step == "switch" {
				chain = rapid.SampledFrom(chains).Draw(t, "another strategy")
			}
			if step == "restart" {
				if err := engines[1].Close(); err != nil {
					t.Fatal(err)
				}
				engines[1], threads[1] = open(stores[1]())
			}
			for i, th := range threads {
				var err error
				switch step {
				case "switch":
					undone = true
					err = th.Set(ctx, skein.Settings{Strategy: chain})
				case "fork":
					undone = true
					var forked *skein.Thread
					if forked, err = th.Fork(ctx, at, fmt.Sprintf("f%d", round), ""); thread.CodeOf(err) == thread.NotFound {
						err = nil
						break
					}
					threads[i] = forked
					id = forked.ID()

				case "ask":
					_, err = th.Ask(ctx, "ana", text)
				case "store":
					_, err = th.Say(ctx, "ben", text)
				case "rewind":
					undone = true
					if err = th.Rewind(ctx, at, "ana"); thread.CodeOf(err) == thread.NotFound {
						err = nil
					}
				case "reset":
					undone = true
					err = th.Reset(ctx, "ana")
				}
				if err != nil {
					t.Fatalf("%s: %v", step, err)
				}
			}
			pastRequestsAreTheSame(t, threads[1])
			now, nowCut := sent(t, threads[0])
			other, _ := sent(t, threads[1])
			if strings.Join(now, "\n") != strings.Join(other, "\n") {
				t.Fatalf("after %s, memory and SQLite differ:\n%s\n\n%s", step, strings.Join(now, "\n"), strings.Join(other, "\n"))
			}
			if !undone && step != "store" && nowCut == cut && (len(now) < len(before) || strings.Join(now[:len(before)], "\n") != strings.Join(before, "\n")) {
				t.Fatalf("after %s, without a cut, the prompt does not start with the one before:\n%s\n\n%s", step, strings.Join(before, "\n"), strings.Join(now, "\n"))
			}
			before, cut = now, nowCut
		}
	})
}
