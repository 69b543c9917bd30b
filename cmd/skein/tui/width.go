package tui

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/rivo/uniseg"
)

// tabCells is how wide a tab is drawn.
const tabCells = 4

// cells measures text as the terminal will draw it. Terminals disagree about
// joined emoji: those that answer to mode 2027 draw a grapheme as one, the others
// draw its code points one by one.
type cells struct{ method ansi.Method }

// width gives the columns of text that may hold styles.
func (c cells) width(s string) int { return c.method.StringWidth(s) }

// cluster gives the first grapheme of plain text and its columns.
func (c cells) cluster(s string) (g string, w int) {
	if s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		switch {
		case s[0] == '\t':
			return s[:1], tabCells
		case s[0] < 0x20 || s[0] == 0x7f:
			return s[:1], 0
		}
		return s[:1], 1
	}
	g, _, _, _ = uniseg.FirstGraphemeClusterInString(s, -1)
	if g == "\t" {
		return g, tabCells
	}
	return g, c.method.StringWidth(g)
}

// row is a part of a text, in bytes, that stands on one line of the screen.
type row struct{ start, end int }

// rows breaks one line of plain text into rows of at most width columns: after
// spaces where there are some, else between graphemes. Spaces at a row's end may
// hang over. There is always one row.
func (c cells) rows(s string, width int) []row {
	width = max(width, 2)
	if len(s) <= width && isASCII(s) && strings.IndexByte(s, '\t') < 0 {
		return []row{{0, len(s)}}
	}
	var out []row
	start, used := 0, 0         // of the row
	breakAt, usedBreak := -1, 0 // after its last space
	for i := 0; i < len(s); {
		g, w := c.cluster(s[i:])
		space := g == " " || g == "\t"
		if used+w > width && !space && i > start {
			cut, left := i, 0
			if breakAt > start {
				cut, left = breakAt, used-usedBreak
			}
			out = append(out, row{start, cut})
			start, used, breakAt = cut, left, -1
			if used+w > width && i > start { // a word wider than a row
				out = append(out, row{start, i})
				start, used = i, 0
			}
		}
		i += len(g)
		used += w
		if space {
			breakAt, usedBreak = i, used
		}
	}
	return append(out, row{start, len(s)})
}

// wrap breaks plain text into drawn lines of at most width columns. Newlines
// stay; tabs become spaces; spaces at the ends of rows go.
func (c cells) wrap(text string, width int) []string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		for _, r := range c.rows(line, width) {
			out = append(out, strings.TrimRight(untab(line[r.start:r.end]), " "))
		}
	}
	return out
}

// hanging breaks one line of two columns, which spaces part, so that the second
// stays apart from the first: under itself, or where that is too narrow under the
// first, set in.
func (c cells) hanging(line string, width int) []string {
	const least = 16 // columns that are worth a column of their own
	first, rest, ok := strings.Cut(line, "  ")
	if !ok || first == "" || c.width(line) <= width {
		return c.wrap(line, width)
	}
	rest = strings.TrimLeft(rest, " ")
	at := c.width(line) - c.width(rest)
	var out []string
	if width-at < least {
		at = min(2, width/4)
		out = c.wrap(first, width)
		first = ""
	}
	for i, row := range c.wrap(rest, max(2, width-at)) {
		if i > 0 {
			first = ""
		}
		out = append(out, c.pad(first, at)+row)
	}
	return out
}

// clip cuts text that may hold styles to width columns, ending with … where
// something is missing.
func (c cells) clip(s string, width int) string {
	if width <= 0 {
		return ""
	}
	if c.width(s) <= width {
		return s
	}
	return c.method.Truncate(s, width, "…")
}

// pad fills text that may hold styles with spaces up to width columns.
func (c cells) pad(s string, width int) string {
	if n := width - c.width(s); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}

func untab(s string) string { return strings.ReplaceAll(s, "\t", strings.Repeat(" ", tabCells)) }

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
