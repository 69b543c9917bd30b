package modeltest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// Caps says what an adapter, and the model it is tried with, can do. What is
// not there is not tried.
type Caps struct {
	Model   string // the model that is asked
	Unknown string // a model that the server does not have, and the adapter lets through

	Key      bool // the server wants a key
	Thinking bool // what is thought is told, and goes back as it came
	Signed   bool // what was altered of it is refused
	Redacted bool // what is thought may be hidden
	Effort   bool // it is asked to think by levels
	Marks    bool // it takes cache marks
	CacheKey bool // it takes a key of the cache
	Cached   bool // its usage tells what was read from the cache
	Refusal  bool // a refusal is told as one
	Images   bool
	Files    bool
}

// Opener opens the adapter for a server at that URL, with [DefaultKey], and
// without anything around it that asks again: a failure is to be seen.
type Opener func(t *testing.T, serverURL string) model.Model

// Run runs the suite. An adapter's test calls it:
//
//	modeltest.Run(t, func(t *testing.T, url string) model.Model {
//		m, err := anthropic.New(anthropic.Options{Key: modeltest.DefaultKey, BaseURL: url})
//		…
//		return m
//	}, modeltest.Caps{Model: "claude-opus-5-5", …})
func Run(t *testing.T, open Opener, caps Caps) {
	for _, group := range [][]trial{texts, thoughts, calls, media, settings, failures, endings, steady} {
		for _, c := range group {
			t.Run(c.name, func(t *testing.T) {
				if c.needs != nil && !c.needs(caps) {
					t.Skip("the adapter has no such thing")
				}
				c.run(newSuite(t, open, caps, Config{}))
			})
		}
	}
}

// trial is one test of the suite.
type trial struct {
	name  string
	needs func(Caps) bool
	run   func(s *suite)
}

// suite is one test's server and model, with steps that fail the test.
type suite struct {
	*testing.T
	caps   Caps
	server *Server
	model  model.Model
	open   Opener
	blobs  map[string][]byte
}

func newSuite(t *testing.T, open Opener, caps Caps, c Config) *suite {
	server, url := Start(t, c)
	return &suite{T: t, caps: caps, server: server, model: open(t, url), open: open, blobs: map[string][]byte{}}
}

// request is a whole and ordinary request that ends with the given messages.
func (s *suite) request(messages ...model.Message) *model.Request {
	return &model.Request{
		Model:     s.caps.Model,
		Tools:     []model.Tool{zoomTool, noteTool},
		System:    []string{"You are north, who answers in tests."},
		Messages:  messages,
		MaxOutput: 2000,
		Number:    1,
		Blob:      s.blob,
	}
}

var (
	zoomTool = model.Tool{Name: "zoom", Description: "Opens a line.", Schema: []byte(`{"type":"object","properties":{"id":{"type":"integer"},"n":{"type":"integer"}},"required":["id","n"]}`)}
	noteTool = model.Tool{Name: "note", Description: "Keeps a note & says so <once>.", Schema: []byte(`{"type":"object","properties":{"text":{"type":"string"}}}`)}
)

func (s *suite) blob(_ context.Context, hash string) ([]byte, error) {
	data, ok := s.blobs[hash]
	if !ok {
		return nil, &thread.Error{Code: thread.NotFound, Op: "blob", Message: "no such blob"}
	}
	return data, nil
}

// keep puts bytes where a request finds them.
func (s *suite) keep(mediaType, name string, data []byte) thread.Part {
	h := sha256.Sum256(data)
	hash := hex.EncodeToString(h[:])
	s.blobs[hash] = data
	return thread.Part{Type: thread.BlobPart, Hash: hash, MediaType: mediaType, Name: name, Size: int64(len(data))}
}

func say(text string) model.Message {
	return model.Message{Role: thread.User, Parts: []thread.Part{thread.Text(text)}}
}

func saidBack(parts []thread.Part) model.Message {
	return model.Message{Role: thread.Assistant, Parts: parts}
}

func results(parts ...thread.Part) model.Message {
	return model.Message{Role: thread.Tool, Parts: parts}
}

// heard is what came of one request.
type heard struct {
	events []model.Event // without the last, where that is Done
	done   *model.Event
	err    error
}

// text joins the events of a type.
func (h heard) text(t model.EventType) string {
	var b strings.Builder
	for _, e := range h.events {
		if e.Type == t {
			b.WriteString(e.Text)
		}
	}
	return b.String()
}

// listen asks and holds the rules that hold for every answer: it ends with one
// Done or one error, nothing follows, and what came in pieces is what Done has.
func (s *suite) listen(ctx context.Context, m model.Model, r *model.Request) heard {
	s.Helper()
	var h heard
	for e, err := range m.Stream(ctx, r) {
		switch {
		case h.done != nil || h.err != nil:
			s.Fatalf("something came after the end: %+v, %v", e, err)
		case err != nil:
			h.err = err
		case e.Type == model.Done:
			h.done = &e
		default:
			h.events = append(h.events, e)
		}
	}
	if h.done == nil && h.err == nil {
		s.Fatalf("the answer ended without Done and without an error, after %+v", h.events)
	}
	return h
}

// ask asks, expects an answer, and compares its usage with the bill.
func (s *suite) ask(r *model.Request) heard {
	s.Helper()
	h := s.listen(s.Context(), s.model, r)
	if h.err != nil {
		s.Fatalf("%v\nrequest: %s", h.err, s.last().Body)
	}
	if got, want := h.text(model.TextDelta), textOf(h.done.Parts); got != want {
		s.Errorf("the pieces say %q, the whole %q", got, want)
	}
	bill := s.last().Usage
	if got := h.done.Usage; got.Input != bill.Input || got.CacheRead != bill.CacheRead || got.CacheWrite != bill.CacheWrite || got.Output != bill.Output {
		s.Errorf("the usage is %+v, billed was %+v", got, bill)
	}
	return h
}

func textOf(parts []thread.Part) string {
	var b strings.Builder
	for _, p := range parts {
		if p.Type == thread.TextPart {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// last is the newest exchange.
func (s *suite) last() Exchange {
	s.Helper()
	all := s.server.Exchanges()
	if len(all) == 0 {
		s.Fatal("the server had no request")
	}
	return all[len(all)-1]
}

// refused asks, expects an error, and holds what holds for each.
func (s *suite) refused(ctx context.Context, m model.Model, r *model.Request) (*thread.Error, heard) {
	s.Helper()
	h := s.listen(ctx, m, r)
	if h.err == nil {
		s.Fatalf("an answer came: %+v", h.done)
	}
	var e *thread.Error
	if !errors.As(h.err, &e) {
		s.Fatalf("the error is a %T, not a *thread.Error: %v", h.err, h.err)
	}
	if e.Message == "" || strings.Contains(e.Message, "\n") || e.Op == "" {
		s.Errorf("the error has no sentence of one line, or no operation: %#v", e)
	}
	if strings.Contains(e.Error(), DefaultKey) {
		s.Errorf("the error shows the key: %v", e)
	}
	return e, h
}

// soon waits until a condition holds.
func (s *suite) soon(what string, holds func() bool) {
	s.Helper()
	for range 500 {
		if holds() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.Fatal(what)
}

// same says how two JSON texts differ, but for spaces and escapes.
func same(got, want []byte) string {
	if bytes.Equal(canonical(got), canonical(want)) {
		return ""
	}
	return fmt.Sprintf("got %s, want %s", got, want)
}
