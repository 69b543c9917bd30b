package mcp

import (
	"context"
	"time"
)

// OpenWith is Open with a clock for what is tried again, and with bounds of the
// test's.
func OpenWith(ctx context.Context, servers []Server, warn func(string), clock func() time.Time, patience, connect time.Duration) *Client {
	return open(ctx, servers, warn, clock, bounds{patience: patience, connect: connect})
}

// Plain makes one harmless line.
func Plain(s string, most int) string { return plain(s, most) }

// Wait is how long a server is left alone after failures.
var Wait = wait
