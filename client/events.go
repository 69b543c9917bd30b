package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/skeinhq/skein/thread"
)

// stream is a link of server-sent events. A goroutine of its own looks after it.
type stream struct {
	body  io.ReadCloser
	lines *bufio.Reader
	pulse pulse

	life context.Context
	end  context.CancelCauseFunc
	work sync.WaitGroup
}

// errHeld ends a stream that nothing is wanted of: the next one brings what was
// missed.
var errHeld = errors.New("held")

func (c *Client) openStream(ctx context.Context, id string, a ask) (link, error) {
	s := &stream{}
	s.life, s.end = context.WithCancelCause(ctx)
	query := url.Values{}
	if a.Tail != 0 {
		query.Set("tail", strconv.Itoa(a.Tail))
	}
	if a.From != 0 {
		query.Set("from", strconv.FormatInt(a.From, 10))
	}
	if a.Epoch != "" {
		query.Set("epoch", a.Epoch)
	}
	patience := time.AfterFunc(c.cfg.Pace.Patience, func() { s.end(errDead) })
	resp, err := c.send(s.life, request{method: http.MethodGet, path: in(id, "events"), query: query})
	patience.Stop()
	if err != nil {
		s.end(nil)
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		defer s.end(nil)
		return nil, problem(resp)
	}
	s.body = resp.Body
	s.lines = bufio.NewReaderSize(beating{resp.Body, &s.pulse}, 64<<10)
	s.work.Go(func() { s.mind(c.cfg.Pace) })
	return s, nil
}

// mind ends a stream that is silent though somebody waits: a server that is there
// sends a comment now and then.
func (s *stream) mind(pace Pace) {
	tick := time.NewTicker(pace.Patience)
	defer tick.Stop()
	for {
		select {
		case <-s.life.Done():
			return
		case now := <-tick.C:
			if s.pulse.silentSince(now.Add(-pace.Ping - pace.Patience)) {
				s.end(errDead)
			}
		}
	}
}

func (s *stream) read(ctx context.Context) (frame, error) {
	stop := context.AfterFunc(ctx, func() { s.end(context.Cause(ctx)) })
	defer stop()
	defer s.pulse.wait()()
	for {
		name, data, err := s.event()
		if err != nil {
			if cause := context.Cause(s.life); cause != nil {
				return frame{}, cause
			}
			return frame{}, lost(err)
		}
		switch name {
		case "", "message":
			var f frame
			err := json.Unmarshal(data, &f.batch)
			return f, err
		case "end":
			f := frame{end: true}
			var e struct {
				Reason string `json:"reason"`
			}
			err := json.Unmarshal(data, &e)
			f.why = e.Reason
			return f, err
		}
	}
}

// event reads one event whole; one without data is passed over.
func (s *stream) event() (name string, data []byte, err error) {
	some := false
	for {
		line, err := s.line()
		if err != nil {
			return "", nil, err
		}
		if len(line) == 0 {
			if some {
				return name, data, nil
			}
			name = ""
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			name = string(value)
		case "data":
			if some {
				data = append(data, '\n')
			}
			data, some = append(data, value...), true
		}
		if len(data) > mostFrame {
			return "", nil, errTooLong()
		}
	}
}

// line reads one line, without its end. What it gives is good until the next call.
func (s *stream) line() ([]byte, error) {
	var long []byte
	for {
		piece, err := s.lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			if long = append(long, piece...); len(long) > mostFrame {
				return nil, errTooLong()
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		if long != nil {
			piece = append(long, piece...)
		}
		return bytes.TrimRight(piece, "\r\n"), nil
	}
}

func errTooLong() error {
	return &thread.Error{Code: thread.Limit, Op: "watch", Message: "an event is longer than any that a server sends"}
}

func (s *stream) hold(on bool) {
	if on {
		s.end(errHeld)
	}
}

func (s *stream) close() {
	s.end(&thread.Error{Code: thread.Aborted, Op: "watch", Message: "the watch was left"})
	s.work.Wait()
	_ = s.body.Close() // nothing of it is wanted any more
}
