package prompt

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skeinhq/skein/thread"
)

// arena holds the texts that a prompt is made of, so that a prompt of hundreds
// of messages takes few allocations. Texts cut from it stay as they are: it only
// grows at its end.
type arena struct{ b strings.Builder }

// join gives its arguments as one text.
func (a *arena) join(texts ...string) string {
	start := a.b.Len()
	for _, s := range texts {
		a.b.WriteString(s)
	}
	return a.b.String()[start:]
}

// valid is the text as JSON carries it: each byte that is no UTF-8 is a
// replacement character, so that a text read from a store and one that never
// was stored give the same prompt.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// blank says whether a text has nothing to read; no provider takes such a text.
func blank(s string) bool { return strings.TrimSpace(s) == "" }

// name is a name as it stands before what its owner said: on one line, never
// empty.
func name(s string) string {
	s = valid(s)
	if hasControl(s) {
		s = strings.Map(plain, s)
	}
	if s = strings.TrimSpace(s); s == "" {
		return "?"
	}
	return s
}

func hasControl(s string) bool { return strings.IndexFunc(s, control) >= 0 }

// control says whether a rune could move a terminal's cursor or end a line.
func control(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
}

// plain turns a control character into a space.
func plain(r rune) rune {
	if control(r) {
		return ' '
	}
	return r
}

// writeLine writes a line, id+n|text, so that it stays one line and can close no
// tag: white space around a newline is one space, control characters are spaces
// and &, <, > are entities.
func writeLine(b *strings.Builder, span thread.Span, text string) {
	b.WriteString(span.String())
	b.WriteByte('|')
	text = thread.OneLine(text)
	done := 0
	for i, r := range text {
		safe := harmless(r)
		if safe == "" {
			continue
		}
		b.WriteString(text[done:i])
		b.WriteString(safe)
		_, n := utf8.DecodeRuneInString(text[i:])
		done = i + n
	}
	b.WriteString(text[done:])
	b.WriteByte('\n')
}

// harmless is what stands in a line for a rune that could do harm in it, and
// nothing for all others.
func harmless(r rune) string {
	switch {
	case r == '&':
		return "&amp;"
	case r == '<':
		return "&lt;"
	case r == '>':
		return "&gt;"
	case r == utf8.RuneError:
		return "\uFFFD"
	case control(r):
		return " "
	}
	return ""
}

// compact gives JSON without white space between its tokens, as a store gives
// it back. What is no JSON becomes a JSON string.
func compact(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	if !utf8.Valid(raw) {
		raw = []byte(valid(string(raw)))
	}
	if isCompact(raw) && json.Valid(raw) {
		return raw
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) == nil {
		return b.Bytes()
	}
	text, err := thread.Encode(string(raw))
	if err != nil {
		return json.RawMessage("{}")
	}
	return text
}

// object gives a call's input as the object that every provider asks for; other
// JSON becomes the object's one field.
func object(raw json.RawMessage) json.RawMessage {
	raw = compact(raw)
	if raw[0] == '{' {
		return raw
	}
	return json.RawMessage(`{"input":` + string(raw) + `}`)
}

// isCompact says whether no white space stands outside the strings.
func isCompact(raw []byte) bool {
	inString := false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case !inString && (c == ' ' || c == '\n' || c == '\r' || c == '\t'):
			return false
		}
	}
	return true
}
