package strategy_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/strategy"
	"github.com/skeinhq/skein/thread"
)

// own makes a strategy of a function from messages to messages.
func own(f func([]strategy.Message) []strategy.Message) strategy.Strategy {
	return strategy.Strategy{Name: "own", Compact: func(_ context.Context, in strategy.Input) (strategy.Result, error) {
		return strategy.Result{Messages: f(in.Messages), Reason: "because"}, nil
	}}
}

// exchange is a short thread with a call.
func exchange() *book {
	return (&book{}).user("Look it up, please, and tell me").agent("I will", "a").record().result("a", strings.Repeat("found ", 60)).agent("It is there").user("Thanks")
}

func with(m *strategy.Message, parts ...thread.Part) {
	edited := *m.Message
	edited.Parts = parts
	m.Message = &edited
}

func TestWhatAStrategyWantsIsValidated(t *testing.T) {
	said := func(role thread.Role, parts ...thread.Part) strategy.Message {
		return strategy.New(thread.Message{Role: role, Parts: parts})
	}
	note := said(thread.User, thread.Text("a note"))
	for _, c := range []struct {
		name string
		rule string // empty: it is valid
		at   int
		f    func([]strategy.Message) []strategy.Message
	}{
		{"a step dropped whole", "", 0, func(m []strategy.Message) []strategy.Message { return append(m[:1], m[3:]...) }},
		{"no messages", "messages", -1, func(m []strategy.Message) []strategy.Message { return m[:0] }},
		{"a message of nowhere", "known", 1, func(m []strategy.Message) []strategy.Message { m[1].Seq = 99; return m }},
		{"a message twice", "known", 2, func(m []strategy.Message) []strategy.Message { return append(m[:1:1], m[4], m[4]) }},
		{"another order", "order", 1, func(m []strategy.Message) []strategy.Message { return []strategy.Message{m[4], m[0]} }},
		{"an unknown role", "role", 0, func(m []strategy.Message) []strategy.Message {
			return []strategy.Message{said("system", thread.Text("x")), m[4]}
		}},
		{"no role", "role", 0, func(m []strategy.Message) []strategy.Message {
			return []strategy.Message{said("", thread.Text("x")), m[4]}
		}},
		{"no content", "empty", 0, func(m []strategy.Message) []strategy.Message { return []strategy.Message{said(thread.User), m[4]} }},
		{"blank content", "empty", 0, func(m []strategy.Message) []strategy.Message {
			return []strategy.Message{said(thread.User, thread.Text(" \n")), m[4]}
		}},
		{"an erased body", "empty", 1, func(m []strategy.Message) []strategy.Message { m[3].Message = nil; return append(m[:1], m[3:]...) }},
		{"a part of no type", "part", 0, func(m []strategy.Message) []strategy.Message {
			return []strategy.Message{said(thread.User, thread.Part{Type: "video"}), m[4]}
		}},
		{"a raw part of one's own", "part", 0, func(m []strategy.Message) []strategy.Message {
			return []strategy.Message{said(thread.User, thread.Part{Type: thread.RawPart, Raw: json.RawMessage("1")}), m[4]}
		}},
		{"an input that is no JSON", "part", 0, func(m []strategy.Message) []strategy.Message {
			return []strategy.Message{said(thread.Assistant, thread.Call("x", "look", json.RawMessage("{"))), m[4]}
		}},
		{"a call in a user's message", "place", 0, func(m []strategy.Message) []strategy.Message {
			return []strategy.Message{said(thread.User, thread.Call("x", "look", nil)), m[4]}
		}},
		{"a text in a tool's message", "place", 1, func(m []strategy.Message) []strategy.Message {
			return []strategy.Message{note, said(thread.Tool, thread.Text("x")), m[4]}
		}},
		{"a call in a result", "place", 1, func(m []strategy.Message) []strategy.Message {
			return []strategy.Message{note, said(thread.Tool, thread.Part{Type: thread.ResultPart, Call: "x", Parts: []thread.Part{thread.Call("y", "look", nil)}}), m[4]}
		}},
		{"a call without its result", "pairs", 1, func(m []strategy.Message) []strategy.Message { return append(m[:2:2], m[4]) }},
		{"a result without its call", "pairs", 1, func(m []strategy.Message) []strategy.Message { return append(m[:1:1], m[2], m[4]) }},
		{"a new call without a result", "pairs", 1, func(m []strategy.Message) []strategy.Message {
			return []strategy.Message{note, said(thread.Assistant, thread.Call("x", "look", nil)), m[4]}
		}},
		{"a second result", "pairs", 3, func(m []strategy.Message) []strategy.Message {
			return []strategy.Message{m[0], m[1], m[2], said(thread.Tool, thread.Result("a", "look", "x", false)), m[4]}
		}},
		{"a result of one's own in the result's place", "pairs", 1, func(m []strategy.Message) []strategy.Message {
			return []strategy.Message{m[0], m[1], said(thread.Tool, thread.Result("a", "look", "x", false)), m[4]}
		}},
		{"a new pair", "", 0, func(m []strategy.Message) []strategy.Message {
			return []strategy.Message{note, said(thread.Assistant, thread.Call("x", "look", nil)), said(thread.Tool, thread.Result("x", "look", "x", false)), m[4]}
		}},
		{"an agent first", "start", 0, func(m []strategy.Message) []strategy.Message { return m[3:] }},
		{"an agent last", "end", 1, func(m []strategy.Message) []strategy.Message { return append(m[:1], m[3]) }},
		{"tool results last", "", 0, func(m []strategy.Message) []strategy.Message { return m[:3] }},
		{"an edit", "", 0, func(m []strategy.Message) []strategy.Message {
			with(&m[2], thread.Result("a", "look", "found it", false))
			return m
		}},
		{"an edit that takes the result away", "pairs", 1, func(m []strategy.Message) []strategy.Message {
			with(&m[2], thread.Result("b", "look", "found it", false))
			return m
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := strategy.Input{Messages: exchange().messages()}
			out, err := strategy.Step(t.Context(), own(c.f), in)
			if bytesOf(t, in.Messages) != bytesOf(t, exchange().messages()) {
				t.Error("the input was changed")
			}
			if direct := strategy.Validate(in.Messages, c.f(exchange().messages())); thread.CodeOf(direct) != thread.CodeOf(err) {
				t.Errorf("validated by itself: %v", direct)
			}
			if c.rule == "" {
				if err != nil || out.Cut == nil {
					t.Errorf("%v, %s", err, out.Warning)
				}
				return
			}
			e := wantCode(t, err, thread.Configuration)
			if v, ok := e.Details.(strategy.Violation); !ok || v.Rule != c.rule || v.Message != c.at {
				t.Errorf("%v, want the rule %s at %d", e, c.rule, c.at)
			}
		})
	}
}

func TestACallThatWaitsCannotLeave(t *testing.T) {
	b := (&book{}).user("Book it").agent("", "waits").user("And?")
	drop := own(func(m []strategy.Message) []strategy.Message { return append(m[:1], m[2]) })
	_, err := strategy.Step(t.Context(), drop, strategy.Input{Messages: b.messages()})
	if v, ok := wantCode(t, err, thread.Configuration).Details.(strategy.Violation); !ok || v.Rule != "pending" {
		t.Errorf("got %v", err)
	}
}

func TestWhatTheLogHadBeforeIsNoFaultOfAStrategy(t *testing.T) {
	b := (&book{}).agent("Welcome", "never").result("nobody's", "x").user("Hello there").user(strings.Repeat("long ", 20)).agent("Bye")
	drop := own(func(m []strategy.Message) []strategy.Message { return append(m[:3], m[4]) })
	mustCut(t, drop, strategy.Input{Messages: b.messages()})
}

func TestAnEditedMessageIsStoredAndReadBack(t *testing.T) {
	b := exchange()
	edit := own(func(m []strategy.Message) []strategy.Message {
		with(&m[2], thread.Result("a", "look", "found it", false))
		return m
	})
	out := mustCut(t, edit, strategy.Input{Messages: b.messages()})
	if k := out.Cut.Kept; len(k) != 3 || k[1].First != 4 || k[1].Message == nil || k[2] != (thread.Kept{First: 5, Last: 6}) {
		t.Errorf("stored is %+v", k)
	}
	if diff := cmp.Diff([]thread.Range{{First: 4, Last: 4}}, out.Cut.Gone); diff != "" {
		t.Errorf("changed are:\n%s", diff)
	}
	back, err := strategy.Restore(stored(t, out.Cut), b.between)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(bytesOf(t, out.Messages), bytesOf(t, back)); diff != "" {
		t.Errorf("what is read back differs:\n%s", diff)
	}
	if diff := cmp.Diff(out.Cut.Kept, strategy.Encode(back)); diff != "" {
		t.Errorf("what is stored again differs:\n%s", diff)
	}
}

func TestAStrategyNeedOnlySayHowLongResultsMayBe(t *testing.T) {
	b := exchange()
	short := own(func(m []strategy.Message) []strategy.Message { m[2].Results = 120; return m })
	out := mustCut(t, short, strategy.Input{Messages: b.messages()})
	if got := resultOf(out.Messages[2]); len(got) != 120 || !strings.Contains(got, "truncated from 360 characters; zoom 2 1]") {
		t.Errorf("the result is %q", got)
	}
	if k := out.Cut.Kept; len(k) != 3 || k[1] != (thread.Kept{First: 4, Last: 4, Results: 120}) {
		t.Errorf("stored is %+v", k)
	}
}

func TestAFailingStrategyOfOnesOwnLeavesAllAsItWas(t *testing.T) {
	broken := errors.New("out of luck")
	s := strategy.Strategy{Name: "own", Compact: func(context.Context, strategy.Input) (strategy.Result, error) {
		return strategy.Result{}, broken
	}}
	in := strategy.Input{Messages: exchange().messages()}
	out := step(t, s, in)
	if out.Cut != nil || !strings.Contains(out.Warning, "out of luck") {
		t.Errorf("%+v", out)
	}
	in.Limit = 10
	if _, err := strategy.Step(t.Context(), s, in); !errors.Is(wantCode(t, err, thread.Response), broken) {
		t.Error("the cause is lost")
	}
}

func TestNotesOfOthersStay(t *testing.T) {
	grow := own(func(m []strategy.Message) []strategy.Message {
		return append(m[:1:1], append([]strategy.Message{strategy.New(thread.Message{Role: thread.User, Parts: []thread.Part{thread.Text(strings.Repeat("more ", 500))}})}, m[1:]...)...)
	})
	in := strategy.Input{Messages: exchange().messages(), Noted: json.RawMessage(`{"other":{"input":"x","tokens":7}}`)}
	out := step(t, grow, in)
	var notes map[string]any
	if err := json.Unmarshal(out.Noted, &notes); err != nil || notes["other"] == nil || notes["own"] == nil {
		t.Errorf("noted is %s (%v)", out.Noted, err)
	}
	in.Noted = json.RawMessage("broken")
	if out := step(t, grow, in); !json.Valid(out.Noted) {
		t.Errorf("noted is %s", out.Noted)
	}
}

func TestTheOutlineIsLeftToItself(t *testing.T) {
	in := strategy.Input{Messages: exchange().messages(), Overflowing: true}
	if out := step(t, strategy.Outline(), in); out.Cut != nil || len(out.Messages) != 5 {
		t.Errorf("%+v", out)
	}
}

func TestAListThatTheLogDoesNotHaveIsAStorageError(t *testing.T) {
	b := exchange()
	for _, kept := range [][]thread.Kept{
		{{First: 1, Last: 9}}, {{First: 3, Last: 4}}, {{}}, {{First: 9, Message: &thread.Message{}}},
	} {
		if _, err := strategy.Restore(kept, b.between); thread.CodeOf(err) != thread.Storage {
			t.Errorf("%+v: %v", kept, err)
		}
	}
	broken := errors.New("disk on fire")
	_, err := strategy.Restore([]thread.Kept{{First: 1, Last: 1}}, func(int64, int64) ([]thread.Entry, error) { return nil, broken })
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestAnEmptyThreadIsKept(t *testing.T) {
	for _, s := range []strategy.Strategy{
		strategy.SummarizeHistory(strategy.Summarize{}), strategy.TruncateToolResults(strategy.Truncate{}), strategy.SlidingWindow(strategy.Sliding{}),
	} {
		out, err := strategy.Step(context.Background(), s, strategy.Input{Overflowing: true, Limit: 10, Fixed: strategy.Weight{Tokens: 5}})
		if err != nil || out.Cut != nil {
			t.Errorf("%s: %+v, %v", s.Name, out.Cut, err)
		}
	}
}
