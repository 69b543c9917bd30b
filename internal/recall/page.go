package recall

import (
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// PageBytes is the most bytes of one page of a message.
const PageBytes = 16 << 10

// pages cuts a text into pages, which joined give the text again. A page ends
// between two graphemes, unless one is longer than a page: then between runes. An
// empty text is one empty page.
func pages(text string) []string {
	var out []string
	for len(text) > PageBytes {
		n := pageEnd(text)
		out = append(out, text[:n])
		text = text[n:]
	}
	return append(out, text)
}

// pageEnd is where the first page of a longer text ends.
func pageEnd(text string) int {
	if end := lastBoundary(text, PageBytes); end > 0 {
		return end
	}
	end := PageBytes
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return end
}

// lastBoundary is the last place up to n < len(s) between two graphemes.
func lastBoundary(s string, n int) int {
	at := plainBoundary(s, n)
	state := -1
	for rest := s[at:]; at < n; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if at+len(cluster) > n {
			break
		}
		at += len(cluster)
	}
	return at
}

// plainBoundary is the last place up to n that lies between two ASCII characters
// and so between graphemes, 0 if there is none.
func plainBoundary(s string, n int) int {
	for i := n; i > 0; i-- {
		if s[i-1] < utf8.RuneSelf && s[i] < utf8.RuneSelf && !(s[i-1] == '\r' && s[i] == '\n') {
			return i
		}
	}
	return 0
}
