package process

import "unicode/utf8"

// cleaner makes what a program prints a text that does nothing to who shows it:
//
//   - terminal escapes (ESC and C1 sequences: colours, cursor, titles, links,
//     clipboard) are left out. One that does not end is taken to end with its
//     line, so that it hides nothing behind it;
//   - a carriage return, alone or before a line feed, is the end of a line: what
//     would be overwritten on a terminal stays readable;
//   - other control characters, NUL among them, are shown by their pictures, such
//     as ␀;
//   - what is no UTF-8 is shown as U+FFFD.
//
// It is fed a text in pieces of any size and gives the same for all of them.
type cleaner struct {
	in   place
	part []byte // the beginning of a character
	cr   bool   // a carriage return came last
	nul  bool   // there was a NUL
}

// place says where in an escape sequence a cleaner is.
type place int

const (
	plain    place = iota
	escape         // after ESC
	sequence       // in a control sequence, to its final letter
	text           // in a control string, to BEL or ST
	textEsc        // after ESC in a control string
	charset        // before the one letter that names a character set
)

// text appends what p shows to dst.
func (c *cleaner) text(dst, p []byte) []byte {
	if len(c.part) > 0 {
		p = append(c.part, p...)
		c.part = nil
	}
	for i := 0; i < len(p); {
		if c.in != plain {
			if c.skip(p[i]) {
				i++
			}
			continue
		}
		if n := printable(p[i:]); n > 0 {
			dst = append(c.line(dst), p[i:i+n]...)
			i += n
			continue
		}
		if p[i] >= utf8.RuneSelf {
			if !utf8.FullRune(p[i:]) {
				c.part = append([]byte(nil), p[i:]...)
				return dst
			}
			r, n := utf8.DecodeRune(p[i:])
			dst = c.rune(dst, r)
			i += n
			continue
		}
		dst = c.control(dst, p[i])
		i++
	}
	return dst
}

// rest appends what is left when the text ends.
func (c *cleaner) rest(dst []byte) []byte {
	dst = c.line(dst)
	for range c.part {
		dst = utf8.AppendRune(dst, utf8.RuneError)
	}
	c.part = nil
	return dst
}

// line ends the line that a carriage return has ended.
func (c *cleaner) line(dst []byte) []byte {
	if c.cr {
		dst = append(dst, '\n')
	}
	c.cr = false
	return dst
}

// printable counts the bytes at the start of p that are shown as they are.
func printable(p []byte) (n int) {
	for n < len(p) && (p[n] >= ' ' && p[n] < 0x7f || p[n] == '\t') {
		n++
	}
	return n
}

func (c *cleaner) control(dst []byte, b byte) []byte {
	switch b {
	case '\r':
		c.cr = true
		return dst
	case '\n':
		c.cr = false
		return append(dst, '\n')
	case 0x1b:
		c.in = escape
		return dst
	case 0:
		c.nul = true
	case 0x7f:
		return utf8.AppendRune(c.line(dst), '␡')
	}
	return utf8.AppendRune(c.line(dst), '␀'+rune(b))
}

// c1 is where the 8-bit forms of the escapes lead.
var c1 = map[rune]place{0x90: text, 0x98: text, 0x9d: text, 0x9e: text, 0x9f: text, 0x9b: sequence}

func (c *cleaner) rune(dst []byte, r rune) []byte {
	if r >= 0x80 && r < 0xa0 {
		c.in = c1[r]
		return dst
	}
	return utf8.AppendRune(c.line(dst), r)
}

// introducers is what may follow ESC and begins something longer than the two.
var introducers = map[byte]place{
	'[': sequence, ']': text, 'P': text, 'X': text, '^': text, '_': text,
	' ': charset, '#': charset, '%': charset, '(': charset, ')': charset, '*': charset, '+': charset, '-': charset, '.': charset, '/': charset,
}

// skip goes one byte on in an escape. False: the byte is no part of it.
func (c *cleaner) skip(b byte) bool {
	switch c.in {
	case escape:
		c.in = introducers[b]
		return c.in != plain || b >= '0' && b <= '~'
	case charset:
		c.in = plain
		return b >= ' ' && b <= '~'
	case sequence:
		if b >= ' ' && b < '@' {
			return true
		}
		c.in = plain
		return b >= '@' && b <= '~'
	case textEsc:
		c.in = plain
		if b == '\\' {
			return true
		}
		c.in = escape
		return c.skip(b)
	}
	switch b {
	case '\a', 0x18, 0x1a:
		c.in = plain
	case 0x1b:
		c.in = textEsc
	case '\n', '\r':
		c.in = plain
		return false
	}
	return true
}
