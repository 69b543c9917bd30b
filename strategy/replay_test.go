package strategy_test

import (
	"context"
	"fmt"
	"hash/maphash"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/skeinhq/skein/internal/line"
	"github.com/skeinhq/skein/internal/outline"
	"github.com/skeinhq/skein/strategy"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/transcript"
)

// A real session is replayed request by request under several strategies, and
// what they cost is counted. Prices are those of a token of input: 1. A request's
// tokens that are the same prefix as the request before are read from the cache,
// the rest is written to it.
const (
	fixedStart  = 12_000 // tokens of instructions and tools
	readPrice   = 0.1
	writePrice  = 1.25
	outputPrice = 5.0
)

// quarter weighs a text: a token for each four characters, rounded up.
func quarter(s string) int { return (utf8.RuneCountInString(s) + 3) / 4 }

// session reads the sample's messages, each with its weight as rendered.
func session(t *testing.T) []thread.Entry {
	t.Helper()
	dir := os.Getenv("SKEIN_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared")
	}
	f, err := os.Open(filepath.Join(dir, "samples", "pi", "session-v1.jsonl"))
	if err != nil {
		if os.Getenv("SKEIN_REQUIRE") == "all" {
			t.Fatalf("the samples are required: %v", err)
		}
		t.Skipf("the samples are not there (set SKEIN_SHARED): %v", err)
	}
	defer f.Close()
	r, err := transcript.Read(context.Background(), f, transcript.Options{User: "ana", Agent: "north", Blob: func(media, name string, data []byte) (thread.Part, error) {
		return thread.Part{Type: thread.BlobPart, Hash: fmt.Sprint(len(data)), MediaType: media, Name: name, Size: int64(len(data))}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	b := &book{}
	for item, err := range r.Items() {
		if err != nil {
			t.Fatal(err)
		}
		m := *item.Entry.Message
		m.Weight = rendered(&m)
		b.put(m)
	}
	return b.entries
}

// rendered is the weight of a message: of its texts, calls and results together,
// a user's after the author's name.
func rendered(m *thread.Message) int {
	characters := 0
	if m.Role == thread.User {
		characters = utf8.RuneCountInString(m.Author + ": ")
	}
	images := 0
	var count func(parts []thread.Part)
	count = func(parts []thread.Part) {
		for _, p := range parts {
			switch p.Type {
			case thread.BlobPart:
				images += p.Weigh()
			case thread.ThinkingPart: // another model's, which is not sent
			default:
				for _, s := range []string{p.Text, p.ID, p.Call, p.Name, string(p.Input), string(p.Raw)} {
					characters += utf8.RuneCountInString(s)
				}
				count(p.Parts)
			}
		}
	}
	count(m.Parts)
	return (characters+3)/4 + images
}

// block is a piece of a prompt, by its content.
type block struct {
	sum    uint64
	tokens int
}

var seed = maphash.MakeSeed()

func blockOf(content string, tokens int) block { return block{maphash.String(seed, content), tokens} }

func blocksOf(messages []strategy.Message) []block {
	out := make([]block, len(messages))
	for i := range messages {
		m := &messages[i]
		w := m.Message.Weight
		if m.Seq == 0 || m.Results != 0 {
			w = rendered(m.Message)
		}
		out[i] = blockOf(fmt.Sprintf("%d %d %d %d", m.Seq, m.Results, w, len(m.Message.PlainText())), w)
	}
	return out
}

// bill counts requests.
type bill struct {
	name          string
	requests      int
	tokens, same  int
	largest       int
	breaks        int // requests that do not start with all of the one before
	cuts          int
	won           int // tokens that cuts have taken away
	own           float64
	ownIn, ownOut int
	last          []block
}

func (b *bill) request(blocks []block) {
	tokens, same := fixedStart, 0
	if b.requests > 0 {
		same = fixedStart
	}
	alike := b.requests > 0
	for i, x := range blocks {
		tokens += x.tokens
		if alike = alike && i < len(b.last) && b.last[i] == x; alike {
			same += x.tokens
		}
	}
	if b.requests > 0 && (len(blocks) < len(b.last) || same < fixedStart+sum(b.last)) {
		b.breaks++
	}
	b.requests++
	b.tokens += tokens
	b.same += same
	b.largest = max(b.largest, tokens)
	b.last = blocks
}

func sum(blocks []block) int {
	n := 0
	for _, x := range blocks {
		n += x.tokens
	}
	return n
}

func (b *bill) cost() float64 {
	return float64(b.same)*readPrice + float64(b.tokens-b.same)*writePrice
}

// listed replays the session under a strategy that works on the list.
func listed(t *testing.T, name string, entries []thread.Entry, s strategy.Strategy) *bill {
	t.Helper()
	b := &bill{name: name}
	var sent []strategy.Message
	var turn int64
	for i, e := range entries {
		if e.Message.Role == thread.User {
			turn = e.Seq + 1
		}
		if e.Message.Role == thread.Assistant && i > 0 {
			in := strategy.Input{
				Messages: sent, Turn: turn, Fixed: strategy.Weight{Tokens: fixedStart},
				Summarize: func(_ context.Context, a strategy.Ask) (strategy.Summary, error) {
					b.ownIn += strategy.Weigh(a.Messages).Tokens + quarter(a.Earlier)
					b.ownOut += 4_000
					return strategy.Summary{Text: strings.Repeat("sum ", 4_000)}, nil
				},
			}
			out := step(t, s, in)
			if out.Warning != "" {
				t.Fatalf("%s at %d: %s", name, i, out.Warning)
			}
			if out.Cut != nil {
				b.cuts++
				b.won += out.Cut.Before.Tail - out.Cut.After.Tail
			}
			sent = out.Messages
			b.request(blocksOf(sent))
		}
		sent = append(sent[:len(sent):len(sent)], strategy.Message{Entry: e})
	}
	b.own = float64(b.ownIn) + float64(b.ownOut)*outputPrice
	return b
}

// shelf keeps the lines of the replay.
type shelf map[thread.Span]thread.Node

func (s shelf) leaf(i int64, m *thread.Message) {
	span := thread.Span{ID: i, N: 1}
	text, ok := line.Verbatim(m)
	if !ok {
		text = line.Extract(m)
	}
	s[span] = thread.Node{Span: span, Text: text}
	for span.IsRight() {
		left, right := span.Parent().Halves()
		span = span.Parent()
		n, ok := thread.Join(s[left], s[right])
		if !ok {
			n.Text = line.Merge(s[left].Text, s[right].Text)
		}
		s[span] = thread.Node{Span: span, Text: n.Text}
	}
}

func (s shelf) weigh(span thread.Span) (int, bool) {
	n, ok := s[span]
	return quarter(n.Line() + "\n"), ok
}

// outlined replays the session under the outline at the default marks, cutting
// as an agent's turn does.
func outlined(entries []thread.Entry) *bill {
	b := &bill{name: "outline 20k/40k, 4k/8k"}
	limits := outline.Limits{Marks: outline.Marks{Low: 20_000, High: 40_000}, Hard: 60_000}
	lines := shelf{}
	var shown outline.Outline
	var tail outline.Tail
	cut := func(l outline.Limits, inTurn bool) {
		if !tail.Over(l, inTurn) {
			return
		}
		if start := tail.Cut(l, tail.Start+int64(len(tail.Messages))); start > tail.Start {
			b.cuts++
			tail.Messages = tail.Messages[start-tail.Start:]
			tail.Start = start
			shown, _ = shown.Grow(start, outline.Marks{Low: 4_000, High: 8_000}, lines.weigh)
		}
	}
	step := 1 // messages of the newest step
	for i, e := range entries {
		m := e.Message
		if m.Role == thread.Assistant && i > 0 {
			inTurn := limits
			inTurn.Keep = step
			cut(inTurn, true)
			b.request(laidOut(lines, shown, tail, entries))
		}
		lines.leaf(int64(i), m)
		tail.Messages = append(tail.Messages, tailMessage(m))
		step++
		switch {
		case len(m.Calls()) > 0:
			step = 1
		case m.Role == thread.User:
			step = 1
		case m.Role == thread.Assistant:
			cut(limits, false)
		}
	}
	return b
}

func tailMessage(m *thread.Message) outline.Message {
	out := outline.Message{Weight: m.Weight}
	for _, p := range m.Parts {
		switch p.Type {
		case thread.CallPart:
			out.Calls = append(out.Calls, p.ID)
		case thread.ResultPart:
			out.Results = append(out.Results, p.Call)
		}
	}
	return out
}

// laidOut is the prompt of the outline: its header, blocks of four lines, and
// the tail.
func laidOut(lines shelf, shown outline.Outline, tail outline.Tail, entries []thread.Entry) []block {
	var out []block
	if len(shown.Lines) > 0 {
		out = append(out, blockOf("header", 120))
	}
	var four strings.Builder
	for i, l := range shown.Lines {
		four.WriteString(lines[l.Span].Line() + "\n")
		if i%4 == 3 || i == len(shown.Lines)-1 {
			out = append(out, blockOf(four.String(), quarter(four.String())))
			four.Reset()
		}
	}
	return append(out, blocksOf(whole(entries[tail.Start:tail.Start+int64(len(tail.Messages))]))...)
}

// keeping is the strategy that the outline is compared with: at so many tokens
// all but about the newest so many are summarized.
func keeping(trigger, keep int) strategy.Strategy {
	return strategy.Strategy{Name: "keeping", Compact: func(ctx context.Context, in strategy.Input) (strategy.Result, error) {
		if in.Fixed.Tokens+strategy.Weigh(in.Messages).Tokens <= trigger {
			return strategy.Result{}, nil
		}
		open := map[string]bool{}
		start, left := 0, strategy.Weigh(in.Messages).Tokens
		for i, m := range in.Messages {
			if left < keep {
				break
			}
			if len(open) == 0 && m.Message.Role != thread.Tool {
				start = i
			}
			for _, p := range m.Message.Parts {
				switch p.Type {
				case thread.CallPart:
					open[p.ID] = true
				case thread.ResultPart:
					delete(open, p.Call)
				}
			}
			left -= m.Message.Weight
		}
		s, err := in.Summarize(ctx, strategy.Ask{Messages: in.Messages[:start]})
		if err != nil {
			return strategy.Result{}, err
		}
		summary := strategy.New(thread.Message{Role: thread.User, Parts: []thread.Part{thread.Text(strategy.SummaryHead + s.Text)}})
		return strategy.Result{Messages: append([]strategy.Message{summary}, in.Messages[start:]...)}, nil
	}}
}

// TestARealSessionIsCheapUnderTheOutline holds what the outline is for: a small
// prompt that the cache serves, at a fraction of what the usual ways cost.
func TestARealSessionIsCheapUnderTheOutline(t *testing.T) {
	entries := session(t)
	ours := outlined(entries)
	usual := listed(t, "summarize at 170k, keep 20k", entries, keeping(170_000, 20_000))
	sliding := listed(t, "sliding 40k, batch 0", entries, strategy.SlidingWindow(strategy.Sliding{BatchTokens: -1}))
	truncated := listed(t, "truncate", entries, strategy.TruncateToolResults(strategy.Truncate{}))
	var table strings.Builder
	var lines line.Estimate // if a model wrote them
	for i, e := range entries {
		if _, ok := line.Verbatim(e.Message); !ok {
			lines.AddLeaf(e.Message)
		}
		for s := (thread.Span{ID: int64(i), N: 1}); s.IsRight(); s = s.Parent() {
			lines.AddMerge()
		}
	}
	fmt.Fprintf(&table, "%d messages, cost in tokens of input, thousands\n%-28s %8s %10s %7s %8s %5s %6s %9s %9s %9s\n", len(entries),
		"strategy", "requests", "input", "same", "largest", "cuts", "breaks", "cost", "its own", "together")
	for _, b := range []*bill{
		ours, usual, sliding,
		listed(t, "sliding 40k, batch 10k", entries, strategy.SlidingWindow(strategy.Sliding{})),
		listed(t, "summarize (defaults)", entries, strategy.SummarizeHistory(strategy.Summarize{})),
		truncated,
	} {
		fmt.Fprintf(&table, "%-28s %8d %10d %6.1f%% %8d %5d %6d %9.0f %9.0f %9.0f\n", b.name,
			b.requests, b.tokens/1000, 100*float64(b.same)/float64(b.tokens), b.largest, b.cuts, b.breaks, b.cost()/1000, b.own/1000, (b.cost()+b.own)/1000)
	}
	fmt.Fprintf(&table, "the outline's lines are written by rule; a model would take at most %dk tokens of input and %dk of output for them\n", lines.Input/1000, lines.Output/1000)
	t.Log("\n" + table.String())
	if same := float64(ours.same) / float64(ours.tokens); same < 0.965 {
		t.Errorf("%.2f %% of the outline's input are the same prefix as the request before, want 96.5", 100*same)
	}
	if ours.largest > 76_000 {
		t.Errorf("the outline's largest prompt has %d tokens, want at most 76,000", ours.largest)
	}
	if r := ours.cost() / usual.cost(); r > 0.70 {
		t.Errorf("the outline costs %.2f of summarizing at 170,000, want at most 0.70", r)
	}
	if r := ours.cost() / sliding.cost(); r > 0.45 {
		t.Errorf("the outline costs %.2f of a sliding window, want at most 0.45", r)
	}
	if most := truncated.won / strategy.DefaultTruncateBatch; truncated.cuts == 0 || truncated.breaks > most {
		t.Errorf("truncation broke the prefix %d times and won %d tokens: want at most %d", truncated.breaks, truncated.won, most)
	}
}
