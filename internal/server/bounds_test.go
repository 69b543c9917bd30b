package server_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/skeinhq/skein/internal/server"
	"github.com/skeinhq/skein/thread"
)

// raw opens a connection and writes to it as it is.
func (s *site) raw(text string) net.Conn {
	s.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	s.must(err)
	s.Cleanup(func() { c.Close() })
	_, err = io.WriteString(c, text)
	s.must(err)
	s.must(c.SetReadDeadline(time.Now().Add(patience)))
	return c
}

// answerOf reads the head of an answer.
func (s *site) answerOf(c net.Conn) *http.Response {
	s.Helper()
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	s.must(err)
	s.must(res.Body.Close())
	return res
}

func TestWhoShowsATokenIsReadLittleOf(t *testing.T) {
	s := open(t, withLimits(func(l *server.Limits) { l.SignTime = 50 * time.Millisecond }))
	s.refused("POST", "/v1/session", map[string]any{"token": strings.Repeat("x", 5<<10)}, 413, thread.Limit)
	if res := s.answerOf(s.raw("POST /v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 8000000\r\n\r\n")); res.StatusCode != 413 {
		t.Errorf("8 MB, of which nothing has come: %s", res.Status)
	}
	if res := s.answerOf(s.raw("POST /v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")); res.StatusCode != 408 {
		t.Errorf("a slow body: %s", res.Status)
	}
	long := "1388\r\n" + strings.Repeat(" ", 5000) + "\r\n"
	if res := s.answerOf(s.raw("POST /v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" + long)); res.StatusCode != 413 {
		t.Errorf("a body that does not say its length: %s", res.Status)
	}
}

// What a client does not read is not kept for it without end.
func TestASocketThatReadsNothingIsClosed(t *testing.T) {
	for what, message := range map[string]string{
		"pings":       `{"ping":"` + strings.Repeat("x", 60) + `"}`,
		"complaints":  `{}`,
		"odd watches": `{"watch":1,"thread":"none"}`,
	} {
		t.Run(what, func(t *testing.T) {
			s := open(t)
			k, let := s.dialSlowly(0)
			closed := func() bool {
				return strings.Contains(string(s.do("GET", "/metrics", nil).body), `skein_streams_ended_total{reason="stalled"} 1`)
			}
			for sent := 0; !closed(); sent += 1000 {
				if sent > 200_000 {
					t.Fatalf("%d messages were taken", sent)
				}
				for range 1000 {
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					err := k.conn.Write(ctx, websocket.MessageText, []byte(message))
					cancel()
					if err != nil {
						break
					}
				}
			}
			close(let)
			for {
				if _, err := k.tryRead(); err != nil {
					break
				}
			}
			s.until("it is gone", func() bool {
				return strings.Contains(string(s.do("GET", "/metrics", nil).body), `skein_streams{transport="websocket"} 0`)
			})
		})
	}
}

func TestWhoAsksForTheHeadOfEventsGetsIt(t *testing.T) {
	s := open(t)
	s.create("rope")
	for range 3 { // the connection is good for more
		a := s.do("HEAD", "/v1/threads/rope/events", nil)
		if a.status != 200 || a.header.Get("Content-Type") != "text/event-stream" || len(a.body) != 0 {
			t.Errorf("%d %v %q", a.status, a.header, a.body)
		}
		if a := s.do("GET", "/healthz", nil); a.status != 200 {
			t.Errorf("after it: %d %s", a.status, a.body)
		}
	}
	if m := string(s.do("GET", "/metrics", nil).body); !strings.Contains(m, "skein_watches 0") {
		t.Error("a watch stays open")
	}
}

func TestACallOfAnUncleanPathIsRefused(t *testing.T) {
	s := open(t)
	s.create("rope")
	k := s.dial()
	for _, path := range []string{
		"/v1//threads", "/v1/threads/../threads", "//x/v1/threads", "/v1/./threads", "/v1/threads/", "/v1/threads/rope/",
		"/v1/threads/%2e%2e", "/v1/threads/%2e%2e/threads", "//", "/", "/docs", "/metrics",
	} {
		k.write(fmt.Sprintf(`{"call":1,"path":%q}`, path))
		if m := k.read(); m.Status != 404 || m.Error == nil || m.Error.Code != string(thread.NotFound) {
			t.Errorf("%s: %s", path, m.raw)
		}
	}
	for _, method := range []string{"CONNECT", "OPTIONS", "get"} {
		k.write(fmt.Sprintf(`{"call":1,"method":%q,"path":"/v1/threads"}`, method))
		if m := k.read(); m.Status != 404 || m.Error == nil {
			t.Errorf("%s: %s", method, m.raw)
		}
	}
	k.write(`{"call":1,"path":"/v1/threads/rope"}`)
	if m := k.read(); m.Status != 200 {
		t.Errorf("a clean one: %s", m.raw)
	}
}

func put(s *site, c net.Conn, data []byte, length int) {
	s.Helper()
	_, err := fmt.Fprintf(c, "PUT /v1/threads/rope/blobs/%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\nContent-Length: %d\r\n\r\n%s", sum(data), length, data)
	s.must(err)
}

// Blobs that are on their way have so much memory and no more.
func TestBlobsWaitForEachOther(t *testing.T) {
	s := open(t, withLimits(func(l *server.Limits) { l.Blob, l.Blobs, l.BlobTime = 1000, 1500, 50*time.Millisecond }))
	s.create("rope")
	one := bytes.Repeat([]byte("a"), 1000)
	held := s.raw("")
	put(s, held, one[:10], 1000)
	path := "/v1/threads/rope/blobs/" + sum(one)
	s.until("there is no room", func() bool { return s.do("PUT", path, one).status == 503 })
	a := s.do("PUT", path, one)
	if a.problem(t); a.status != 503 || a.header.Get("Retry-After") == "" {
		t.Errorf("%d %v %s", a.status, a.header, a.body)
	}
	small := bytes.Repeat([]byte("b"), 400)
	s.call("PUT", "/v1/threads/rope/blobs/"+sum(small), small, 200, nil)
	held.Close()
	s.until("there is room again", func() bool { return s.do("PUT", path, one).status == 200 })
}

// A blob may take longer than other bodies, so long as it comes.
func TestABlobWithoutProgressIsLetGo(t *testing.T) {
	s := open(t, withLimits(func(l *server.Limits) { l.BodyTime, l.Stall = 50*time.Millisecond, 400*time.Millisecond }))
	s.create("rope")
	data := bytes.Repeat([]byte("abcd"), 40<<10)
	c := s.raw(fmt.Sprintf("PUT /v1/threads/rope/blobs/%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\nContent-Length: %d\r\n\r\n", sum(data), len(data)))
	for rest := data; len(rest) > 0; rest = rest[min(len(rest), 16<<10):] {
		_, err := c.Write(rest[:min(len(rest), 16<<10)])
		s.must(err)
		time.Sleep(100 * time.Millisecond)
	}
	if res := s.answerOf(c); res.StatusCode != 200 {
		t.Errorf("one that comes slowly: %s", res.Status)
	}
	c = s.raw("")
	put(s, c, data[:100], 1000)
	if res := s.answerOf(c); res.StatusCode != 408 {
		t.Errorf("one that does not come: %s", res.Status)
	}
}
