package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

const (
	// maxHeard is how many lines of a connection's stderr are passed on.
	maxHeard = 200
	// maxReason is the most characters of an error that people and models read.
	maxReason = 600
	// probeTime is how long a server may take to say that it is alive.
	probeTime = 5 * time.Second

	firstWait = 5 * time.Second
	lastWait  = 5 * time.Minute
)

// wait is how long a server is left alone after so many failures in a row.
func wait(failures int) time.Duration {
	if failures <= 0 {
		return 0
	}
	return min(firstWait<<min(failures-1, 10), lastWait)
}

// link is one server, whether it is there or not.
type link struct {
	server  Server
	client  *Client
	listing chan struct{} // holds who asks for the tools

	mu       sync.Mutex // guards what follows
	now      *session   // nil while there is none
	dial     *dial      // the try to connect under way, or nil
	failures int        // in a row: tries that failed, sessions that ended before an answer
	earliest time.Time  // of the next try
	reason   string     // why there is no session
	tools    []tool.Tool
	stale    bool // the tools must be asked for
}

// dial is a try to connect. done is closed when it is over, session and err
// stand from then on.
type dial struct {
	begun   time.Time
	done    chan struct{}
	session *session
	err     error
}

// session gives the living session, and makes one where there is none.
func (l *link) session(ctx context.Context) (*session, error) {
	d, s, err := l.ready()
	if d == nil {
		return s, err
	}
	select {
	case <-d.done:
		return d.session, d.err
	default:
	}
	select {
	case <-d.done:
		return d.session, d.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ready gives the session, or the try to wait for, or says that none is due.
func (l *link) ready() (*dial, *session, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now != nil || l.dial != nil {
		return l.dial, l.now, nil
	}
	if left := l.earliest.Sub(l.client.clock()); left > 0 {
		return nil, nil, l.down(fmt.Sprintf("it is tried again in %v at the earliest", (left + time.Second - 1).Truncate(time.Second)))
	}
	d := &dial{begun: time.Now(), done: make(chan struct{})}
	if !l.client.own(func() { l.keep(d) }) {
		return nil, nil, errClosed
	}
	l.dial = d
	return d, nil, nil
}

// down says that there is no session, and when there may be one.
func (l *link) down(when string) error {
	return &thread.Error{Code: thread.Configuration, Op: "mcp", Message: fmt.Sprintf("the MCP server %s is not running (%s); %s: go on without it", l.server.Name, l.reason, when)}
}

// keep connects, and minds the session until it ends.
func (l *link) keep(d *dial) {
	ctx, cancel := context.WithTimeout(l.client.life, l.client.bounds.connect)
	s, err := l.connect(ctx)
	if err != nil && ctx.Err() != nil && l.client.life.Err() == nil {
		err = fmt.Errorf("it did not answer within %v", l.client.bounds.connect)
	}
	cancel()
	if err != nil {
		l.failed(d, l.said(err))
		return
	}
	l.mu.Lock()
	l.now, l.dial, l.stale = s, nil, true
	d.session = s
	l.mu.Unlock()
	close(d.done)
	l.mind(s)
}

func (l *link) failed(d *dial, reason string) {
	l.mu.Lock()
	l.dial = nil
	l.failures++
	l.reason, l.earliest = reason, l.client.clock().Add(wait(l.failures))
	again := wait(l.failures)
	d.err = &thread.Error{Code: thread.Configuration, Op: "mcp", Message: fmt.Sprintf("the MCP server %s cannot be reached (%s); go on without it", l.server.Name, reason)}
	l.mu.Unlock()
	if l.client.life.Err() == nil {
		l.client.tell(fmt.Sprintf("the MCP server %s cannot be reached, its tools are absent: %s (tried again after %v)", l.server.Name, reason, again))
	}
	close(d.done)
}

// mind waits for a session's end and clears it away.
func (l *link) mind(s *session) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.Wait() // why it ended is known to the way, or to the call that it broke
	}()
	select {
	case <-ended:
	case <-s.stop:
	case <-l.client.life.Done():
	}
	s.how = s.way.end()
	_ = s.Close() // cut already
	<-ended
	s.drop("") // from now on it has ended, whoever else wants it to
	closing := l.client.life.Err() != nil
	reason := plain(s.why, maxReason)
	if reason == "" {
		reason = plain(s.how, maxReason)
	}
	if reason == "" {
		reason = "it ended the connection"
	}
	l.mu.Lock()
	l.now, l.stale = nil, true
	l.reason = reason
	l.earliest = l.client.clock().Add(wait(l.failures)) // the first time, at once
	l.failures++
	l.mu.Unlock()
	close(s.gone)
	if !closing {
		l.client.tell(fmt.Sprintf("the MCP server %s ended: %s", l.server.Name, reason))
	}
}

// use lets do ask the server, within its Timeout. What goes wrong is an error
// that says which server it was and what to do.
func (l *link) use(ctx context.Context, do func(context.Context, *sdk.ClientSession) error) error {
	within, cancel := context.WithTimeout(ctx, l.server.timeout())
	defer cancel()
	defer context.AfterFunc(l.client.life, cancel)()
	s, err := l.session(within)
	if err == nil {
		err = do(within, s.ClientSession)
	}
	refused := refusal(err)
	switch {
	case err == nil:
		l.answered()
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case l.client.life.Err() != nil:
		return errClosed
	case s == nil && within.Err() != nil:
		return l.fault(thread.Timeout, "is still starting after %v; try again later, or go on without it", l.server.timeout())
	case s == nil:
		return err
	case within.Err() != nil:
		l.client.own(func() { l.probe(l.client.life, s) })
		return l.fault(thread.Timeout, "did not answer within %v, and the call was cancelled; ask for less, or go on without it", l.server.timeout())
	case refused != nil:
		l.answered()
		return l.fault(thread.Response, "refuses this: %s", plain(refused.Message, maxReason))
	case l.probe(ctx, s):
		return l.fault(thread.Response, "gave an answer that cannot be used: %s", l.said(err))
	}
	return l.fault(thread.Response, "broke off in the call (%s); it is started again at the next call: try once more or ask for less, and go on without it if that fails too", l.broken(s, err))
}

func (l *link) fault(code thread.Code, format string, args ...any) error {
	return &thread.Error{Code: code, Op: "mcp", Message: "the MCP server " + l.server.Name + " " + fmt.Sprintf(format, args...)}
}

// refusal gives what a server answered instead of a result, nil where it did not
// answer: errors of the way to it have the same type, and a code of their own.
func refusal(err error) *jsonrpc.Error {
	const byTheWay = -32005
	var e *jsonrpc.Error
	if errors.As(err, &e) && e.Code != byTheWay {
		return e
	}
	return nil
}

// answered notes that the server works.
func (l *link) answered() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failures = 0
}

// probe says whether the session is alive. One that is not has ended when probe
// returns, or ctx has.
func (l *link) probe(ctx context.Context, s *session) bool {
	soon, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	err := s.Ping(soon, nil)
	if err == nil || refusal(err) != nil || ctx.Err() != nil {
		return true
	}
	if soon.Err() != nil {
		s.drop("it answers nothing any longer")
	} else {
		s.drop("")
	}
	s.wait(ctx)
	return false
}

// broken says why a call broke off: how the session ended, if that is known and
// says more than what the call met.
func (l *link) broken(s *session, err error) string {
	bounded := errors.Is(err, errTooLarge) || errors.Is(err, errTooMany)
	select {
	case <-s.gone:
		if s.how != "" && !bounded {
			return plain(s.how, maxReason)
		}
	default:
	}
	return l.said(err)
}

// said makes an error readable. The server's URL may hold a secret.
func (l *link) said(err error) string {
	text := err.Error()
	if l.server.URL != "" {
		text = strings.ReplaceAll(text, l.server.URL, "its url")
	}
	return plain(text, maxReason)
}

// markStale has the tools asked for at the next Sets.
func (l *link) markStale() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stale = true
}

// hearing gives who hears what one connection prints beside its messages.
func (l *link) hearing() func(line string) {
	var mu sync.Mutex
	left := maxHeard
	return func(line string) {
		text := plain(line, 500)
		if text == "" {
			return
		}
		mu.Lock()
		left--
		now := left
		mu.Unlock()
		switch {
		case now > 0:
			l.client.tell(fmt.Sprintf("the MCP server %s: %s", l.server.Name, text))
		case now == 0:
			l.client.tell(fmt.Sprintf("the MCP server %s prints more than is passed on", l.server.Name))
		}
	}
}
