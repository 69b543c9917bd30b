package telemetry

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

func (t *turn) beginCall(e *skein.Event, at time.Time) {
	t.due(at, true)
	t.model = e.Model
}

// call makes the span of the model's call that was due, or nil where none was.
// It is made at its end, when the model is known in any case.
func (t *turn) call(model string) *node {
	if t.since.IsZero() || t.span == nil {
		return nil
	}
	if model == "" {
		model = t.model
	}
	a := []attribute.KeyValue{semconv.GenAIOperationNameChat}
	if model != "" {
		a = append(a, semconv.GenAIRequestModel(clip(model)))
	}
	if p := t.provider(model); p != "" {
		a = append(a, semconv.GenAIProviderNameKey.String(clip(p)))
	}
	n := t.start(t.inner(), named("chat", model), t.since, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(a...))
	for _, retried := range t.retries {
		n.span.AddEvent(string(thread.RetryEvent), trace.WithTimestamp(retried))
	}
	t.due(time.Time{}, false)
	return n
}

// failed ends a call that failed.
func (n *node) failed(kind string, at time.Time) {
	if n != nil {
		n.fail(kind)
		n.end(at)
	}
}

// endCall ends the model's call with its answer.
func (t *turn) endCall(e *skein.Event, at time.Time) {
	if n := t.call(e.Model); n != nil {
		a := usageAttributes(e.Usage)
		if e.Stop != "" {
			a = append(a, semconv.GenAIResponseFinishReasons(clip(string(e.Stop))))
		}
		n.end(at, a...)
	}
}

// failCall ends the model's call with its failure. Another may follow.
func (t *turn) failCall(e *skein.Event, at time.Time) {
	kind := ""
	if e.Error != nil {
		kind = string(e.Error.Code)
	}
	t.call(e.Model).failed(kind, at)
	t.due(at, false)
}

// take hears what something took. An answer's usage ends the model's call where
// its answer was not heard; a summary's is an event of the step.
func (t *turn) take(e *skein.Event, at time.Time) {
	switch e.Purpose {
	case skein.ForTurn:
		t.endCall(e, at)
	case skein.ForSummary:
		t.event("summary", at, usageAttributes(e.Usage)...)
	case skein.ForLine:
		t.moment("line", e, t.lineAttributes(e))
	}
}

func (t *turn) beginTool(e *skein.Event, at time.Time) {
	delete(t.asked, e.CallID)
	if len(t.tools) >= maxTools || t.tools[e.CallID] != nil {
		return
	}
	a := append(toolAttributes(e), semconv.GenAIOperationNameExecuteTool, semconv.GenAIToolType("function"))
	if state, ok := t.decided[e.CallID]; ok {
		delete(t.decided, e.CallID)
		a = append(a, attribute.String("skein.approval.state", state))
	}
	t.tools[e.CallID] = t.start(t.inner(), named("execute_tool", e.Name), at, trace.WithAttributes(a...))
}

// endTool ends a tool's call. The result of one that did not run ends none.
func (t *turn) endTool(e *skein.Event, at time.Time) {
	delete(t.asked, e.CallID)
	n := t.tools[e.CallID]
	if n == nil {
		return
	}
	delete(t.tools, e.CallID)
	if e.IsError {
		n.fail("tool_error")
	}
	n.end(at, attribute.Int("skein.tool.result.characters", e.Characters))
}
