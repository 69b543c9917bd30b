package modeltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

var texts = []trial{
	{"text comes in pieces and whole", nil, func(s *suite) {
		s.server.Script(Say("One two three four."))
		h := s.ask(s.request(say("ana: count")))
		if len(h.events) < 2 || h.text(model.TextDelta) != "One two three four." || h.done.Stop != thread.StopEnd {
			s.Errorf("got %+v, then %+v", h.events, h.done)
		}
	}},
	{"text keeps its characters", nil, func(s *suite) {
		text := "é 漢字 🎉 العربية \t\"quoted\" \\back\\ <b>&amp;</b> \u2028 \u0001 end\n\n- list\n"
		s.server.Script(Say(text))
		h := s.ask(s.request(say("ana: " + text)))
		if got := textOf(h.done.Parts); got != text {
			s.Errorf("got %q, want %q", got, text)
		}
		h = s.ask(s.request(say("ana: "+text), saidBack(h.done.Parts), say("ana: "+text)))
		if got, want := textOf(h.done.Parts), "You said: ana: "+text; got != want {
			s.Errorf("got %q, want %q", got, want)
		}
	}},
	{"a conversation goes on", nil, func(s *suite) {
		messages := []model.Message{say("ana: hello")}
		for i := range 4 {
			h := s.ask(s.request(messages...))
			messages = append(messages, saidBack(h.done.Parts), say(fmt.Sprintf("ana: and %d", i)), say("bo: me too"))
		}
	}},
}

var thoughts = []trial{
	{"thinking comes first and goes back as it came", thinks, func(s *suite) {
		s.server.Script(Answer(Think("First this, then that."), thread.Text("Done.")))
		r := s.request(say("ana: think"))
		r.Thinking = "high"
		h := s.ask(r)
		if got := h.text(model.ThinkingDelta); got != "First this, then that." || h.events[0].Type != model.ThinkingDelta {
			s.Errorf("thought %q in %+v", got, h.events)
		}
		s.signed(h.done.Parts)
		s.sentBack(r, h.done.Parts)
	}},
	{"thinking goes back with calls and their results", thinks, func(s *suite) {
		messages := []model.Message{say("ana: look")}
		for i := range 3 {
			s.server.Script(Answer(Think(fmt.Sprintf("Line %d may have it.", i)), thread.Text("I look."), thread.Call("", "zoom", json.RawMessage(`{"id":0,"n":1}`))))
			r := s.request(messages...)
			r.Thinking = "high"
			h := s.ask(r)
			s.signed(h.done.Parts)
			messages = append(messages, saidBack(h.done.Parts), results(thread.Result(h.done.Parts[2].ID, "zoom", "nothing there", false)))
		}
		r := s.request(messages...)
		r.Thinking = "high"
		if h := s.ask(r); !strings.Contains(textOf(h.done.Parts), "nothing there") {
			s.Errorf("got %+v", h.done)
		}
	}},
	{"thinking that was altered is refused, so it is sent as it was", func(c Caps) bool { return c.Signed }, func(s *suite) {
		s.server.Script(Answer(Think("The true one."), thread.Text("Yes.")))
		r := s.request(say("ana: think"))
		r.Thinking = "high"
		parts := s.ask(r).done.Parts
		parts[0].Signature = strings.Replace(parts[0].Signature, parts[0].Signature[len(parts[0].Signature)/2:len(parts[0].Signature)/2+4], "AAAA", 1)
		r.Messages = append(r.Messages, saidBack(parts), say("ana: go on"))
		e, _ := s.refused(s.Context(), s.model, r)
		if f, _ := model.FailureOf(e); e.Code != thread.Provider || f.Again {
			s.Errorf("got %v with %+v", e, f)
		}
	}},
	{"hidden thinking goes back as it came", func(c Caps) bool { return c.Redacted }, func(s *suite) {
		s.server.Script(Answer(Think("Shown."), Hide("Hidden."), thread.Text("Done.")))
		r := s.request(say("ana: think"))
		r.Thinking = "high"
		h := s.ask(r)
		s.signed(h.done.Parts)
		if p := h.done.Parts[1]; !p.Redacted || p.Text != "" || strings.Contains(h.text(model.ThinkingDelta), "Hidden") {
			s.Errorf("the hidden one is %+v", p)
		}
		s.sentBack(r, h.done.Parts)
	}},
}

func thinks(c Caps) bool { return c.Thinking }

// signed expects that an answer's thinking says what must be known to send it
// back.
func (s *suite) signed(parts []thread.Part) {
	s.Helper()
	if len(parts) < 2 || parts[0].Type != thread.ThinkingPart {
		s.Fatalf("the answer does not start with thinking: %+v", parts)
	}
	for _, p := range parts {
		if p.Type == thread.ThinkingPart && (p.Signature == "" || p.Provider == "" || p.Model != s.caps.Model) {
			s.Errorf("thinking without its proof or its maker: %+v", p)
		}
	}
}

// sentBack asks again with an answer's parts and expects that the server takes
// them, and that the proofs are in the body byte for byte.
func (s *suite) sentBack(r *model.Request, parts []thread.Part) {
	s.Helper()
	r.Messages = append(r.Messages, saidBack(parts), say("ana: go on"))
	s.ask(r)
	got := s.last()
	if got.Asked.Dropped > 0 {
		s.Errorf("the server left out %d thoughts", got.Asked.Dropped)
	}
	for _, p := range parts {
		if p.Type == thread.ThinkingPart && !bytes.Contains(got.Body, []byte(p.Signature)) {
			s.Errorf("the proof %s is not in the body %s", p.Signature, got.Body)
		}
	}
}

var calls = []trial{
	{"a call is made and answered", nil, func(s *suite) {
		h := s.ask(s.request(say("ana: please zoom 8 4")))
		call := s.called(h, 1)[0]
		if why := same(call.Input, []byte(`{"id":8,"n":4}`)); call.Name != "zoom" || why != "" {
			s.Errorf("called %s: %s", call.Name, why)
		}
		h = s.ask(s.request(say("ana: please zoom 8 4"), saidBack(h.done.Parts), results(thread.Result(call.ID, "zoom", "8+2|the venue\n10+2|the date", false))))
		if got := textOf(h.done.Parts); got != "It returned:\n8+2|the venue\n10+2|the date" || h.done.Stop != thread.StopEnd {
			s.Errorf("got %q, stop %s", got, h.done.Stop)
		}
	}},
	{"calls made at once keep their order", nil, func(s *suite) {
		h := s.ask(s.request(say("ana: zoom 0 1, zoom 4 4 and zoom 8 2")))
		made := s.called(h, 3)
		answered := results()
		for i, want := range []string{`{"id":0,"n":1}`, `{"id":4,"n":4}`, `{"id":8,"n":2}`} {
			if why := same(made[i].Input, []byte(want)); why != "" {
				s.Errorf("call %d: %s", i, why)
			}
			answered.Parts = append(answered.Parts, thread.Result(made[i].ID, "zoom", fmt.Sprintf("result %d", i), false))
		}
		h = s.ask(s.request(say("ana: zoom 0 1, zoom 4 4 and zoom 8 2"), saidBack(h.done.Parts), answered))
		if got := textOf(h.done.Parts); got != "It returned:\nresult 0\nresult 1\nresult 2" {
			s.Errorf("got %q", got)
		}
	}},
	{"a call keeps its input whatever JSON it is", nil, func(s *suite) {
		for _, input := range []string{
			`{}`,
			`{"text":""}`,
			`{ "text" : "with spaces" }`,
			`{"b":1,"a":2,"c":{"z":[],"y":[[{}]]}}`,
			`{"n":12345678901234567890,"f":1.50,"e":1e-30,"m":-0}`,
			`{"text":"é 漢字 🎉 \" \\ \/ \b\f\n\r\t \u0000 <b>&</b> \u2028"}`,
			`{"true":true,"null":null,"":[]}`,
			`{"text":"` + strings.Repeat("long ", 2000) + `"}`,
		} {
			s.server.Script(Answer(thread.Call("", "note", json.RawMessage(input))))
			h := s.ask(s.request(say("ana: note it")))
			call := s.called(h, 1)[0]
			if why := same(call.Input, []byte(input)); why != "" {
				s.Errorf("input: %s", why)
			}
			s.ask(s.request(say("ana: note it"), saidBack(h.done.Parts), results(thread.Result(call.ID, "note", "kept", false))))
		}
	}},
	{"a failed call's result is told as one", nil, func(s *suite) {
		h := s.ask(s.request(say("ana: zoom 0 1")))
		call := s.called(h, 1)[0]
		h = s.ask(s.request(say("ana: zoom 0 1"), saidBack(h.done.Parts), results(thread.Result(call.ID, "zoom", "No line 0+1.", true)), say("ana: and?")))
		if got := textOf(h.done.Parts); !strings.Contains(got, "No line 0+1.") {
			s.Errorf("got %q", got)
		}
	}},
}

// called gives an answer's calls and expects n of them, each with an id of its
// own.
func (s *suite) called(h heard, n int) []thread.Part {
	s.Helper()
	m := thread.Message{Parts: h.done.Parts}
	made, seen := m.Calls(), map[string]bool{}
	for _, c := range made {
		if c.ID == "" || seen[c.ID] || !json.Valid(c.Input) {
			s.Errorf("a call without an id of its own, or without JSON: %+v", c)
		}
		seen[c.ID] = true
	}
	if len(made) != n || h.done.Stop != thread.StopCalls {
		s.Fatalf("%d calls, stop %q; want %d in %+v", len(made), h.done.Stop, n, h.done.Parts)
	}
	return made
}
