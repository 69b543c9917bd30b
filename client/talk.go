package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"

	"github.com/skeinhq/skein/thread"
)

// Message is what is said. Only Text, or a blob, is required.
type Message struct {
	Author   string          `json:"author,omitempty"` // where no token is needed; else it is the token's name
	Text     string          `json:"text,omitempty"`
	To       []string        `json:"to,omitempty"`
	Audience []string        `json:"audience,omitempty"` // who may see it; nil: everybody
	Blobs    []Blob          `json:"blobs,omitempty"`    // put before
	Key      string          `json:"key,omitempty"`      // makes a retry safe: the same key and content again says nothing
	Meta     json.RawMessage `json:"meta,omitempty"`
	When     string          `json:"when,omitempty"`  // thread.WhenNow or thread.WhenNext, while a turn runs
	Reply    *bool           `json:"reply,omitempty"` // false: it is only stored
}

// Blob names bytes that a message holds.
type Blob struct {
	Hash string `json:"hash"`
	Name string `json:"name,omitempty"`
}

// Said is where a message stands.
type Said struct {
	ID    string `json:"id"`
	Seq   int64  `json:"seq"`
	Index *int64 `json:"index,omitempty"` // nil while it waits for the turn that runs
}

// Say says something. When it returns without an error the message is durable; the
// answer comes by the watches. Where it is not known whether the message arrived,
// say it again with the same Key.
//
// Errors: invalid, conflict (the key is taken by other content), not-found,
// permission, limit.
func (c *Client) Say(ctx context.Context, id string, m Message) (Said, error) {
	return call[Said](ctx, c, request{method: http.MethodPost, path: in(id, "messages"), body: m})
}

// Reply has whatever waits for an answer answered.
func (c *Client) Reply(ctx context.Context, id string) error {
	return c.do(ctx, request{method: http.MethodPost, path: in(id, "reply")})
}

// Stop stops the turn that runs. Leaving a watch does not.
func (c *Client) Stop(ctx context.Context, id string) error {
	return c.do(ctx, request{method: http.MethodPost, path: in(id, "stop")})
}

type decision struct {
	Decision string `json:"decision"`
	Scope    string `json:"scope,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// Approve allows a call that waits; scope is thread.ScopeOnce or thread.ScopeThread,
// empty: once.
func (c *Client) Approve(ctx context.Context, id, callID, scope string) error {
	return c.decide(ctx, id, callID, decision{Decision: "allow", Scope: scope})
}

// Deny denies a call that waits; the model reads the reason.
func (c *Client) Deny(ctx context.Context, id, callID, reason string) error {
	return c.decide(ctx, id, callID, decision{Decision: "deny", Reason: reason})
}

func (c *Client) decide(ctx context.Context, id, callID string, d decision) error {
	return c.do(ctx, request{method: http.MethodPost, path: in(id, "approvals", callID), body: d})
}

// PutBlob keeps bytes beside a thread, under their hash, and gives the part that
// stands for them.
func (c *Client) PutBlob(ctx context.Context, id, name, mediaType string, data []byte) (thread.Part, error) {
	sum := sha256.Sum256(data)
	return call[thread.Part](ctx, c, request{
		method: http.MethodPut, path: in(id, "blobs", hex.EncodeToString(sum[:])), query: values("name", name),
		bytes: data, mediaType: mediaType,
	})
}
