package mcp

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"runtime/debug"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// handshake is the version of the protocol whose handshake is tried first: it is
// what nearly every server speaks, and some end at anything else. A server that
// answers but refuses it is asked in the newest way.
const handshake = "2025-11-25"

// transport is a way to a server. cut breaks off what is under way; end stops all,
// waits until nothing is left, and says how it ended where that is known.
type transport interface {
	sdk.Transport
	cut()
	end() string
}

func (l *link) transport() (transport, error) {
	if l.server.URL != "" {
		return newWeb(l.server)
	}
	return &stdio{server: l.server, hear: l.hearing()}, nil
}

// session is one living connection to a server.
type session struct {
	*sdk.ClientSession
	way transport

	stopped sync.Once
	stop    chan struct{} // closed when somebody wants it to end
	why     string        // why, for people; set before stop is closed
	gone    chan struct{} // closed when nothing of it is left
	how     string        // how its way ended; set before gone is closed
}

// drop has the session end.
func (s *session) drop(why string) {
	s.stopped.Do(func() {
		s.why = why
		close(s.stop)
	})
}

// wait waits until nothing of the session is left.
func (s *session) wait(ctx context.Context) {
	select {
	case <-s.gone:
	case <-ctx.Done():
	}
}

// connect makes a session. What a failed try has left is gone when it returns.
func (l *link) connect(ctx context.Context) (*session, error) {
	s, err := l.try(ctx, handshake)
	if refusal(err) != nil && ctx.Err() == nil {
		if newest, again := l.try(ctx, ""); again == nil {
			return newest, nil
		}
	}
	return s, err
}

func (l *link) try(ctx context.Context, version string) (*session, error) {
	way, err := l.transport()
	if err != nil {
		return nil, err
	}
	// A server may keep us from hanging up, as long as it does not take our answers.
	defer context.AfterFunc(ctx, way.cut)()
	cs, err := l.speaker().Connect(ctx, way, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		if how := way.end(); how != "" && ctx.Err() == nil {
			err = errors.Join(err, errors.New(how))
		}
		return nil, err
	}
	return &session{ClientSession: cs, way: way, stop: make(chan struct{}), gone: make(chan struct{})}, nil
}

// speaker is our side of the protocol.
func (l *link) speaker() *sdk.Client {
	changed := l.markStale
	opts := &sdk.ClientOptions{
		Capabilities:               &sdk.ClientCapabilities{},
		MultiRoundTrip:             &sdk.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler:     func(context.Context, *sdk.ToolListChangedRequest) { changed() },
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) { changed() },
	}
	hears := map[string]bool{
		"ping":                                 true,
		"notifications/cancelled":              true,
		"notifications/tools/list_changed":     true,
		"notifications/resources/list_changed": true,
	}
	if l.server.Dir != "" {
		opts.Capabilities.RootsV2 = &sdk.RootCapabilities{} //nolint:staticcheck // servers of today ask for it, whatever replaces it
		hears["roots/list"] = true
	}
	c := sdk.NewClient(&sdk.Implementation{Name: "skein", Version: version()}, opts)
	if l.server.Dir != "" {
		c.AddRoots(&sdk.Root{URI: fileURL(l.server.Dir), Name: filepath.Base(l.server.Dir)}) //nolint:staticcheck // servers of today ask for it, whatever replaces it
	}
	c.AddReceivingMiddleware(only(hears))
	return c
}

// only lets a server ask us for the named methods. Whatever else it asks is
// refused, whatever else it tells is not heard: nothing but these is ever looked
// at.
func only(methods map[string]bool) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			switch {
			case methods[method]:
				return next(ctx, method, req)
			case calls[method]:
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: method + " is not offered"}
			}
			return nil, nil
		}
	}
}

// calls are the methods of ours that want an answer.
var calls = map[string]bool{
	"completion/complete":    true,
	"elicitation/create":     true,
	"roots/list":             true,
	"sampling/createMessage": true,
}

func fileURL(dir string) string {
	if whole, err := filepath.Abs(dir); err == nil {
		dir = whole
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}).String()
}

// version is ours, as the build knows it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if info.Main.Path == "github.com/skeinhq/skein" {
		return info.Main.Version
	}
	for _, m := range info.Deps {
		if m.Path == "github.com/skeinhq/skein" {
			return m.Version
		}
	}
	return "unknown"
}
