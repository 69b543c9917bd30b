package main

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	v1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// receiver takes traces as a collector does.
type receiver struct {
	mu      sync.Mutex
	spans   []*v1.Span
	service string
	status  int
	asked   int
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	if r.status != 0 {
		w.WriteHeader(r.status)
		return
	}
	body := io.Reader(q.Body)
	if q.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = unzipped
	}
	data, err := io.ReadAll(body)
	var sent collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(data, &sent)
	}
	if err != nil || q.URL.Path != "/v1/traces" {
		http.Error(w, "no traces", http.StatusBadRequest)
		return
	}
	for _, resource := range sent.ResourceSpans {
		for _, a := range resource.Resource.Attributes {
			if a.Key == "service.name" {
				r.service = a.Value.GetStringValue()
			}
		}
		for _, scope := range resource.ScopeSpans {
			r.spans = append(r.spans, scope.Spans...)
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// collect starts a receiver that the environment names.
func collect(t *testing.T, status int) *receiver {
	t.Helper()
	r := &receiver{status: status}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	return r
}

func TestATalkSendsItsTraces(t *testing.T) {
	r := collect(t, 0)
	code, out, errs := sit(t, "hello, SECRET\n", "chat", "launch")
	if code != 0 || !strings.Contains(out, "You said: ana: hello, SECRET") || errs != "" {
		t.Fatalf("%d: %s%s", code, out, errs)
	}
	if r.service != "skein" {
		t.Errorf("the service is %q", r.service)
	}
	byName := map[string]*v1.Span{}
	for _, s := range r.spans {
		byName[s.Name] = s
		if strings.Contains(s.String(), "SECRET") {
			t.Errorf("a span holds what was said: %v", s)
		}
	}
	turn, step, call := byName["invoke_agent north"], byName["step"], byName["chat echo"]
	if turn == nil || step == nil || call == nil {
		t.Fatalf("received %v", r.spans)
	}
	if len(turn.ParentSpanId) != 0 || string(step.ParentSpanId) != string(turn.SpanId) || string(call.ParentSpanId) != string(step.SpanId) {
		t.Errorf("they do not stand under one another: %v", r.spans)
	}
	if call.Kind != v1.Span_SPAN_KIND_CLIENT || call.StartTimeUnixNano > call.EndTimeUnixNano {
		t.Errorf("the call: %v", call)
	}
	found := map[string]string{}
	for _, a := range turn.Attributes {
		found[a.Key] = a.Value.GetStringValue()
	}
	if found["gen_ai.conversation.id"] != "launch" || found["gen_ai.operation.name"] != "invoke_agent" {
		t.Errorf("the turn: %v", turn)
	}
}

func TestTracesThatCannotBeSentAreToldOnceAndStopNothing(t *testing.T) {
	r := collect(t, http.StatusForbidden)
	code, out, errs := sit(t, "hello\nagain\n", "chat", "launch")
	if code != 0 || strings.Count(out, "You said") != 2 || r.asked == 0 {
		t.Errorf("%d, asked %d times: %s", code, r.asked, out)
	}
	if strings.Count(errs, "\n") != 1 || !strings.Contains(errs, "traces could not be sent") {
		t.Errorf("told: %s", errs)
	}
}

func TestTracesAreOffUnlessTheEnvironmentAsks(t *testing.T) {
	for name, set := range map[string]map[string]string{
		"nothing is set":       {"OTEL_EXPORTER_OTLP_ENDPOINT": ""},
		"none is asked for":    {"OTEL_TRACES_EXPORTER": "none"},
		"all of it is off":     {"OTEL_SDK_DISABLED": "true"},
		"another is asked for": {"OTEL_TRACES_EXPORTER": "jaeger"},
	} {
		t.Run(name, func(t *testing.T) {
			r := collect(t, 0)
			for key, value := range set {
				t.Setenv(key, value)
			}
			code, out, errs := sit(t, "hello\n", "chat", "launch")
			if code != 0 || !strings.Contains(out, "You said") || r.asked != 0 {
				t.Errorf("%d, asked %d times: %s", code, r.asked, out)
			}
			if told := strings.Contains(errs, "jaeger"); told != (set["OTEL_TRACES_EXPORTER"] == "jaeger") {
				t.Errorf("told: %s", errs)
			}
		})
	}
}
