package model

import (
	"errors"
	"net/url"
)

// WithoutAddress leaves a request's address out of a network's error: the cause
// says enough, and an address may hold a key.
func WithoutAddress(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}
