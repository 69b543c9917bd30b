package skein

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/internal/window"
	"github.com/skeinhq/skein/thread"
)

// listen gives observers whose events are kept, started.
func listen(t *testing.T, verbose bool) (o *observers, heard func() []Event) {
	t.Helper()
	var events []Event
	clock := func() time.Time { return time.Unix(1_800_000_000, 0) }
	o = newObservers([]Observer{{Event: func(e Event) { events = append(events, e) }, Verbose: verbose}}, clock)
	o.start(func(_ string, err error) { t.Error(err) })
	return o, func() []Event {
		o.drain(time.Minute)
		return events
	}
}

func types(events []Event) (out []thread.EventType) {
	for _, e := range events {
		out = append(out, e.Type)
	}
	return out
}

func TestOnlyWhoAsksHearsWholePrompts(t *testing.T) {
	b := thread.Batch{Thread: thread.Thread{Key: thread.Key{ID: "a"}}, Events: []Event{
		{Type: thread.StepEvent}, {Type: thread.RequestEvent, Request: json.RawMessage(`{}`)}, {Type: thread.ResponseEvent}, {Type: thread.ToolEvent},
	}}
	for verbose, want := range map[bool][]thread.EventType{
		false: {thread.StepEvent, thread.ToolEvent},
		true:  {thread.StepEvent, thread.RequestEvent, thread.ResponseEvent, thread.ToolEvent},
	} {
		o, heard := listen(t, verbose)
		o.tell(b)
		if d := cmp.Diff(want, types(heard())); d != "" {
			t.Errorf("verbose %v (-want +got):\n%s", verbose, d)
		}
	}
	h := hub{observers: newObservers(nil, time.Now), rooms: window.New(window.Config{})}
	w := h.watch("a")
	h.publish(b)
	got, err := w.take()
	if err != nil || len(got) != 1 {
		t.Fatalf("watched %d batches, %v", len(got), err)
	}
	if d := cmp.Diff([]thread.EventType{thread.StepEvent, thread.ToolEvent}, types(got[0].Events)); d != "" {
		t.Errorf("a watcher (-want +got):\n%s", d)
	}
	if len(b.Events) != 4 || b.Events[1].Type != thread.RequestEvent {
		t.Errorf("the batch itself was changed: %v", types(b.Events))
	}
}

func TestEventsSayWhatEarlierBatchesSaid(t *testing.T) {
	o, heard := listen(t, false)
	state := thread.Thread{Key: thread.Key{ID: "a"}, Turn: 2}
	entry := func(seq int64, e thread.Entry) {
		e.Seq = seq
		o.tell(thread.Batch{Thread: state, Entries: []thread.Entry{e}})
	}
	entry(2, thread.Entry{Kind: thread.TurnKind, Turn: &thread.Turn{State: thread.TurnBegun, Agent: "north"}})
	o.tell(thread.Batch{Thread: state, Events: []Event{{Type: thread.StepEvent, Turn: 2, Step: 3}}})
	entry(3, thread.Entry{Kind: thread.MessageKind, Message: &thread.Message{Author: "north", Role: thread.Assistant, Turn: 2, Parts: []thread.Part{thread.Call("c1", "write", json.RawMessage(`{"path":"x"}`))}}})
	entry(4, thread.Entry{Kind: thread.ApprovalKind, Approval: &thread.Approval{Call: "c1", State: thread.ApprovalAsked}})
	entry(5, thread.Entry{Kind: thread.MessageKind, Message: &thread.Message{Author: "write", Role: thread.Tool, Turn: 2, Parts: []thread.Part{thread.Result("c1", "write", "done", false)}}})
	state.Turn = 9 // of a turn of which nothing is known
	entry(10, thread.Entry{Kind: thread.ApprovalKind, Approval: &thread.Approval{Call: "other", State: thread.ApprovalAllowed}})
	got := heard()
	if d := cmp.Diff([]thread.EventType{thread.StepEvent, thread.AskedEvent, thread.ResultEvent, thread.DecidedEvent}, types(got)); d != "" {
		t.Fatalf("(-want +got):\n%s", d)
	}
	if e := got[1]; e.Name != "write" || string(e.Input) != `{"path":"x"}` || e.Agent != "north" || e.Step != 3 || e.Turn != 2 {
		t.Errorf("the question: %+v", e)
	}
	if e := got[2]; e.Agent != "north" || e.Step != 3 {
		t.Errorf("the result: %+v", e)
	}
	if e := got[3]; e.Name != "" || e.Agent != "" || e.Step != 0 || e.Turn != 9 {
		t.Errorf("the decision: %+v", e)
	}
}

func TestWhatIsRememberedOfThreadsIsBounded(t *testing.T) {
	o, heard := listen(t, false)
	for i := range 3 * maxKnown {
		o.tell(thread.Batch{Thread: thread.Thread{Key: thread.Key{ID: strings.Repeat("a", i)}}})
	}
	heard()
	if len(o.known) > maxKnown {
		t.Errorf("%d threads are remembered", len(o.known))
	}
}

func TestWhatWaitsForAnObserverIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		event Event
		least int
	}{
		"by count":     {Event{Type: thread.TextDeltaEvent, Text: "x"}, maxWaiting},
		"by bytes":     {Event{Type: thread.TextDeltaEvent, Text: strings.Repeat("x", 1<<20)}, maxWaitingBytes >> 20},
		"at least one": {Event{Type: thread.TextDeltaEvent, Text: strings.Repeat("x", maxWaitingBytes+1)}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			o := newObserver(Observer{Event: func(Event) {}}) // nobody takes
			for range c.least + 10 {
				o.put(c.event)
			}
			if len(o.waiting) != c.least || o.dropped != 10 {
				t.Fatalf("%d wait, %d were dropped", len(o.waiting), o.dropped)
			}
			o.end()
			warned := 0
			for n := 0; ; n++ {
				e, ok := o.take()
				if !ok {
					break
				}
				if e.Type == thread.WarningEvent {
					warned++
					if n < c.least {
						t.Errorf("the warning came after %d events, before what had waited", n)
					}
					if !strings.HasPrefix(e.Reason, "10 events") {
						t.Errorf("told %q", e.Reason)
					}
				}
			}
			if warned != 1 || o.bytes != 0 {
				t.Errorf("%d warnings, %d bytes left", warned, o.bytes)
			}
		})
	}
}
