// Package telemetry makes OpenTelemetry spans of a thread's events, by the
// semantic conventions for generative AI. It needs the API of OpenTelemetry
// alone; which spans are kept, and where they go, is up to the provider of
// tracers that it is given.
//
//	e, err := skein.Open(ctx, skein.Config{
//		Store:     st,
//		Observers: []skein.Observer{telemetry.Observer(provider, telemetry.Options{})},
//	})
//
// What becomes a span, and under which:
//
//	invoke_agent north          a turn; a trace of its own
//	└ step                      one round of it
//	  ├ chat claude-opus-5-5    a call of the model
//	  └ execute_tool search     a call of a tool
//	cut                         a cut between turns; within one it is an event of the step
//	line                        a line that a model wrote; others are events of a running turn
//
// A turn that waits for an approval ends its span; when it goes on, it does so in
// a new trace, whose span is linked to the one before.
//
// No span holds what was said, thought, called with or answered, nor the words
// of an error: only names, numbers, codes and times. The times are those of the
// events; what ends before it began by them, since clocks differ, ends when it
// began.
//
// What is remembered of open turns is bounded: of more than 1,024 the one that was
// quiet for the longest is ended, marked skein.turn.lost.
//
// The package is an observer and rests on what observers are promised: it may
// miss events and keeps no promise of its own.
package telemetry
