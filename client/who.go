package client

import (
	"context"
	"net/http"
)

// Who is who asks, as the server sees it.
type Who struct {
	Name    string   `json:"name"` // the author of what is said
	Scopes  []string `json:"scopes"`
	Threads []string `json:"threads,omitempty"` // the threads that the token is good for; nil: all
	Token   bool     `json:"token"`             // false: the server needs none
}

// Who asks the server who is asking. It tells a token that is good from one that
// is not (permission).
func (c *Client) Who(ctx context.Context) (Who, error) {
	return call[Who](ctx, c, request{method: http.MethodGet, path: []string{"v1", "session"}})
}
