package chat_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/chat"
	"github.com/skeinhq/skein/model/modeltest"
	"github.com/skeinhq/skein/thread"
)

// Whatever a server sends, the answer ends with one Done or one error of ours,
// and what it holds can be stored.
func FuzzAnswer(f *testing.F) {
	f.Add(hello().Body)
	f.Add(events(piece(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"zoom","arguments":"{"}}]}`), piece(`{"reasoning_details":[{"type":"x","index":1}]}`), closed("length")).Body)
	f.Add("data: {\"error\":{\"code\":429}}\n\n")
	f.Add("data: {\"choices\":[{\"delta\":{\"content\":[{\"thinking\":\"a\"}]}}]}\r\n\r\ndata: [DONE]")
	var body string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(body)) }))
	f.Cleanup(s.Close)
	m, err := chat.New(chat.Options{BaseURL: s.URL, Client: s.Client()})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, sent string) {
		body = sent
		ended := 0
		for e, err := range m.Stream(t.Context(), modeltest.Request("gpt-4.1")) {
			if ended > 0 {
				t.Fatalf("something came after the end: %+v, %v", e, err)
			}
			if err != nil {
				if thread.CodeOf(err) == "" {
					t.Fatalf("the error is a %T: %v", err, err)
				}
				ended++
			}
			if e.Type == model.Done {
				ended++
				if _, err := thread.Encode(e.Parts); err != nil {
					t.Fatalf("the answer cannot be stored: %v", err)
				}
			}
		}
		if ended != 1 {
			t.Fatalf("it ended %d times", ended)
		}
	})
}
