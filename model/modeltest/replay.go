package modeltest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/skeinhq/skein/thread"
)

// The sections of a recording: a txtar file whose comment says where it comes
// from, then what was asked, what went over the wire, and what was told of it.
const (
	askSection      = "ask"      // a model.Request as JSON
	requestSection  = "request"  // METHOD PATH, a blank line, the body
	responseSection = "response" // an HTTP response: status line, headers, a blank line, the body
	toldSection     = "told"     // the events as JSON, one a line, the last Done or an error
)

// Replay answers with a recording's response, byte by byte, whatever is asked.
// A stream is sent event by event.
type Replay struct {
	response []byte

	mu  sync.Mutex
	got []byte // the newest request, in the form of the recording
}

// NewReplay makes a replay of a recording. It fails with invalid where the
// recording has no response, or one that is not HTTP.
func NewReplay(recording []byte) (*Replay, error) {
	raw := section(txtar.Parse(recording), responseSection)
	if _, err := parseResponse(raw); err != nil {
		return nil, &thread.Error{Code: thread.Invalid, Op: "replay", Message: "the recording has no response of HTTP", Err: err}
	}
	return &Replay{response: raw}, nil
}

// parseResponse reads a response. Its body ends where the text does.
func parseResponse(raw []byte) (*http.Response, error) {
	return http.ReadResponse(bufio.NewReader(bytes.NewReader(raw)), nil)
}

// section gives a section of a recording, nil where it is not there.
func section(a *txtar.Archive, name string) []byte {
	for _, f := range a.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

// ServeHTTP sends the response.
func (p *Replay) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // whoever asked has gone
	}
	p.mu.Lock()
	p.got = requestText(r, body)
	p.mu.Unlock()
	response, err := parseResponse(p.response)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer response.Body.Close()
	for name, values := range response.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(response.StatusCode)
	flush := http.NewResponseController(w)
	lines := bufio.NewReader(response.Body)
	for {
		line, err := lines.ReadBytes('\n')
		if _, failed := w.Write(line); failed != nil {
			return
		}
		if len(bytes.TrimSpace(line)) == 0 && flush.Flush() != nil {
			return
		}
		if err != nil {
			return
		}
	}
}

// Request is the newest request that was made, as a recording has it.
func (p *Replay) Request() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.got
}

// requestText is a request as a recording has it: neither headers nor keys.
func requestText(r *http.Request, body []byte) []byte {
	return fmt.Appendf(nil, "%s %s\n\n%s\n", r.Method, r.URL.Path, bytes.TrimSpace(body))
}
