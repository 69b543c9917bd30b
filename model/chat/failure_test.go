package chat_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/chat"
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
		{reply{status: 400, body: refusal("invalid_request_error", "context_length_exceeded", "maximum context length is 8192 tokens")}, thread.Limit, false, true},
		{reply{status: 400, body: `{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","code":400}`}, thread.Limit, false, true},
		{reply{status: 400, body: `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}}`}, thread.Limit, false, true},
		{reply{status: 401, body: `{"detail":"Unauthorized"}`}, thread.Configuration, false, false},
		{reply{status: 402, body: `{"error":{"code":402,"message":"Insufficient credits"}}`}, thread.Quota, false, false},
		{reply{status: 404, body: `{"error":"model \"m\" not found, try pulling it first"}`}, thread.Configuration, false, false},
		{reply{status: 422, body: `{"detail":[{"loc":["body"],"msg":"no"}]}`}, thread.Provider, false, false},
		{reply{status: 429, body: `[{"error":{"code":429,"message":"slower","status":"RESOURCE_EXHAUSTED"}}]`}, thread.Quota, true, false},
		{reply{status: 503, body: "<html>away</html>"}, thread.Provider, true, false},
		{events(piece(`{"content":"h"}`), `{"error":{"code":502,"message":"upstream"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`), thread.Provider, true, false},
		{events(piece(`{"content":"h"}`), `{"error":{"code":429,"message":"slower"}}`), thread.Quota, true, false},
		{events(piece(`{"content":"h"}`), closed("error")), thread.Provider, true, false},
	} {
		s := serve(t, c.reply)
		_, _, err := ask(t.Context(), s.open(t), request("house/m"))
		f, ok := model.FailureOf(err)
		if thread.CodeOf(err) != c.code || !ok || f.Again != c.again || f.Overflow != c.overflow {
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
		_, _, err := ask(t.Context(), s.open(t), request("house/m"))
		if f, _ := model.FailureOf(err); f.After != want || f.Request != "req_9" {
			t.Errorf("%s: %+v", header, f)
		}
	}
}

func TestAnAnswerThatBreaksOffIsNoAnswer(t *testing.T) {
	whole := hello().body
	whole = whole[:strings.Index(whole, "stop")]
	for cut := len(whole); cut > 0; cut -= 7 {
		s := serve(t, reply{body: whole[:cut]})
		_, done, err := ask(t.Context(), s.open(t), request("house/m"))
		if f, _ := model.FailureOf(err); thread.CodeOf(err) != thread.Provider || !f.Again || done.Type == model.Done {
			t.Errorf("cut at %d: %+v, %v", cut, done, err)
		}
	}
}

func TestGarbageIsAResponseError(t *testing.T) {
	s := serve(t, events(`{"choices":}`))
	_, _, err := ask(t.Context(), s.open(t), request("house/m"))
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
	m, err := chat.New(chat.Options{Name: "house", Rules: rules(t), Key: "key-of-a-test", BaseURL: "http://" + address})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = ask(t.Context(), m, request("house/m"))
	if thread.CodeOf(err) != thread.Provider || !strings.HasPrefix(err.Error(), "house cannot be reached: ") {
		t.Errorf("got %v", err)
	}
}

// held answers with the first event and then nothing until the request ends.
func held(t *testing.T) *chat.Model {
	t.Helper()
	s := serve(t)
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: "+piece(`{"content":"hello"}`)+"\n\n")
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
		for e, err := range m.Stream(ctx, request("house/m")) {
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
	for range held(t).Stream(t.Context(), request("house/m")) {
		break
	}
}

func TestAWrongBaseURLIsNotAWrongModel(t *testing.T) {
	for _, body := range []string{"404 page not found\n", "<html>away</html>", "", `{"detail":"Not Found"}`} {
		s := serve(t, reply{status: 404, body: body})
		_, _, err := ask(t.Context(), s.open(t), request("house/m"))
		f, _ := model.FailureOf(err)
		if f.Wrong != model.WrongAddress || !strings.Contains(err.Error(), "nothing answers at http://127.0.0.1") || !strings.Contains(err.Error(), "/v1") {
			t.Errorf("%q: %v, %+v", body, err, f)
		}
	}
}
