package modeltest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// Raw is an answer as its bytes: a stream or, with a Status, a JSON body.
type Raw struct {
	Status int
	Header map[string]string
	Body   string
	Stays  bool // after Body nothing comes, and the answer does not end
}

// TypedEvents is a stream of events, each given by its data, in which its type
// stands.
func TypedEvents(data ...string) Raw {
	var b strings.Builder
	for _, d := range data {
		_, rest, _ := strings.Cut(d, `"type":"`)
		name, _, _ := strings.Cut(rest, `"`)
		b.WriteString("event: " + name + "\ndata: " + d + "\n\n")
	}
	return Raw{Body: b.String()}
}

// RawServer gives each request the next of its answers, and keeps what it was
// sent.
type RawServer struct {
	URL string

	t    testing.TB
	path string

	mu      sync.Mutex
	answers []Raw
	bodies  []string
	headers []http.Header
}

// ServeRaw serves raw answers for one test to what is posted to a path. Another
// request than those, or one more, fails the test.
func ServeRaw(t testing.TB, path string, answers ...Raw) *RawServer {
	t.Helper()
	s := &RawServer{t: t, path: path, answers: answers}
	s.URL = StartHandler(t, s)
	return s
}

// ServeHTTP gives the next answer.
func (s *RawServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.URL.Path != s.path || r.Method != http.MethodPost {
		s.t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
	}
	a, ok := s.next(string(body), r.Header)
	if !ok {
		s.t.Error("one request more than there are answers")
		return
	}
	for k, v := range a.Header {
		w.Header().Set(k, v)
	}
	if a.Status != 0 {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(a.Status)
	} else {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	if _, err := io.WriteString(w, a.Body); err != nil {
		return // who asked has left
	}
	if a.Stays && http.NewResponseController(w).Flush() == nil {
		<-r.Context().Done()
	}
}

func (s *RawServer) next(body string, header http.Header) (a Raw, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bodies = append(s.bodies, body)
	s.headers = append(s.headers, header.Clone())
	if len(s.answers) == 0 {
		return Raw{}, false
	}
	a, s.answers = s.answers[0], s.answers[1:]
	return a, true
}

// Body is the body of the i-th request, from 0.
func (s *RawServer) Body(i int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bodies[i]
}

// Header is the header of the i-th request, from 0.
func (s *RawServer) Header(i int) http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.headers[i]
}

// Ask gives what a model streamed, as type(text) for each event, and how that
// ended.
func Ask(ctx context.Context, m model.Model, r *model.Request) (streamed string, done model.Event, err error) {
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

// Request is a small request of a model: of these messages or, without any, of a
// greeting.
func Request(name string, messages ...model.Message) *model.Request {
	if len(messages) == 0 {
		messages = []model.Message{User("ana: hello")}
	}
	return &model.Request{Model: name, System: []string{"You are north."}, Messages: messages, MaxOutput: 1000, Number: 1}
}

// User is a user's message of these texts.
func User(texts ...string) model.Message {
	m := model.Message{Role: thread.User}
	for _, s := range texts {
		m.Parts = append(m.Parts, thread.Text(s))
	}
	return m
}

// WholeRequest is a request of a model with one of everything: an image and a
// file, texts with characters that are escaped somewhere, thinking, calls, results
// and one that is an error.
func WholeRequest(name string, thoughts ...thread.Part) *model.Request {
	image := thread.Part{Type: thread.BlobPart, Name: "plan.png", Hash: "1", MediaType: "image/png", Size: 3}
	file := thread.Part{Type: thread.BlobPart, Hash: "2", MediaType: "application/pdf", Size: 3}
	result := thread.Result("call_1", "zoom", "ana: <hello>", false)
	result.Parts = append(result.Parts, image)
	answer := append(append([]thread.Part(nil), thoughts...),
		thread.Text("I look."), thread.Call("call_1", "zoom", []byte(`{"z":1,"a":2}`)), thread.Call("call_2", "zoom", []byte(`{}`)))
	return &model.Request{
		Model: name, MaxOutput: 5000, Thinking: "high", Number: 3, CacheKey: "skein-1",
		Tools:  []model.Tool{{Name: "zoom", Description: "Opens a line.", Schema: json.RawMessage(WholeSchema)}},
		System: []string{"You are north."},
		Messages: []model.Message{
			{Role: thread.User, Parts: []thread.Part{thread.Text("ana: look"), image, file}},
			User("ben: yes, look"),
			{Role: thread.Assistant, Parts: answer},
			{Role: thread.Tool, Parts: []thread.Part{result, thread.Result("call_2", "zoom", "no such line", true)}},
			User("ana: and?"),
		},
		Blob: func(_ context.Context, hash string) ([]byte, error) {
			return map[string][]byte{"1": {1, 2, 3}, "2": []byte("%PD")}[hash], nil
		},
	}
}

// WholeSchema is the schema of the tool of a [WholeRequest]. Its properties do not
// stand in the order of the alphabet, and must stay as they stand.
const WholeSchema = `{"type":"object","properties":{"z":{"type":"integer"},"a":{"type":"integer"}},"required":["z"]}`
