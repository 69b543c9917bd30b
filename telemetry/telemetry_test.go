package telemetry_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/scripted"
	"github.com/skeinhq/skein/store/memory"
	"github.com/skeinhq/skein/telemetry"
	"github.com/skeinhq/skein/thread"
	tools "github.com/skeinhq/skein/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = time.Date(2026, time.November, 30, 16, 0, 0, 0, time.UTC)

// ear is an observer whose spans are kept in memory.
type ear struct {
	hear     func(skein.Event)
	exporter *tracetest.InMemoryExporter
	seconds  int // of the newest event
}

func listen() *ear {
	exporter := tracetest.NewInMemoryExporter()
	provider := sdk.NewTracerProvider(sdk.WithSyncer(exporter))
	o := telemetry.Observer(provider, telemetry.Options{Provider: func(model string) string { return strings.Split(model, "-")[0] }})
	return &ear{hear: o.Event, exporter: exporter}
}

// tell tells of events of turn 2 of the thread launch, one each second.
func (r *ear) tell(events ...skein.Event) {
	for _, e := range events {
		r.seconds++
		e.Thread, e.Agent, e.Time = "launch", "north", start.Add(time.Duration(r.seconds)*time.Second)
		if e.Turn == 0 {
			e.Turn = 2
		}
		r.hear(e)
	}
}

// tree shows the spans that have ended as they stand under one another, in the
// order in which they began: name, seconds from and to, status, links, then the
// events of each.
func (r *ear) tree() string {
	spans := r.exporter.GetSpans()
	sort.SliceStable(spans, func(i, j int) bool { return spans[i].StartTime.Before(spans[j].StartTime) })
	names := map[trace.SpanID]string{}
	for _, s := range spans {
		names[s.SpanContext.SpanID()] = s.Name
	}
	var b strings.Builder
	second := func(t time.Time) int { return int(t.Sub(start) / time.Second) }
	var show func(parent trace.SpanID, depth int)
	show = func(parent trace.SpanID, depth int) {
		for _, s := range spans {
			if s.Parent.SpanID() != parent {
				continue
			}
			fmt.Fprintf(&b, "%s%s %d-%d", strings.Repeat("  ", depth), s.Name, second(s.StartTime), second(s.EndTime))
			if s.Status.Code == codes.Error {
				fmt.Fprintf(&b, " failed: %s", s.Status.Description)
			}
			for _, l := range s.Links {
				fmt.Fprintf(&b, " after %s", names[l.SpanContext.SpanID()])
			}
			for _, e := range s.Events {
				fmt.Fprintf(&b, " [%s %d]", e.Name, second(e.Time))
			}
			b.WriteByte('\n')
			show(s.SpanContext.SpanID(), depth+1)
		}
	}
	show(trace.SpanID{}, 0)
	return b.String()
}

func (r *ear) want(t *testing.T, tree string) {
	t.Helper()
	if d := cmp.Diff(strings.TrimSpace(tree), strings.TrimSpace(r.tree())); d != "" {
		t.Errorf("spans (-want +got):\n%s", d)
	}
}

// attributes gives those of the first span of that name.
func (r *ear) attributes(t *testing.T, name string) map[string]any {
	t.Helper()
	for _, s := range r.exporter.GetSpans() {
		if s.Name == name {
			out := map[string]any{}
			for _, a := range s.Attributes {
				out[string(a.Key)] = a.Value.AsInterface()
			}
			return out
		}
	}
	t.Fatalf("there is no span %q among\n%s", name, r.tree())
	return nil
}

func step(n int) skein.Event { return skein.Event{Type: thread.StepEvent, Step: n} }

func request() skein.Event { return skein.Event{Type: thread.RequestEvent, Model: "acme-1"} }

func response(stop thread.Stop) skein.Event {
	return skein.Event{Type: thread.ResponseEvent, Model: "acme-1", Stop: stop, Usage: &thread.Usage{Input: 10, CacheRead: 20, CacheWrite: 5, Output: 7, Reasoning: 3, Cost: 0.5}}
}

func tool(id string) skein.Event {
	return skein.Event{Type: thread.ToolEvent, Name: "search", CallID: id}
}

func result(id string, isError bool) skein.Event {
	return skein.Event{Type: thread.ResultEvent, Name: "search", CallID: id, IsError: isError, Characters: 12}
}

func usage() skein.Event {
	return skein.Event{Type: thread.UsageEvent, Purpose: skein.ForTurn, Model: "acme-1", Usage: &thread.Usage{Output: 7}}
}

func asked(id string) skein.Event {
	return skein.Event{Type: thread.AskedEvent, Name: "search", CallID: id}
}

func decided(id, state string) skein.Event {
	return skein.Event{Type: thread.DecidedEvent, Name: "search", CallID: id, State: state}
}

func finished() skein.Event {
	return skein.Event{Type: thread.FinishedEvent, Stop: thread.StopEnd, Steps: 2, Usage: &thread.Usage{Input: 100, Output: 9}}
}

func TestATurnIsATraceOfItsSteps(t *testing.T) {
	r := listen()
	r.tell(
		skein.Event{Type: thread.ConversationEvent, Count: 3},
		step(1), request(), response(thread.StopCalls), usage(),
		tool("a"), tool("b"), result("b", false), result("a", true),
		step(2), skein.Event{Type: thread.CutEvent, Number: 4, Strategy: "outline"}, skein.Event{Type: thread.CompactionEvent},
		request(), skein.Event{Type: thread.RetryEvent, Reason: "busy"}, skein.Event{Type: thread.TextDeltaEvent, Text: "It"}, response(thread.StopEnd),
		skein.Event{Type: thread.TextEvent, Text: "It is 5"}, usage(), finished(),
	)
	r.want(t, `
invoke_agent north 1-19
  step 2-10
    chat acme-1 3-4
    execute_tool search 6-9 failed: tool_error
    execute_tool search 7-8
  step 10-19 [cut 11]
    chat acme-1 13-16 [model-retry 14]`)
	for name, want := range map[string]map[string]any{
		"invoke_agent north": {
			"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "north", "gen_ai.conversation.id": "launch", "skein.turn": int64(2),
			"gen_ai.usage.input_tokens": int64(100), "gen_ai.usage.output_tokens": int64(9), "skein.turn.steps": int64(2), "gen_ai.response.finish_reasons": []string{"end"},
		},
		"step": {"skein.step": int64(1), "gen_ai.conversation.id": "launch"},
		"chat acme-1": {
			"gen_ai.operation.name": "chat", "gen_ai.request.model": "acme-1", "gen_ai.provider.name": "acme", "gen_ai.conversation.id": "launch",
			"gen_ai.usage.input_tokens": int64(35), "gen_ai.usage.cache_read.input_tokens": int64(20), "gen_ai.usage.cache_creation.input_tokens": int64(5),
			"gen_ai.usage.output_tokens": int64(7), "gen_ai.usage.reasoning.output_tokens": int64(3), "skein.usage.cost": 0.5,
			"gen_ai.response.finish_reasons": []string{"toolCalls"},
		},
		"execute_tool search": {
			"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search", "gen_ai.tool.call.id": "b", "gen_ai.tool.type": "function",
			"gen_ai.conversation.id": "launch", "skein.tool.result.characters": int64(12),
		},
	} {
		got := r.attributes(t, name)
		for key, value := range want {
			if d := cmp.Diff(value, got[key]); d != "" {
				t.Errorf("%s: %s (-want +got):\n%s", name, key, d)
			}
		}
	}
	kinds := map[string]trace.SpanKind{"invoke_agent north": trace.SpanKindInternal, "chat acme-1": trace.SpanKindClient, "execute_tool search": trace.SpanKindInternal}
	for _, s := range r.exporter.GetSpans() {
		if want, ok := kinds[s.Name]; ok && s.SpanKind != want {
			t.Errorf("%s is %v", s.Name, s.SpanKind)
		}
	}
}

func TestACallIsToldOfByItsUsageToo(t *testing.T) {
	r := listen()
	r.tell(step(1), skein.Event{Type: thread.CutEvent, Number: 1}, usage(), finished())
	r.want(t, `
invoke_agent north 1-4
  step 1-4 [cut 2]
    chat acme-1 2-3`)
}

func TestFailuresAreMarkedByTheirCode(t *testing.T) {
	quota := &thread.Error{Code: thread.Quota, Message: "SECRET"}
	r := listen()
	r.tell(step(1), request(), skein.Event{Type: thread.ModelErrorEvent, Model: "acme-1", Error: quota}, request(),
		skein.Event{Type: thread.StoppedEvent, Reason: "error", Error: quota})
	r.want(t, `
invoke_agent north 1-5 failed: quota
  step 1-5
    chat acme-1 2-3 failed: quota
    chat acme-1 4-5 failed: quota`)
	if got := r.attributes(t, "invoke_agent north")["error.type"]; got != "quota" {
		t.Errorf("error.type is %v", got)
	}
}

func TestATurnThatSomebodyStopsHasNotFailed(t *testing.T) {
	r := listen()
	r.tell(step(1), tool("a"), skein.Event{Type: thread.StoppedEvent, Reason: "aborted", Error: &thread.Error{Code: thread.Aborted}})
	r.want(t, `
invoke_agent north 1-3
  step 1-3
    execute_tool search 2-3`)
}

func TestATurnThatWaitsEndsItsSpanAndGoesOnInALinkedOne(t *testing.T) {
	r := listen()
	r.tell(step(1), request(), response(thread.StopCalls), tool("a"), asked("b"), result("a", false)) // parked now
	r.want(t, `
invoke_agent north 1-6
  step 1-6 [approval-requested 5]
    chat acme-1 2-3
    execute_tool search 4-6`)
	if r.attributes(t, "invoke_agent north")["skein.turn.parked"] != true {
		t.Error("the span does not say that the turn waits")
	}
	r.exporter.Reset()
	r.tell(skein.Event{Type: thread.ConversationEvent}) // somebody tries again
	r.want(t, "")
	r.tell(decided("b", "allowed"), tool("b"), result("b", false), step(2), request(), response(thread.StopEnd), finished())
	r.want(t, `
invoke_agent north 9-14 after 
  execute_tool search 9-10
  step 11-14
    chat acme-1 12-13`)
	if got := r.attributes(t, "execute_tool search")["skein.approval.state"]; got != "allowed" {
		t.Errorf("the call was %v", got)
	}
}

func TestALinkLeadsToTheSpanBefore(t *testing.T) {
	r := listen()
	r.tell(step(1), asked("b"), tool("b"), result("b", false), finished())
	r.want(t, `
invoke_agent north 1-2
  step 1-2 [approval-requested 2]
invoke_agent north 3-5 after invoke_agent north
  execute_tool search 3-4`)
	ids := map[trace.TraceID]bool{}
	for _, s := range r.exporter.GetSpans() {
		ids[s.SpanContext.TraceID()] = true
	}
	if len(ids) != 2 {
		t.Errorf("there are %d traces", len(ids))
	}
}

func TestATurnWhoseEndWasMissedEndsWithTheNext(t *testing.T) {
	r := listen()
	r.tell(step(1), tool("a"))
	next := step(1)
	next.Turn = 9
	r.tell(next)
	r.want(t, `
invoke_agent north 1-2
  step 1-2
    execute_tool search 2-2`)
	if r.attributes(t, "invoke_agent north")["skein.turn.lost"] != true {
		t.Error("the span does not say that the end was missed")
	}
}

func TestACallWhoseEndWasMissedEndsWithItsStep(t *testing.T) {
	r := listen()
	r.tell(skein.Event{Type: thread.StepEvent, Step: 1}, skein.Event{Type: thread.ToolEvent, CallID: "c", Name: "search"},
		skein.Event{Type: thread.StepEvent, Step: 2}, skein.Event{Type: thread.FinishedEvent})
	ends := map[string]time.Time{}
	for _, s := range r.exporter.GetSpans() {
		if _, ok := ends[s.Name]; !ok {
			ends[s.Name] = s.EndTime
		}
	}
	if !ends["execute_tool search"].Equal(ends["step"]) || ends["step"].IsZero() {
		t.Errorf("the first of each ended at %v", ends)
	}
}

func TestWhatComesLateOpensNothing(t *testing.T) {
	r := listen()
	r.tell(step(1), finished(), usage(), result("a", false), skein.Event{Type: thread.TextEvent}, decided("x", "denied"))
	r.want(t, `
invoke_agent north 1-2
  step 1-2`)
}

func TestOpenTurnsAreBounded(t *testing.T) {
	r := listen()
	for i := range 1500 {
		r.hear(skein.Event{Type: thread.StepEvent, Thread: fmt.Sprint(i), Turn: 1, Time: start})
	}
	lost := 0
	for _, s := range r.exporter.GetSpans() {
		if s.Name == "invoke_agent" {
			lost++
		}
	}
	if lost != 1500-1024 {
		t.Errorf("%d turns were ended", lost)
	}
}

func TestCutsAndLinesOutsideOfTurns(t *testing.T) {
	r := listen()
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	r.hear(skein.Event{Type: thread.CutEvent, Thread: "launch", Time: at(1), Number: 3, Strategy: "outline", Before: &thread.CutWeight{Outline: 10, Tail: 90}, After: &thread.CutWeight{Outline: 15, Tail: 40}})
	r.hear(skein.Event{Type: thread.LineEvent, Thread: "launch", Time: at(2), ID: "0+2", By: thread.ByJoined})
	r.hear(skein.Event{Type: thread.LineEvent, Thread: "launch", Time: at(3), ID: "4+4", By: "small-1"})
	r.hear(skein.Event{Type: thread.UsageEvent, Thread: "launch", Time: at(3), ID: "4+4", Model: "small-1", Purpose: skein.ForLine, Usage: &thread.Usage{Output: 30}})
	r.want(t, "cut 1-1\nline 3-3")
	if a := r.attributes(t, "cut"); a["skein.cut.before.tokens"] != int64(100) || a["skein.cut.after.tokens"] != int64(55) || a["skein.cut.number"] != int64(3) {
		t.Errorf("the cut: %v", a)
	}
	if a := r.attributes(t, "line"); a["gen_ai.request.model"] != "small-1" || a["gen_ai.usage.output_tokens"] != int64(30) || a["skein.line"] != "4+4" {
		t.Errorf("the line: %v", a)
	}
}

// TestWhateverComesSpansAreSound tells of events in any order, with secrets in
// every field that can hold content.
func TestWhateverComesSpansAreSound(t *testing.T) {
	const secret = "SECRET"
	types := []thread.EventType{
		thread.ConversationEvent, thread.InstructionsEvent, thread.WarningEvent, thread.SkillsEvent, thread.StepEvent, thread.CutEvent, thread.CompactionEvent,
		thread.LineEvent, thread.UsageEvent, thread.RequestEvent, thread.ResponseEvent, thread.RetryEvent, thread.ModelErrorEvent, thread.TextDeltaEvent,
		thread.TextEvent, thread.ReasoningEvent, thread.ToolEvent, thread.DeniedEvent, thread.AskedEvent, thread.DecidedEvent, thread.OutputEvent,
		thread.ResultEvent, thread.PreventedEvent, thread.SteerEvent, thread.FinishedEvent, thread.StoppedEvent, "unheard of",
	}
	rapid.Check(t, func(t *rapid.T) {
		r := listen()
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			r.hear(skein.Event{
				Type:    rapid.SampledFrom(types).Draw(t, "type"),
				Thread:  rapid.SampledFrom([]string{"a", "b"}).Draw(t, "thread"),
				Turn:    rapid.Int64Range(0, 3).Draw(t, "turn"),
				CallID:  rapid.SampledFrom([]string{"", "c1", "c2"}).Draw(t, "call"),
				Name:    rapid.SampledFrom([]string{"", "search", "\xff\xfe", strings.Repeat("long", 99)}).Draw(t, "name"),
				Time:    start.Add(time.Duration(rapid.IntRange(-50, 50).Draw(t, "second")) * time.Second),
				Purpose: rapid.SampledFrom([]string{"", skein.ForTurn, skein.ForSummary, skein.ForLine}).Draw(t, "purpose"),
				Number:  rapid.Int64Range(0, 1).Draw(t, "number"),
				Reason:  rapid.SampledFrom([]string{"", "error", "limit", "aborted"}).Draw(t, "reason"),
				Error:   rapid.SampledFrom([]*thread.Error{nil, {Code: thread.Provider, Message: secret, Hint: secret}}).Draw(t, "error"),
				Usage:   rapid.SampledFrom([]*thread.Usage{nil, {Output: 1}}).Draw(t, "usage"),
				Step:    1, Input: json.RawMessage(`"` + secret + `"`), Text: secret, Preview: secret, Request: json.RawMessage(`"` + secret + `"`),
				Parts: []thread.Part{thread.Text(secret)}, Names: []string{secret}, By: secret,
			})
		}
		spans := r.exporter.GetSpans()
		byID := map[trace.SpanID]tracetest.SpanStub{}
		for _, s := range spans {
			byID[s.SpanContext.SpanID()] = s
		}
		for _, s := range spans {
			if s.EndTime.Before(s.StartTime) || len(s.Name) > 160 {
				t.Errorf("%s: from %v to %v", s.Name, s.StartTime, s.EndTime)
			}
			if p, ok := byID[s.Parent.SpanID()]; ok && (s.StartTime.Before(p.StartTime) || s.EndTime.After(p.EndTime)) {
				t.Errorf("%s is not within %s", s.Name, p.Name)
			}
			for _, e := range s.Events {
				if e.Time.Before(s.StartTime) || e.Time.After(s.EndTime) {
					t.Errorf("%s: the event %s is not within", s.Name, e.Name)
				}
			}
			if shown := fmt.Sprintf("%q %v %v %v", s.Name, s.Attributes, s.Events, s.Status); strings.Contains(shown, secret) {
				t.Errorf("a span holds content: %s", shown)
			}
		}
	})
}

func TestAnEnginesApprovalsMakeLinkedTraces(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	r := &ear{exporter: exporter}
	write, err := tools.Make(tools.Tool{Name: "write", Description: "Writes."}, func(context.Context, struct{}) (string, error) { return "written", nil })
	if err != nil {
		t.Fatal(err)
	}
	script, err := scripted.Read(strings.NewReader(`{"calls":[{"name":"write"}]}` + "\ndone"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := skein.Open(t.Context(), skein.Config{
		Store: memory.New(memory.Options{}), Tools: []tools.Tool{write}, Model: "scripted", Models: func(string) (model.Model, error) { return script, nil },
		Agents:    []skein.Agent{{Name: "north", Permissions: tools.Permissions{Rules: []tools.Rule{{Decision: tools.Ask, Tools: []string{"write"}}}}}},
		Observers: []skein.Observer{telemetry.Observer(sdk.NewTracerProvider(sdk.WithSyncer(exporter)), telemetry.Options{})},
	})
	if err != nil {
		t.Fatal(err)
	}
	th, err := e.OpenThread(t.Context(), "launch", skein.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := th.Ask(t.Context(), "ana", "write it"); thread.CodeOf(err) != thread.Permission {
		t.Fatalf("it should wait: %v", err)
	}
	if err := th.Approve(t.Context(), "ben", ""); err != nil {
		t.Fatal(err)
	}
	if err := th.Reply(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	shown := seconds.ReplaceAllString(r.tree(), "")
	if d := cmp.Diff(strings.TrimPrefix(`
invoke_agent north
  step [approval-requested]
    chat scripted
invoke_agent north after invoke_agent north
  execute_tool write
  step
    chat scripted
`, "\n"), shown); d != "" {
		t.Errorf("spans (-want +got):\n%s", d)
	}
}

// seconds are the times in a tree, and what comes at any time: lines.
var seconds = regexp.MustCompile(` \[line -?\d+\]| -?\d+(--?\d+)?\b`)

func TestAnEngineMakesTraces(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	provider := sdk.NewTracerProvider(sdk.WithSyncer(exporter))
	e, err := skein.Open(t.Context(), skein.Config{
		Store:     memory.New(memory.Options{}),
		Observers: []skein.Observer{telemetry.Observer(provider, telemetry.Options{})},
	})
	if err != nil {
		t.Fatal(err)
	}
	th, err := e.OpenThread(t.Context(), "launch", skein.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := th.Ask(t.Context(), "ana", "hello"); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range exporter.GetSpans() {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	if want := []string{"chat echo", "invoke_agent north", "step"}; !slices.Equal(names, want) {
		t.Errorf("spans %q, want %q", names, want)
	}
}
