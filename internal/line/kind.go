package line

import (
	_ "embed"
	"strings"
	"unicode"
	"unicode/utf8"
)

// kindOf says what kind of anchor a piece is.
func kindOf(s string) anchorKind {
	if len(s) < 2 {
		return noAnchor
	}
	f := featuresOf(s)
	switch {
	case strings.Contains(s, "://"):
		return urlAnchor
	case f.digits >= 2 && f.letters <= f.unit+f.version:
		return numberAnchor
	case f.slashes > 0 || windowsPath(s):
		if isPath(s, f) {
			return pathAnchor
		}
	case f.digits > 0 && f.letters > 0 && len(s) >= 3 && f.unit != f.letters:
		return idAnchor
	case f.hex == len(s) && len(s) >= 7:
		return idAnchor
	case f.underscores > 0 && f.letters > 1:
		return nameAnchor
	case f.humps > 1 || f.humps == 1 && !unicode.IsUpper(rune(s[len(s)-1])):
		return nameAnchor
	case strings.HasPrefix(s, "--") && f.letters > 1:
		return idAnchor
	case f.dots > 0 && isFile(s):
		return pathAnchor
	case f.dots > 0 && isDotted(s):
		return nameAnchor
	case strings.Contains(s[1:], "@") && f.letters > 1:
		return idAnchor
	}
	return noAnchor
}

// features counts what tells the kinds apart.
type features struct {
	digits, letters, slashes, dots, underscores int
	humps                                       int // an upper-case letter after a lower-case one
	hex                                         int // a–f
	version                                     int // 1 where a digit follows a v at the start
	unit                                        int // letters after the last digit, if no more than unitLetters
}

func featuresOf(s string) features {
	var f features
	var before rune
	if (s[0] == 'v' || s[0] == 'V') && isDigit(rune(s[1])) {
		f.version = 1
	}
	for i, r := range s {
		switch {
		case isDigit(r):
			f.digits++
			f.unit = 0
		case r == '/':
			f.slashes++
		case r == '.':
			f.dots++
		case r == '_' && i > 0 && i+1 < len(s):
			f.underscores++
		case r < utf8.RuneSelf && isLetter(byte(r)) || r >= utf8.RuneSelf && unicode.IsLetter(r):
			f.letters++
			f.unit++
			if 'a' <= r && r <= 'f' {
				f.hex++
			}
			if unicode.IsUpper(r) && unicode.IsLower(before) {
				f.humps++
			}
			if unicode.IsLower(r) && unicode.IsUpper(before) && i >= 2 && unicode.IsUpper(rune(s[i-2])) && i+1 < len(s) && s[i+1] != 's' {
				f.humps++ // HTTPServer
			}
		}
		before = r
	}
	if f.unit > unitLetters {
		f.unit = 0
	}
	return f
}

// core is the number within a piece such as v3.14 or 34KB.
func core(text string, start, end int) (int, int) {
	for start < end && !isDigit(rune(text[start])) {
		start++
	}
	for end > start && !isDigit(rune(text[end-1])) {
		end--
	}
	return start, end
}

// isPath tells a path from words with a slash between them.
func isPath(s string, f features) bool {
	if f.slashes >= 2 || windowsPath(s) || f.digits > 0 || f.underscores > 0 || f.humps > 0 {
		return f.letters > 0
	}
	if strings.IndexByte("/.~@", s[0]) >= 0 || f.dots > 0 {
		return f.letters > 1
	}
	for word := range strings.SplitSeq(s, "/") {
		if !isCommon(strings.ToLower(word)) {
			return f.letters > 1
		}
	}
	return false
}

// windowsPath says whether s begins as C:\ does.
func windowsPath(s string) bool {
	return len(s) > 3 && isLetter(s[0]) && s[1] == ':' && s[2] == '\\'
}

// fileText lists the extensions of files.
//
//go:embed files.txt
var fileText string

var extensions = wordSet(fileText)

// isFile says whether s is the name of a file: it has a known extension, or is
// one of those that begin with a dot.
func isFile(s string) bool {
	i := strings.LastIndexByte(s, '.')
	return len(s[:i]) > 1 && extensions[strings.ToLower(s[i+1:])] && wordRune(rune(s[i-1]))
}

// isDotted says whether s is words joined by dots without spaces, as in code.
func isDotted(s string) bool {
	words := 0
	for word := range strings.SplitSeq(strings.TrimPrefix(s, "."), ".") {
		if len(word) < 2 || !isLetter(word[0]) {
			return false
		}
		words++
	}
	return words > 1 && !unicode.IsUpper(rune(s[strings.LastIndexByte(s, '.')+1]))
}

// dateAt finds a date whose month is the word at [start, end): 30 November 2026,
// November 30, Nov 2026.
func dateAt(text string, start, end int) (s, e int, ok bool) {
	if end-start < 3 || end-start > 9 || !months[text[start:end]] {
		return 0, 0, false
	}
	s, e = start, end
	if i := strings.TrimRight(text[:start], " "); len(i) < start && len(i) > 0 {
		if b := digitsBefore(i); b < len(i) {
			s = b
		}
	}
	rest := strings.TrimLeft(text[end:], " ,.")
	if n := digitsAtStart(rest); n > 0 && len(rest) < len(text)-end {
		e = len(text) - len(rest) + n
	}
	return s, e, s < start || e > end
}

func digitsBefore(s string) int {
	i := len(s)
	for i > 0 && isDigit(rune(s[i-1])) {
		i--
	}
	if i > 0 && (wordRune(rune(s[i-1])) || s[i-1] >= utf8.RuneSelf || s[i-1] == '.' || s[i-1] == ',') {
		return len(s)
	}
	return i
}

func digitsAtStart(s string) int {
	n := 0
	for n < len(s) && isDigit(rune(s[n])) {
		n++
	}
	if n < len(s) && wordRune(rune(s[n])) || n > 4 || strings.HasPrefix(s[n:], Ellipsis) {
		return 0
	}
	return n
}

var months = wordSet("January February March April May June July August September October November December Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec")

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
