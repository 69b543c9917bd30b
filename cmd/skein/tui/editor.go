package tui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// editor is text of many lines that is being typed. It moves and deletes by
// graphemes, never by parts of one.
type editor struct {
	lines []string
	line  int // of the cursor
	at    int // byte of the cursor in its line
	want  int // column the cursor keeps when it moves up and down; -1: its own
}

func newEditor() editor { return editor{lines: []string{""}, want: -1} }

func (e *editor) text() string { return strings.Join(e.lines, "\n") }

func (e *editor) empty() bool { return len(e.lines) == 1 && e.lines[0] == "" }

// set replaces all text; the cursor stands at its end.
func (e *editor) set(text string) {
	*e = newEditor()
	e.insert(text)
}

// insert puts text at the cursor. Control characters other than newline and tab
// are left out.
func (e *editor) insert(text string) {
	text = typeable(text)
	if text == "" {
		return
	}
	before, after := e.lines[e.line][:e.at], e.lines[e.line][e.at:]
	added := strings.Split(text, "\n")
	added[0] = before + added[0]
	last := len(added) - 1
	at := len(added[last])
	added[last] += after
	lines := make([]string, 0, len(e.lines)+last)
	lines = append(lines, e.lines[:e.line]...)
	lines = append(lines, added...)
	e.lines = append(lines, e.lines[e.line+1:]...)
	e.line += last
	e.at, e.want = at, -1
	e.settle()
}

// settle moves the cursor out of a grapheme that what was typed has joined.
func (e *editor) settle() {
	line := e.lines[e.line]
	if isASCII(line) {
		return
	}
	for i := 0; i < len(line); {
		n := len(firstGrapheme(line[i:]))
		if i < e.at && e.at < i+n {
			e.at = i + n
			return
		}
		i += n
	}
}

func typeable(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = strings.ReplaceAll(s, "\r", "\n")
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || r == 0x2028 || r == 0x2029) {
			return -1
		}
		return r
	}, s)
}

func firstGrapheme(s string) string {
	if s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		return s[:1]
	}
	g, _, _, _ := uniseg.FirstGraphemeClusterInString(s, -1)
	return g
}

// lastGrapheme gives the last grapheme of text that is not empty.
func lastGrapheme(s string) string {
	if n := len(s); s[n-1] < utf8.RuneSelf && (n == 1 || s[n-2] < utf8.RuneSelf) {
		return s[n-1:]
	}
	last := ""
	for s != "" {
		last = firstGrapheme(s)
		s = s[len(last):]
	}
	return last
}

func (e *editor) left() {
	e.want = -1
	switch {
	case e.at > 0:
		e.at -= len(lastGrapheme(e.lines[e.line][:e.at]))
	case e.line > 0:
		e.line--
		e.at = len(e.lines[e.line])
	}
}

func (e *editor) right() {
	e.want = -1
	switch {
	case e.at < len(e.lines[e.line]):
		e.at += len(firstGrapheme(e.lines[e.line][e.at:]))
	case e.line < len(e.lines)-1:
		e.line++
		e.at = 0
	}
}

func (e *editor) home() { e.at, e.want = 0, -1 }
func (e *editor) end()  { e.at, e.want = len(e.lines[e.line]), -1 }

func (e *editor) begin() { e.line, e.at, e.want = 0, 0, -1 }

func (e *editor) finish() {
	e.line = len(e.lines) - 1
	e.end()
}

func (e *editor) wordLeft() {
	for first := true; first || e.at > 0 && !atWord(e.lines[e.line][:e.at]); first = false {
		was := [2]int{e.line, e.at}
		e.left()
		if was == [2]int{e.line, e.at} {
			return
		}
	}
	for e.at > 0 && atWord(e.lines[e.line][:e.at]) {
		e.left()
	}
}

// atWord says whether text ends in a word.
func atWord(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

func (e *editor) wordRight() {
	e.right()
	for e.at < len(e.lines[e.line]) && !(atWord(e.lines[e.line][:e.at]) && !atWord(e.lines[e.line][:e.at+len(firstGrapheme(e.lines[e.line][e.at:]))])) {
		e.right()
	}
}

// cut removes what is between the cursor and another place.
func (e *editor) cut(line, at int) {
	fromLine, from, toLine, to := line, at, e.line, e.at
	if toLine < fromLine || toLine == fromLine && to < from {
		fromLine, from, toLine, to = toLine, to, fromLine, from
	}
	joined := e.lines[fromLine][:from] + e.lines[toLine][to:]
	lines := make([]string, 0, len(e.lines)-(toLine-fromLine))
	lines = append(lines, e.lines[:fromLine]...)
	lines = append(lines, joined)
	e.lines = append(lines, e.lines[toLine+1:]...)
	e.line, e.at, e.want = fromLine, from, -1
	e.settle()
}

// remove deletes from the cursor to where the move takes it.
func (e *editor) remove(move func()) {
	line, at := e.line, e.at
	move()
	e.cut(line, at)
}

func (e *editor) removeToStart() {
	if e.at == 0 {
		e.remove(e.left)
		return
	}
	e.remove(e.home)
}

func (e *editor) removeToEnd() {
	if e.at == len(e.lines[e.line]) {
		e.remove(e.right)
		return
	}
	e.remove(e.end)
}

// vertical moves the cursor by rows of that width; false where there is no such
// row.
func (e *editor) vertical(c cells, width, by int) bool {
	rows := c.rows(e.lines[e.line], width)
	i := rowAt(rows, e.at)
	if e.want < 0 {
		e.want = c.plainWidth(e.lines[e.line][rows[i].start:e.at])
	}
	want := e.want
	switch {
	case i+by >= 0 && i+by < len(rows):
		i += by
	case by < 0 && e.line > 0:
		e.line--
		rows = c.rows(e.lines[e.line], width)
		i = len(rows) - 1
	case by > 0 && e.line < len(e.lines)-1:
		e.line++
		rows = c.rows(e.lines[e.line], width)
		i = 0
	default:
		return false
	}
	line, r := e.lines[e.line], rows[i]
	e.at = r.start
	for used := 0; e.at < r.end; {
		g, w := c.cluster(line[e.at:])
		if used+w > want || e.at+len(g) == r.end && i < len(rows)-1 {
			break
		}
		used += w
		e.at += len(g)
	}
	e.want = want
	return true
}

// rowAt gives the row that a cursor at that byte stands in.
func rowAt(rows []row, at int) int {
	for i, r := range rows {
		if at < r.end {
			return i
		}
	}
	return len(rows) - 1
}

// plainWidth gives the columns of plain text.
func (c cells) plainWidth(s string) int {
	w := 0
	for s != "" {
		g, n := c.cluster(s)
		w += n
		s = s[len(g):]
	}
	return w
}

// view draws at most height rows around the cursor, and says where it stands.
func (e *editor) view(c cells, width, height int) (rows []string, x, y int) {
	type place struct {
		line int
		row
	}
	var near []place // rows around the cursor
	first := max(0, e.line-height)
	for i := first; i < min(len(e.lines), e.line+height+1); i++ {
		for _, r := range c.rows(e.lines[i], width) {
			near = append(near, place{i, r})
		}
	}
	cursor := 0
	for i, p := range near {
		if p.line == e.line && (e.at < p.end || e.at == p.end && (i == len(near)-1 || near[i+1].line != e.line)) {
			cursor = i
			break
		}
	}
	if n := len(near); n > height {
		start := min(max(0, cursor-height/2), n-height)
		if first == 0 && cursor < height {
			start = 0
		}
		near = near[start : start+height]
		cursor -= start
	}
	for i, p := range near {
		text := e.lines[p.line][p.start:p.end]
		if i == cursor {
			x = min(c.plainWidth(e.lines[p.line][p.start:e.at]), width)
		}
		rows = append(rows, strings.TrimRight(shownTyped(text), " "))
	}
	return rows, x, cursor
}

// height is how many rows the text takes, up to most.
func (e *editor) height(c cells, width, most int) int {
	n := 0
	for _, line := range e.lines {
		n += len(c.rows(line, width))
		if n >= most {
			return most
		}
	}
	return max(n, 1)
}

// shownTyped leaves out what must not reach the terminal; typed text keeps it.
func shownTyped(s string) string {
	s = untab(s)
	if !strings.ContainsFunc(s, Harmful) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if Harmful(r) {
			return -1
		}
		return r
	}, s)
}
