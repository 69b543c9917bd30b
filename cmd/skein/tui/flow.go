package tui

import "strings"

// flow is a text that is rendered as it grows: finished blocks once, the last
// one anew with each piece.
type flow struct {
	text string

	look *markdown // that the lines were made with
	cut  cutter    // before the rest
	rest string    // of text, not rendered for good
	done []string  // lines of the finished blocks
	tail []string  // lines of the rest
	at   int       // length of text when the tail was made
}

// grow adds a piece.
func (f *flow) grow(piece string) {
	f.text += piece
	f.rest += piece
}

// lines renders the text; whole says that no more comes.
func (f *flow) lines(look *markdown, whole bool) (done, tail []string) {
	if f.look != look {
		*f = flow{text: f.text, rest: f.text, look: look, at: -1}
	}
	if f.at == len(f.text) && !whole {
		return f.done, f.tail
	}
	for {
		before := f.cut
		b, rest, ok := f.cut.next(f.rest, whole)
		if !ok {
			if whole {
				f.rest = ""
			} else {
				f.cut = before
			}
			break
		}
		f.done = append(f.done, f.block(b, len(f.done) == 0)...)
		f.rest = rest
	}
	f.tail = nil
	for c, rest := f.cut, f.rest; rest != ""; {
		b, after, ok := c.next(rest, true)
		if !ok {
			break
		}
		f.tail = append(f.tail, f.block(b, len(f.done)+len(f.tail) == 0)...)
		rest = after
	}
	f.at = len(f.text)
	return f.done, f.tail
}

// block renders a block, after an empty line where it is not the first and does
// not go on from the one before.
func (f *flow) block(b block, first bool) []string {
	lines := f.look.block(b)
	if first || b.joined {
		return lines
	}
	return append([]string{""}, lines...)
}

// firstLine gives the first line of text that is not blank.
func firstLine(text string) string {
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}
