package strategy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/skeinhq/skein/strategy"
	"github.com/skeinhq/skein/thread"
)

// small gives every strategy with options that make it act on short threads.
func small() []strategy.Strategy {
	return []strategy.Strategy{
		strategy.SummarizeHistory(strategy.Summarize{TriggerCharacters: 2_500, KeepRecentMessages: 2}),
		strategy.TruncateToolResults(strategy.Truncate{KeepRecent: 1, MaxCharacters: 150, BatchTokens: -1}),
		strategy.SlidingWindow(strategy.Sliding{Tokens: 300, BatchTokens: 100}),
	}
}

// long is a thread of 128 messages full of calls: parallel ones, results at the
// provider's, records between a call and its result, results that come late, a
// call that never gets one, ids used again, and at its end a call that waits.
func long() *book {
	b := &book{}
	b.user("Find me a studio, please, and tell me what you see on the way")
	for i := 0; len(b.entries) < 126; i++ {
		id := fmt.Sprintf("c%d", i%7)
		text := strings.Repeat(fmt.Sprintf("finding %d of the search. ", i), 5+i%9*4)
		switch i % 8 {
		case 0:
			b.agent("", id).record().result(id, text)
		case 1:
			b.agent("Two at once", id, id+"b").result(id+"b", text).result(id, text)
		case 2:
			b.served(id, text)
		case 3:
			b.agent("", id).user("And hurry").record().record().result(id, text)
		case 4:
			b.user("How far are you?").agent("Nearly there")
		case 5:
			b.agent("", id, id+"x").result(id, text).agent("", "y"+id).result("y"+id, text).result(id+"x", text)
		case 6:
			b.agent("", id).result(id, "none")
		case 7:
			if i == 31 {
				b.agent("", "never")
			}
			b.user("Go on").agent("", id, id).result(id, text).result(id, text+"again")
		}
	}
	b.entries = b.entries[:126]
	b.seq = b.entries[125].Seq
	return b.user("Book it").agent("", "waiting")
}

// callOf names for each result the call it answers, in the whole log: what a
// strategy leaves has to keep the two together.
func callOf(entries []thread.Entry) (calls map[string]string, waiting map[string]bool) {
	calls, waiting = map[string]string{}, map[string]bool{}
	open := map[string][]string{}
	for _, e := range entries {
		if e.Message == nil {
			continue
		}
		for j, p := range e.Message.Parts {
			at := fmt.Sprintf("%d/%d", e.Seq, j)
			switch p.Type {
			case thread.CallPart:
				open[p.ID] = append(open[p.ID], at)
				waiting[at] = true
			case thread.ResultPart:
				if len(open[p.Call]) > 0 {
					calls[at] = open[p.Call][0]
					delete(waiting, calls[at])
					open[p.Call] = open[p.Call][1:]
				}
			}
		}
	}
	return calls, waiting
}

// holds checks what is sent against the log it was made from, with rules of its
// own: it knows nothing of the package's.
func holds(t check, log []thread.Entry, sent []strategy.Message) {
	t.Helper()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf(format+"\nlog:\n%s\nsent:\n%s", append(args, show(whole(log)), show(sent))...)
	}
	calls, waiting := callOf(log)
	place := map[string]int{}
	n := 0
	var newest int64
	for _, m := range sent {
		if m.Seq != 0 && m.Seq <= newest {
			fail("seq %d is not in order", m.Seq)
		}
		newest = max(newest, m.Seq)
		if m.Message == nil {
			continue
		}
		for j, p := range m.Message.Parts {
			n++
			if p.Type == thread.CallPart || p.Type == thread.ResultPart {
				place[fmt.Sprintf("%d/%d", m.Seq, j)] = n
			}
		}
	}
	for result, call := range calls {
		r, hasResult := place[result]
		c, hasCall := place[call]
		if hasResult != hasCall || hasCall && c > r {
			fail("the call at %s (%v) and its result at %s (%v) were parted", call, hasCall, result, hasResult)
		}
	}
	for call := range waiting {
		if _, ok := place[call]; !ok {
			fail("the call at %s waits and has left", call)
		}
	}
	if m := sent[0].Message; log[0].Message.Role == thread.User && m.Role != thread.User {
		fail("the first message is %s", m.Role)
	}
	if last := sent[len(sent)-1].Seq; last != log[len(log)-1].Seq {
		fail("the newest message has left: the last one is %d", last)
	}
}

// TestEveryStrategyAtEveryIndexKeepsPairs compacts the thread as it was after
// each of its messages, and then goes on with it: what arrives after the cut
// finds its call.
func TestEveryStrategyAtEveryIndexKeepsPairs(t *testing.T) {
	b := long()
	if len(b.entries) != 128 {
		t.Fatalf("the thread has %d messages", len(b.entries))
	}
	chains := [][]strategy.Strategy{}
	for i, s := range small() {
		chains = append(chains, []strategy.Strategy{s})
		for j, after := range small() {
			if i != j {
				chains = append(chains, []strategy.Strategy{s, after})
			}
		}
	}
	for _, chain := range chains {
		cuts := 0
		for n := 1; n <= len(b.entries); n++ {
			sent := whole(b.entries[:n])
			for _, s := range chain {
				w := &writer{text: "a short summary"}
				out := step(t, s, strategy.Input{Messages: sent, Summarize: w.summarize})
				if out.Warning != "" {
					t.Fatalf("%s at %d: %s", s.Name, n, out.Warning)
				}
				if out.Cut != nil {
					cuts++
					back, err := strategy.Restore(stored(t, out.Cut), b.between)
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(bytesOf(t, out.Messages), bytesOf(t, back)); diff != "" {
						t.Fatalf("%s at %d: what is read back differs:\n%s", s.Name, n, diff)
					}
					sent = back
				}
			}
			holds(t, b.entries[:n], sent)
			rest := append(sent[:len(sent):len(sent)], whole(b.entries[n:])...)
			holds(t, b.entries, rest)
		}
		if cuts < 50 {
			t.Errorf("%v: only %d cuts were made", strategy.Chain(chain), cuts)
		}
	}
}

// TestACompactedThreadGoesOnAtEveryStep compacts before each request, from the
// cut before it, as a turn does.
func TestACompactedThreadGoesOnAtEveryStep(t *testing.T) {
	b := long()
	for _, s := range small() {
		var sent []strategy.Message
		cuts := 0
		var noted []byte
		for n := range b.entries {
			sent = append(sent[:len(sent):len(sent)], strategy.Message{Entry: b.entries[n]})
			w := &writer{text: "a short summary"}
			out := step(t, s, strategy.Input{Messages: sent, Summarize: w.summarize, Noted: noted})
			if noted = out.Noted; out.Warning != "" {
				t.Fatalf("%s at %d: %s", s.Name, n, out.Warning)
			}
			if out.Cut != nil {
				cuts++
				sent = out.Messages
			}
			holds(t, b.entries[:n+1], sent)
		}
		t.Logf("%s: %d cuts, %d messages left", s.Name, cuts, len(sent))
		if cuts == 0 || cuts > 64 {
			t.Errorf("%s made %d cuts of 128 messages", s.Name, cuts)
		}
	}
}

// someThread draws a thread of any messages in any order, broken ones included.
func someThread(t *rapid.T) *book {
	b := &book{}
	id := rapid.SampledFrom([]string{"a", "b", "c"})
	size := rapid.SampledFrom([]int{1, 20, 200, 1000})
	text := func() string {
		return strings.Repeat(rapid.SampledFrom([]string{"word ", "语言", "é ", "x"}).Draw(t, "word"), size.Draw(t, "size"))
	}
	for range rapid.IntRange(1, 40).Draw(t, "messages") {
		switch rapid.IntRange(0, 7).Draw(t, "kind") {
		case 0:
			b.user(text())
		case 1:
			b.agent(text())
		case 2:
			b.agent("", id.Draw(t, "id"), id.Draw(t, "other"))
		case 3, 4:
			b.result(id.Draw(t, "id"), text())
		case 5:
			b.served(id.Draw(t, "id"), text())
		case 6:
			b.record().agent(text(), id.Draw(t, "id"))
		case 7:
			b.agent("", id.Draw(t, "id"))
			b.record().result(b.entries[len(b.entries)-1].Message.Calls()[0].ID, text())
		}
	}
	if rapid.IntRange(0, 5).Draw(t, "erased") == 0 {
		b.entries[rapid.IntRange(0, len(b.entries)-1).Draw(t, "which")].Message = nil
	}
	return b
}

func drawn(t *rapid.T) strategy.Strategy {
	switch rapid.IntRange(0, 2).Draw(t, "strategy") {
	case 0:
		return strategy.SummarizeHistory(strategy.Summarize{
			TriggerCharacters: rapid.IntRange(1, 3000).Draw(t, "trigger"), KeepRecentMessages: rapid.IntRange(1, 8).Draw(t, "keep"),
			TriggerTokens: rapid.SampledFrom([]int{0, 100, 1000}).Draw(t, "tokens"),
		})
	case 1:
		return strategy.TruncateToolResults(strategy.Truncate{
			KeepRecent: rapid.IntRange(-1, 4).Draw(t, "keep"), MaxCharacters: rapid.IntRange(1, 400).Draw(t, "max"), BatchTokens: rapid.IntRange(-1, 500).Draw(t, "batch"),
		})
	}
	return strategy.SlidingWindow(strategy.Sliding{Tokens: rapid.IntRange(1, 1000).Draw(t, "tokens"), BatchTokens: rapid.IntRange(-1, 500).Draw(t, "batch")})
}

// TestAnyThreadThroughAnyChain holds what every strategy promises on threads of
// any kind: pairs stay together, the newest message and what waits stay, it
// shrinks, what is stored lays out the same, again changes nothing, and what came
// meanwhile follows.
func TestAnyThreadThroughAnyChain(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := someThread(rt)
		n := rapid.IntRange(1, len(b.entries)).Draw(rt, "index")
		if b.entries[0].Message == nil {
			rt.Skip("the checks of this test look at the first message")
		}
		sent := whole(b.entries[:n])
		for _, s := range []strategy.Strategy{drawn(rt), drawn(rt)} {
			w := &writer{text: rapid.SampledFrom([]string{"short", strings.Repeat("long ", 400)}).Draw(rt, "summary")}
			in := strategy.Input{Messages: sent, Summarize: w.summarize, Overflowing: rapid.Bool().Draw(rt, "overflowing"), Followed: true}
			out, err := strategy.Step(t.Context(), s, in)
			if err != nil {
				rt.Fatalf("%s: %v\n%s", s.Name, err, show(sent))
			}
			if out.Cut == nil {
				if cmp.Diff(bytesOf(rt, sent), bytesOf(rt, out.Messages)) != "" {
					rt.Fatalf("%s kept all and changed something", s.Name)
				}
				continue
			}
			if a, z := out.Cut.Before.Tail, out.Cut.After.Tail; z >= a || z != strategy.Weigh(out.Messages).Tokens {
				rt.Fatalf("%s left %d tokens of %d", s.Name, z, a)
			}
			back, err := strategy.Restore(stored(rt, out.Cut), b.between)
			if err != nil {
				rt.Fatalf("%s: %v", s.Name, err)
			}
			if diff := cmp.Diff(bytesOf(rt, out.Messages), bytesOf(rt, back)); diff != "" {
				rt.Fatalf("%s: what is read back differs:\n%s", s.Name, diff)
			}
			if diff := cmp.Diff(strategy.Encode(out.Messages), strategy.Encode(back)); diff != "" {
				rt.Fatalf("%s: what is stored again differs:\n%s", s.Name, diff)
			}
			goneAndKept(rt, sent, out)
			sent = back
			in.Messages, in.Overflowing, in.Noted = sent, false, out.Noted
			asked := w.asked
			again, err := strategy.Step(t.Context(), s, in)
			if err != nil || again.Cut != nil || w.asked != asked {
				rt.Fatalf("%s acted on what it had left: %v, %v\n%s", s.Name, again.Cut, err, show(sent))
			}
		}
		holds(rt, b.entries[:n], sent)
		holds(rt, b.entries, append(sent, whole(b.entries[n:])...))
	})
}

// goneAndKept checks that each message of the log is named as gone or is sent as
// it was, never neither.
func goneAndKept(t check, before []strategy.Message, out strategy.Outcome) {
	t.Helper()
	gone := func(seq int64) bool {
		for _, r := range out.Cut.Gone {
			if r.First <= seq && seq <= r.Last {
				return true
			}
		}
		return false
	}
	kept := map[int64]*thread.Message{}
	for _, m := range out.Messages {
		kept[m.Seq] = m.Message
	}
	for _, m := range before {
		now, ok := kept[m.Seq]
		if same := ok && cmp.Equal(now, m.Message); m.Seq != 0 && same == gone(m.Seq) {
			t.Fatalf("the message %d is sent as it was: %v, and gone: %v", m.Seq, same, gone(m.Seq))
		}
	}
}
