package modeltest

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"strings"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

var media = []trial{
	{"images go out", func(c Caps) bool { return c.Images }, func(s *suite) {
		m := say("ana: look at these")
		m.Parts = append(m.Parts, s.keep("image/png", "plan.png", picturePNG(3)), s.keep("image/png", "", picturePNG(5)))
		s.ask(s.request(m))
		if got := s.last().Asked.Images; got != 2 {
			s.Errorf("%d images went out", got)
		}
	}},
	{"results carry images", func(c Caps) bool { return c.Images }, func(s *suite) {
		h := s.ask(s.request(say("ana: zoom 0 1")))
		call := s.called(h, 1)[0]
		result := thread.Result(call.ID, "zoom", "the plan", false)
		result.Parts = append(result.Parts, s.keep("image/png", "plan.png", picturePNG(3)))
		s.ask(s.request(say("ana: zoom 0 1"), saidBack(h.done.Parts), results(result)))
		if got := s.last().Asked.Images; got != 1 {
			s.Errorf("%d images went out", got)
		}
	}},
	{"files go out", func(c Caps) bool { return c.Files }, func(s *suite) {
		m := say("ana: read this")
		m.Parts = append(m.Parts, s.keep("application/pdf", "plan.pdf", []byte("%PDF-1.4\n%%EOF\n")))
		s.ask(s.request(m))
		if got := s.last().Asked.Files; got != 1 {
			s.Errorf("%d files went out", got)
		}
	}},
	{"a blob that is gone ends it before it is asked", func(c Caps) bool { return c.Images }, func(s *suite) {
		m := say("ana: look")
		m.Parts = append(m.Parts, thread.Part{Type: thread.BlobPart, Hash: "gone", MediaType: "image/png", Size: 3})
		e, _ := s.refused(s.Context(), s.model, s.request(m))
		if e.Code != thread.NotFound || len(s.server.Exchanges()) > 0 {
			s.Errorf("got %v after %d requests", e, len(s.server.Exchanges()))
		}
	}},
}

// picturePNG is a small picture of a size.
func picturePNG(size int) []byte {
	m := image.NewRGBA(image.Rect(0, 0, size, size))
	m.Set(0, 0, color.White)
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		panic(err) // into memory it cannot fail
	}
	return b.Bytes()
}

// long is more than any model's least that is cached.
var long = strings.Repeat("This instruction is as long as it must be to be kept. ", 500)

var settings = []trial{
	{"effort is asked for", func(c Caps) bool { return c.Effort }, func(s *suite) {
		for _, level := range []string{"low", "medium", "high"} {
			r := s.request(say("ana: think"))
			r.Thinking = level
			s.ask(r)
			if got := s.last().Asked; got.Effort != level || !got.Thinks {
				s.Errorf("asked for %q, thinks %v; want %q", got.Effort, got.Thinks, level)
			}
		}
	}},
	{"cache marks stand where they should", func(c Caps) bool { return c.Marks }, func(s *suite) {
		r := s.request(say("ana: one"), say("bo: two"))
		r.System = []string{long}
		r.Marks = []model.Mark{{Name: "instructions", Message: -1}, {Name: "previous", Message: 0}, {Name: "end", Message: 1}}
		first := s.ask(r).done.Usage
		if got := s.last().Asked.Marks; got != 3 || first.CacheWrite == 0 || first.Input != 0 {
			s.Errorf("%d marks went out, billed %+v", got, first)
		}
		r.Messages = append(r.Messages, saidBack([]thread.Part{thread.Text("Yes.")}), say("ana: three"))
		r.Marks = []model.Mark{{Name: "instructions", Message: -1}, {Name: "previous", Message: 1}, {Name: "end", Message: 3}}
		if second := s.ask(r).done.Usage; second.CacheRead != first.CacheWrite || second.Input != 0 {
			s.Errorf("wrote %+v, then read %+v", first, second)
		}
	}},
	{"the cache's key goes out", func(c Caps) bool { return c.CacheKey }, func(s *suite) {
		r := s.request(say("ana: one"))
		r.System, r.CacheKey = []string{long}, "thread-north"
		s.ask(r)
		r.Messages = append(r.Messages, saidBack([]thread.Part{thread.Text("Yes.")}), say("ana: two"))
		again := s.ask(r).done.Usage
		if got := s.last().Asked.CacheKey; got != "thread-north" || s.caps.Cached && again.CacheRead < 1024 {
			s.Errorf("the key is %q, billed %+v", got, again)
		}
	}},
	{"the limit of the output goes out", nil, func(s *suite) {
		r := s.request(say("ana: " + long))
		r.MaxOutput = 50
		h := s.ask(r)
		if h.done.Stop != thread.StopLength || h.done.Usage.Output > 50 {
			s.Errorf("stop %s after %d tokens", h.done.Stop, h.done.Usage.Output)
		}
	}},
}
