package tui

import (
	"regexp"
	"strings"
)

// maxBlock is the most bytes that are rendered as one block. It bounds the work
// for one piece of an answer; what is longer goes on in a block of its own.
const maxBlock = 4 << 10

// block is a piece of Markdown that renders by itself.
type block struct {
	text   string // with its newlines
	code   bool   // a fenced block, whose first line is the fence
	joined bool   // goes on where the one before was too long: no line between
}

var (
	fenceLine = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})")
	anyFence  = regexp.MustCompile("^[ \t]*(`{3,}|~{3,})")
	itemLine  = regexp.MustCompile(`^ {0,3}([-+*]|[0-9]{1,9}[.)])(\s|$)`)
	tableRule = regexp.MustCompile(`^ {0,3}\|?[ :|-]*-[ :|-]*$`)
)

// maxItem is the most bytes of a line that say whether it begins an item.
const maxItem = 16

// cutter cuts a text that grows into blocks. Where a block ends depends on the
// text alone, not on the pieces that it came in, so that an answer looks the same
// while it comes and afterwards.
type cutter struct {
	joined bool
}

// next takes the first block off text. More may follow unless whole is set; ok is
// false where it cannot be told yet where the block ends.
func (c *cutter) next(text string, whole bool) (b block, rest string, ok bool) {
	blank := 0
	for blank < len(text) {
		n := lineEnd(text[blank:])
		if strings.TrimSpace(text[blank:blank+n]) != "" {
			break
		}
		if blank+n == len(text) && !strings.HasSuffix(text, "\n") && !whole {
			return block{}, text, false // an indent, perhaps
		}
		blank += n
	}
	text = text[blank:]
	if text == "" {
		return block{}, "", false
	}
	if blank > 0 {
		c.joined = false
	}
	end, code, joined, ok := blockEnd(text, whole)
	if !ok {
		return block{}, text, false
	}
	b = block{text: text[:end], code: code, joined: c.joined}
	c.joined = joined
	return b, text[end:], true
}

// lineEnd gives the length of the first line with its newline.
func lineEnd(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i + 1
	}
	return len(s)
}

// blockEnd finds the end of the block that text begins with. split says that the
// block was too long, and goes on after it.
func blockEnd(text string, whole bool) (end int, code, split, ok bool) {
	first := text[:lineEnd(text)]
	if first == text && !whole && len(first) < maxItem {
		return 0, false, false, false
	}
	if m := fenceLine.FindStringSubmatch(first); m != nil {
		end, ok = fenceEnd(text, m[1], whole)
		return end, true, false, ok
	}
	list := itemLine.MatchString(first)
	limit := maxBlock
	fence := ""  // open inside a list
	blank := 0   // where the blank lines before this line begin; 0: none
	lastCut := 0 // where a block that is too long can be cut
	for at := len(first); ; {
		if at > limit || at == limit && at < len(text) {
			return cutLong(text, limit, lastCut), false, true, true
		}
		if at >= len(text) {
			return len(text), false, false, whole
		}
		n := lineEnd(text[at:])
		line := text[at : at+n]
		complete := whole || strings.HasSuffix(line, "\n")
		if !complete && len(line) < maxItem {
			return 0, false, false, false
		}
		m := anyFence.FindStringSubmatch(line)
		switch {
		case fence != "":
			if m != nil && strings.HasPrefix(m[1], fence) && strings.TrimSpace(line) == m[1] {
				fence = ""
			}
		case strings.TrimSpace(line) == "":
			if !complete {
				return 0, false, false, false
			}
			if blank == 0 {
				blank = at
			}
			at += n
			continue
		case m != nil && (!list || fenceLine.MatchString(line) && !indented(line)):
			return at, false, false, true
		case blank > 0 && !indented(line) && !(list && itemLine.MatchString(line)):
			return at, false, false, true
		case m != nil:
			fence = m[1]
		}
		if at == len(first) && complete && tableRule.MatchString(strings.TrimRight(line, "\n")) && strings.Contains(first, "|") {
			limit = 8 * maxBlock
		}
		if fence == "" && (!list || itemLine.MatchString(line) && !indented(line)) {
			lastCut = at
		}
		blank = 0
		at += n
	}
}

// cutLong gives the place where a block that is too long is cut.
func cutLong(text string, limit, lastCut int) int {
	if lastCut > limit/4 {
		return lastCut
	}
	if i := strings.LastIndexAny(text[:limit], " \n"); i > limit/4 {
		return i + 1
	}
	for limit > 0 && limit < len(text) && text[limit]&0xc0 == 0x80 {
		limit--
	}
	return limit
}

// fenceEnd finds the end of a fenced block. What is open at the end of a text
// that grows is not finished; a very long one is cut between lines.
func fenceEnd(text, fence string, whole bool) (end int, ok bool) {
	for at := lineEnd(text); at < len(text); {
		n := lineEnd(text[at:])
		line := strings.TrimSpace(text[at : at+n])
		at += n
		if strings.HasPrefix(line, fence) && strings.Trim(line, fence[:1]) == "" {
			return at, whole || at < len(text) || strings.HasSuffix(text, "\n")
		}
	}
	return len(text), whole
}

func indented(line string) bool {
	return strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t")
}
