package model

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/skeinhq/skein/thread"
)

// Model answers requests. Its methods may be called from many goroutines.
type Model interface {
	// Stream sends the request and yields what comes back, in order, ending with
	// exactly one Done event or one error. It ends early with the context's error
	// where that is cancelled. Errors are *thread.Error with the codes provider,
	// quota, limit, response, timeout or aborted.
	Stream(ctx context.Context, r *Request) iter.Seq2[Event, error]
}

// Request is one prompt as a provider gets it.
type Request struct {
	Model     string     `json:"model"`
	Tools     []Tool     `json:"tools,omitempty"`
	System    []string   `json:"system,omitempty"` // blocks, in order
	Messages  []Message  `json:"messages"`
	MaxOutput int        `json:"maxOutput,omitempty"`
	Thinking  string     `json:"thinking,omitempty"` // effort: "", low, medium, high
	Marks     []Mark     `json:"marks,omitempty"`    // at most four, in order
	CacheKey  string     `json:"cacheKey,omitempty"` // stable for a thread and agent
	Number    int64      `json:"number"`             // 1 for the thread's first request
	Blob      BlobReader `json:"-"`
}

// BlobReader reads the bytes of a blob part.
type BlobReader func(ctx context.Context, hash string) (data []byte, err error)

// Tool is a tool as a provider is told of it.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// Message is one message of a request. Tool results have the role tool; several
// user messages may follow each other.
type Message struct {
	Role  thread.Role   `json:"role"`
	Parts []thread.Part `json:"parts"`
}

// Mark says that the provider should cache the prompt up to and with a block.
type Mark struct {
	Name    string `json:"name"`    // instructions, outline, previous or end
	Message int    `json:"message"` // index in Messages; -1: the last block of System
	Part    int    `json:"part"`    // index in the message's Parts
}

// EventType says what an [Event] is.
type EventType string

// The types of events.
const (
	TextDelta     EventType = "text"
	ThinkingDelta EventType = "thinking"
	Retry         EventType = "retry" // what came so far is void; it starts again
	Done          EventType = "done"
)

// Event is one piece of an answer. Done carries the whole message's parts.
type Event struct {
	Type  EventType     `json:"type"`
	Text  string        `json:"text,omitempty"`
	Parts []thread.Part `json:"parts,omitempty"`
	Stop  thread.Stop   `json:"stop,omitempty"`
	Usage thread.Usage  `json:"usage,omitzero"`
}

// Weigh estimates the request's tokens.
func (r *Request) Weigh() int {
	w := 0
	for _, t := range r.Tools {
		w += thread.Weight(t.Name) + thread.Weight(t.Description) + thread.Weight(string(t.Schema))
	}
	for _, s := range r.System {
		w += thread.Weight(s)
	}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			w += p.Weigh()
		}
	}
	return w
}

// Wait waits for d, or fails with code aborted where the context ends before.
func Wait(ctx context.Context, d time.Duration) error {
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
		}
	}
	if err := ctx.Err(); err != nil {
		return &thread.Error{Code: thread.Aborted, Op: "model", Message: "the answer was stopped", Err: err}
	}
	return nil
}
