package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxMessage is the most bytes of one message of a server.
const maxMessage = 16 << 20

// maxAsked is how many requests of a server may wait for our answers.
const maxAsked = 64

var (
	errTooLarge = fmt.Errorf("it sent a message of more than %d MiB", maxMessage>>20)
	errTooMany  = errors.New("it asks without reading the answers")
)

// stdio reaches a server by its command: one message a line, in either direction.
type stdio struct {
	server Server
	hear   func(line string)       // what it prints that is no message
	run    atomic.Pointer[process] // nil until Connect
}

// Connect starts the command.
func (t *stdio) Connect(context.Context) (sdk.Connection, error) {
	run, err := launch(t.server, t.hear)
	if err != nil {
		return nil, err
	}
	t.run.Store(run)
	return &lines{run: run, read: bufio.NewReaderSize(run.out, 64<<10), hear: t.hear, writing: make(chan struct{}, 1)}, nil
}

// cut breaks off whatever waits for the server.
func (t *stdio) cut() {
	if run := t.run.Load(); run != nil {
		closeAll([]*os.File{run.in, run.out})
	}
}

// end stops the command, and says how it ended.
func (t *stdio) end() string {
	if run := t.run.Load(); run != nil {
		return run.stop()
	}
	return ""
}

// lines are a command's messages.
type lines struct {
	run     *process
	read    *bufio.Reader
	hear    func(string)
	writing chan struct{} // holds who writes
	asked   atomic.Int64  // requests of the server that have no answer yet
}

// Read gives the next message. Its end is that of both directions: a Write must
// not wait for a server that is no longer heard.
func (l *lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := l.next(ctx)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return m, nil
}

// next reads up to the next message. A line that is none is heard and passed over:
// servers print greetings and logs where only messages belong.
func (l *lines) next(ctx context.Context) (jsonrpc.Message, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		line, err := l.line()
		if err != nil {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		m, err := jsonrpc.DecodeMessage(line)
		if err != nil {
			l.hear("on stdout, and no message: " + string(line[:min(len(line), maxLine)]))
			continue
		}
		if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() && l.asked.Add(1) > maxAsked {
			return nil, errTooMany
		}
		return m, nil
	}
}

// line reads a line of at most maxMessage bytes.
func (l *lines) line() ([]byte, error) {
	var whole []byte
	for {
		part, err := l.read.ReadSlice('\n')
		if err == nil && whole == nil {
			return part, nil // decoded before the next read
		}
		if len(whole)+len(part) > maxMessage {
			return nil, errTooLarge
		}
		whole = append(whole, part...)
		switch {
		case err == nil:
			return whole, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case len(bytes.TrimSpace(whole)) > 0 && errors.Is(err, io.EOF):
			return whole, nil
		default:
			return nil, io.EOF
		}
	}
}

// Write sends a message. One that the server does not take within ctx leaves a
// broken stream behind, so it ends the connection.
func (l *lines) Write(ctx context.Context, m jsonrpc.Message) error {
	if _, ok := m.(*jsonrpc.Response); ok {
		defer l.asked.Add(-1)
	}
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	select {
	case l.writing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-l.writing }()
	late := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(late)
		_ = l.run.in.SetWriteDeadline(time.Unix(1, 0))
	})
	_, err = l.run.in.Write(append(data, '\n'))
	if !stop() {
		<-late
		_ = l.run.in.SetWriteDeadline(time.Time{}) // for the next message; fails on a closed pipe alone
	}
	if err != nil {
		return errors.Join(err, l.Close())
	}
	return nil
}

// Close ends both directions; a Read or Write that waits ends with it.
func (l *lines) Close() error {
	closeAll([]*os.File{l.run.in, l.run.out})
	return nil
}

// SessionID is none: the process is the session.
func (l *lines) SessionID() string { return "" }
