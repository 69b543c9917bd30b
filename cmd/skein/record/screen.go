package main

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// style is how a cell is drawn.
type style struct {
	bold, faint, italic, reverse, struck bool
	colour                               int // 1 to 16: the terminal's 0 to 15; 0: its own
}

// cell is one grapheme; a wide one leaves the next cell empty.
type cell struct {
	text string // empty: behind a wide one
	style
}

var blank = cell{text: " "}

// screen is what a terminal shows. It knows the sequences that full-screen
// programs of today send to an xterm; others it passes over.
type screen struct {
	width, height int
	rows          [][]cell
	x, y          int
	savedX        int
	savedY        int
	top, bottom   int // of the part that scrolls
	now           style
	last          string // the newest grapheme, to be repeated
	shown         bool   // the cursor
	rest          []byte // of a sequence that is not whole
	parser        *ansi.Parser
}

func newScreen(width, height int) *screen {
	s := &screen{width: width, height: height, bottom: height, shown: true, parser: ansi.NewParser()}
	for range height {
		s.rows = append(s.rows, s.empty())
	}
	return s
}

func (s *screen) empty() []cell {
	row := make([]cell, s.width)
	for i := range row {
		row[i] = blank
	}
	return row
}

// Write takes what a program sends.
func (s *screen) Write(p []byte) (int, error) {
	data := slices.Concat(s.rest, p)
	s.rest = nil
	for len(data) > 0 {
		if end := len(data) - 1; data[0] == 0x1b && unfinished(data) || data[end] >= 0x80 && unfinishedRune(data) {
			s.rest = append([]byte(nil), data...)
			break
		}
		seq, width, n, _ := ansi.DecodeSequence(data, byte(0), s.parser)
		if n == 0 {
			break
		}
		s.take(string(seq), width)
		data = data[n:]
	}
	return len(p), nil
}

// unfinished says whether the sequence that data begins with goes on.
func unfinished(data []byte) bool {
	if len(data) == 1 {
		return true
	}
	switch data[1] {
	case '[':
		for _, b := range data[2:] {
			if b >= 0x40 && b <= 0x7e {
				return false
			}
		}
		return true
	case ']', 'P', '_', '^':
		text := string(data)
		return !strings.Contains(text, "\a") && !strings.Contains(text, "\x1b\\")
	}
	return false
}

// unfinishedRune says whether data is a part of one rune.
func unfinishedRune(data []byte) bool {
	need := 0
	switch b := data[0]; {
	case b >= 0xf0:
		need = 4
	case b >= 0xe0:
		need = 3
	case b >= 0xc0:
		need = 2
	}
	return len(data) < need
}

// take takes one grapheme or sequence.
func (s *screen) take(seq string, width int) {
	switch {
	case width > 0:
		s.put(seq, width)
	case seq == "\n":
		s.lineFeed()
	case seq == "\r":
		s.x = 0
	case seq == "\b":
		s.x = max(0, s.x-1)
	case seq == "\t":
		s.x = min(s.width-1, s.x/8*8+8)
	case seq == "\x1bM":
		s.reverseFeed()
	case seq == "\x1b7":
		s.savedX, s.savedY = s.x, s.y
	case seq == "\x1b8":
		s.x, s.y = s.savedX, s.savedY
	case strings.HasPrefix(seq, "\x1b["):
		s.control(ansi.Cmd(s.parser.Command()))
	}
}

func (s *screen) put(text string, width int) {
	if width = min(width, s.width); width < 1 {
		return // nothing to see, as where nothing is repeated
	}
	if s.x+width > s.width {
		s.x = 0
		s.lineFeed()
	}
	if !utf8.ValidString(text) {
		text = "\uFFFD"
	}
	row := s.rows[s.y]
	row[s.x] = cell{text, s.now}
	if width == 2 {
		row[s.x+1] = cell{"", s.now}
	}
	s.x += width
	s.last = text
}

func (s *screen) lineFeed() {
	if s.y == s.bottom-1 {
		s.remove(s.top, 1)
		return
	}
	s.y = min(s.height-1, s.y+1)
}

func (s *screen) reverseFeed() {
	if s.y == s.top {
		s.add(s.top, 1)
		return
	}
	s.y = max(0, s.y-1)
}

// remove takes rows out at y; the part that scrolls is filled from below.
func (s *screen) remove(y, n int) {
	for range min(n, s.bottom-y) {
		copy(s.rows[y:s.bottom], s.rows[y+1:s.bottom])
		s.rows[s.bottom-1] = s.empty()
	}
}

// add puts empty rows in at y.
func (s *screen) add(y, n int) {
	for range min(n, s.bottom-y) {
		copy(s.rows[y+1:s.bottom], s.rows[y:s.bottom-1])
		s.rows[y] = s.empty()
	}
}

func (s *screen) param(i, missing int) int {
	if v, ok := s.parser.Param(i, missing); ok && v > 0 {
		return v
	}
	return missing
}

// control carries a control sequence out.
func (s *screen) control(c ansi.Cmd) {
	n := s.param(0, 1)
	if c.Prefix() == '?' {
		if mode, _ := s.parser.Param(0, 0); mode == 25 {
			s.shown = c.Final() == 'h'
		}
		return
	}
	if c.Prefix() != 0 || c.Intermediate() != 0 {
		return
	}
	switch c.Final() {
	case 'A':
		s.y -= n
	case 'B', 'e':
		s.y += n
	case 'C', 'a':
		s.x += n
	case 'D':
		s.x -= n
	case 'E':
		s.x, s.y = 0, s.y+n
	case 'F':
		s.x, s.y = 0, s.y-n
	case 'G', '`':
		s.x = n - 1
	case 'd':
		s.y = n - 1
	case 'H', 'f':
		s.y, s.x = n-1, s.param(1, 1)-1
	case 'I':
		s.x = (s.x/8 + n) * 8
	case 'Z':
		s.x = ((s.x+7)/8 - n) * 8
	case 'J':
		s.erase(s.param(0, 0))
	case 'K':
		s.eraseLine(s.param(0, 0))
	case 'X':
		s.fill(s.y, s.x, s.x+n)
	case 'P':
		row := s.rows[s.y]
		copy(row[s.x:], row[min(len(row), s.x+n):])
		s.fill(s.y, s.width-n, s.width)
	case '@':
		row := s.rows[s.y]
		copy(row[min(len(row), s.x+n):], row[s.x:])
		s.fill(s.y, s.x, s.x+n)
	case 'L':
		s.add(s.y, n)
	case 'M':
		s.remove(s.y, n)
	case 'S':
		s.remove(s.top, n)
	case 'T':
		s.add(s.top, n)
	case 'b':
		for range min(n, s.width*s.height) {
			s.put(s.last, ansi.StringWidth(s.last))
		}
	case 'r':
		s.top, s.bottom = n-1, min(s.height, s.param(1, s.height))
		s.x, s.y = 0, 0
	case 'm':
		s.restyle()
	}
	s.x, s.y = max(0, min(s.x, s.width)), max(0, min(s.y, s.height-1))
}

func (s *screen) fill(y, from, to int) {
	for x := max(0, from); x < min(s.width, to); x++ {
		s.rows[y][x] = blank
	}
}

func (s *screen) eraseLine(what int) {
	switch what {
	case 0:
		s.fill(s.y, s.x, s.width)
	case 1:
		s.fill(s.y, 0, s.x+1)
	default:
		s.fill(s.y, 0, s.width)
	}
}

func (s *screen) erase(what int) {
	from, to := 0, s.height
	switch what {
	case 0:
		s.eraseLine(0)
		from = s.y + 1
	case 1:
		s.eraseLine(1)
		to = s.y
	}
	for y := from; y < to; y++ {
		s.fill(y, 0, s.width)
	}
}

// restyle takes the colours and weights of what follows. Of colours those of the
// terminal's own sixteen are known.
func (s *screen) restyle() {
	params := s.parser.Params()
	if len(params) == 0 {
		s.now = style{}
	}
	for _, p := range params {
		switch n := p.Param(0); {
		case n == 0:
			s.now = style{}
		case n == 1:
			s.now.bold = true
		case n == 2:
			s.now.faint = true
		case n == 3:
			s.now.italic = true
		case n == 7:
			s.now.reverse = true
		case n == 9:
			s.now.struck = true
		case n == 22:
			s.now.bold, s.now.faint = false, false
		case n == 23:
			s.now.italic = false
		case n == 27:
			s.now.reverse = false
		case n == 29:
			s.now.struck = false
		case n >= 30 && n <= 37:
			s.now.colour = n - 29
		case n >= 90 && n <= 97:
			s.now.colour = n - 81
		case n == 39:
			s.now.colour = 0
		}
	}
}

// text is the screen without styles.
func (s *screen) text() string {
	var b strings.Builder
	for _, row := range s.rows {
		var line strings.Builder
		for _, c := range row {
			line.WriteString(c.text)
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}
