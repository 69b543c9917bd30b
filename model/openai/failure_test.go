package openai_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/openai"
	"github.com/skeinhq/skein/thread"
)

func refusal(kind, code, message string) string {
	return `{"error":{"message":"` + message + `","type":"` + kind + `","param":null,"code":"` + code + `"}}`
}

func TestRefusalsAreUnderstood(t *testing.T) {
	for _, c := range []struct {
		reply    reply
		code     thread.Code
		again    bool
		overflow bool
	}{
		{reply{status: 400, body: refusal("invalid_request_error", "invalid_value", "no")}, thread.Provider, false, false},
		{reply{status: 400, body: refusal("invalid_request_error", "context_length_exceeded", "Your input exceeds the context window of this model.")}, thread.Limit, false, true},
		{reply{status: 401, body: refusal("invalid_request_error", "invalid_api_key", "Incorrect API key provided")}, thread.Configuration, false, false},
		{reply{status: 403, body: refusal("invalid_request_error", "", "no")}, thread.Configuration, false, false},
		{reply{status: 404, body: refusal("invalid_request_error", "model_not_found", "no such model")}, thread.Configuration, false, false},
		{reply{status: 413, body: "too large"}, thread.Limit, false, true},
		{reply{status: 429, body: refusal("requests", "rate_limit_exceeded", "slower")}, thread.Quota, true, false},
		{reply{status: 429, body: refusal("insufficient_quota", "insufficient_quota", "You exceeded your current quota")}, thread.Quota, false, false},
		{reply{status: 500, body: refusal("server_error", "", "oops")}, thread.Provider, true, false},
		{reply{status: 503, body: "<html>away</html>"}, thread.Provider, true, false},
		{events(started, `{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"oops"}}}`), thread.Provider, true, false},
		{events(started, `{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"slower"}}}`), thread.Quota, true, false},
		{events(started, `{"type":"error","code":"context_length_exceeded","message":"too long","param":null}`), thread.Limit, false, true},
		{events(started, `{"type":"error","error":{"type":"tokens","code":"rate_limit_exceeded","message":"slower"}}`), thread.Quota, true, false},
	} {
		s := serve(t, c.reply)
		_, _, err := ask(t.Context(), s.open(t), request("gpt-6-sol"))
		f, ok := model.FailureOf(err)
		if thread.CodeOf(err) != c.code || !ok || f.Again != c.again || f.Overflow != c.overflow || f.Status != c.reply.status {
			t.Errorf("%+v:\ngot %q %+v, want code %s, again %v, overflow %v", c.reply, err, f, c.code, c.again, c.overflow)
		}
		if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "key-of-a-test") {
			t.Errorf("the error is not fit to be shown: %q", err)
		}
	}
}

func TestTheProvidersWaitIsKept(t *testing.T) {
	for header, want := range map[string]time.Duration{"retry-after": 17 * time.Second, "retry-after-ms": 17 * time.Millisecond} {
		s := serve(t, reply{status: 429, header: map[string]string{header: "17", "x-request-id": "req_9"}, body: refusal("requests", "rate_limit_exceeded", "slower")})
		_, _, err := ask(t.Context(), s.open(t), request("gpt-6-sol"))
		if f, _ := model.FailureOf(err); f.After != want || f.Request != "req_9" {
			t.Errorf("%s: %+v", header, f)
		}
	}
}

func TestAnAnswerThatBreaksOffIsNoAnswer(t *testing.T) {
	whole := hello().body
	for cut := len(whole) - 2; cut > 0; cut -= 131 {
		s := serve(t, reply{body: whole[:cut]})
		_, done, err := ask(t.Context(), s.open(t), request("gpt-6-sol"))
		if f, _ := model.FailureOf(err); thread.CodeOf(err) != thread.Provider || !f.Again || done.Type == model.Done {
			t.Errorf("cut at %d: %+v, %v", cut, done, err)
		}
	}
}

func TestGarbageIsAResponseError(t *testing.T) {
	s := serve(t, events(started, `{"type":"response.output_text.delta","delta":}`))
	_, _, err := ask(t.Context(), s.open(t), request("gpt-6-sol"))
	if thread.CodeOf(err) != thread.Response {
		t.Errorf("got %v", err)
	}
}

func TestNoNetworkIsSaid(t *testing.T) {
	refusing, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := refusing.Addr().String()
	refusing.Close()
	m, err := openai.New(openai.Options{Key: "key-of-a-test", BaseURL: "http://" + address})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = ask(t.Context(), m, request("gpt-6-sol"))
	if thread.CodeOf(err) != thread.Provider || !strings.HasPrefix(err.Error(), "openai cannot be reached: ") {
		t.Errorf("got %v", err)
	}
}

// held answers with the first event and then nothing until the request ends.
func held(t *testing.T) *openai.Model {
	t.Helper()
	s := serve(t)
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		all := append([]string{started}, said(0, "hello")...)
		w.Write([]byte(events(all...).body))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	return s.open(t)
}

func TestStoppingEndsTheAnswer(t *testing.T) {
	m := held(t)
	for end, want := range map[string]thread.Code{"cancel": thread.Aborted, "deadline": thread.Timeout} {
		ctx, cancel := context.WithCancel(t.Context())
		if end == "deadline" {
			ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
		}
		var got error
		for e, err := range m.Stream(ctx, request("gpt-6-sol")) {
			if got = err; e.Type == model.TextDelta && end == "cancel" {
				cancel()
			}
		}
		cancel()
		if thread.CodeOf(got) != want {
			t.Errorf("%s: got %v", end, got)
		}
	}
}

func TestLeavingTheLoopEndsTheRequest(t *testing.T) {
	for range held(t).Stream(t.Context(), request("gpt-6-sol")) {
		break
	}
}

func TestAWrongBaseURLIsNotAWrongModel(t *testing.T) {
	for _, body := range []string{"404 page not found\n", "<html>away</html>", "", refusal("invalid_request_error", "", "Invalid URL (POST /responses)")} {
		s := serve(t, reply{status: 404, body: body})
		_, _, err := ask(t.Context(), s.open(t), request("gpt-6-sol"))
		f, _ := model.FailureOf(err)
		if f.Wrong != model.WrongAddress || !strings.Contains(err.Error(), "nothing answers at http://127.0.0.1") || !strings.Contains(err.Error(), "with /v1") {
			t.Errorf("%q: %v, %+v", body, err, f)
		}
	}
}
