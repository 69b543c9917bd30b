package client

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/skeinhq/skein/thread"
)

// Config says which server a client talks to. Only URL is required.
type Config struct {
	URL   string       // such as http://127.0.0.1:8417
	Token string       // an access token; without one the server must need none
	HTTP  *http.Client // what sends requests; it must have no Timeout; default: one with the standard transport

	// Transport is how watches connect; the default is AnyTransport.
	Transport Transport

	Pace Pace           // the times of a link; the zero value of each is its default
	Rand func() float64 // jitter, from [0, 1); default: math/rand
}

// Transport is how a watch connects.
type Transport string

// The transports.
const (
	AnyTransport Transport = ""          // a WebSocket; events where none comes through
	WebSocket    Transport = "websocket" //
	Events       Transport = "events"    // server-sent events
)

// Pace is when a link is looked after.
type Pace struct {
	Min      time.Duration // the longest wait before the first attempt to come back; it doubles each time; default 0.25 s
	Max      time.Duration // and up to this; default 15 s
	Health   time.Duration // a link that was up this long begins anew with Min; default 1 min
	Ping     time.Duration // between two looks at whether a link is alive; default 20 s
	Patience time.Duration // how long it may take to answer; default 10 s
}

func (p Pace) filled() Pace {
	for _, d := range []struct {
		at        *time.Duration
		otherwise time.Duration
	}{
		{&p.Min, 250 * time.Millisecond},
		{&p.Max, 15 * time.Second},
		{&p.Health, time.Minute},
		{&p.Ping, 20 * time.Second},
		{&p.Patience, 10 * time.Second},
	} {
		if *d.at == 0 {
			*d.at = d.otherwise
		}
	}
	return p
}

// Client is a server, seen from outside. It needs no closing and may be used by
// many goroutines.
type Client struct {
	cfg  Config
	base *url.URL
}

// New makes a client. It asks the server nothing yet.
func New(cfg Config) (*Client, error) {
	base, err := url.Parse(strings.TrimRight(cfg.URL, "/"))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, &thread.Error{Code: thread.Invalid, Op: "client", Message: "the server's address " + strconv.Quote(cfg.URL) + " is none", Hint: "write it like http://127.0.0.1:8417", Err: err}
	}
	switch cfg.Transport {
	case AnyTransport, WebSocket, Events:
	default:
		return nil, &thread.Error{Code: thread.Invalid, Op: "client", Message: "there is no transport " + strconv.Quote(string(cfg.Transport))}
	}
	if cfg.HTTP == nil {
		cfg.HTTP = &http.Client{}
	}
	if cfg.Rand == nil {
		cfg.Rand = rand.Float64
	}
	cfg.Pace = cfg.Pace.filled()
	return &Client{cfg: cfg, base: base}, nil
}

// address is the URL of a path in the API, whose pieces are escaped.
func (c *Client) address(query url.Values, path ...string) *url.URL {
	u := c.base.JoinPath(path...)
	u.RawQuery = query.Encode()
	return u
}

// request is one call of the API.
type request struct {
	method string
	path   []string // pieces, escaped
	query  url.Values
	body   any // sent as JSON; nil: none

	bytes     []byte // sent as they are, instead
	mediaType string
}

// in is the path of something in a thread.
func in(id string, rest ...string) []string {
	path := []string{"v1", "threads", url.PathEscape(id)}
	for _, r := range rest {
		path = append(path, url.PathEscape(r))
	}
	return path
}

// call sends a request and reads the JSON of its answer.
func call[T any](ctx context.Context, c *Client, r request) (out T, err error) {
	resp, err := c.send(ctx, r)
	if err != nil {
		return out, err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		return out, problem(resp)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, mostFrame))
	if err != nil {
		return out, c.unreachable(ctx, err)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return out, nil
	}
	if err := json.Unmarshal(data, &out); err != nil {
		return out, &thread.Error{Code: thread.Response, Op: "client", Message: "the server's answer cannot be read", Hint: "see whether it is a Skein server of this version", Err: err}
	}
	return out, nil
}

// do is call for what answers nothing.
func (c *Client) do(ctx context.Context, r request) error {
	_, err := call[json.RawMessage](ctx, c, r)
	return err
}

func (c *Client) send(ctx context.Context, r request) (*http.Response, error) {
	if r.body != nil {
		data, err := thread.Encode(r.body)
		if err != nil {
			return nil, &thread.Error{Code: thread.Invalid, Op: "client", Message: "the request cannot be written as JSON", Err: err}
		}
		r.bytes, r.mediaType = data, "application/json"
	}
	var body io.Reader
	if r.bytes != nil {
		body = bytes.NewReader(r.bytes)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, c.address(r.query, r.path...).String(), body)
	if err != nil {
		return nil, &thread.Error{Code: thread.Invalid, Op: "client", Message: "the request cannot be made", Err: err}
	}
	req.Header = c.header()
	if r.mediaType != "" {
		req.Header.Set("Content-Type", r.mediaType)
	}
	resp, err := c.cfg.HTTP.Do(req)
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	return resp, nil
}

func (c *Client) header() http.Header {
	h := http.Header{}
	if c.cfg.Token != "" {
		h.Set("Authorization", "Bearer "+c.cfg.Token)
	}
	return h
}
