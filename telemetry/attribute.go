package telemetry

import (
	"strings"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

// maxName is the most bytes of a name in a span: a model may call a tool anything.
const maxName = 128

// clip makes a name short and valid, as exporters need it.
func clip(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), maxName)], "")
}

// named is a span's name: what is done, and by whom or with what.
func named(operation, name string) string {
	if name == "" {
		return operation
	}
	return operation + " " + clip(name)
}

func toolAttributes(e *skein.Event) []attribute.KeyValue {
	var a []attribute.KeyValue
	if e.Name != "" {
		a = append(a, semconv.GenAIToolName(clip(e.Name)))
	}
	if e.CallID != "" {
		a = append(a, semconv.GenAIToolCallID(clip(e.CallID)))
	}
	return a
}

// usageAttributes count tokens as the conventions do: what was read from or
// written to a cache is part of the input.
func usageAttributes(u *thread.Usage) []attribute.KeyValue {
	if u == nil {
		return nil
	}
	return []attribute.KeyValue{
		semconv.GenAIUsageInputTokensKey.Int64(u.Input + u.CacheRead + u.CacheWrite),
		semconv.GenAIUsageCacheReadInputTokensKey.Int64(u.CacheRead),
		semconv.GenAIUsageCacheCreationInputTokensKey.Int64(u.CacheWrite),
		semconv.GenAIUsageOutputTokensKey.Int64(u.Output),
		semconv.GenAIUsageReasoningOutputTokensKey.Int64(u.Reasoning),
		attribute.Float64("skein.usage.cost", u.Cost),
	}
}

func cutAttributes(e *skein.Event) []attribute.KeyValue {
	a := []attribute.KeyValue{
		attribute.Int64("skein.cut.number", e.Number),
		attribute.String("skein.cut.strategy", clip(e.Strategy)),
		attribute.Int("skein.cut.messages", e.Messages),
		attribute.Int64("skein.cut.boundary", e.Boundary),
		attribute.Int("skein.cut.lines", e.Lines),
		attribute.Int("skein.cut.merged", e.Merged),
	}
	if e.Before != nil && e.After != nil {
		a = append(a,
			attribute.Int("skein.cut.before.tokens", e.Before.Outline+e.Before.Tail),
			attribute.Int("skein.cut.after.tokens", e.After.Outline+e.After.Tail))
	}
	return a
}

// lineAttributes are those of a line that a model wrote, from its usage.
func (s *spans) lineAttributes(e *skein.Event) []attribute.KeyValue {
	a := append(usageAttributes(e.Usage),
		semconv.GenAIOperationNameChat, semconv.GenAIRequestModel(clip(e.Model)), attribute.String("skein.line", e.ID))
	if p := s.provider(e.Model); p != "" {
		a = append(a, semconv.GenAIProviderNameKey.String(clip(p)))
	}
	return a
}
