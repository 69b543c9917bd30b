package long

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/skeinhq/skein/bench/talk"
)

// source is a made-up conversation as the session log of another program,
// written while it is read, so that its length costs no memory. It can go back
// to its start only.
type source struct {
	name  string
	seed  uint64
	count int64
	begin time.Time

	talk *talk.Talk
	said int64
	line bytes.Buffer
}

var _ io.ReadSeeker = (*source)(nil)

// Seek goes back to the start.
func (s *source) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekStart {
		return 0, errors.New("a made-up transcript can only be read from its start")
	}
	s.talk, s.said = talk.New(s.seed), 0
	s.line.Reset()
	fmt.Fprintf(&s.line, "{\"type\":\"session\",\"id\":%q}\n", s.name)
	return 0, nil
}

// Read writes the next lines.
func (s *source) Read(p []byte) (int, error) {
	if s.talk == nil {
		if _, err := s.Seek(0, io.SeekStart); err != nil {
			return 0, err
		}
	}
	for s.line.Len() < len(p) && s.said < s.count {
		if err := s.say(); err != nil {
			return 0, err
		}
	}
	return s.line.Read(p)
}

type record struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Message   message   `json:"message"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	Stop    string `json:"stopReason,omitempty"`
}

func (s *source) say() error {
	m := s.talk.Next()
	r := record{Type: "message", Timestamp: s.begin.Add(time.Duration(s.said) * time.Minute), Message: message{Role: "user", Content: m.Text}}
	if !m.User {
		r.Message.Role, r.Message.Stop = "assistant", "stop"
	}
	s.said++
	return json.NewEncoder(&s.line).Encode(r)
}
