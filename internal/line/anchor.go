package line

import (
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
