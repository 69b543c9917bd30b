package strategy_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/skeinhq/skein/strategy"
	"github.com/skeinhq/skein/thread"
)

// party is a thread as a strategy gets it.
func party() []strategy.Message {
	b := (&book{}).user("Plan the party").agent("", "a").result("a", strings.Repeat("hall, ", 100)).agent("Three halls are free")
	return b.user("Which is near the station?").agent("", "b").result("b", "the harbour hall").agent("The harbour hall").user("Book it").messages()
}

// run prints what is sent after a strategy has acted.
func run(s strategy.Strategy, in strategy.Input) {
	in.Messages = party()
	out, err := strategy.Step(context.Background(), s, in)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range out.Messages {
		text := m.Message.PlainText()
		for _, p := range m.Message.Parts {
			switch p.Type {
			case thread.CallPart:
				text = "calls " + p.Name
			case thread.ResultPart:
				text = p.Parts[0].Text
			}
		}
		fmt.Printf("%-9s %q\n", m.Message.Role, text)
	}
}

func ExampleSummarizeHistory() {
	s := strategy.SummarizeHistory(strategy.Summarize{TriggerCharacters: 1_000, KeepRecentMessages: 2})
	run(s, strategy.Input{
		// A strategy.Summarizer asks a model.
		Summarize: func(_ context.Context, a strategy.Ask) (strategy.Summary, error) {
			return strategy.Summary{Text: fmt.Sprintf("of %d messages", len(a.Messages))}, nil
		},
	})
	// Output:
	// user      "Plan the party"
	// user      "Summary of the earlier conversation:\nof 6 messages"
	// assistant "The harbour hall"
	// user      "Book it"
}

func ExampleTruncateToolResults() {
	run(strategy.TruncateToolResults(strategy.Truncate{KeepRecent: 1, MaxCharacters: 100, BatchTokens: -1}), strategy.Input{})
	// Output:
	// user      "Plan the party"
	// assistant "calls look"
	// tool      "hall, hall, hall, hal\n[earlier output truncated from 600 characters; zoom 2 1]\nl, hall, hall, hall, "
	// assistant "Three halls are free"
	// user      "Which is near the station?"
	// assistant "calls look"
	// tool      "the harbour hall"
	// assistant "The harbour hall"
	// user      "Book it"
}

func ExampleSlidingWindow() {
	run(strategy.SlidingWindow(strategy.Sliding{Tokens: 100, BatchTokens: 40}), strategy.Input{})
	// Output:
	// user      "Plan the party"
	// assistant "Three halls are free"
	// user      "Which is near the station?"
	// assistant "calls look"
	// tool      "the harbour hall"
	// assistant "The harbour hall"
	// user      "Book it"
}

// A strategy of one's own is a name and a function. This one sends only what people
// and agents said to each other.

func ExampleStrategy() {
	talk := strategy.Strategy{Name: "talk", Compact: func(_ context.Context, in strategy.Input) (strategy.Result, error) {
		var kept []strategy.Message
		for _, m := range in.Messages {
			if len(m.Message.Calls()) == 0 && len(m.Message.Results()) == 0 {
				kept = append(kept, m)
			}
		}
		return strategy.Result{Messages: kept, Reason: "talk alone"}, nil
	}}
	chain, err := strategy.Parse("talk, sliding", talk)
	fmt.Println(chain, err)
	run(chain[0], strategy.Input{})
	// Output:
	// talk,sliding <nil>
	// user      "Plan the party"
	// assistant "Three halls are free"
	// user      "Which is near the station?"
	// assistant "The harbour hall"
	// user      "Book it"
}
