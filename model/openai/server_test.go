package openai_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/openai"
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
		if err != nil || r.URL.Path != "/v1/responses" || r.Method != http.MethodPost {
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

func (s *server) open(t *testing.T, change ...func(*openai.Options)) *openai.Model {
	t.Helper()
	o := openai.Options{Key: "key-of-a-test", BaseURL: s.URL + "/v1", Client: s.Client()}
	for _, c := range change {
		c(&o)
	}
	m, err := openai.New(o)
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

const started = `{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","model":"gpt-6-sol","output":[]}}`

// closed is the last event: how it ended and what it took.
func closed(status, reason string) string {
	details := "null"
	if reason != "" {
		details = `{"reason":"` + reason + `"}`
	}
	return `{"type":"response.` + status + `","sequence_number":99,"response":{"id":"resp_1","object":"response","status":"` + status + `","incomplete_details":` + details +
		`,"error":null,"output":[],"usage":{"input_tokens":742,"input_tokens_details":{"cached_tokens":700,"cache_write_tokens":30},"output_tokens":44,"output_tokens_details":{"reasoning_tokens":21},"total_tokens":786}}}`
}

func said(index int, text string) []string {
	n := strconv.Itoa(index)
	return []string{
		`{"type":"response.output_item.added","output_index":` + n + `,"item":{"id":"msg_` + n + `","type":"message","status":"in_progress","role":"assistant","content":[]}}`,
		`{"type":"response.output_text.delta","item_id":"msg_` + n + `","output_index":` + n + `,"content_index":0,"delta":"` + text + `"}`,
		`{"type":"response.output_item.done","output_index":` + n + `,"item":{"id":"msg_` + n + `","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"` + text + `","annotations":[]}]}}`,
	}
}

func hello() reply {
	all := append([]string{started}, said(0, "hello")...)
	return events(append(all, closed("completed", ""))...)
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
