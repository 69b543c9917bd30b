// Package wire is what the providers' clients share of HTTP: they follow no
// redirect, are heard piece by piece, and take no more than is sane.
package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/skeinhq/skein/model"
)

const complaintTime = 5 * time.Second // for a refusal's whole body

// Client gives a copy of a client, nil standing for the default one, that is fit
// to ask providers with: it follows no redirect, tells the model.Patient of
// each piece of an answer, and bounds what it reads.
func Client(c *http.Client) *http.Client {
	if c == nil {
		c = http.DefaultClient
	}
	out := *c
	out.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	out.Transport = wire{out.Transport}
	return &out
}

type wire struct{ under http.RoundTripper }

func (w wire) transport() http.RoundTripper {
	if w.under == nil {
		return http.DefaultTransport
	}
	return w.under
}

// CloseIdleConnections passes on what a client is told.
func (w wire) CloseIdleConnections() {
	if c, ok := w.transport().(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// RoundTrip sends a request. A redirect is an error here already: the client
// would show where it leads to, which may hold secrets.
func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, end := context.WithCancel(r.Context())
	answer, err := w.transport().RoundTrip(r.WithContext(ctx))
	if err != nil {
		end()
		return nil, err
	}
	switch status := answer.StatusCode; {
	case status >= 300 && status < 400:
		end()
		return nil, errors.Join(&model.RedirectError{Status: status, From: r.URL.Host, To: leadsTo(r.URL, answer.Header.Get("Location"))}, answer.Body.Close())
	case status >= 400:
		answer.Body = newComplaint(answer.Body, end)
	default:
		model.Pulse(ctx)
		answer.Body = &heard{ReadCloser: answer.Body, ctx: ctx, end: end}
	}
	return answer, nil
}

func leadsTo(from *url.URL, location string) string {
	u, err := from.Parse(location)
	if err != nil || u.Host == from.Host {
		return ""
	}
	return u.Host
}

// heard is an answer's body. Every piece that is read is a pulse: a provider's
// pings say that it is still there, though they bring no event.
type heard struct {
	io.ReadCloser
	ctx   context.Context
	end   context.CancelFunc
	whole int  // bytes so far
	event int  // bytes since the last empty line
	blank bool // nothing stands in this line so far
}

func (h *heard) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	if n > 0 {
		model.Pulse(h.ctx)
	}
	if h.whole += n; h.whole > model.MaxAnswer {
		return 0, model.ErrTooMuch
	}
	for rest := p[:n]; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		h.event += len(rest) - len(after)
		h.blank = h.blank && len(bytes.TrimSuffix(line, []byte("\r"))) == 0
		if h.event > model.MaxEvent {
			return 0, model.ErrTooMuch
		}
		if ended {
			if h.blank {
				h.event = 0
			}
			h.blank = true
		}
		rest = after
	}
	return n, err
}

func (h *heard) Close() error {
	h.end()
	return h.ReadCloser.Close()
}

// complaint is a refusal's body: bounded in bytes and time, and no pulse. What
// has come until then is all of it.
type complaint struct {
	io.Reader
	body  io.Closer
	watch *time.Timer
	end   context.CancelFunc
	late  *atomic.Bool
}

func newComplaint(body io.ReadCloser, end context.CancelFunc) io.ReadCloser {
	late := new(atomic.Bool)
	watch := time.AfterFunc(complaintTime, func() { late.Store(true); end() })
	return &complaint{io.LimitReader(body, model.MaxComplaint), body, watch, end, late}
}

func (c *complaint) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if err != nil && c.late.Load() {
		err = io.EOF
	}
	return n, err
}

func (c *complaint) Close() error {
	c.watch.Stop()
	c.end()
	return c.body.Close()
}
