package line

import (
	_ "embed"
	"strings"
	"unicode"
	"unicode/utf8"
)

// quotedBytes is how long a quoted string may be to count as an anchor.
const quotedBytes = 120

// Anchors gives what a text can be held to, in order, each once: numbers of two
// digits or more (12,400, 3.14, 2026-11-30, 10:30), dates with a month's name,
// ids and other words with digits in them, hexadecimal words, paths, file names,
// URLs, quoted strings (without their quotes), CamelCase and snake_case names,
// command-line flags. A token that touches [Ellipsis] was cut and is none.
func Anchors(text string) []string {
	var out []string
	seen := map[string]bool{}
	eachAnchor(text, func(a anchor) {
		s := text[a.start:a.end]
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	})
	return out
}

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

// anchor is where an anchor stands in a text.
type anchor struct {
	start, end int
	kind       anchorKind
}

type anchorKind int

const (
	noAnchor anchorKind = iota
	numberAnchor
	dateAnchor
	idAnchor
	pathAnchor
	urlAnchor
	quotedAnchor
	nameAnchor
)

// eachAnchor calls yield for every anchor of the text, in order of their ends.
func eachAnchor(text string, yield func(anchor)) {
	quote := -1 // where a quoted string began, after its mark
	var mark string
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case quote >= 0 && strings.HasPrefix(text[i:], mark) && closesQuote(text, i, size):
			if i-quote <= quotedBytes && !strings.Contains(text[quote:i], Ellipsis) && !isKey(text, i+size) {
				yield(anchor{quote, i, quotedAnchor})
			}
			quote = -1
			i += size
		case quotes[r] != "" && opensQuote(text, i, size):
			quote, mark = i+size, quotes[r]
			i += size
		case r == '\n':
			quote = -1
			i++
		case r == '\\' && i+1 < len(text) && strings.IndexByte("nrt", text[i+1]) >= 0:
			i += 2
		case !inToken(r) || r == '\\':
			i += size
		default:
			end := tokenEnd(text, i)
			eachInToken(text, i, end, yield)
			i = end
		}
	}
}

// quotes gives the mark that closes a quoted string by the one that opens it.
var quotes = map[rune]string{'"': `"`, '`': "`", '“': "”", '„': "“", '«': "»", '「': "」", '『': "』"}

func opensQuote(text string, i, size int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	after, _ := utf8.DecodeRuneInString(text[i+size:])
	if i+size == len(text) || unicode.IsSpace(after) {
		return false
	}
	return i == 0 || !wordRune(before) && before != '\\'
}

func closesQuote(text string, i, size int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	after, _ := utf8.DecodeRuneInString(text[i+size:])
	if unicode.IsSpace(before) || before == '\\' {
		return false
	}
	return i+size == len(text) || !wordRune(after)
}

// isKey says whether a quoted string that ends before i is the key of a JSON
// object, which names nothing.
func isKey(text string, i int) bool { return i < len(text) && text[i] == ':' }

// tokenEnd gives the end of the token that starts at i. An ellipsis belongs to
// the token it touches.
func tokenEnd(text string, i int) int {
	windows := windowsPath(text[i:])
	for i < len(text) {
		if c := text[i]; c < utf8.RuneSelf {
			if !inToken(rune(c)) || c == '\\' && !windows {
				break
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if !inToken(r) && r != '…' {
			break
		}
		i += size
	}
	return i
}

// eachInToken finds the anchors of one token. A token of one kind is an anchor
// as a whole; else it is parted where code parts its words.
func eachInToken(text string, start, end int, yield func(anchor)) {
	if strings.Contains(text[start:end], "://") || windowsPath(text[start:end]) {
		yieldPiece(text, start, end, yield)
		return
	}
	for start < end {
		n := strings.IndexFunc(text[start:end], partsToken)
		stop := end
		if n >= 0 {
			stop = start + n
		}
		// A colon and a comma part all but the digits of one number.
		if stop < end && (text[stop] == ':' || text[stop] == ',') && betweenDigits(text, stop) {
			stop = numberEnd(text, stop, end)
		}
		yieldPiece(text, start, stop, yield)
		if stop == end {
			return
		}
		_, size := utf8.DecodeRuneInString(text[stop:])
		start = stop + size
	}
}

func partsToken(r rune) bool { return strings.ContainsRune("=,:!?&*\\^'$%+", r) }

func betweenDigits(text string, i int) bool {
	return i > 0 && i+1 < len(text) && isDigit(rune(text[i-1])) && isDigit(rune(text[i+1]))
}

// numberEnd gives the end of the number that goes on over the mark at i.
func numberEnd(text string, i, end int) int {
	for i < end && text[i] < utf8.RuneSelf && (wordRune(rune(text[i])) || strings.IndexByte(".-/", text[i]) >= 0 || betweenDigits(text, i)) {
		i++
	}
	return i
}

// yieldPiece trims a piece of a token and yields it if it is an anchor.
func yieldPiece(text string, start, end int, yield func(anchor)) {
	if cutBefore(text[:start]) || cutAfter(text[end:]) {
		return
	}
	for end > start && strings.IndexByte(".,:;!?'-/#@~", text[end-1]) >= 0 {
		end--
	}
	for start < end && strings.IndexByte(",:;!?'#", text[start]) >= 0 {
		start++
	}
	if strings.Contains(text[start:end], Ellipsis) {
		return
	}
	if kind := kindOf(text[start:end]); kind == numberAnchor {
		s, e := core(text, start, end)
		yield(anchor{s, e, kind})
	} else if kind != noAnchor {
		yield(anchor{start, end, kind})
	}
	if s, e, ok := dateAt(text, start, end); ok {
		yield(anchor{s, e, dateAnchor})
	}
}

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
