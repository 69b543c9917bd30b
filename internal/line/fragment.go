package line

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// fragment is a piece of an utterance that can stand in a line by itself.
type fragment struct {
	utterance  int
	start, end int  // where it stands in the utterance's text
	size       int  // bytes, as the line shows it
	bare       bool // an anchor without its sentence

	// Its gain is the sum of its terms' values, times its factor: what place,
	// role and cues make of them.
	terms  []term
	factor float64
}

// fragmentBytes is how long a fragment may be before it is parted at commas or
// words.
const fragmentBytes = 140

// fragments parts the text of an utterance at newlines, ellipses and the ends of
// sentences; what is still long at commas and words.
func fragments(utterance int, text string) []fragment {
	var out []fragment
	add := func(start, end int) {
		if shown := shownAs(text, start, end); shown != "" {
			out = append(out, fragment{utterance: utterance, start: start, end: end, size: len(shown)})
		}
	}
	for start := 0; start < len(text); {
		end := sentenceEnd(text, start)
		for end-start > fragmentBytes {
			n := clauseEnd(text[start:end])
			add(start, start+n)
			start += n
		}
		add(start, end)
		start = end
	}
	return out
}

// sentenceEnd gives the end of the sentence that starts at start.
func sentenceEnd(text string, start int) int {
	for i := start; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		next := i + size
		switch {
		case r == '\n':
			return next
		case r == '…' && standsAlone(text, i, next):
			return next
		case strings.ContainsRune("。！？", r):
			return next
		case strings.ContainsRune(".!?;", r) && next < len(text) && text[next] == ' ' && !abbreviates(text[start:i]):
			return next + 1
		}
		i = next
	}
	return len(text)
}

// standsAlone says whether the ellipsis at [i, next) joins two fragments of an
// earlier line.
func standsAlone(text string, i, next int) bool {
	return i > 0 && text[i-1] == ' ' && next < len(text) && text[next] == ' '
}

// abbreviates says whether the full stop after s ends a word, not a sentence.
func abbreviates(s string) bool {
	word := strings.ToLower(s[strings.LastIndexAny(s, " (\t")+1:])
	return len(word) < 2 || abbreviations[word]
}

var abbreviations = wordSet("e.g i.e vs etc cf approx no fig dr mr mrs ms st resp incl ca z.b d.h bzw")

// clauseEnd gives where a long sentence is parted: after the last comma, colon
// or dash within reach, else after a word, else after a grapheme.
func clauseEnd(s string) int {
	best := 0
	for i := fragmentBytes / 3; i < fragmentBytes; i++ {
		if s[i] == ' ' && strings.IndexByte(",:)-", s[i-1]) >= 0 {
			best = i + 1
		}
		if strings.HasPrefix(s[i:], "，") || strings.HasPrefix(s[i:], "、") {
			best = i + len("，")
		}
	}
	if best > 0 {
		return best
	}
	if n := len(headOf(s, fragmentBytes)); n > 0 {
		return n
	}
	cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(s, -1)
	return len(cluster)
}

// shownAs is text[start:end] as a line shows it: white space single, marks of
// lists and headings gone from its start. A token cut at either end touches an
// ellipsis there. What has no letter or digit is nothing.
func shownAs(text string, start, end int) string {
	from, to := trimmed(text, start, end)
	s := text[from:to]
	if !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r >= 0x2190 && r != '─' }) {
		return ""
	}
	s = printable(plain(s))
	if parts(text, start) {
		s = Ellipsis + s
	}
	if parts(text, end) {
		s += Ellipsis
	}
	return s
}

// trimmed leaves out the white space and the marks around text[start:end], and
// characters that would be parted by that.
func trimmed(text string, start, end int) (from, to int) {
	s := strings.TrimLeft(text[start:end], " \t\r\n\v\f|│├└┌─╭╰•✓✗")
	for {
		mark, rest, ok := strings.Cut(s, " ")
		if !ok || !listMarks[mark] {
			break
		}
		s = strings.TrimLeft(rest, " \t")
	}
	from = end - len(s)
	s = strings.TrimRight(s, " \t\r\n\v\f|│┤─╮╯,")
	s = strings.TrimSuffix(s, " …")
	from, to = boundaryAfter(text, from), boundaryBefore(text, from+len(s))
	return from, max(from, to)
}

// plain leaves out the marks of bold text where they touch one word only.
func plain(s string) string {
	for from := 0; ; {
		i := strings.Index(s[from:], "**")
		if i < 0 {
			return s
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		after, _ := utf8.DecodeRuneInString(s[i+2:])
		if i == 0 || i+2 == len(s) || inToken(before) != inToken(after) && before != '*' && after != '*' {
			s = s[:i] + s[i+2:]
			from = i
			continue
		}
		from = i + 2
	}
}

// listMarks are what a line of a list, a heading or a quotation starts with.
var listMarks = wordSet("- * + > # ## ### #### … – — • , ; : > | [ ] [x]")

// printable makes runs of white space single and leaves out what a screen
// cannot show.
func printable(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r != ' ' && (unicode.IsSpace(r) || unicode.IsControl(r)) }) && !strings.Contains(s, "  ") {
		return s
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), unicode.IsControl(r):
			return ' '
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
