package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/skeinhq/skein/thread"
)

// How many characters are shown of what a call gave: on a line for people, and in an
// object of JSON.
const (
	maxResultLine = 200
	maxGaveText   = 2000
)

// resultLine says what a call gave: the first line of it that is not blank, and how
// many lines there are.
func resultLine(p *thread.Part) string {
	text := strings.TrimSpace(gaveText(p))
	first, _, _ := strings.Cut(text, "\n")
	line := cut(strings.TrimSpace(first), maxResultLine)
	if n := strings.Count(text, "\n") + 1; n > 1 {
		line += fmt.Sprintf(" (%d lines)", n)
	}
	if p.IsError {
		return "error: " + line
	}
	return line
}

// gaveText is the text of what a call gave, with what else it gave by its name.
func gaveText(p *thread.Part) string {
	var out []string
	for _, q := range p.Parts {
		switch q.Type {
		case thread.TextPart:
			out = append(out, q.Text)
		case thread.BlobPart:
			out = append(out, fmt.Sprintf("[%s %s %d bytes]", q.MediaType, q.Name, q.Size))
		default:
			out = append(out, "["+string(q.Type)+"]")
		}
	}
	return strings.Join(out, "\n")
}

// cut gives the first n characters of a text.
func cut(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}
