package word

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/skeinhq/skein/thread"
)

// What of a long message is indexed: its first and its last bytes.
const (
	headBytes = 64 << 10
	tailBytes = 16 << 10
)

// Message gives the terms, in order, of all that m says; see [Said].
func Message(m *thread.Message) []string {
	var terms []string
	sc := newScanner(func(t token) { terms = append(terms, t.term) })
	for _, p := range Said(m) {
		sc.scan(p)
	}
	return terms
}

// Said gives the pieces of text that m says, in order: texts, calls' names and
// inputs, the texts of tools' results, names of files. Thinking is not said; nor
// are calls of the history tools, which ask for what was said, and their results,
// which repeat it. Of a message longer than 80 KB the first 64 and the last 16
// are given.
func Said(m *thread.Message) []string { return clipPieces(said(nil, m, m.Parts)) }

func said(pieces []string, m *thread.Message, parts []thread.Part) []string {
	for _, p := range parts {
		if m.Derived(p) {
			continue
		}
		switch p.Type {
		case thread.TextPart:
			pieces = append(pieces, p.Text)
		case thread.CallPart:
			pieces = append(pieces, p.Name)
			pieces = inputTexts(pieces, p.Input)
		case thread.ResultPart:
			pieces = said(pieces, m, p.Parts)
		case thread.BlobPart:
			pieces = append(pieces, p.Name)
		}
	}
	return pieces
}

// inputTexts appends what a call's input says. Only where something is escaped
// must the JSON be read: else its punctuation separates like any other.
func inputTexts(pieces []string, input json.RawMessage) []string {
	if bytes.IndexByte(input, '\\') < 0 {
		return append(pieces, string(input))
	}
	n := len(pieces)
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.UseNumber()
	for {
		tok, err := dec.Token()
		switch v := tok.(type) {
		case string:
			pieces = append(pieces, v)
		case json.Number:
			pieces = append(pieces, v.String())
		}
		if err == io.EOF {
			return pieces
		}
		if err != nil { // not JSON, as a model may write it
			return append(pieces[:n], string(input))
		}
	}
}

// clipPieces leaves out the middle of what is too long.
func clipPieces(pieces []string) []string {
	total := 0
	for _, p := range pieces {
		total += len(p)
	}
	if total <= headBytes+tailBytes {
		return pieces
	}
	var head, tail []string
	for room, i := headBytes, 0; room > 0; i++ {
		p := pieces[i]
		if len(p) > room {
			p = firstBytes(p, room)
			room = 0
		}
		room -= len(p)
		head = append(head, p)
	}
	for room, i := tailBytes, len(pieces)-1; room > 0; i-- {
		p := pieces[i]
		if len(p) > room {
			p = lastBytes(p, room)
			room = 0
		}
		room -= len(p)
		tail = append(tail, p)
	}
	for i := len(tail) - 1; i >= 0; i-- {
		head = append(head, tail[i])
	}
	return head
}

// firstBytes is at most n bytes of s from its start, ending between two words
// unless the last one is very long; lastBytes is the same from its end.
func firstBytes(s string, n int) string {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	if r, _ := utf8.DecodeRuneInString(s[n:]); !isWord(r) {
		return s[:n]
	}
	whole := strings.TrimRightFunc(s[:n], isWord)
	if n-len(whole) > maxTerm {
		return s[:n]
	}
	return whole
}

func lastBytes(s string, n int) string {
	at := len(s) - n
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	if r, _ := utf8.DecodeLastRuneInString(s[:at]); !isWord(r) {
		return s[at:]
	}
	whole := strings.TrimLeftFunc(s[at:], isWord)
	if len(s)-at-len(whole) > maxTerm {
		return s[at:]
	}
	return whole
}
