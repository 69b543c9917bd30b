package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

// maxTools is how many calls of tools a turn may have open, and how many
// approvals it is remembered to have.
const maxTools = 1000

// node is an open span.
type node struct {
	ctx  context.Context // that its children begin in
	span trace.Span
}

// turn is an open turn. While it waits for an approval it has no span.
type turn struct {
	*spans
	thread string
	seq    int64
	agent  string
	heard  int64     // the number of its newest event
	now    time.Time // the latest time that any of its events had

	span   *node
	step   *node
	tools  map[string]*node // by the call's id
	before trace.SpanContext

	asked   map[string]bool   // calls that wait for an approval
	decided map[string]string // what was decided of calls that have not run yet

	since     time.Time // the model's call may have begun then; zero: none is due
	requested bool      // it did begin then
	model     string    // that was requested last
	retries   []time.Time
}

// start begins a span under another, or a trace.
func (t *turn) start(under *node, name string, at time.Time, options ...trace.SpanStartOption) *node {
	parent := context.Background()
	if under == nil {
		options = append(options, trace.WithNewRoot())
	} else {
		parent = under.ctx
	}
	options = append(options, trace.WithTimestamp(at), trace.WithAttributes(semconv.GenAIConversationID(clip(t.thread))))
	ctx, span := t.tracer.Start(parent, name, options...)
	return &node{ctx, span}
}

func (n *node) end(at time.Time, a ...attribute.KeyValue) {
	n.span.SetAttributes(a...)
	n.span.End(trace.WithTimestamp(at))
}

// fail says of what kind the failure was, and nothing else of it.
func (n *node) fail(kind string) {
	if kind == "" {
		kind = semconv.ErrorTypeOther.Value.AsString()
	}
	n.span.SetAttributes(semconv.ErrorTypeKey.String(clip(kind)))
	n.span.SetStatus(codes.Error, clip(kind))
}

// inner is the innermost span that is not a call's: the step's, else the turn's,
// else nil.
func (t *turn) inner() *node {
	if t.step != nil {
		return t.step
	}
	return t.span
}

// begin begins the turn's span, or the next one of a turn that has waited.
func (t *turn) begin() {
	options := []trace.SpanStartOption{trace.WithAttributes(
		semconv.GenAIOperationNameInvokeAgent, semconv.GenAIAgentName(clip(t.agent)), attribute.Int64("skein.turn", t.seq),
	)}
	if t.before.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: t.before}))
	}
	t.span = t.start(nil, named("invoke_agent", t.agent), t.now, options...)
}

func (t *turn) beginStep(e *skein.Event, at time.Time) {
	t.endStep(at)
	clear(t.asked) // no step begins while a call waits
	t.step = t.start(t.span, "step", at, trace.WithAttributes(attribute.Int("skein.step", e.Step)))
	t.due(at, false)
}

// due notes when a call of the model begins, or may.
func (t *turn) due(at time.Time, requested bool) {
	t.since, t.requested, t.retries = at, requested, nil
}

// endStep ends the step's span, and before it those of calls whose end was not heard of.
func (t *turn) endStep(at time.Time) {
	for id, n := range t.tools {
		n.end(at)
		delete(t.tools, id)
	}
	if t.step != nil {
		t.step.end(at)
		t.step = nil
	}
}

// note makes an event of the innermost span; of what is told, only the tool's
// name and the call's id go into it.
func (t *turn) note(e *skein.Event, at time.Time) {
	if e.Type == thread.RetryEvent && t.requested && len(t.retries) < maxTools {
		t.retries = append(t.retries, at)
		return
	}
	t.event(string(e.Type), at, toolAttributes(e)...)
}

func (t *turn) event(name string, at time.Time, a ...attribute.KeyValue) {
	if n := t.inner(); n != nil {
		n.span.AddEvent(name, trace.WithTimestamp(at), trace.WithAttributes(a...))
	}
}

func (t *turn) cut(e *skein.Event, at time.Time) {
	if e.Number == 0 {
		t.event("cut", at, attribute.Bool("skein.cut.made", false))
		return
	}
	if n := t.inner(); n == nil {
		t.moment("cut", e, cutAttributes(e))
		return
	}
	t.event("cut", at, cutAttributes(e)...)
	if !t.since.IsZero() && !t.requested {
		t.due(at, false) // the step's call comes after its cut
	}
}

// line tells of lines that no model wrote; the others have their usage, and a
// span.
func (t *turn) line(e *skein.Event, at time.Time) {
	switch e.By {
	case thread.ByVerbatim, thread.ByJoined, thread.ByExtractive:
		t.event("line", at, attribute.String("skein.line", e.ID), attribute.String("skein.line.by", e.By))
	}
}

// finish ends the turn as its model ended it.
func (t *turn) finish(e *skein.Event, at time.Time) { t.end(string(e.Stop), "", e, at) }

// stop ends a turn that something else has ended.
func (t *turn) stop(e *skein.Event, at time.Time) {
	kind := ""
	if e.Error != nil {
		kind = string(e.Error.Code)
	}
	switch thread.Stop(e.Reason) {
	case thread.StopError, thread.StopLimit:
		if kind == "" {
			kind = e.Reason
		}
		t.end(e.Reason, kind, e, at)
	default:
		t.end(e.Reason, "", e, at)
	}
}

func (t *turn) end(reason, failure string, e *skein.Event, at time.Time) {
	if t.requested {
		kind := failure
		if kind == "" {
			kind = reason
		}
		t.call(e.Model).failed(kind, at)
	}
	t.endAll(at)
	if t.span == nil {
		return
	}
	if failure != "" {
		t.span.fail(failure)
	}
	t.span.end(at, append(usageAttributes(e.Usage),
		semconv.GenAIResponseFinishReasons(clip(reason)), attribute.Int("skein.turn.steps", e.Steps))...)
	t.span = nil
}

// endAll ends what is open under the turn's span.
func (t *turn) endAll(at time.Time) {
	t.endStep(at)
	t.due(time.Time{}, false)
}

// lose ends a turn whose end was not heard of.
func (t *turn) lose() {
	t.endAll(t.now)
	if t.span != nil {
		t.span.end(t.now, attribute.Bool("skein.turn.lost", true))
		t.span = nil
	}
}

func (t *turn) ask(e *skein.Event, at time.Time) {
	if len(t.asked) < maxTools {
		t.asked[e.CallID] = true
	}
	t.note(e, at)
}

func (t *turn) decide(e *skein.Event, at time.Time) {
	delete(t.asked, e.CallID)
	if len(t.decided) < maxTools {
		t.decided[e.CallID] = e.State
	}
	t.event(string(e.Type), at, append(toolAttributes(e), attribute.String("skein.approval.state", e.State))...)
}

// mayPark ends the turn's span where it waits for approvals and nothing else
// runs.
func (t *turn) mayPark() {
	if t.span == nil || len(t.asked) == 0 || len(t.tools) > 0 || t.requested {
		return
	}
	t.endAll(t.now)
	t.before = t.span.span.SpanContext()
	t.span.end(t.now, attribute.Bool("skein.turn.parked", true))
	t.span = nil
}
