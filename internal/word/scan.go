package word

import (
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"golang.org/x/text/unicode/norm"
)

// maxTerm is the most bytes of a term: longer words (encoded data) are known by
// their beginning.
const maxTerm = 64

// token is a term and where it stands in the text.
type token struct {
	term       string
	start, end int
	within     bool // one character of a longer run, which a query does not look up
}

// scanner reads texts into tokens. It remembers the stems it has made, as a
// text repeats its words. Its life is one call of this package.
type scanner struct {
	emit  func(token)
	stems map[string]string
}

func newScanner(emit func(token)) *scanner {
	return &scanner{emit: emit, stems: map[string]string{}}
}

// scan emits the tokens of s in order.
func (sc *scanner) scan(s string) {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case !isWord(r):
			i += n
		case isUnspaced(r):
			end := runEnd(s, i, isUnspaced)
			sc.run(s, i, end)
			i = end
		default:
			end := runEnd(s, i, isSpaced)
			sc.word(s, i, end)
			i = end
		}
	}
}

func isSpaced(r rune) bool { return isWord(r) && !isUnspaced(r) }

// runEnd is the end of the runes from start on that are in the class.
func runEnd(s string, start int, in func(rune) bool) int {
	for i := start; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if !in(r) {
			return i
		}
		i += n
	}
	return len(s)
}

// run emits the characters of a run of an unspaced script, and after each the
// pair that it begins.
func (sc *scanner) run(s string, start, end int) {
	first := characterEnd(s[:end], start)
	alone := first == end
	for a, b := start, first; ; {
		one := fold(s[a:b])
		sc.add(one, a, b, !alone)
		if b == end {
			return
		}
		c := characterEnd(s[:end], b)
		sc.add(one+fold(s[b:c]), a, c, false)
		a, b = b, c
	}
}

// characterEnd is the end of the character at i: what Unicode normalizes as one
// (half-width kana with their marks), and the vowel signs that hang on it.
func characterEnd(s string, i int) int {
	i += norm.NFKC.NextBoundaryInString(s[i:], true)
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		if !unicode.IsMark(r) {
			break
		}
		i += n
	}
	return i
}

// word emits a word and, where capitals divide it, its parts.
func (sc *scanner) word(s string, start, end int) {
	sc.add(sc.stem(fold(s[start:end])), start, end, false)
	from := start
	for i := start; i < end; {
		r, n := utf8.DecodeRuneInString(s[i:end])
		if i > from && divides(s, from, i, i+n, end, r) {
			sc.add(sc.stem(fold(s[from:i])), from, i, false)
			from = i
		}
		i += n
	}
	if from > start {
		sc.add(sc.stem(fold(s[from:end])), from, end, false)
	}
}

// divides says whether the upper-case r at [i, next) begins a part: after a
// small letter or digit (tuiRenderer), or before a small one (HTTPServer).
func divides(s string, from, i, next, end int, r rune) bool {
	if !unicode.IsUpper(r) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(s[from:i])
	if !unicode.IsUpper(before) {
		return true
	}
	after, _ := utf8.DecodeRuneInString(s[next:end])
	return unicode.IsLower(after)
}

func (sc *scanner) add(term string, start, end int, within bool) {
	if term == "" {
		return
	}
	sc.emit(token{term, start, end, within})
}

// stem takes the English ending off a word of ASCII letters.
func (sc *scanner) stem(w string) string {
	if len(w) > maxTerm {
		return clip(w)
	}
	if len(w) < 3 {
		return w
	}
	for i := 0; i < len(w); i++ {
		if w[i] < 'a' || w[i] > 'z' {
			return w
		}
	}
	if st, ok := sc.stems[w]; ok {
		return st
	}
	st := english.Stem(w, true)
	sc.stems[w] = st
	return st
}

func clip(w string) string {
	n := maxTerm
	for !utf8.RuneStart(w[n]) {
		n--
	}
	return w[:n]
}
