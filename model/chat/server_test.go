package chat_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/chat"
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
		if err != nil || r.URL.Path != "/v1/chat/completions" || r.Method != http.MethodPost {
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

func (s *server) open(t *testing.T, change ...func(*chat.Options)) *chat.Model {
	t.Helper()
	o := chat.Options{Name: "house", Rules: rules(t), Key: "key-of-a-test", BaseURL: s.URL + "/v1", Client: s.Client()}
	for _, c := range change {
		c(&o)
	}
	m, err := chat.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// events writes a stream: each argument is an event's data.
func events(data ...string) reply {
	return reply{body: ": waiting\n\ndata: " + strings.Join(append(data, "[DONE]"), "\n\ndata: ") + "\n\n"}
}

func piece(delta string) string {
	return `{"id":"c1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}`
}

func closed(reason string) string {
	return `{"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

const counted = `{"id":"c1","choices":[],"usage":{"prompt_tokens":742,"completion_tokens":44,"total_tokens":786,"prompt_tokens_details":{"cached_tokens":700,"cache_write_tokens":30},"completion_tokens_details":{"reasoning_tokens":21},"cost":0.25}}`

func hello() reply {
	return events(piece(`{"role":"assistant","content":""}`), piece(`{"content":"hel"}`), piece(`{"content":"lo"}`), closed("stop"), counted)
}

// rules is a table in which the models of house are whatever they are.
func rules(t *testing.T) *model.Table {
	t.Helper()
	table, err := model.BuiltIn().Extend([]byte(`{"models": [
		{"model": "house/*", "family": "openai", "window": 32000, "maxOutput": 4000},
		{"model": "house/plain*", "family": "openai", "window": 32000, "maxOutput": 4000, "thinking": "none"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	return table
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
