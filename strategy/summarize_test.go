package strategy_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/strategy"
	"github.com/skeinhq/skein/thread"
)

// talk is a first prompt and so many exchanges of about so many characters each.
func talk(exchanges, characters int) *book {
	b := (&book{}).user("Plan the summer party").agent("Gladly")
	for i := range exchanges {
		b.user(fmt.Sprintf("Question %d", i)).agent(strings.Repeat("word ", characters/5))
	}
	return b.user("And now?")
}

func seqs(messages []strategy.Message) []int64 {
	out := make([]int64, len(messages))
	for i := range messages {
		out[i] = messages[i].Seq
	}
	return out
}

func text(m strategy.Message) string { return m.Message.PlainText() }

func TestASummaryStandsBetweenTheFirstPromptAndTheNewestMessages(t *testing.T) {
	b := talk(10, 500)
	w := &writer{text: " They planned. \n"}
	s := strategy.SummarizeHistory(strategy.Summarize{TriggerCharacters: 2_000, Prompt: "Keep the dates", Model: "small", MaxSummaryTokens: 700})
	out := mustCut(t, s, strategy.Input{Messages: b.messages(), Agent: "north", Step: 3, Model: "large", Summarize: w.summarize})
	if diff := cmp.Diff([]int64{1, 0, 18, 19, 20, 21, 22, 23}, seqs(out.Messages)); diff != "" {
		t.Fatalf("sent are the wrong ones:\n%s\n%s", diff, show(out.Messages))
	}
	m := out.Messages[1].Message
	if m.Role != thread.User || m.Author != "" || m.PlainText() != "Summary of the earlier conversation:\nThey planned." || out.Messages[1].Index != thread.NoIndex {
		t.Errorf("the summary is %+v", m)
	}
	want := &thread.Cut{
		Strategy: "summarize", Agent: "north", Step: 3, Reason: "trigger", Usage: &thread.Usage{Input: 100, Output: 10},
		Kept: []thread.Kept{{First: 1, Last: 1}, {Message: m}, {First: 18, Last: 23}},
		Gone: []thread.Range{{First: 2, Last: 17}},
	}
	want.Before, want.After = out.Cut.Before, out.Cut.After
	if diff := cmp.Diff(want, out.Cut); diff != "" {
		t.Errorf("the cut differs (-want +got):\n%s", diff)
	}
	before, after := strategy.Weigh(b.messages()), strategy.Weigh(out.Messages)
	if got := (thread.CutWeight{Tail: before.Tokens, Messages: 23, Characters: before.Characters}); out.Cut.Before != got || out.Cut.After.Characters != after.Characters {
		t.Errorf("the weights are %+v and %+v", out.Cut.Before, out.Cut.After)
	}
	if a := w.last; a.Model != "small" || a.Prompt != "Keep the dates" || a.MaxTokens != 700 || len(a.Messages) != 16 || a.Earlier != "" {
		t.Errorf("asked was %+v", a)
	}
}

func TestASummaryIsMadeStrictlyAboveTheTrigger(t *testing.T) {
	b := talk(10, 500)
	weight := strategy.Weigh(b.messages())
	fixed := strategy.Weight{Tokens: 70, Characters: 300}
	for _, c := range []struct {
		name string
		o    strategy.Summarize
		in   strategy.Input
		cuts bool
	}{
		{"characters at the trigger", strategy.Summarize{TriggerCharacters: weight.Characters + 300}, strategy.Input{Fixed: fixed}, false},
		{"characters above it", strategy.Summarize{TriggerCharacters: weight.Characters + 299}, strategy.Input{Fixed: fixed}, true},
		{"tokens at the trigger", strategy.Summarize{TriggerTokens: weight.Tokens + 70}, strategy.Input{Fixed: fixed}, false},
		{"tokens above it", strategy.Summarize{TriggerTokens: weight.Tokens + 69}, strategy.Input{Fixed: fixed}, true},
		{"tokens instead of characters", strategy.Summarize{TriggerTokens: 1 << 20, TriggerCharacters: 1}, strategy.Input{}, false},
		{"the defaults", strategy.Summarize{}, strategy.Input{}, false},
		{"at the limit", strategy.Summarize{}, strategy.Input{Limit: weight.Tokens + 70, Fixed: fixed}, false},
		{"above the limit", strategy.Summarize{}, strategy.Input{Limit: weight.Tokens + 69, Fixed: fixed}, true},
		{"the provider's word", strategy.Summarize{}, strategy.Input{Overflowing: true}, true},
	} {
		w := &writer{text: "short"}
		c.in.Messages, c.in.Summarize = b.messages(), w.summarize
		if out := step(t, strategy.SummarizeHistory(c.o), c.in); (out.Cut != nil) != c.cuts || w.asked > 1 {
			t.Errorf("%s: a cut was made: %v", c.name, out.Cut != nil)
		}
	}
}

func TestALaterSummaryFoldsTheEarlierOneIn(t *testing.T) {
	b := talk(10, 500)
	w := &writer{text: "They planned."}
	in := strategy.Input{Messages: b.messages(), Summarize: w.summarize}
	s := strategy.SummarizeHistory(strategy.Summarize{TriggerCharacters: 5_000})
	in.Messages = mustCut(t, s, in).Messages
	n := len(b.entries)
	for i := range 8 {
		b.agent(strings.Repeat("more ", 120)).user(fmt.Sprintf("Question %d", 10+i))
	}
	in.Messages = append(in.Messages, whole(b.entries[n:])...)
	w.text = "They planned and more."
	out := mustCut(t, s, in)
	if w.last.Earlier != "They planned." {
		t.Errorf("the earlier summary was given as %q", w.last.Earlier)
	}
	if text(out.Messages[0]) != "Plan the summer party" || text(out.Messages[1]) != strategy.SummaryHead+"They planned and more." || out.Messages[2].Seq == 0 {
		t.Errorf("sent is\n%s", show(out.Messages))
	}
	if got := out.Cut.Gone[0].First; got != 18 {
		t.Errorf("it stands for messages from %d on; those before had left already", got)
	}
}

// TestWhatMustStayOverTheTriggerIsNotSummarizedAtEachStep has a first prompt that
// alone is over the trigger. Each step adds about 450 characters, and a tenth of
// the trigger is 2,000: a summary comes every fifth step or so.
func TestWhatMustStayOverTheTriggerIsNotSummarizedAtEachStep(t *testing.T) {
	for name, o := range map[string]strategy.Summarize{"characters": {TriggerCharacters: 20_000}, "tokens": {TriggerTokens: 5_000}} {
		b := (&book{}).user(strings.Repeat("long ", 5_000))
		w := &writer{text: "short"}
		s := strategy.SummarizeHistory(o)
		sent := b.messages()
		for i := range 60 {
			n := len(b.entries)
			b.agent(fmt.Sprint("Yes ", i, strings.Repeat(".", 150))).user(fmt.Sprint("And ", i, strings.Repeat(".", 150)))
			sent = append(sent[:len(sent):len(sent)], whole(b.entries[n:])...)
			for range 3 {
				sent = step(t, s, strategy.Input{Messages: sent, Summarize: w.summarize}).Messages
			}
		}
		if w.asked < 3 || w.asked > 15 {
			t.Errorf("%s: 60 steps made %d summaries", name, w.asked)
		}
	}
}

func TestAnUnchangedLogIsSummarizedOnce(t *testing.T) {
	b := talk(10, 500)
	w := &writer{text: "short"}
	s := strategy.SummarizeHistory(strategy.Summarize{TriggerCharacters: 3_000})
	var first string
	in := strategy.Input{Messages: b.messages(), Summarize: w.summarize}
	for i := range 5 {
		out := step(t, s, in)
		if now := bytesOf(t, out.Messages); i == 0 {
			first = now
		} else if now != first || out.Cut != nil {
			t.Fatalf("time %d gave other bytes, or a cut", i+1)
		}
		in.Messages, in.Noted = out.Messages, out.Noted
	}
	if w.asked != 1 {
		t.Errorf("%d summaries", w.asked)
	}
}

func TestASummaryLargerThanWhatItReplacesIsRefusedAndNotedOnce(t *testing.T) {
	b := talk(10, 500)
	w := &writer{text: strings.Repeat("endless ", 2_000)}
	s := strategy.SummarizeHistory(strategy.Summarize{TriggerCharacters: 3_000})
	in := strategy.Input{Messages: b.messages(), Summarize: w.summarize}
	warnings := 0
	for range 5 {
		out := step(t, s, in)
		if out.Cut != nil || bytesOf(t, out.Messages) != bytesOf(t, in.Messages) {
			t.Fatal("it was taken")
		}
		if out.Warning != "" {
			warnings++
			if out.Usage.Input != 100 {
				t.Errorf("what it took is %+v", out.Usage)
			}
		}
		in.Noted = out.Noted
	}
	if w.asked != 1 || warnings != 1 || in.Noted == nil {
		t.Errorf("asked %d times, warned %d times, noted %s", w.asked, warnings, in.Noted)
	}
	b.agent("A little more").user("Yes?")
	in.Messages = b.messages()
	if in.Noted = step(t, s, in).Noted; w.asked != 1 {
		t.Error("asked again for a little more")
	}
	b.agent(strings.Repeat("much more ", 200)).user("Yes?")
	in.Messages, w.text = b.messages(), "short"
	if out := mustCut(t, s, in); out.Noted != nil {
		t.Errorf("still noted after it went well: %s", out.Noted)
	}
}

func TestWhatCannotBeReducedIsOneErrorWithoutACall(t *testing.T) {
	b := talk(10, 500)
	b.agent("Yes").user(strings.Repeat("long ", 2_000))
	for _, s := range []strategy.Strategy{strategy.SummarizeHistory(strategy.Summarize{}), strategy.SlidingWindow(strategy.Sliding{})} {
		for _, overflowing := range []bool{false, true} {
			w := &writer{text: "short"}
			in := strategy.Input{Messages: b.messages(), Limit: 3_000, Fixed: strategy.Weight{Tokens: 1_000}, Overflowing: overflowing, Summarize: w.summarize}
			_, err := strategy.Step(t.Context(), s, in)
			e := wantCode(t, err, thread.Limit)
			d, ok := e.Details.(strategy.Irreducible)
			if !ok || d.Limit != 3_000 || d.Fixed != 1_000 || d.Messages < 2_000 || !strings.Contains(e.Message, fmt.Sprint(d.Messages)) {
				t.Errorf("%s: %v, details %+v", s.Name, e, e.Details)
			}
			if w.asked != 0 {
				t.Errorf("%s asked for a summary all the same", s.Name)
			}
			in.Followed = true
			if out := step(t, s, in); out.Cut != nil || w.asked != 0 {
				t.Errorf("%s did not leave it to the next strategy", s.Name)
			}
		}
	}
}

func TestAFailingSummaryEndsTheTurnOnlyWhereThePromptIsTooLarge(t *testing.T) {
	b := talk(10, 500)
	timeout := &thread.Error{Code: thread.Timeout, Op: "model", Message: "the model took too long"}
	s := strategy.SummarizeHistory(strategy.Summarize{TriggerCharacters: 3_000})
	for name, w := range map[string]*writer{"an error": {err: timeout}, "blank": {text: " \n"}} {
		in := strategy.Input{Messages: b.messages(), Summarize: w.summarize}
		out := step(t, s, in)
		if out.Cut != nil || out.Warning == "" || out.Usage.Input != 100 || bytesOf(t, out.Messages) != bytesOf(t, in.Messages) {
			t.Errorf("%s: %+v", name, out)
		}
		in.Limit, in.Noted = strategy.Weigh(in.Messages).Tokens-1, nil
		out, err := strategy.Step(t.Context(), s, in)
		e := wantCode(t, err, thread.Response)
		if w.err != nil && !errors.Is(e, w.err) {
			t.Errorf("%s: the cause is lost: %v", name, e)
		}
		if out.Usage.Input != 100 || out.Noted == nil {
			t.Errorf("%s: what was spent or noted is lost: %+v", name, out)
		}
		asked := w.asked
		in.Noted = out.Noted
		if _, err := strategy.Step(t.Context(), s, in); thread.CodeOf(err) != thread.Response || w.asked != asked {
			t.Errorf("%s: the same again: %v, asked %d times more", name, err, w.asked-asked)
		}
		in.Followed, in.Noted = true, nil
		if out := step(t, s, in); out.Warning == "" {
			t.Errorf("%s: the next strategy is not waited for", name)
		}
	}
}

func TestAStoppedSummaryIsNoFailureOfTheStrategy(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	in := strategy.Input{Messages: talk(10, 500).messages(), Summarize: func(ctx context.Context, _ strategy.Ask) (strategy.Summary, error) {
		stop()
		return strategy.Summary{}, &thread.Error{Code: thread.Aborted, Message: "stopped", Err: ctx.Err()}
	}}
	out, err := strategy.Step(ctx, strategy.SummarizeHistory(strategy.Summarize{TriggerCharacters: 3_000}), in)
	if wantCode(t, err, thread.Aborted); out.Noted != nil || out.Warning != "" {
		t.Errorf("%+v", out)
	}
}

func TestWhatIsSaidDuringASummaryIsNeitherLostNorDoubled(t *testing.T) {
	b := talk(10, 500)
	length := len(b.entries)
	in := strategy.Input{Messages: b.messages(), Summarize: func(context.Context, strategy.Ask) (strategy.Summary, error) {
		b.record().user("One more thing").record().user("And another")
		return strategy.Summary{Text: "short"}, nil
	}}
	out := mustCut(t, strategy.SummarizeHistory(strategy.Summarize{TriggerCharacters: 3_000}), in)
	back, err := strategy.Restore(stored(t, out.Cut), b.between)
	if err != nil {
		t.Fatal(err)
	}
	back = append(back, whole(b.entries[length:])...)
	if diff := cmp.Diff([]int64{1, 0, 18, 19, 20, 21, 22, 23, 25, 27}, seqs(back)); diff != "" {
		t.Errorf("sent are the wrong ones:\n%s", diff)
	}
	holds(t, b.entries, back)
}

func TestOfTwoCutsThatRaceTheFurthestWins(t *testing.T) {
	b := talk(10, 500)
	s := strategy.SummarizeHistory(strategy.Summarize{TriggerCharacters: 2_000})
	w := &writer{text: "short"}
	early := mustCut(t, s, strategy.Input{Messages: whole(b.entries[:15]), Summarize: w.summarize}).Cut
	late := mustCut(t, s, strategy.Input{Messages: whole(b.entries[:19]), Summarize: w.summarize}).Cut
	outline := func(boundary int64) *thread.Cut { return &thread.Cut{Boundary: boundary} }
	for _, c := range []struct {
		name string
		a, b *thread.Cut
		want bool
	}{
		{"the further", late, early, true},
		{"the nearer", early, late, false},
		{"the same", late, late, false},
		{"the outline's further", outline(8), outline(4), true},
		{"the outline's nearer", outline(4), outline(8), false},
		{"the longer log", &thread.Cut{Length: 9}, &thread.Cut{Length: 8}, true},
	} {
		if got := strategy.Further(c.a, c.b); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestAThreadThatStartsWithAnAgentIsSummarized(t *testing.T) {
	b := (&book{}).agent("Welcome").user("Plan it")
	for range 10 {
		b.agent(strings.Repeat("word ", 100)).user("Go on")
	}
	w := &writer{text: "short"}
	out := mustCut(t, strategy.SummarizeHistory(strategy.Summarize{TriggerCharacters: 3_000}), strategy.Input{Messages: b.messages(), Summarize: w.summarize})
	if out.Messages[0].Seq != 2 || w.last.Messages[0].Seq != 1 {
		t.Errorf("sent is\n%s", show(out.Messages))
	}
}
