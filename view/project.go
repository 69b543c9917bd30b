package view

import (
	"slices"
	"unicode/utf8"

	"github.com/skeinhq/skein/thread"
)

// Project gives a message of the log as a view shows it, and its JSON. Where
// that would be longer than MaxEntry, its long parts are cut and More is set.
func Project(e *thread.Entry) (Entry, []byte, error) {
	out := Stub(e)
	if e.Message == nil {
		data, err := thread.Encode(out)
		return out, data, err
	}
	out.Time, out.Key, out.Message = e.Time, e.Key, e.Message
	data, err := thread.Encode(out)
	if err != nil || len(data) <= MaxEntry {
		return out, data, err
	}
	out.More = true
	out.Message, err = shortened(e.Message, MaxEntry, func(m *thread.Message) (int, error) {
		out.Message = m
		data, err = thread.Encode(out)
		return len(data), err
	})
	return out, data, err
}

// Stub is what shows of a message to those outside its audience.
func Stub(e *thread.Entry) Entry {
	return Entry{Seq: e.Seq, ID: e.ID, Prev: e.Prev, Index: e.Index}
}

// Wait gives a queued entry as a view shows it: cut as Project does, at
// MaxQueued.
func Wait(e *thread.Entry) (Queued, error) {
	out := Queued{Seq: e.Seq, ID: e.ID}
	if e.Queued == nil || e.Queued.Message == nil {
		return out, nil
	}
	out.Time, out.Key, out.When, out.Message = e.Time, e.Key, e.Queued.When, e.Queued.Message
	data, err := thread.Encode(out)
	if err != nil || len(data) <= MaxQueued {
		return out, err
	}
	out.More = true
	out.Message, err = shortened(e.Queued.Message, MaxQueued, func(m *thread.Message) (int, error) {
		out.Message = m
		data, err := thread.Encode(out)
		return len(data), err
	})
	return out, err
}

// shortened gives the message with its long parts cut, so that its size is at
// most limit: first opaque data goes, then texts are cut to one length, then
// parts leave at the end.
func shortened(m *thread.Message, limit int, size func(*thread.Message) (int, error)) (*thread.Message, error) {
	short := *m
	short.Meta, short.Contexts, short.Request = nil, nil, nil
	short.Parts = bare(m.Parts, limit/4)
	most := longest(short.Parts)
	for parts := len(short.Parts); ; {
		n, err := size(&short)
		if err != nil || n <= limit {
			return &short, err
		}
		switch {
		case most > 256:
			// The longest lose what is over. How much their JSON is longer than they
			// are is taken to be the same for all, so it may take a few steps.
			most = min(most-most/8, level(short.Parts, total(short.Parts)*(limit-limit/64)/n))
			short.Parts = clipped(short.Parts, most)
		case parts > 0:
			parts /= 2
			short.Parts = clipped(short.Parts[:parts], most)
		default:
			short.To, short.Audience, short.Usage = nil, nil, nil
			_, err := size(&short)
			return &short, err
		}
	}
}

// bare gives the parts without what no reader sees, where it is long.
func bare(parts []thread.Part, input int) []thread.Part {
	const long = 1 << 10
	out := slices.Clone(parts)
	for i := range out {
		p := &out[i]
		if len(p.Signature) > long {
			p.Signature = ""
		}
		if len(p.Raw) > long {
			p.Raw = nil
		}
		if len(p.Input) > input {
			p.Input = nil
		}
		p.Parts = bare(p.Parts, input)
	}
	return out
}

// texts calls with for each text of the parts.
func texts(parts []thread.Part, with func(*string)) {
	for i := range parts {
		with(&parts[i].Text)
		texts(parts[i].Parts, with)
	}
}

func longest(parts []thread.Part) (n int) {
	texts(parts, func(s *string) { n = max(n, len(*s)) })
	return n
}

func total(parts []thread.Part) (n int) {
	texts(parts, func(s *string) { n += len(*s) })
	return n
}

// level is the length that texts may have so that all of them together have
// about sum.
func level(parts []thread.Part, sum int) int {
	var lengths []int
	texts(parts, func(s *string) { lengths = append(lengths, len(*s)) })
	slices.Sort(lengths)
	for i, n := range lengths {
		if each := sum / (len(lengths) - i); n > each {
			return each
		}
		sum -= n
	}
	return longest(parts)
}

// clipped gives the parts with texts of at most so many bytes; no rune is split.
func clipped(parts []thread.Part, most int) []thread.Part {
	out := slices.Clone(parts)
	for i := range out {
		out[i].Text = Clip(out[i].Text, most)
		out[i].Parts = clipped(out[i].Parts, most)
	}
	return out
}

// Clip gives the beginning of a text, at most so many bytes of it; no rune is
// split.
func Clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}
