package strategy

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/skeinhq/skein/guide"
	"github.com/skeinhq/skein/thread"
)

// leastCharacters is the shortest that a result can be made: the marker needs
// most of it.
const leastCharacters = 100

// original is the message as the log holds it.
func (m *Message) original() *thread.Message {
	if m.whole != nil {
		return m.whole
	}
	return m.Message
}

// laid is the message with its results shortened to so many characters; 0: as
// the log holds it.
func (m *Message) laid(results int) Message {
	out := *m
	out.whole, out.Results, out.edited = m.original(), results, false
	out.Message = shortened(out.whole, results, m.Index)
	return out
}

// shortened gives the message with each result that has more than so many
// characters of text shortened to as many. It is a function of the log's message
// alone, and gives that message itself where nothing is to be shortened.
func shortened(m *thread.Message, most int, index int64) *thread.Message {
	if m == nil || most == 0 {
		return m
	}
	most = max(most, leastCharacters)
	var out *thread.Message
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Type != thread.ResultPart || p.Name == guide.LoadSkill || resultCharacters(p) <= most {
			continue // a skill's instructions hold as long as they are sent
		}
		if out == nil {
			whole := *m
			whole.Parts = slices.Clone(m.Parts)
			out = &whole
		}
		out.Parts[i].Parts = shortParts(p.Parts, most, index)
	}
	if out == nil {
		return m
	}
	out.Weight = out.Weigh()
	return out
}

// resultText is what a result says, its texts joined by newlines.
func resultText(parts []thread.Part) string {
	m := thread.Message{Parts: parts}
	return m.PlainText()
}

func resultCharacters(p *thread.Part) int {
	return utf8.RuneCountInString(resultText(p.Parts))
}

// shortParts puts the shortened text where the first text stood. What is no text
// stays.
func shortParts(parts []thread.Part, most int, index int64) []thread.Part {
	text := headAndTail(resultText(parts), most, index)
	var out []thread.Part
	said := false
	for _, p := range parts {
		switch {
		case p.Type != thread.TextPart:
			out = append(out, p)
		case !said:
			out = append(out, thread.Text(text))
			said = true
		}
	}
	return out
}

// headAndTail shortens a text to so many characters, the marker between its head
// and its tail included: how a tool's output ends often matters most.
func headAndTail(text string, most int, index int64) string {
	characters := utf8.RuneCountInString(text)
	marker := "\n[earlier output truncated from " + strconv.Itoa(characters) + " characters; zoom " + strconv.FormatInt(index, 10) + " 1]\n"
	keep := max(0, most-len(marker))
	tail := keep / 2
	var b strings.Builder
	b.WriteString(text[:offset(text, keep-tail)])
	b.WriteString(marker)
	b.WriteString(text[offset(text, characters-tail):])
	return b.String()
}

// offset is where the n-th character of a text starts.
func offset(text string, n int) int {
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}
