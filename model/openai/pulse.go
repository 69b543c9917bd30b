package openai

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/openai/openai-go/v3/option"

	"github.com/skeinhq/skein/model"
)

// pulse tells of every piece of an answer: the provider's pings say that it is
// still there, and the SDK keeps them to itself.
func pulse(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	answer, err := next(r)
	if err != nil || answer.Body == nil {
		return answer, err
	}
	model.Pulse(r.Context())
	answer.Body = heard{answer.Body, r.Context()}
	return answer, nil
}

type heard struct {
	io.ReadCloser
	ctx context.Context
}

func (h heard) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	if n > 0 {
		model.Pulse(h.ctx)
	}
	return n, err
}

// plain leaves the request's address out of a network's error: its cause says
// enough.
func plain(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}
