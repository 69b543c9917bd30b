package echo_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/echo"
	"github.com/skeinhq/skein/thread"
)

func request(texts ...string) *model.Request {
	r := &model.Request{Model: "echo", Number: 1}
	for _, s := range texts {
		r.Messages = append(r.Messages, model.Message{Role: thread.User, Parts: []thread.Part{thread.Text(s)}})
	}
	return r
}

func TestEchoAnswersTheNewestUserMessageNotAContext(t *testing.T) {
	var streamed, whole string
	for e, err := range (echo.Model{}).Stream(context.Background(), request("ana: one", "ana: two words", "<context name=\"today\">\nx\n</context>")) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == model.Done {
			whole = e.Parts[0].Text
			continue
		}
		streamed += e.Text
	}
	if want := "You said: ana: two words"; streamed != want || whole != want {
		t.Fatalf("streamed %q, whole %q, want %q", streamed, whole, want)
	}
}

func TestEchoKeepsItsPaceAndStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		start := time.Now()
		pieces := 0
		var last error
		for _, err := range (echo.Model{Pace: 1}).Stream(ctx, request("ana: a b c d")) {
			if last = err; err != nil {
				break
			}
			if pieces++; pieces == 3 {
				cancel()
			}
		}
		if thread.CodeOf(last) != thread.Aborted {
			t.Fatalf("stopped with %v", last)
		}
		if took := time.Since(start); took < 3*time.Second || took > 7*time.Second {
			t.Fatalf("three words at one token a second took %v", took)
		}
	})
}
