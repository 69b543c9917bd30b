package mcp

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// plain makes one harmless line of what a server says: white space of any kind
// is one space, control characters and those that nobody sees are gone, and at
// most so many characters are left.
func plain(s string, most int) string {
	if len(s) > 8*most { // what is left out is not looked at
		s = s[:8*most]
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r):
			return ' '
		case r == '\u200c' || r == '\u200d': // join letters of Persian, and emoji
			return r
		case unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}
