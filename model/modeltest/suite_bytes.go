package modeltest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// bodyFile is where a second process puts the body that it sent.
const bodyFile = "SKEIN_MODELTEST_BODY"

var steady = []trial{
	{"equal requests have equal bytes", nil, func(s *suite) {
		r := s.full()
		s.ask(r)
		first := s.last().Body
		for range 5 {
			s.ask(s.full())
			if got := s.last().Body; !bytes.Equal(got, first) {
				s.Fatalf("the bytes differ:\n%s\n%s", first, got)
			}
		}
	}},
	{"a request that goes on starts with the bytes of the one before", nil, func(s *suite) {
		r := s.full()
		for i := range 5 {
			h := s.ask(r)
			before := plainBody(s.last().Body)
			r.Messages = append(r.Messages, saidBack(h.done.Parts), say(fmt.Sprintf("ana: message %d", i)))
			r.Number++
			if len(r.Marks) > 0 {
				last := len(r.Messages) - 1
				r.Marks = []model.Mark{{Name: "instructions", Message: -1}, {Name: "previous", Message: last - 2}, {Name: "end", Message: last}}
			}
			s.ask(r)
			after := plainBody(s.last().Body)
			if start := bytes.TrimRight(before, "]}"); !bytes.HasPrefix(after, start) {
				s.Fatalf("request %d does not start as the one before:\n%s\n%s", i+2, before, after)
			}
		}
	}},
	{"another process sends the same bytes", nil, func(s *suite) {
		s.ask(s.full())
		body := s.last().Body
		if file := os.Getenv(bodyFile); file != "" {
			if err := os.WriteFile(file, body, 0o600); err != nil {
				s.Fatal(err)
			}
			return
		}
		file := filepath.Join(s.TempDir(), "body")
		run := exec.Command(os.Args[0], "-test.run=^"+strings.ReplaceAll(regexp.QuoteMeta(s.Name()), "/", "$/^")+"$")
		run.Env = append(os.Environ(), bodyFile+"="+file)
		if out, err := run.CombinedOutput(); err != nil {
			s.Fatalf("the other process: %v\n%s", err, out)
		}
		got, err := os.ReadFile(file)
		if err != nil {
			s.Fatal(err)
		}
		if !bytes.Equal(got, body) {
			s.Errorf("the bytes differ:\n%s\n%s", body, got)
		}
	}},
}

// full is a request with everything that the adapter can send.
func (s *suite) full() *model.Request {
	s.Helper()
	asked := say("ana: zoom 0 1 & <look>")
	if s.caps.Images {
		asked.Parts = append(asked.Parts, s.keep("image/png", "plan.png", picturePNG(3)))
	}
	r := s.request(say("ana: hello"), saidBack([]thread.Part{thread.Text("Hello, é 漢字.")}), asked,
		saidBack([]thread.Part{thread.Text("I look."), thread.Call("call_one", "zoom", []byte(`{"n":1,"id":0}`))}),
		results(thread.Result("call_one", "zoom", "the \"plan\"", true)), say("ana: and?"))
	if s.caps.Marks {
		r.Marks = []model.Mark{{Name: "instructions", Message: -1}, {Name: "end", Message: len(r.Messages) - 1}}
	}
	if s.caps.CacheKey {
		r.CacheKey = "thread-north"
	}
	if s.caps.Effort {
		r.Thinking = "medium"
	}
	return r
}

var cacheMark = regexp.MustCompile(`,"cache_control":\{[^}]*\}`)

// plainBody is a body without its cache marks.
func plainBody(body []byte) []byte { return cacheMark.ReplaceAll(body, nil) }
