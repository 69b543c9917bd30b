package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxStream is the most bytes of one answer that comes as events.
	maxStream = 4 * maxMessage
	// maxRedirects is how often a request is sent on, within its host.
	maxRedirects = 5
	// listenTime is how long a server may take to open the stream of what it says
	// unasked; partTime, to take leave of us.
	listenTime = 3 * time.Second
	partTime   = 2 * time.Second
)

// web reaches a server by its URL.
type web struct {
	sdk.StreamableClientTransport
	conn sdk.Connection // nil until Connect
	road *road
}

func newWeb(s Server) (*web, error) {
	home, err := url.Parse(s.URL)
	if err != nil {
		return nil, err
	}
	under := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		ForceAttemptHTTP2:   true,
		TLSHandshakeTimeout: 10 * time.Second,
		IdleConnTimeout:     90 * time.Second,
		MaxIdleConnsPerHost: 4,
	}
	life, end := context.WithCancel(context.Background())
	r := &road{home: home, headers: s.Headers, under: under, life: life, cut: end}
	client := &http.Client{Transport: r, CheckRedirect: r.redirect}
	return &web{StreamableClientTransport: sdk.StreamableClientTransport{Endpoint: s.URL, HTTPClient: client, MaxEventSize: maxMessage}, road: r}, nil
}

// Connect makes the connection; nothing is sent yet.
func (t *web) Connect(ctx context.Context) (conn sdk.Connection, err error) {
	t.conn, err = t.StreamableClientTransport.Connect(ctx)
	return t.conn, err
}

// cut breaks off every request.
func (t *web) cut() { t.road.cut() }

// end takes leave of the server and cuts every request.
func (t *web) end() string {
	if t.conn != nil {
		_ = t.conn.Close() // a server that does not hear us leave forgets us by itself
	}
	t.cut()
	t.road.under.CloseIdleConnections()
	return ""
}

// road is how requests go to one server: to its host alone, with its headers,
// until life ends; what comes back is bounded.
type road struct {
	home    *url.URL
	headers map[string]string
	under   *http.Transport
	life    context.Context
	cut     context.CancelFunc
}

// redirect lets a request be sent on within its host: anywhere else would see
// its headers.
func (r *road) redirect(to *http.Request, via []*http.Request) error {
	if to.URL.Scheme != r.home.Scheme || to.URL.Host != r.home.Host {
		return errors.New("it redirects to another host, which is not followed; give the url that it leads to")
	}
	if len(via) > maxRedirects {
		return fmt.Errorf("it redirects more than %d times", maxRedirects)
	}
	return nil
}

// RoundTrip sends a request.
func (r *road) RoundTrip(q *http.Request) (*http.Response, error) {
	asked := q.Context()
	ctx, end := context.WithCancel(asked)
	detach := context.AfterFunc(r.life, end)
	done := func() { detach(); end() }
	q = q.Clone(ctx)
	for name, value := range r.headers {
		q.Header.Set(name, value)
	}
	patience := patienceFor[q.Method]
	if patience > 0 {
		defer time.AfterFunc(patience, end).Stop()
	}
	answer, err := r.under.RoundTrip(q)
	switch {
	case err == nil:
		answer.Body = &body{from: answer.Body, left: mostOf(q, answer), done: done}
		return answer, nil
	case q.Method == http.MethodGet && ctx.Err() != nil && asked.Err() == nil && r.life.Err() == nil:
		// A server that does not open the stream in time has none.
		done()
		return noStream(q), nil
	}
	done()
	return nil, err
}

// patienceFor is how long the beginning of an answer is waited for; a call's is
// waited for as long as the call.
var patienceFor = map[string]time.Duration{http.MethodGet: listenTime, http.MethodDelete: partTime}

// mostOf is how many bytes an answer may have. The stream of what a server says
// unasked has no end, and each of its events is bounded.
func mostOf(q *http.Request, answer *http.Response) int64 {
	events := strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream")
	switch {
	case events && q.Method == http.MethodGet:
		return 1 << 62
	case events:
		return maxStream + 1
	}
	return maxMessage + 1
}

func noStream(q *http.Request) *http.Response {
	return &http.Response{
		Status: "405 Method Not Allowed", StatusCode: http.StatusMethodNotAllowed, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, Request: q,
	}
}

// body is an answer's, of less than left bytes.
type body struct {
	from io.ReadCloser
	left int64
	done func()
}

func (b *body) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLarge
	}
	n, err := b.from.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

func (b *body) Close() error {
	b.done()
	return b.from.Close()
}
