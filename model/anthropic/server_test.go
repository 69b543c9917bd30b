package anthropic_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/anthropic"
	"github.com/skeinhq/skein/thread"
)

// server answers each request with the next of its replies and keeps what it
// was sent.
type server struct {
	*httptest.Server
	mu      sync.Mutex
	replies []reply
	bodies  []string
	headers []http.Header
}

// reply is one answer: events of a stream, or a status with a body.
type reply struct {
	status int
	header map[string]string
	body   string
}

func serve(t *testing.T, replies ...reply) *server {
	t.Helper()
	s := &server{replies: replies}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/messages" || r.Method != http.MethodPost {
			t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.bodies = append(s.bodies, string(body))
		s.headers = append(s.headers, r.Header.Clone())
		if len(s.replies) == 0 {
			t.Error("one request more than there are replies")
			return
		}
		next := s.replies[0]
		s.replies = s.replies[1:]
		for k, v := range next.header {
			w.Header().Set(k, v)
		}
		if next.status != 0 {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(next.status)
		} else {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		io.WriteString(w, next.body)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) open(t *testing.T, change ...func(*anthropic.Options)) *anthropic.Model {
	t.Helper()
	o := anthropic.Options{Key: "key-of-a-test", BaseURL: s.URL, Client: s.Client()}
	for _, c := range change {
		c(&o)
	}
	m, err := anthropic.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// events writes a stream: each argument is an event's data, its type stands in
// it.
func events(data ...string) reply {
	var b strings.Builder
	for _, d := range data {
		_, rest, _ := strings.Cut(d, `"type":"`)
		name, _, _ := strings.Cut(rest, `"`)
		b.WriteString("event: " + name + "\ndata: " + d + "\n\n")
	}
	return reply{body: b.String()}
}

const (
	started = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-5-5","content":[],"stop_reason":null,"usage":{"input_tokens":12,"cache_creation_input_tokens":30,"cache_read_input_tokens":700,"cache_creation":{"ephemeral_5m_input_tokens":30,"ephemeral_1h_input_tokens":0},"output_tokens":1}}}`
	stopped = `{"type":"message_stop"}`
)

func ended(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + reason + `","stop_sequence":null,"stop_details":null},"usage":{"input_tokens":12,"cache_creation_input_tokens":30,"cache_read_input_tokens":700,"output_tokens":44,"output_tokens_details":{"thinking_tokens":21}}}`
}

func said(text string) []string {
	return []string{
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + text + `"}}`,
		`{"type":"content_block_stop","index":0}`,
	}
}

func hello() reply {
	all := append([]string{started}, said("hello")...)
	return events(append(all, ended("end_turn"), stopped)...)
}

// ask gives what a model streamed and how that ended.
func ask(ctx context.Context, m model.Model, r *model.Request) (streamed string, done model.Event, err error) {
	for e, err := range m.Stream(ctx, r) {
		if err != nil {
			return streamed, e, err
		}
		if e.Type == model.Done {
			done = e
			continue
		}
		streamed += string(e.Type) + "(" + e.Text + ")"
	}
	return streamed, done, nil
}

func request(name string, messages ...model.Message) *model.Request {
	if len(messages) == 0 {
		messages = []model.Message{user("ana: hello")}
	}
	return &model.Request{Model: name, System: []string{"You are north."}, Messages: messages, MaxOutput: 1000, Number: 1}
}

func user(texts ...string) model.Message {
	m := model.Message{Role: thread.User}
	for _, s := range texts {
		m.Parts = append(m.Parts, thread.Text(s))
	}
	return m
}
