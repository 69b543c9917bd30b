package agent_test

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skeinhq/skein/internal/agent"
	"github.com/skeinhq/skein/internal/line"
	"github.com/skeinhq/skein/internal/outline"
	"github.com/skeinhq/skein/internal/prompt"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/store/memory"
	"github.com/skeinhq/skein/strategy"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/transcript"
)

// TestARealSessionIsValidAtEveryPrefix plays a real session of 990 messages under
// each strategy, with small marks so that it is cut often. After each message the
// prompt is built for both large providers: it is valid (I7), and between cuts it
// grows at its end only (I5).
func TestARealSessionIsValidAtEveryPrefix(t *testing.T) {
	dir := os.Getenv("SKEIN_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	f, err := os.Open(filepath.Join(dir, "samples", "pi", "session-v1.jsonl"))
	if err != nil {
		if os.Getenv("SKEIN_REQUIRE") == "all" {
			t.Fatalf("the samples must be there: %v", err)
		}
		t.Skipf("no samples (set SKEIN_SHARED): %v", err)
	}
	defer f.Close()
	small := outline.Marks{Low: 3000, High: 8000}
	truncate := strategy.TruncateToolResults(strategy.Truncate{BatchTokens: 1000})
	summarize := strategy.SummarizeHistory(strategy.Summarize{TriggerCharacters: 60_000})
	for _, play := range []struct {
		tail  outline.Marks
		chain strategy.Chain
	}{
		{small, nil}, {agent.DefaultTail, nil}, {small, strategy.Chain{truncate, strategy.Outline()}},
		{small, strategy.Chain{summarize}}, {small, strategy.Chain{truncate, summarize}},
		{small, strategy.Chain{strategy.SlidingWindow(strategy.Sliding{Tokens: 12_000, BatchTokens: 4_000})}},
	} {
		if _, err := f.Seek(0, 0); err != nil {
			t.Fatal(err)
		}
		playSession(t, f, play.tail, play.chain)
	}
}

// sumsUp is a model that summarizes in one sentence.
type sumsUp struct{}

func (sumsUp) Stream(context.Context, *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		yield(model.Event{Type: model.Done, Parts: []thread.Part{thread.Text("They worked on main.ts and agent-session.ts.")}, Stop: thread.StopEnd}, nil)
	}
}

func playSession(t *testing.T, f *os.File, tail outline.Marks, chain strategy.Chain) {
	t.Helper()
	base := agent.BaseOf(chain)
	ctx := context.Background()
	st := memory.New(memory.Options{})
	defer st.Close()
	lines := line.NewBuilder(ctx, line.Config{Store: st})
	defer lines.Close()
	state, err := st.Create(ctx, store.NewThread{Key: thread.Key{ID: "pi"}})
	if err != nil {
		t.Fatal(err)
	}
	lease, err := st.Acquire(ctx, state.Key, "test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	log := &agent.Log{Store: st, Thread: state, Fence: lease.Fence, Recent: &agent.Recent{}, Lines: lines, Published: func(store.Written, []thread.Doc) {}, Base: base}
	r, err := transcript.Read(ctx, f, transcript.Options{Agent: "north"})
	if err != nil {
		t.Fatal(err)
	}
	before := map[string][]model.Message{}
	var cut int64
	messages, cuts := 0, 0
	for item, err := range r.Items() {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := log.Commit(ctx, []store.New{agent.Compose(item.Entry)}); err != nil {
			t.Fatal(err)
		}
		messages++
		marks := marksOf(t, tail, "claude-opus-4-5")
		moment := agent.InsideTurn
		if item.Entry.Message.Role == thread.Assistant && len(item.Entry.Message.Calls()) == 0 {
			moment = agent.BetweenTurns
		}
		if err := lines.Fill(ctx, &log.Thread, log.Thread.Length); err != nil {
			t.Fatal(err)
		}
		turn := &agent.Turn{
			Log: log, Chain: chain, Marks: marks, Agent: agent.Agent{Name: "north"}, Name: "claude-opus-4-5", Now: time.Now, Tell: func(thread.Event) {},
			Models: func(string) (model.Model, model.Rules, error) { return sumsUp{}, model.Rules{}, nil },
		}
		if err := turn.Shrink(ctx, moment); err != nil {
			t.Fatalf("message %d, %s: %v", messages, base, err)
		}
		past, err := log.Recent.Load(ctx, st, &log.Thread, base, 0)
		if err != nil {
			t.Fatal(err)
		}
		moved := past.Cut != nil && past.Cut.Number != cut
		if moved {
			cut = past.Cut.Number
			cuts++
		}
		for _, name := range []string{"claude-opus-4-5", "gpt-5.1"} {
			rules, err := model.BuiltIn().Rules(name)
			if err != nil {
				t.Fatal(err)
			}
			p, err := agent.Prompt(agent.Input{
				Thread: &log.Thread, Past: past, Marks: marks, Rules: rules, Time: item.Entry.Time,
				Definition: prompt.Definition{Agent: "north", Model: name, Instructions: "Be exact.", Strategy: string(base)},
			})
			if err != nil {
				t.Fatalf("message %d, %s: %v", messages, name, err)
			}
			if err := prompt.Validate(&p.Request, rules); err != nil {
				t.Fatalf("message %d (%s), %s: %v", messages, item.Entry.Message.Role, name, err)
			}
			now := p.Request.Messages[:len(p.Request.Messages)-len(p.Told)]
			if !moved {
				startsWith(t, messages, before[name], now)
			}
			before[name] = now
		}
	}
	t.Logf("%s, marks %v: %d messages, %d cuts, report: %s", base, tail, messages, cuts, r.Report())
	if messages < 990 || cuts == 0 {
		t.Errorf("%d messages, %d cuts", messages, cuts)
	}
	for err := range st.Check(ctx) {
		t.Errorf("check: %v", err)
	}
	if len(chain) > 0 {
		return
	}
	past, err := log.Recent.Load(ctx, st, &log.Thread, base, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, n := range past.Outline {
		all.WriteString(n.Line() + "\n")
	}
	for _, want := range []string{"main.ts", "agent-session.ts"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("the outline does not name %s:\n%s", want, all.String())
		}
	}
	if testing.Verbose() {
		t.Log("\n" + all.String())
	}
}

func marksOf(t *testing.T, tail outline.Marks, name string) agent.Marks {
	t.Helper()
	rules, err := model.BuiltIn().Rules(name)
	if err != nil {
		t.Fatal(err)
	}
	return agent.MarksFor(agent.Settings{Tail: tail}, agent.Agent{}, rules)
}

// startsWith fails unless the prompt grew at its end. The results of the newest
// message's calls may still be coming in: until they are all there, they end
// with ones that say so.
func startsWith(t *testing.T, at int, before, now []model.Message) {
	t.Helper()
	for i, m := range before {
		if i >= len(now) {
			t.Fatalf("message %d: the prompt shrank from %d to %d messages without a cut", at, len(before), len(now))
		}
		if m.Role == thread.Tool && i == len(before)-1 {
			continue
		}
		a, err := thread.Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		b, err := thread.Encode(now[i])
		if err != nil {
			t.Fatal(err)
		}
		if string(a) != string(b) {
			t.Fatalf("message %d: without a cut, message %d of the prompt changed:\n%.300s\n%.300s", at, i, a, b)
		}
	}
}
