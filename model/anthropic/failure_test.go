package anthropic_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/anthropic"
	"github.com/skeinhq/skein/thread"
)

func refusal(kind, message string) string {
	return `{"type":"error","error":{"type":"` + kind + `","message":"` + message + `"},"request_id":"req_1"}`
}

func TestRefusalsAreUnderstood(t *testing.T) {
	for _, c := range []struct {
		reply    reply
		code     thread.Code
		again    bool
		overflow bool
	}{
		{reply{status: 400, body: refusal("invalid_request_error", "messages: roles must alternate")}, thread.Provider, false, false},
		{reply{status: 400, body: refusal("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")}, thread.Limit, false, true},
		{reply{status: 400, body: refusal("invalid_request_error", "Your credit balance is too low")}, thread.Quota, false, false},
		{reply{status: 401, body: refusal("authentication_error", "invalid x-api-key")}, thread.Configuration, false, false},
		{reply{status: 402, body: refusal("billing_error", "pay")}, thread.Quota, false, false},
		{reply{status: 403, body: refusal("permission_error", "no")}, thread.Configuration, false, false},
		{reply{status: 404, body: refusal("not_found_error", "model: claude-x")}, thread.Configuration, false, false},
		{reply{status: 413, body: refusal("request_too_large", "too many bytes")}, thread.Limit, false, true},
		{reply{status: 429, body: refusal("rate_limit_error", "slower")}, thread.Quota, true, false},
		{reply{status: 500, body: refusal("api_error", "oops")}, thread.Provider, true, false},
		{reply{status: 502, body: "<html>bad gateway</html>"}, thread.Provider, true, false},
		{reply{status: 504, body: refusal("timeout_error", "late")}, thread.Timeout, true, false},
		{reply{status: 529, body: refusal("overloaded_error", "Overloaded")}, thread.Provider, true, false},
		{events(started, refusal("overloaded_error", "Overloaded")), thread.Provider, true, false},
		{events(started, refusal("rate_limit_error", "slower")), thread.Quota, true, false},
	} {
		s := serve(t, c.reply)
		_, _, err := ask(t.Context(), s.open(t), request("claude-opus-5-5"))
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
		s := serve(t, reply{status: 429, header: map[string]string{header: "17", "request-id": "req_9"}, body: refusal("rate_limit_error", "slower")})
		_, _, err := ask(t.Context(), s.open(t), request("claude-opus-5-5"))
		if f, _ := model.FailureOf(err); f.After != want || f.Request != "req_9" {
			t.Errorf("%s: %+v", header, f)
		}
	}
}

func TestAnAnswerThatBreaksOffIsNoAnswer(t *testing.T) {
	whole := hello().body
	for cut := len(whole) - 2; cut > 0; cut -= 97 {
		s := serve(t, reply{body: whole[:cut]})
		_, done, err := ask(t.Context(), s.open(t), request("claude-opus-5-5"))
		if f, _ := model.FailureOf(err); thread.CodeOf(err) != thread.Provider || !f.Again || done.Type == model.Done {
			t.Errorf("cut at %d: %+v, %v", cut, done, err)
		}
	}
}

func TestGarbageIsAResponseError(t *testing.T) {
	s := serve(t, events(started, `{"type":"content_block_start","index":}`))
	_, _, err := ask(t.Context(), s.open(t), request("claude-opus-5-5"))
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
	m, err := anthropic.New(anthropic.Options{Key: "key-of-a-test", BaseURL: "http://" + address})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = ask(t.Context(), m, request("claude-opus-5-5"))
	if thread.CodeOf(err) != thread.Provider || !strings.HasPrefix(err.Error(), "anthropic cannot be reached: ") {
		t.Errorf("got %v", err)
	}
}

// held answers with the first event and then nothing until the request ends.
func held(t *testing.T) *anthropic.Model {
	t.Helper()
	s := serve(t)
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		all := append([]string{started}, said("hello")...)
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
		for e, err := range m.Stream(ctx, request("claude-opus-5-5")) {
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
	for range held(t).Stream(t.Context(), request("claude-opus-5-5")) {
		break
	}
}

func TestAWrongBaseURLIsNotAWrongModel(t *testing.T) {
	for _, body := range []string{"404 page not found\n", "<html>away</html>", "", refusal("not_found_error", "Not Found")} {
		s := serve(t, reply{status: 404, body: body})
		_, _, err := ask(t.Context(), s.open(t), request("claude-opus-5-5"))
		f, _ := model.FailureOf(err)
		if f.Wrong != model.WrongAddress || !strings.Contains(err.Error(), "nothing answers at http://127.0.0.1") || !strings.Contains(err.Error(), "without /v1") {
			t.Errorf("%q: %v, %+v", body, err, f)
		}
	}
}

func TestTheVersionInTheBaseURLIsLeftOut(t *testing.T) {
	for _, tail := range []string{"", "/", "/v1", "/v1/"} {
		s := serve(t, hello())
		m := s.open(t, func(o *anthropic.Options) { o.BaseURL += tail })
		if _, done, err := ask(t.Context(), m, request("claude-opus-5-5")); err != nil || done.Type != model.Done {
			t.Errorf("with %q: %+v, %v", tail, done, err)
		}
	}
}
