package line

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Ellipsis stands for what was left out. A token that touches it was cut and is
// no anchor.
const Ellipsis = "…"

// Clip shortens the text to at most so many bytes, at a word where there is one
// near, and ends it with [Ellipsis]. It never parts a grapheme: where not even
// the first one fits, the ellipsis alone is left. A text that fits is returned
// as it is.
func Clip(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	head := headOf(text, bytes-len(Ellipsis)-1)
	if head == "" || parts(text, len(head)) {
		return head + Ellipsis
	}
	return head + " " + Ellipsis
}

// clipMiddle keeps the head and the tail of a long text with an ellipsis
// between them: at most head+tail bytes and the ellipsis.
func clipMiddle[T string | []byte](text T, head, tail int) string {
	if len(text) <= head+tail {
		return valid(string(text))
	}
	// Only the two ends are looked at, so that the length of what lies between
	// costs nothing.
	front := valid(string(text[:wholeRune(text, head+len(Ellipsis))]))
	back := valid(string(text[wholeRune(text, len(text)-tail-len(Ellipsis)):]))
	kept := headOf(front, min(head, len(front)))
	left, right := " ", " "
	if kept == "" || parts(front, len(kept)) {
		left = ""
	}
	start := tailAt(back, max(len(back)-tail, 0))
	if parts(back, start) {
		right = ""
	}
	return kept + left + Ellipsis + right + back[startOf(back, start):]
}

// valid replaces what is not UTF-8.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// wholeRune gives the nearest index at or before i where a rune starts.
func wholeRune[T string | []byte](s T, i int) int {
	i = max(min(i, len(s)), 0)
	for k := 0; k < utf8.UTFMax && i > 0 && i < len(s) && !utf8.RuneStart(s[i]); k++ {
		i--
	}
	return i
}

// wordReach is how far a cut looks for the end of a word.
const wordReach = 256

// headOf gives the longest beginning of s of at most n bytes that ends after a
// whole word, or, where no word ends within reach, after a whole grapheme.
func headOf(s string, n int) string {
	if n <= 0 {
		return ""
	}
	if n >= len(s) {
		return s
	}
	end := boundaryBefore(s, n)
	for i := end; i > 0 && i > end-wordReach; {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		if unicode.IsSpace(r) {
			if i = endOf(s, i); i > 0 {
				return s[:i]
			}
			break
		}
		if !parts(s, i) && boundaryBefore(s, i) == i {
			return s[:i]
		}
		i -= size
	}
	return s[:end]
}

// endOf gives where s[:i] ends without the spaces at its end. A space may be the
// last of a grapheme, which goes then.
func endOf(s string, i int) int {
	for {
		to := len(strings.TrimRightFunc(s[:i], unicode.IsSpace))
		if i = boundaryBefore(s, to); i == to {
			return i
		}
	}
}

// startOf gives where s[i:] begins without the spaces at its beginning. A space
// may be the first of a grapheme, which stays then.
func startOf(s string, i int) int {
	for to := i; to < len(s) && strings.IndexByte(" \t\r\n", s[to]) >= 0; {
		if to++; boundaryBefore(s, to) == to {
			i = to
		}
	}
	return i
}

// tailAt gives the first index at or after i where a word starts, or, where none
// starts within reach, a grapheme.
func tailAt(s string, i int) int {
	start := boundaryAfter(s, i)
	for k := start; k < len(s) && k < start+wordReach; {
		if !parts(s, k) && boundaryBefore(s, k) == k {
			return k
		}
		_, size := utf8.DecodeRuneInString(s[k:])
		k += size
	}
	return start
}

// parts says whether a cut at i would part a token.
func parts(s string, i int) bool {
	if i <= 0 || i >= len(s) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i:])
	// A token is parted from the ellipsis that shows it cut, too.
	return (inToken(before) || before == '…') && (inToken(after) || after == '…')
}

// inToken says whether the rune can be within an anchor.
func inToken(r rune) bool {
	if r < utf8.RuneSelf {
		return tokenBytes[r]
	}
	return wordRune(r)
}

// tokenBytes are the ASCII characters that can be within an anchor: all that are
// seen but quotes, brackets and what parts sentences.
var tokenBytes = func() (in [utf8.RuneSelf]bool) {
	for c := byte('!'); c < 0x7F; c++ {
		in[c] = strings.IndexByte("\"`()[]{}<>;|", c) < 0
	}
	return in
}()

// wordRune says whether the rune belongs to a word of a script that parts words
// by spaces.
func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) && !spaceless(r)
}

// spaceless says whether the rune is of a script that writes no spaces between
// words.
func spaceless(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// boundaryBefore gives the last grapheme boundary of s at or before i.
func boundaryBefore(s string, i int) int {
	before, _ := boundaries(s, i)
	return before
}

// boundaryAfter gives the first grapheme boundary of s at or after i.
func boundaryAfter(s string, i int) int {
	_, after := boundaries(s, i)
	return after
}

// boundaries gives the grapheme boundaries around i. It steps from the nearest
// place before i that is a boundary whatever stands around it.
func boundaries(s string, i int) (before, after int) {
	if i <= 0 {
		return 0, 0
	}
	if i >= len(s) {
		return len(s), len(s)
	}
	at := i
	for at > 0 && !plainBoundary(s, at) {
		at--
	}
	state := -1
	rest := s[at:]
	for at < i {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		before = at
		at += len(cluster)
	}
	if at == i {
		before = i
	}
	return before, at
}

// plainBoundary says whether i lies between two ASCII bytes, which never belong
// to one grapheme unless they are \r\n.
func plainBoundary(s string, i int) bool {
	a, b := s[i-1], s[i]
	return a < utf8.RuneSelf && b < utf8.RuneSelf && !(a == '\r' && b == '\n')
}
