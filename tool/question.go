package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxQuestion is the most characters of what a question shows of a call.
const MaxQuestion = 500

// Question says on one line, for people, what the call would do: the tool and the
// command line, or the paths, or the input. Characters that a terminal or an eye
// could be deceived by are written out; what is left out is counted.
func (v Verdict) Question(t Tool, input json.RawMessage) string {
	what := v.Resources.Command
	if paths := strings.Join(v.Resources.Paths, ", "); what == "" {
		what = paths
	} else if paths != "" {
		what += " (" + paths + ")"
	}
	if what == "" {
		what = compacted(input)
	}
	return harmless(t.Name) + ": " + shortened(harmless(what))
}

func compacted(input json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, input) != nil {
		return string(input)
	}
	return b.String()
}

// harmless writes a text on one line, in characters that show as what they are.
func harmless(s string) string {
	var b strings.Builder
	s = strings.Trim(strings.ToValidUTF8(s, "\uFFFD"), " \t\r\n")
	for _, r := range blanks.ReplaceAllString(s, " ") {
		switch {
		case r == '\n':
			b.WriteRune('⏎')
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
	}
	return b.String()
}

// shortened keeps the head and the tail of a long text.
func shortened(s string) string {
	n := utf8.RuneCountInString(s)
	if n <= MaxQuestion {
		return s
	}
	const half = (MaxQuestion - 50) / 2 // room for the mark
	runes := []rune(s)
	return fmt.Sprintf("%s [… %d characters left out …] %s", string(runes[:half]), n-2*half, string(runes[n-half:]))
}
