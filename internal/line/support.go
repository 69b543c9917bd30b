package line

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Unsupported gives the anchors of the line that occur in none of the sources.
// A number must stand there as a number: 12 is not supported by 12,400.
func Unsupported(line string, sources ...string) []string {
	var out []string
	var flat []string         // the sources with their white space made single
	var known map[string]bool // the sources' own anchors
	for _, a := range Anchors(line) {
		if occursIn(a, sources) {
			continue
		}
		if known == nil {
			known = map[string]bool{}
			for _, s := range sources {
				flat = append(flat, spaced(s))
				eachAnchor(s, func(a anchor) { known[s[a.start:a.end]] = true })
			}
		}
		if known[a] || strings.ContainsFunc(a, unicode.IsSpace) && occursIn(spaced(a), flat) {
			continue
		}
		out = append(out, a)
	}
	return out
}

// spaced turns every run of white space into one space.
func spaced(s string) string { return strings.Join(strings.Fields(s), " ") }

func occursIn(a string, sources []string) bool {
	for _, s := range sources {
		if occurs(a, s) {
			return true
		}
	}
	return false
}

// occurs says whether the anchor stands in s as a whole, not within a longer
// word or number.
func occurs(a, s string) bool {
	for from := 0; ; {
		i := strings.Index(s[from:], a)
		if i < 0 {
			return false
		}
		i += from
		if startsAt(a, s, i) && endsAt(a, s, i+len(a)) {
			return true
		}
		from = i + 1
	}
}

// startsAt says whether an anchor found at i begins there.
func startsAt(a, s string, i int) bool {
	first, _ := utf8.DecodeRuneInString(a)
	before, size := utf8.DecodeLastRuneInString(s[:i])
	if i == 0 || !wordRune(first) {
		return true
	}
	if cutBefore(s[:i]) {
		return false
	}
	if before == '.' || before == ',' {
		return !(isDigit(first) && i > size && isDigit(rune(s[i-size-1])))
	}
	// In JSON a newline before a word is \n.
	if i >= 2 && s[i-2] == '\\' && strings.IndexByte("nrt", s[i-1]) >= 0 {
		return true
	}
	return !wordRune(before) || isDigit(first) && (before == 'v' || before == 'V')
}

// endsAt says whether an anchor found before i ends there.
func endsAt(a, s string, i int) bool {
	last, _ := utf8.DecodeLastRuneInString(a)
	if i == len(s) || !wordRune(last) {
		return true
	}
	after, size := utf8.DecodeRuneInString(s[i:])
	if cutAfter(s[i:]) {
		return false
	}
	if after == '.' || after == ',' {
		return !(isDigit(last) && i+size < len(s) && isDigit(rune(s[i+size])))
	}
	return !wordRune(after) || isDigit(last) && unitAt(s, i)
}

// joints are the marks that may stand between a token and the ellipsis that it
// touches.
const joints = ".,:;!?-/"

func cutBefore(s string) bool { return strings.HasSuffix(strings.TrimRight(s, joints), Ellipsis) }
func cutAfter(s string) bool  { return strings.HasPrefix(strings.TrimLeft(s, joints), Ellipsis) }

// unitAt says whether a number that ends at i is followed by a unit written
// close to it, as in 34KB.
func unitAt(s string, i int) bool {
	n := 0
	for n <= unitLetters && i+n < len(s) && isLetter(s[i+n]) {
		n++
	}
	if n == 0 || n > unitLetters {
		return false
	}
	after, _ := utf8.DecodeRuneInString(s[i+n:])
	return i+n == len(s) || !wordRune(after)
}

// unitLetters is how long a unit written close to its number may be.
const unitLetters = 3
