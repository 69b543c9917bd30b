package tool

import (
	"context"
	"encoding/json"
)

// Caller says for whom a tool runs: tools that remember something do so for each
// thread apart, and tools that come upon files by themselves leave out those that
// are hidden.
type Caller struct {
	Thread string // the thread's id
	Agent  string // the agent's name
	Call   string // the call's id
	Notes  Notes

	// Hidden says of a path, slash-separated and from the workspace, whether the
	// tool must show neither it nor what is in it. Nil: nothing is hidden.
	Hidden func(path string) bool
}

// Notes keep what a tool has to know of a thread beyond the life of a process, as
// a small JSON document under a name of its own. Where a function is nil nobody
// keeps any.
type Notes struct {
	Read func(ctx context.Context, name string) json.RawMessage
	Keep func(ctx context.Context, name string, data json.RawMessage)
}

type callerKey struct{}

// WithCaller gives the tools that run under ctx their caller.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf gives for whom a tool runs, the zero Caller where nobody said.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}
