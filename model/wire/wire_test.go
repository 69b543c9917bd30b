package wire_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/anthropic"
	"github.com/skeinhq/skein/model/chat"
	"github.com/skeinhq/skein/model/openai"
	"github.com/skeinhq/skein/model/wire"
	"github.com/skeinhq/skein/thread"
)

const (
	hiddenKey    = "sk-HIDDEN-key/of+a=test"
	hiddenHeader = "HIDDEN-of-a-header"
)

// adapters open a model at an address, with a key and a header that are secret.
var adapters = map[string]func(address string) (model.Model, error){
	"anthropic": func(address string) (model.Model, error) {
		return anthropic.New(anthropic.Options{Key: hiddenKey, BaseURL: address, Headers: secretHeader()})
	},
	"openai": func(address string) (model.Model, error) {
		return openai.New(openai.Options{Key: hiddenKey, BaseURL: address, Headers: secretHeader()})
	},
	"chat": func(address string) (model.Model, error) {
		return chat.New(chat.Options{Key: hiddenKey, BaseURL: address, Headers: secretHeader()})
	},
}

func secretHeader() http.Header { return http.Header{"X-Team": {"Token " + hiddenHeader}} }

// each runs a test for each adapter, against a server that answers with serve.
func each(t *testing.T, serve func(w http.ResponseWriter, adapter string), test func(t *testing.T, m model.Model, r *model.Request)) {
	t.Helper()
	for name, open := range adapters {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if _, err := io.Copy(io.Discard, r.Body); err != nil {
					t.Error(err)
				}
				serve(w, name)
			}))
			t.Cleanup(s.Close)
			t.Cleanup(s.CloseClientConnections)
			m, err := open(s.URL)
			if err != nil {
				t.Fatal(err)
			}
			test(t, m, asked(name))
		})
	}
}

func asked(adapter string) *model.Request {
	name := "gpt-6-sol"
	if adapter == "anthropic" {
		name = "claude-opus-5-5"
	}
	return &model.Request{Model: name, Number: 1, Messages: []model.Message{{Role: thread.User, Parts: []thread.Part{thread.Text("hi")}}}}
}

// failure asks once and gives the error.
func failure(ctx context.Context, m model.Model, r *model.Request) error {
	for _, err := range m.Stream(ctx, r) {
		if err != nil {
			return err
		}
	}
	return nil
}

// shown is everything that an error may ever show.
func shown(err error) string {
	var b strings.Builder
	for ; err != nil; err = errors.Unwrap(err) {
		fmt.Fprintf(&b, "%v %+v %#v\n", err, err, err)
		if e := (*thread.Error)(nil); errors.As(err, &e) {
			fmt.Fprintf(&b, "%q %q %+v\n", e.Message, e.Hint, e.Details)
		}
	}
	return b.String()
}

func TestARedirectIsNotFollowed(t *testing.T) {
	var got atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { got.Add(1) }))
	defer other.Close()
	host := strings.TrimPrefix(strings.Replace(other.URL, "127.0.0.1", "localhost", 1), "http://")
	for _, location := range []string{other.URL + "/v1", "http://ana:HIDDEN@" + host + "/x?k=HIDDEN", "http://ana:HIDDEN@h/%zz", ""} {
		for _, status := range []int{300, 301, 302, 303, 307, 308} {
			each(t, func(w http.ResponseWriter, _ string) {
				w.Header().Set("Location", location)
				w.WriteHeader(status)
			}, func(t *testing.T, m model.Model, r *model.Request) {
				err := failure(t.Context(), m, r)
				f, ok := model.FailureOf(err)
				if thread.CodeOf(err) != thread.Configuration || !ok || f.Wrong != model.WrongAddress || f.Again || !strings.Contains(err.Error(), "redirects") || !strings.Contains(err.Error(), "127.0.0.1") {
					t.Errorf("%d to %s: %v, %+v", status, location, err, f)
				}
				if s := shown(err); strings.Contains(s, "HIDDEN") {
					t.Errorf("%d to %s shows a secret: %s", status, location, s)
				}
			})
		}
	}
	if got.Load() > 0 {
		t.Errorf("%d requests went to another address", got.Load())
	}
}

func TestNoErrorShowsASecret(t *testing.T) {
	told := hiddenKey + " " + hiddenHeader
	event := "event: error\ndata: " + `{"type":"error","code":"` + told + `","message":"` + told + `","error":{"type":"overloaded_error","message":"` + told + `"}}` + "\n\n"
	for name, serve := range map[string]http.HandlerFunc{
		"message": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(400)
			fmt.Fprintf(w, `{"type":"error","error":{"type":"x","message":"bad key %s"}}`, told)
		},
		"type": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Request-Id", hiddenKey)
			w.Header().Set("Request-Id", hiddenKey)
			w.WriteHeader(500)
			fmt.Fprintf(w, `{"error":{"type":"%s","code":"%s","message":"m"}}`, told, told)
		},
		"at the cut": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(400)
			fmt.Fprintf(w, `{"error":{"message":"%s%s"}}`, strings.Repeat("x", 990), told)
		},
		"in the middle": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, event)
		},
		"garbage": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "event: message_start\ndata: "+told+"\n\n")
		},
	} {
		each(t, func(w http.ResponseWriter, _ string) { serve(w, nil) }, func(t *testing.T, m model.Model, r *model.Request) {
			err := failure(t.Context(), m, r)
			if err == nil {
				t.Fatalf("%s: no error", name)
			}
			if s := shown(err); strings.Contains(s, "HIDDEN") {
				t.Errorf("%s shows a secret: %s", name, s)
			}
		})
	}
}

func TestWhatAProviderTellsIsCut(t *testing.T) {
	each(t, func(w http.ResponseWriter, _ string) {
		w.WriteHeader(400)
		fmt.Fprintf(w, `{"error":{"type":"x","message":"%s"}}`, strings.Repeat("ö", 100_000))
	}, func(t *testing.T, m model.Model, r *model.Request) {
		if err := failure(t.Context(), m, r); len([]rune(err.Error())) > 1_200 || len([]rune(err.Error())) < 900 {
			t.Errorf("an error of %d characters", len([]rune(err.Error())))
		}
	})
}

func TestAnAddressHoldsNoSecret(t *testing.T) {
	for name, open := range adapters {
		for _, address := range []string{
			"http://ana:HIDDEN@127.0.0.1:1/v1", "http://HIDDEN@127.0.0.1:1/v1", "http://127.0.0.1:1/v1?token=HIDDEN", "http://127.0.0.1:1/v1#HIDDEN",
			"http://u:HIDDEN@[::1/v1", "http://u:HIDDEN%zz@h/", "http://u:HIDDEN@h:port/", "http://127.0.0.1:1/v1?",
		} {
			_, err := open(address)
			if thread.CodeOf(err) != thread.Configuration || strings.Contains(shown(err), "HIDDEN") {
				t.Errorf("%s at %s: %v", name, address, err)
			}
		}
	}
}

// flood writes pieces until nobody takes them, and gives how many bytes went.
func flood(w io.Writer, piece string, most int) (sent int) {
	for sent < most {
		n, err := io.WriteString(w, piece)
		sent += n
		if err != nil {
			break
		}
	}
	return sent
}

func TestARefusalIsReadWithinBounds(t *testing.T) {
	var sent atomic.Int64
	each(t, func(w http.ResponseWriter, _ string) {
		w.WriteHeader(500)
		sent.Store(int64(flood(w, strings.Repeat("x", 64<<10), 100<<20)))
	}, func(t *testing.T, m model.Model, r *model.Request) {
		if err := failure(t.Context(), m, r); thread.CodeOf(err) != thread.Provider {
			t.Errorf("%v", err)
		}
		if sent.Load() >= 100<<20 {
			t.Error("all of it was read")
		}
	})
}

func TestARefusalThatDoesNotEndIsLeft(t *testing.T) {
	each(t, func(w http.ResponseWriter, _ string) {
		w.WriteHeader(503)
		for range 150 {
			if _, err := io.WriteString(w, " "); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			time.Sleep(100 * time.Millisecond)
		}
	}, func(t *testing.T, m model.Model, r *model.Request) {
		t.Parallel()
		ctx, end := context.WithTimeout(t.Context(), 12*time.Second)
		defer end()
		err := failure(ctx, m, r)
		if f, _ := model.FailureOf(err); ctx.Err() != nil || f.Status != 503 || !f.Again {
			t.Errorf("%v, %+v", err, f)
		}
	})
}

// deltas are an event of text of each adapter's stream.
var deltas = map[string]string{
	"anthropic": "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"%s\"}}\n\n",
	"openai":    "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"%s\"}\n\n",
	"chat":      "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s\"}}]}\n\n",
}

const begun = "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"},\"choices\":[]}\n\n"

func TestAnAnswerIsTakenWithinBounds(t *testing.T) {
	long := strings.Repeat("x", 256<<10)
	for name, flooded := range map[string]func(adapter string) (head, piece string){
		"one line":  func(string) (string, string) { return `data: {"x":"`, long },
		"one event": func(string) (string, string) { return "", "data: " + long + "\n" },
		"a name":    func(string) (string, string) { return "event: ", long },
		"a comment": func(string) (string, string) { return ": ", long },
		"text":      func(a string) (string, string) { return begun, fmt.Sprintf(deltas[a], long) },
	} {
		t.Run(name, func(t *testing.T) {
			var sent atomic.Int64
			each(t, func(w http.ResponseWriter, adapter string) {
				w.Header().Set("Content-Type", "text/event-stream")
				head, piece := flooded(adapter)
				io.WriteString(w, head)
				sent.Store(int64(flood(w, piece, 100<<20)))
			}, func(t *testing.T, m model.Model, r *model.Request) {
				err := failure(t.Context(), m, r)
				if f, _ := model.FailureOf(err); thread.CodeOf(err) != thread.Response || f.Again {
					t.Errorf("%v, %+v", err, f)
				}
				if sent.Load() >= 100<<20 {
					t.Error("all of it was read")
				}
			})
		})
	}
}

func TestAWholeAnswerIsReadWithinBounds(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		flood(w, strings.Repeat("x", 256<<10)+"\n\n", 400<<20)
	}))
	defer s.Close()
	answer, err := wire.Client(nil).Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, answer.Body)
	if !errors.Is(err, model.ErrTooMuch) || n > model.MaxAnswer {
		t.Errorf("%d bytes, %v", n, err)
	}
	if err := answer.Body.Close(); err != nil {
		t.Error(err)
	}
}

func TestAShortKeyIsNoSecretOfItsProvider(t *testing.T) {
	err := model.SecretsOf("ollama", "ollama", nil).Hide(model.Refused("ollama", "loom", model.Failure{Status: 503}, "busy"))
	if err == nil || !strings.HasPrefix(err.Error(), "ollama failed") {
		t.Error(err)
	}
}
