package sqlite

import (
	"context"
	"errors"
	"sync"

	"github.com/skeinhq/skein/store"
)

// pool lends connections that read. They are opened when first needed.
type pool struct {
	open func() (*conn, error)
	free chan *conn // nil stands for one that is not open yet

	mu     sync.Mutex
	closed bool
}

func newPool(n int, open func() (*conn, error)) *pool {
	p := &pool{open: open, free: make(chan *conn, n)}
	for range n {
		p.free <- nil
	}
	return p
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
	var c *conn
	select {
	case c = <-p.free:
	case <-ctx.Done():
		return store.Stopped(op, "", ctx.Err())
	}
	if p.isClosed() {
		p.free <- c
		return store.Closed(op)
	}
	if c == nil {
		var err error
		if c, err = p.open(); err != nil {
			p.free <- nil
			return wrap(ctx, op, "", err)
		}
	}
	defer func() { p.free <- c }()
	defer c.SetInterrupt(c.SetInterrupt(ctx))
	return wrap(ctx, op, "", f(c))
}

// snapshot lends a connection inside a read transaction, so that all of f sees
// one moment.
func (p *pool) snapshot(ctx context.Context, op string, f func(c *conn) error) error {
	return p.with(ctx, op, func(c *conn) error {
		if err := c.exec(`BEGIN`); err != nil {
			return err
		}
		err := f(c)
		c.SetInterrupt(context.Background())
		return errors.Join(err, c.exec(`ROLLBACK`))
	})
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
	var all []error
	for range cap(p.free) {
		if c := <-p.free; c != nil {
			all = append(all, c.close())
		}
	}
	for range cap(p.free) {
		p.free <- nil
	}
	return errors.Join(all...)
}
