package tui

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// safe makes text harmless for a terminal: control characters other than
// newline and tab, and characters that turn the direction of text, show as
// their code. Invalid bytes show as the replacement character.
func safe(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if !strings.ContainsFunc(s, Harmful) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if Harmful(r) {
			fmt.Fprintf(&b, "<U+%04X>", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// safeLine is safe for text that must stand on one line.
func safeLine(s string) string {
	return safe(strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " "))
}

// Harmful says whether a rune could move a terminal's cursor, turn the direction
// of text, or hide: control characters but newline and tab, marks of direction,
// characters without width, tags. The joiner of emoji is none.
func Harmful(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029:
		return true
	case r == 0x61c || r == 0x200b || r == 0x200e || r == 0x200f || r == 0xfeff:
		return true
	}
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r >= 0xe0000 && r <= 0xe007f
}

// The Markdown renderer drops what looks like HTML and turns entities into
// characters, an escape among them. Stand-ins carry both through it.
const (
	lessThan  = '\uF8F1'
	ampersand = '\uF8F2'
)

var entity = regexp.MustCompile(`&#([0-9]{1,8}|[xX][0-9a-fA-F]{1,7});`)

// shield makes safe text ready for the Markdown renderer.
func shield(s string) string {
	if strings.ContainsAny(s, string([]rune{lessThan, ampersand})) {
		s = strings.NewReplacer(string(lessThan), "\uFFFD", string(ampersand), "\uFFFD").Replace(s)
	}
	if strings.Contains(s, "&#") {
		s = entity.ReplaceAllStringFunc(s, func(e string) string {
			if r := entityRune(e); r != '\n' && r != '\t' && !Harmful(r) {
				return e
			}
			return string(ampersand) + e[1:]
		})
	}
	return strings.ReplaceAll(s, "<", string(lessThan))
}

func entityRune(e string) rune {
	digits, base := e[2:len(e)-1], 10
	if digits[0] == 'x' || digits[0] == 'X' {
		digits, base = digits[1:], 16
	}
	n, err := strconv.ParseInt(digits, base, 32)
	if err != nil {
		return 0
	}
	return rune(n)
}

var unshielder = strings.NewReplacer(string(lessThan), "<", string(ampersand), "&")

// unshield takes the stand-ins out of a rendered line, and every sequence that
// is not one of colours and weights.
func unshield(line string) string {
	return unshielder.Replace(onlyStyles(line))
}

// onlyStyles keeps of the escape sequences those that style text.
func onlyStyles(s string) string {
	if strings.IndexByte(s, 0x1b) < 0 && !strings.ContainsFunc(s, Harmful) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] == 0x1b {
			n, style := sequence(s[i:])
			if style {
				b.WriteString(s[i : i+n])
			}
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if !Harmful(r) {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// sequence gives the length of the escape sequence that s begins with, and
// whether it is one that styles text.
func sequence(s string) (n int, style bool) {
	if len(s) < 2 {
		return len(s), false
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			switch b := s[i]; {
			case b >= 0x40 && b <= 0x7e:
				return i + 1, b == 'm'
			case b < 0x20 || b > 0x3f:
				return i, false
			}
		}
		return len(s), false
	case ']', 'P', '^', '_', 'X':
		for i := 2; i < len(s); i++ {
			if s[i] == 0x07 {
				return i + 1, false
			}
			if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2, false
			}
		}
		return len(s), false
	}
	return 2, false
}
