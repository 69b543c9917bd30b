package model

import (
	"context"
	"errors"
	"io"
	"net/url"
)

// Heard gives an answer's body that tells the [Patient] model that asks with ctx
// of every piece that is read: a provider's pings say that it is still there,
// though they bring no event.
func Heard(ctx context.Context, body io.ReadCloser) io.ReadCloser {
	return heard{body, ctx}
}

type heard struct {
	io.ReadCloser
	ctx context.Context
}

func (h heard) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	if n > 0 {
		Pulse(h.ctx)
	}
	return n, err
}

// WithoutAddress leaves a request's address out of a network's error: the cause
// says enough, and an address may hold a key.
func WithoutAddress(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}
