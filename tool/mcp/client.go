package mcp

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

// Client is a set of MCP servers. It owns their connections and every goroutine
// of theirs, until Close.
type Client struct {
	links  []*link // in the order of the configuration
	life   context.Context
	cut    context.CancelFunc
	clock  func() time.Time
	bounds bounds

	telling sync.Mutex // one warning at a time
	warn    func(string)

	mu     sync.Mutex // guards closed, and that nothing is owned after it
	closed bool
	owned  sync.WaitGroup
}

// bounds are how long Sets waits for a server, and how long a server may take to
// start before it has failed. A first start may have to fetch its program.
type bounds struct{ patience, connect time.Duration }

var usual = bounds{patience: 10 * time.Second, connect: 60 * time.Second}

var errClosed error = &thread.Error{Code: thread.Aborted, Op: "mcp", Message: "the MCP servers are closed"}

// Open begins to connect to servers that have passed Check, in the background. A
// server that cannot be reached is a warning, and is tried again later. warn gets
// one line at a time, from goroutines of the client, and may be nil; it must not
// call the client. The client lives until Close or the end of ctx; Close must be
// called either way.
func Open(ctx context.Context, servers []Server, warn func(string)) *Client {
	return open(ctx, servers, warn, time.Now, usual)
}

func open(ctx context.Context, servers []Server, warn func(string), clock func() time.Time, b bounds) *Client {
	c := &Client{warn: warn, clock: clock, bounds: b}
	c.life, c.cut = context.WithCancel(ctx)
	for _, s := range servers {
		c.links = append(c.links, &link{server: s, client: c, listing: make(chan struct{}, 1)})
	}
	for _, l := range c.links {
		_, _, _ = l.ready() // the try is under way; who waits for it hears how it ends
	}
	return c
}

// Close ends every connection and waits until nothing is left of them: a
// server's process group is asked to end, and killed after 4 seconds. Calls under
// way end with an error.
func (c *Client) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cut()
	c.owned.Wait()
}

// own runs f in a goroutine that Close waits for. It says no after Close.
func (c *Client) own(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.life.Err() != nil {
		return false
	}
	c.owned.Go(f)
	return true
}

func (c *Client) tell(line string) {
	if c.warn == nil {
		return
	}
	c.telling.Lock()
	defer c.telling.Unlock()
	c.warn(line)
}

// Sets gives one set for each server, named as the server, in the order of the
// configuration. A server's tools stand in the order of their names; they are
// asked for once, and again after the server has said that they changed or was
// started anew. Where it does not answer, its tools stay as they were: none, if it
// never has. Sets waits 10 seconds for a server, at most, and never fails.
func (c *Client) Sets(ctx context.Context) []tool.Set {
	sets := make([]tool.Set, len(c.links))
	var asked sync.WaitGroup
	for i, l := range c.links {
		asked.Go(func() { sets[i] = l.set(ctx) })
	}
	asked.Wait()
	return sets
}

// find gives the link to a server. Errors: not-found.
func (c *Client) find(server string) (*link, error) {
	for _, l := range c.links {
		if l.server.Name == server {
			return l, nil
		}
	}
	return nil, &thread.Error{Code: thread.NotFound, Op: "mcp", Message: fmt.Sprintf("there is no MCP server named %q", server), Hint: "name one of those that are configured"}
}
