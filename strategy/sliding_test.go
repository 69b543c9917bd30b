package strategy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/strategy"
)

// steps goes on with a thread by so many steps of a call and its result, of about
// 125 tokens each.
func (b *book) steps(n int) *book {
	for range n {
		id := fmt.Sprint("c", b.seq)
		b.agent("", id).result(id, strings.Repeat("word ", 80))
	}
	return b
}

func TestWholeStepsLeaveUntilABatchIsFree(t *testing.T) {
	s := strategy.SlidingWindow(strategy.Sliding{Tokens: 1_000, BatchTokens: 400})
	b := (&book{}).user("First").steps(3).agent("So").user("Second").steps(6)
	out := mustCut(t, s, strategy.Input{Messages: b.messages()})
	if w := strategy.Weigh(out.Messages).Tokens; w > 600 || w < 450 {
		t.Errorf("%d tokens are left\n%s", w, show(out.Messages))
	}
	if text(out.Messages[0]) != "Second" || out.Messages[1].Message.Role != "assistant" {
		t.Errorf("left is\n%s", show(out.Messages))
	}
	if out.Cut.Boundary != out.Messages[0].Index || out.Cut.Reason != "tokens" {
		t.Errorf("the cut is %+v", out.Cut)
	}
	b = (&book{}).user("First").steps(3)
	if out := step(t, s, strategy.Input{Messages: b.messages()}); out.Cut != nil {
		t.Error("it slid below its weight")
	}
}

func TestTheRunningTurnsQuestionStaysFirst(t *testing.T) {
	b := (&book{}).user("Old").agent("Yes").user("The question").record()
	turn := b.seq
	b.steps(4).user("Hurry").steps(8)
	s := strategy.SlidingWindow(strategy.Sliding{Tokens: 1_000, BatchTokens: 400})
	sent := b.messages()
	for range 20 {
		out := step(t, s, strategy.Input{Messages: sent, Turn: turn})
		if sent = out.Messages; out.Cut != nil && text(sent[0]) != "The question" {
			t.Fatalf("first is %q\n%s", text(sent[0]), show(sent))
		}
		n := len(b.entries)
		b.steps(1)
		sent = append(sent[:len(sent):len(sent)], whole(b.entries[n:])...)
	}
	if strings.Contains(show(sent), "Hurry") {
		t.Errorf("what was said into the turn stays for ever\n%s", show(sent))
	}
}

func TestAStepStandsAfterTheMessageThatAskedForIt(t *testing.T) {
	b := (&book{}).user("First").steps(8).agent("So").user("Second").steps(1)
	out := mustCut(t, strategy.SlidingWindow(strategy.Sliding{Tokens: 1_000, BatchTokens: -1}), strategy.Input{Messages: b.messages()})
	if text(out.Messages[0]) != "First" || out.Messages[1].Seq < 3 {
		t.Errorf("left is\n%s", show(out.Messages))
	}
}

// TestAQuestionOverTheWindowDoesNotMakeEachStepACut: what must stay is over the
// weight, so only whole batches leave.
func TestAQuestionOverTheWindowDoesNotMakeEachStepACut(t *testing.T) {
	b := (&book{}).user(strings.Repeat("long ", 2_000))
	s := strategy.SlidingWindow(strategy.Sliding{Tokens: 1_000, BatchTokens: 400})
	var sent []strategy.Message
	cuts := 0
	n := 0
	for range 30 {
		b.steps(1)
		sent = append(sent[:len(sent):len(sent)], whole(b.entries[n:])...)
		n = len(b.entries)
		out := step(t, s, strategy.Input{Messages: sent})
		if sent = out.Messages; out.Cut != nil {
			cuts++
		}
	}
	if cuts == 0 || cuts > 10 {
		t.Errorf("30 steps of about 125 tokens made %d cuts", cuts)
	}
}

func TestACallThatWaitsStays(t *testing.T) {
	b := (&book{}).user("Old").agent("", "waits", "done").result("done", "fine").user("New").steps(9)
	out := mustCut(t, strategy.SlidingWindow(strategy.Sliding{Tokens: 1_000, BatchTokens: 400}), strategy.Input{Messages: b.messages()})
	if diff := cmp.Diff([]int64{1, 2, 3, 4}, seqs(out.Messages)[:4]); diff != "" {
		t.Errorf("left is\n%s", show(out.Messages))
	}
}

func TestTheWindowFitsTheModel(t *testing.T) {
	b := (&book{}).user("First").steps(10)
	in := strategy.Input{Messages: b.messages(), Limit: 700, Fixed: strategy.Weight{Tokens: 200}}
	out := mustCut(t, strategy.SlidingWindow(strategy.Sliding{}), in)
	if w := strategy.Weigh(out.Messages).Tokens; w > 500 || out.Cut.Reason != "limit" {
		t.Errorf("%d tokens are left, by %s", w, out.Cut.Reason)
	}
	in.Limit, in.Overflowing = 0, true
	out = mustCut(t, strategy.SlidingWindow(strategy.Sliding{}), in)
	if half := strategy.Weigh(in.Messages).Tokens / 2; strategy.Weigh(out.Messages).Tokens > half || out.Cut.Reason != "overflow" {
		t.Errorf("%d tokens are left, by %s", strategy.Weigh(out.Messages).Tokens, out.Cut.Reason)
	}
}
