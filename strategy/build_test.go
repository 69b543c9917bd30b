package strategy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/skeinhq/skein/strategy"
	"github.com/skeinhq/skein/thread"
)

// check is a test, or a property's.
type check interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// book is a log in memory: seqs have gaps where other records stand.
type book struct {
	entries []thread.Entry
	seq     int64
}

func (b *book) put(m thread.Message) *book {
	b.seq++
	b.entries = append(b.entries, thread.Entry{Seq: b.seq, ID: fmt.Sprintf("e%d", b.seq), Kind: thread.MessageKind, Index: int64(len(b.entries)), Time: time.Unix(b.seq, 0).UTC(), Message: &m})
	return b
}

// record stands for an entry that is no message.
func (b *book) record() *book { b.seq++; return b }

func (b *book) user(text string) *book {
	return b.put(thread.Message{Author: "ana", To: []string{"north"}, Role: thread.User, Parts: []thread.Part{thread.Text(text)}})
}

func (b *book) agent(text string, calls ...string) *book {
	m := thread.Message{Author: "north", To: []string{"ana"}, Role: thread.Assistant}
	if text != "" {
		m.Parts = append(m.Parts, thread.Text(text))
	}
	for _, id := range calls {
		m.Parts = append(m.Parts, thread.Call(id, "look", json.RawMessage(`{"q":"`+id+`"}`)))
	}
	return b.put(m)
}

func (b *book) result(id, text string) *book {
	return b.put(thread.Message{Author: "look", To: []string{"north"}, Role: thread.Tool, Parts: []thread.Part{thread.Result(id, "look", text, false)}})
}

// served is an agent's message with a call and its result, made at the provider.
func (b *book) served(id, text string) *book {
	return b.put(thread.Message{Author: "north", Role: thread.Assistant, Parts: []thread.Part{
		thread.Call(id, "web", nil), thread.Result(id, "web", text, false), thread.Text("I looked it up"),
	}})
}

// messages are the log's, all of them whole.
func (b *book) messages() []strategy.Message { return whole(b.entries) }

func whole(entries []thread.Entry) []strategy.Message {
	out := make([]strategy.Message, len(entries))
	for i, e := range entries {
		out[i] = strategy.Message{Entry: e}
	}
	return out
}

// between reads the log as a store does.
func (b *book) between(first, last int64) ([]thread.Entry, error) {
	var out []thread.Entry
	for _, e := range b.entries {
		if e.Seq >= first && e.Seq <= last {
			out = append(out, e)
		}
	}
	return out, nil
}

// writer answers with a text and counts how often it was asked.
type writer struct {
	text  string
	err   error
	asked int
	last  strategy.Ask
}

func (w *writer) summarize(_ context.Context, a strategy.Ask) (strategy.Summary, error) {
	w.asked++
	w.last = a
	return strategy.Summary{Text: w.text, Usage: thread.Usage{Input: 100, Output: 10}}, w.err
}

// show prints messages for people who look why a test failed.
func show(messages []strategy.Message) string {
	var b strings.Builder
	for i, m := range messages {
		fmt.Fprintf(&b, "%d: seq %d index %d results %d", i, m.Seq, m.Index, m.Results)
		if m.Message == nil {
			b.WriteString(" erased\n")
			continue
		}
		fmt.Fprintf(&b, " %s %s:", m.Message.Role, m.Message.Author)
		for _, p := range m.Message.Parts {
			switch p.Type {
			case thread.CallPart:
				fmt.Fprintf(&b, " call %s", p.ID)
			case thread.ResultPart:
				fmt.Fprintf(&b, " result %s of %d", p.Call, len((&thread.Message{Parts: p.Parts}).PlainText()))
			default:
				fmt.Fprintf(&b, " %s %.40q", p.Type, p.Text)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// bytesOf is what is sent, as bytes.
func bytesOf(t check, messages []strategy.Message) string {
	t.Helper()
	var b strings.Builder
	for i := range messages {
		data, err := thread.Encode(messages[i].Message)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%d %d %s\n", messages[i].Seq, messages[i].Index, data)
	}
	return b.String()
}

// stored is a cut's list as it is read back from a store.
func stored(t check, c *thread.Cut) []thread.Kept {
	t.Helper()
	data, err := thread.Encode(c)
	if err != nil {
		t.Fatal(err)
	}
	var back thread.Cut
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	return back.Kept
}

func step(t check, s strategy.Strategy, in strategy.Input) strategy.Outcome {
	t.Helper()
	out, err := strategy.Step(context.Background(), s, in)
	if err != nil {
		t.Fatalf("%s: %v\n%s", s.Name, err, show(in.Messages))
	}
	return out
}

// mustCut is a step that must make a cut.
func mustCut(t check, s strategy.Strategy, in strategy.Input) strategy.Outcome {
	t.Helper()
	out := step(t, s, in)
	if out.Cut == nil {
		t.Fatalf("%s made no cut (%s)\n%s", s.Name, out.Warning, show(in.Messages))
	}
	return out
}

// wantCode fails unless err has that code, and gives it.
func wantCode(t check, err error, code thread.Code) *thread.Error {
	t.Helper()
	e, ok := err.(*thread.Error)
	if !ok || e.Code != code {
		t.Fatalf("got the error %v, want one of code %s", err, code)
	}
	return e
}
