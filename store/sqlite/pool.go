package sqlite

import (
	"context"
	"errors"
	"sync"

	"github.com/skeinhq/skein/store"
)

// pool lends connections that read, the last used first, whose cache is the
// warmest. They are opened when first needed.
type pool struct {
	open func() (*conn, error)
	free chan struct{} // holds one for each connection that may be lent

	mu     sync.Mutex
	idle   []*conn // open and not lent, the last used last
	closed bool
}

func newPool(n int, open func() (*conn, error)) *pool {
	p := &pool{open: open, free: make(chan struct{}, n)}
	for range n {
		p.free <- struct{}{}
	}
	return p
}

// take gives an idle connection, or opens one.
func (p *pool) take() (*conn, error) {
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return c, nil
	}
	p.mu.Unlock()
	return p.open()
}

func (p *pool) give(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, c)
}

// with lends a connection to f. What f reads must not call the store again: it
// would wait for a connection while it holds one.
func (p *pool) with(ctx context.Context, op string, f func(c *conn) error) error {
	if err := ctx.Err(); err != nil {
		return store.Stopped(op, "", err)
	}
	if p.isClosed() {
		return store.Closed(op)
	}
	select {
	case <-p.free:
	case <-ctx.Done():
		return store.Stopped(op, "", ctx.Err())
	}
	defer func() { p.free <- struct{}{} }()
	if p.isClosed() {
		return store.Closed(op)
	}
	c, err := p.take()
	if err != nil {
		return wrap(ctx, op, "", err)
	}
	defer p.give(c)
	defer c.SetInterrupt(c.SetInterrupt(ctx))
	return wrap(ctx, op, "", f(c))
}

// snapshot lends a connection inside a read transaction, so that all of f sees
// one moment.
func (p *pool) snapshot(ctx context.Context, op string, f func(c *conn) error) error {
	return p.with(ctx, op, func(c *conn) error { return c.snapshot(f) })
}

// apart is snapshot on a connection that nobody uses afterwards.
func (p *pool) apart(ctx context.Context, op string, f func(c *conn) error) error {
	return p.with(ctx, op, func(*conn) error { // one is held, so that close waits
		c, err := p.open()
		if err != nil {
			return err
		}
		c.SetInterrupt(ctx)
		return errors.Join(c.snapshot(f), c.close())
	})
}

func (c *conn) snapshot(f func(c *conn) error) error {
	if err := c.exec(`BEGIN`); err != nil {
		return err
	}
	err := f(c)
	c.SetInterrupt(context.Background())
	return errors.Join(err, c.exec(`ROLLBACK`))
}

func (p *pool) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// close waits for the connections that are lent.
func (p *pool) close() error {
	p.mu.Lock()
	was := p.closed
	p.closed = true
	p.mu.Unlock()
	if was {
		return nil
	}
	for range cap(p.free) {
		<-p.free
	}
	defer func() {
		for range cap(p.free) {
			p.free <- struct{}{}
		}
	}()
	var all []error
	for _, c := range p.idle {
		all = append(all, c.close())
	}
	p.idle = nil
	return errors.Join(all...)
}
