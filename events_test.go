package skein_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/store/memory"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

// told gives the events in a short form: type, then what tells one from another.
func told(events []skein.Event) []string {
	var out []string
	for _, e := range events {
		s := string(e.Type)
		for _, word := range []string{e.ID, e.Name, e.CallID, e.Text, e.Preview, e.State, e.Reason, e.Purpose} {
			if word != "" {
				s += " " + word
			}
		}
		out = append(out, s)
	}
	return out
}

func TestABatchTellsEachThingOnceAndInOrder(t *testing.T) {
	b := thread.Batch{
		Thread: thread.Thread{Key: thread.Key{ID: "launch"}, Turn: 2},
		Events: []thread.Event{{Type: thread.ToolEvent, Name: "sum", CallID: "c1"}},
		Entries: []thread.Entry{
			{Seq: 3, ID: "a", Kind: thread.MessageKind, Time: start, Index: 1, Message: &thread.Message{
				Author: "north", Role: thread.Assistant, Turn: 2, Model: "m", Stop: thread.StopCalls, Usage: &thread.Usage{Output: 3},
				Parts: []thread.Part{{Type: thread.ThinkingPart, Text: "hm"}, thread.Text("Let me see."), thread.Call("c1", "sum", nil)},
			}},
			{Seq: 4, ID: "r", Kind: thread.MessageKind, Time: start, Index: 2, Message: &thread.Message{
				Author: "sum", Role: thread.Tool, Turn: 2, Parts: []thread.Part{thread.Result("c1", "sum", "4\n2", true)},
			}},
			{Seq: 5, ID: "k", Kind: thread.CutKind, Time: start, Cut: &thread.Cut{Number: 1, Strategy: "summarize", Gone: []thread.Range{{First: 3, Last: 4}}, Usage: &thread.Usage{Input: 9}}},
			{Seq: 6, ID: "p", Kind: thread.ApprovalKind, Time: start, Approval: &thread.Approval{Call: "c1", State: thread.ApprovalAsked, Reason: "writes", Question: "sum?"}},
			{Seq: 7, ID: "q", Kind: thread.ApprovalKind, Time: start, Approval: &thread.Approval{Call: "c1", State: thread.ApprovalDenied, Reason: "no"}},
			{Seq: 8, ID: "s", Kind: thread.TurnKind, Time: start, Turn: &thread.Turn{State: thread.TurnStarted, Turn: 2}},
			{Seq: 9, ID: "e", Kind: thread.TurnKind, Time: start, Turn: &thread.Turn{State: thread.TurnEnded, Turn: 2, Reason: thread.StopLimit}},
			{Seq: 10, ID: "f", Kind: thread.TurnKind, Time: start, Turn: &thread.Turn{State: thread.TurnEnded, Turn: 2, Reason: thread.StopEnd, Steps: 2}},
			{Seq: 11, ID: "erased", Kind: thread.MessageKind, Time: start, Index: 3},
			{Seq: 12, ID: "u", Kind: thread.MessageKind, Time: start, Index: 4, Message: &thread.Message{Author: "ana", Role: thread.User, Parts: []thread.Part{thread.Text("thanks")}}},
			{Seq: 13, ID: "gone", Kind: thread.MessageKind, Time: start, Index: thread.NoIndex, Message: &thread.Message{
				Author: "north", Role: thread.Assistant, Turn: 2, Stop: thread.StopError, Parts: []thread.Part{thread.Text("half")},
			}},
		},
		Nodes: []thread.Node{
			{Span: thread.Span{ID: 0, N: 2}, By: thread.ByJoined},
			{Span: thread.Span{ID: 2, N: 1}, By: "small", Usage: &thread.Usage{Output: 5}},
		},
	}
	events := skein.EventsOf(b)
	want := []string{
		"tool sum c1",
		"reasoning a hm", "text a Let me see.", "usage a turn",
		"tool-result r sum c1 4 2",
		"cut k", "compaction k", "usage k summary",
		"approval-requested p c1 sum? writes", "approval-decided q c1 denied no",
		"stopped e limit", "finished f",
		"line 0+2", "line 2+1", "usage 2+1 line",
	}
	if d := cmp.Diff(want, told(events)); d != "" {
		t.Errorf("told (-want +got):\n%s", d)
	}
	for _, e := range events[1:] {
		if e.Thread != "launch" {
			t.Errorf("%s is of the thread %q", e.Type, e.Thread)
		}
	}
	if r := events[4]; !r.IsError || r.Characters != 3 || r.Turn != 2 || !r.Time.Equal(start) {
		t.Errorf("the result: %+v", r)
	}
	if c := events[5]; c.Messages != 2 || c.Number != 1 {
		t.Errorf("the cut: %+v", c)
	}
	if again := skein.EventsOf(b); cmp.Diff(events, again) != "" {
		t.Error("the same batch told other events")
	}
}

func TestALivePieceIsADelta(t *testing.T) {
	of := func(l thread.Live) []string {
		return told(skein.EventsOf(thread.Batch{Thread: thread.Thread{Turn: 7}, Live: &l}))
	}
	for _, c := range []struct {
		live thread.Live
		want []string
	}{
		{thread.Live{ID: "a", Type: "text", Text: "Hel"}, []string{"text-delta a Hel"}},
		{thread.Live{ID: "a", Type: "thinking", Text: "hm"}, nil},
		{thread.Live{Type: "error", Text: "no line was built"}, []string{"warning no line was built"}},
	} {
		if d := cmp.Diff(c.want, of(c.live)); d != "" {
			t.Errorf("%+v (-want +got):\n%s", c.live, d)
		}
	}
}

func TestAPreviewIsShortAndHarmless(t *testing.T) {
	of := func(text string) skein.Event {
		m := thread.Message{Role: thread.Tool, Parts: []thread.Part{thread.Result("c", "x", text, false)}}
		return skein.EventsOf(thread.Batch{Entries: []thread.Entry{{Kind: thread.MessageKind, Message: &m}}})[0]
	}
	family := "👩‍👩‍👧" // five characters that are one
	for text, want := range map[string]string{
		"":                                  "",
		"two\nlines\x1b[2J \u202ereve":      "two lines\uFFFD[2J \uFFFDreve",
		strings.Repeat("a", 300):            strings.Repeat("a", 200),
		strings.Repeat("ö", 300):            strings.Repeat("ö", 200),
		strings.Repeat(family, 50):          strings.Repeat(family, 40),
		"e" + strings.Repeat("\u0301", 300): "e" + strings.Repeat("\u0301", 199),
		strings.Repeat("a", 198) + family:   strings.Repeat("a", 198),
	} {
		if got := of(text).Preview; got != want {
			t.Errorf("the preview of %q is %q, want %q", text, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		e := of(text)
		if !utf8.ValidString(e.Preview) || utf8.RuneCountInString(e.Preview) > 200 || strings.ContainsFunc(e.Preview, unicode.IsControl) {
			t.Errorf("the preview of %q is %q", text, e.Preview)
		}
		if e.Characters != utf8.RuneCountInString(text) {
			t.Errorf("%q has %d characters", text, e.Characters)
		}
	})
}

// ear is an observer that keeps what it hears.
type ear struct {
	mu     sync.Mutex
	events []skein.Event
}

func (r *ear) hear(e skein.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

func (r *ear) heard() []skein.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// only keeps the events of those types.
func only(events []skein.Event, types ...thread.EventType) []skein.Event {
	return slices.DeleteFunc(slices.Clone(events), func(e skein.Event) bool { return !slices.Contains(types, e.Type) })
}

// sum is a tool that adds.
func sum(t *testing.T) tool.Tool {
	t.Helper()
	add, err := tool.Make(tool.Tool{Name: "sum", Description: "Adds.", ReadOnly: true}, func(_ context.Context, in struct{ A, B int }) (string, error) {
		return fmt.Sprint(in.A + in.B), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return add
}

func TestAnObserverHearsATurn(t *testing.T) {
	var r ear
	e, err := skein.Open(t.Context(), skein.Config{
		Store: memory.New(memory.Options{Now: ticking()}), Tools: []tool.Tool{sum(t)}, Observers: []skein.Observer{{Event: r.hear}},
		Models: script(t,
			`{"calls":[{"name":"sum","input":{"A":2,"B":3}}]}`,
			`{"text":"It is 5."}`),
		Model: "scripted",
	})
	if err != nil {
		t.Fatal(err)
	}
	th := open(t, e, "sums", skein.Settings{})
	ask(t, th, "What is 2 and 3?")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	got := only(r.heard(), thread.TextEvent, thread.ResultEvent, thread.UsageEvent, thread.FinishedEvent)
	types := make([]thread.EventType, len(got))
	for i, e := range got {
		types[i] = e.Type
		if e.Thread != "sums" || e.Time.IsZero() || e.Turn == 0 || e.Agent != "north" {
			t.Errorf("event %d does not say whose it is: %+v", i, e)
		}
	}
	want := []thread.EventType{thread.UsageEvent, thread.ResultEvent, thread.TextEvent, thread.UsageEvent, thread.FinishedEvent}
	if d := cmp.Diff(want, types); d != "" {
		t.Fatalf("heard (-want +got):\n%s\n%v", d, told(r.heard()))
	}
	if got[1].Preview != "5" || got[2].Text != "It is 5." || got[4].Steps != 2 {
		t.Errorf("heard %v", told(got))
	}
	if len(only(r.heard(), thread.LineEvent)) == 0 {
		t.Errorf("heard of no line: %v", told(r.heard()))
	}
}

func TestAnObserverHearsOfAnApproval(t *testing.T) {
	var r ear
	var ran atomic.Int64
	e, err := skein.Open(t.Context(), skein.Config{
		Store: memory.New(memory.Options{Now: ticking()}), Agents: []skein.Agent{asking()}, Observers: []skein.Observer{{Event: r.hear}},
		Tools: []tool.Tool{writes(t, "write", &ran), writes(t, "drop", &ran)}, Model: "scripted", Models: script(t, calls("write", "drop"), "done"),
	})
	if err != nil {
		t.Fatal(err)
	}
	th := open(t, e, "main", skein.Settings{})
	_, err = th.Ask(t.Context(), "ana", "write it")
	waits(t, err)
	if err := th.Approve(t.Context(), "ben", "write-0"); err != nil {
		t.Fatal(err)
	}
	if err := th.Reply(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, e := range only(r.heard(), thread.AskedEvent, thread.DecidedEvent, thread.ToolEvent, thread.DeniedEvent, thread.ResultEvent, thread.FinishedEvent, thread.StoppedEvent) {
		if e.Type != thread.FinishedEvent && (e.Name == "" || e.CallID == "") || e.Turn == 0 || e.Agent != "north" {
			t.Errorf("not whole: %+v", e)
		}
		counts[strings.TrimSpace(string(e.Type)+" "+e.Name+" "+e.State)]++
	}
	want := map[string]int{
		"approval-requested write": 1, "approval-decided write allowed": 1, "tool write": 1, "tool-result write": 1,
		"tool-denied drop": 1, "tool-result drop": 1, "finished": 1,
	}
	if d := cmp.Diff(want, counts); d != "" {
		t.Errorf("heard (-want +got):\n%s", d)
	}
}

func TestACutSaysWhatItDidToTheOneBefore(t *testing.T) {
	var r ear
	e, err := skein.Open(t.Context(), skein.Config{Store: memory.New(memory.Options{Now: ticking()}), Observers: []skein.Observer{{Event: r.hear}}})
	if err != nil {
		t.Fatal(err)
	}
	th := open(t, e, "long", skein.Settings{Tail: skein.Marks{Low: 40, High: 80}, Outline: skein.Marks{Low: 30, High: 60}})
	for i := range 12 {
		ask(t, th, fmt.Sprintf("Fact %d is that the harbour hall has %d doors", i, i*i))
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	cuts := only(r.heard(), thread.CutEvent)
	if len(cuts) < 3 {
		t.Fatalf("only %d cuts", len(cuts))
	}
	var moved int64
	merged := 0
	for i, c := range cuts {
		moved += int64(c.Messages)
		merged += c.Merged
		if c.Number != int64(i+1) || c.Boundary != moved || c.Before == nil || c.After == nil || c.Before.Tail <= c.After.Tail {
			t.Errorf("cut %d: %+v", i, c)
		}
		if lines := cuts[max(0, i-1)].Lines; i > 0 && c.Merged > lines {
			t.Errorf("cut %d merged %d of %d lines", i, c.Merged, lines)
		}
	}
	if merged == 0 {
		t.Error("no cut merged any line")
	}
	if n := len(only(r.heard(), thread.CompactionEvent)); n != len(cuts) {
		t.Errorf("%d cuts, %d compactions", len(cuts), n)
	}
}

func TestASlowObserverMissesEventsAndHearsHowMany(t *testing.T) {
	var quick, slow ear
	hold := make(chan struct{})
	e, err := skein.Open(t.Context(), skein.Config{Store: memory.New(memory.Options{Now: ticking()}), Observers: []skein.Observer{
		{Event: quick.hear},
		{Event: func(e skein.Event) { <-hold; slow.hear(e) }},
	}})
	if err != nil {
		t.Fatal(err)
	}
	th := open(t, e, "flood", skein.Settings{})
	ask(t, th, strings.Repeat("word ", 3000)) // the answer comes word by word
	ask(t, th, strings.Repeat("word ", 3000))
	close(hold)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	all, some := quick.heard(), slow.heard()
	if len(all) < 5000 {
		t.Fatalf("only %d events: the pieces of the answer are too large for a flood", len(all))
	}
	missed := only(some, thread.WarningEvent)
	if len(missed) != 1 {
		t.Fatalf("told %d times of what was missed", len(missed))
	}
	var n int
	if _, err := fmt.Sscanf(missed[0].Reason, "%d events", &n); err != nil || n == 0 {
		t.Fatalf("told: %q", missed[0].Reason)
	}
	if len(some)-1+n != len(all) {
		t.Errorf("%d heard and %d missed of %d", len(some)-1, n, len(all))
	}
}

func TestAnObserverThatPanicsChangesNothing(t *testing.T) {
	var r ear
	e := engine(t, skein.Config{Observers: []skein.Observer{
		{Event: func(skein.Event) { panic("no more") }},
		{Event: r.hear},
	}})
	th := open(t, e, "calm", skein.Settings{})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	batches := th.Watch(ctx)
	for range 2 {
		if got := ask(t, th, "hello"); got != "You said: ana: hello" {
			t.Errorf("answered %q", got)
		}
	}
	errs := 0
	for b := range batches {
		if b.Live != nil && b.Live.Type == "error" {
			if errs++; !strings.Contains(b.Live.Text, "no more") {
				t.Errorf("told %q", b.Live.Text)
			}
			stop()
		}
	}
	if errs != 1 {
		t.Errorf("told %d times", errs)
	}
	if len(only(r.heard(), thread.FinishedEvent)) == 0 {
		t.Errorf("the other observer heard %v", told(r.heard()))
	}
}

func TestCloseWaitsForObserversAndNotForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var patient ear
		hold := make(chan struct{})
		e, err := skein.Open(t.Context(), skein.Config{Store: memory.New(memory.Options{Now: ticking()}), Observers: []skein.Observer{
			{Event: func(skein.Event) { <-hold }},
			{Event: func(e skein.Event) { time.Sleep(10 * time.Millisecond); patient.hear(e) }},
		}})
		if err != nil {
			t.Fatal(err)
		}
		th := open(t, e, "end", skein.Settings{})
		ask(t, th, "hello")
		before := time.Now()
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(before); took != 5*time.Second {
			t.Errorf("Close waited %v", took)
		}
		if len(only(patient.heard(), thread.FinishedEvent)) != 1 {
			t.Errorf("the patient one heard %v", told(patient.heard()))
		}
		close(hold)
	})
}

func TestAnObserverWithoutAFunctionIsRefused(t *testing.T) {
	_, err := skein.Open(t.Context(), skein.Config{Store: memory.New(memory.Options{Now: ticking()}), Observers: []skein.Observer{{}}})
	if thread.CodeOf(err) != thread.Configuration {
		t.Errorf("got %v", err)
	}
}

func TestEventsAreJSONLines(t *testing.T) {
	e := skein.Event{Type: thread.StoppedEvent, Time: start, Thread: "a", Reason: "error", Error: &thread.Error{Code: thread.Provider, Message: "no <answer>", Err: errors.New("secret cause")}}
	data, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var back skein.Event
	if err := json.Unmarshal(data, &back); err != nil || back.Error.Code != thread.Provider || strings.Contains(string(data), "secret") {
		t.Errorf("%s came back as %+v, %v", data, back, err)
	}
}

// An observer sees what a turn does.
func ExampleObserver() {
	ctx := context.Background()
	e := must(skein.Open(ctx, skein.Config{
		Store: memory.New(memory.Options{}),
		Observers: []skein.Observer{{Event: func(e skein.Event) {
			switch e.Type {
			case thread.TextEvent:
				fmt.Printf("%s: %s\n", e.Agent, e.Text)
			case thread.FinishedEvent:
				fmt.Printf("%s after %d step\n", e.Type, e.Steps)
			}
		}}},
	}))
	t := must(e.OpenThread(ctx, "launch", skein.Settings{}))
	must(t.Ask(ctx, "ana", "Ship on the 12th"))
	if err := e.Close(); err != nil { // the observer has heard everything by then
		panic(err)
	}
	// Output:
	// north: You said: ana: Ship on the 12th
	// finished after 1 step
}
