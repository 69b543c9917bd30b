package tool

import (
	"slices"
	"strings"
)

// The bounds of reading a command line: how deep what it holds may be nested, and
// how many bytes are read again or found for each byte of it.
const (
	maxNested = 100
	perByte   = 32
)

// found is what is found in a command line.
type found struct {
	texts  []string
	unsure bool // some command may be any
	left   int  // bytes that may still be found or read again
}

// commandsRead reads a command line as a shell does, and gives each command in it
// without quotes, without what stands before its name, and without redirections;
// and the commands that it runs in turn, as far as the line says. It takes no longer
// than in proportion to the line: what would is unsure.
func commandsRead(line string) *found {
	f := &found{left: perByte*len(line) + 4096}
	f.read(line, 0)
	return f
}

// read reads a text as a command line; nested is how deep it lies in others.
func (f *found) read(text string, nested int) {
	if !f.spend(len(text)) || nested > maxNested {
		f.unsure = true
		return
	}
	r := reader{found: f, src: text, nested: nested}
	r.list(0)
}

func (f *found) spend(n int) bool {
	f.left -= n
	f.unsure = f.unsure || f.left < 0
	return f.left >= 0
}

func (f *found) add(text string) {
	if f.spend(len(text)) {
		f.texts = append(f.texts, text)
	}
}

// reader reads a command line in one go, as a shell does: words and their quotes,
// redirections, texts that follow below, and what is nested. Where shells differ it
// errs on the side of more commands.
type reader struct {
	*found
	src    string
	at     int
	nested int
	ends   []string // of the texts that follow below the line, as the last of their lines
}

// word is a word of a command. Its text is without quotes, and with expansions as
// they are written.
type word struct {
	text  string
	plain bool // nothing in it is quoted
	open  bool // the shell makes something else of it
}

// simple is a command on its way: its words so far.
type simple struct {
	words  []word
	target bool // the next word belongs to a redirection
	lead   int  // how many words before the command are the shell's own
}

func (r *reader) peek(ahead int) byte {
	if r.at+ahead < len(r.src) {
		return r.src[r.at+ahead]
	}
	return 0
}

// list reads commands to the end or, where they are in parentheses, to the one
// that closes; 0 is none.
func (r *reader) list(until byte) {
	if r.nested++; r.nested > maxNested {
		r.unsure = true
		r.at = len(r.src)
	}
	defer func() { r.nested-- }()
	var c simple
	cases := 0       // that are open
	pattern := false // what is read is one of a case, which a parenthesis ends
	tangled := false // there is perhaps one more case than those that are open
	end := func() {
		was := r.unsure
		tangled = tangled || c.perhapsCase(r.at < len(r.src) && r.src[r.at] == '\n')
		if r.command(c.words); pattern && r.left >= 0 {
			r.unsure = was
		}
		if n := c.cases(); n != 0 {
			cases = max(0, cases+n)
			pattern = n > 0
		}
		c = simple{}
	}
	defer func() { end() }()
	for r.at < len(r.src) && r.left >= 0 {
		switch b := r.src[r.at]; {
		case b == ' ' || b == '\t':
			r.at++
		case b == '\\' && r.peek(1) == '\n':
			r.at += 2
		case b == '\n' || b == '\r':
			end()
			if r.at++; b == '\n' {
				r.below()
			}
		case b == '#':
			r.at += lineLength(r.src[r.at:])
		case strings.IndexByte("&|<>()", b) >= 0 && c.tests():
			r.at++
		case b == '&' && r.peek(1) == '>':
			r.at++
		case b == ';' && cases > 0 && (r.peek(1) == ';' || r.peek(1) == '&'):
			end()
			r.at += 2
			pattern = cases > 0
		case b == ';' || b == '&' || b == '|':
			end()
			r.at++
		case b == '(' && (pattern || c.cases() > 0):
			end()
			r.at++
		case b == '(' && r.peek(1) == '(':
			end()
			r.at += 2
			r.doubled()
		case b == '(':
			end()
			r.at++
			r.list(')')
		case b == ')':
			end()
			if r.at++; b == until && !pattern {
				r.unsure = r.unsure || tangled // the parenthesis may be that of a pattern
				return
			}
			pattern = false
		case (b == '<' || b == '>') && r.peek(1) != '(':
			r.redirection(&c)
		default:
			w := r.word()
			if next := r.peek(0); (next == '<' || next == '>') && w.plain && names(w.text) {
				continue // it numbers or names what is redirected
			}
			ends := c.tests() && w.plain && w.text == "]]"
			if c.add(w); ends {
				end() // then may follow at once
			}
		}
	}
}

func lineLength(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}

// names says whether a word right before a redirection belongs to it: 2, {log}.
func names(text string) bool {
	return strings.Trim(text, "0123456789") == "" || strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}") && !strings.Contains(text, ",")
}

func (c *simple) add(w word) {
	if c.target {
		c.target = false
		return
	}
	if w.plain && leads[w.text] && !named[w.text] && c.lead == len(c.words) {
		c.lead++
	}
	c.words = append(c.words, w)
}

// tests says whether the command is a [[, in which signs are no shell marks.
func (c *simple) tests() bool {
	if c.lead >= len(c.words) {
		return false
	}
	first := c.words[c.lead]
	return first.plain && first.text == "[["
}

// cases says whether the command begins a case or ends one.
func (c *simple) cases() int {
	if c.lead >= len(c.words) || !c.words[c.lead].plain {
		return 0
	}
	switch c.words[c.lead].text {
	case "case":
		if slices.ContainsFunc(c.words, func(w word) bool { return w.plain && w.text == "esac" }) {
			return 0
		}
		return 1
	case "esac":
		return -1
	}
	return 0
}

// perhapsCase says whether a case may begin among the words: after what may stand
// before a command, of which shells know more than is told apart here, as the name
// of a function. The word after it may be the last of its line.
func (c *simple) perhapsCase(lineEnds bool) bool {
	for i := c.lead + 1; i < len(c.words)-1; i++ {
		if w := c.words[i]; !w.plain || w.text != "case" {
			continue
		}
		if i+2 == len(c.words) && lineEnds || i+2 < len(c.words) && c.words[i+2].text == "in" {
			return true
		}
	}
	return false
}

// redirections are their signs, the longer first.
var redirections = []string{"<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">&", ">|", ">"}

// redirection reads the sign of a redirection; the word after it is where to.
func (r *reader) redirection(c *simple) {
	for _, sign := range redirections {
		if !strings.HasPrefix(r.src[r.at:], sign) {
			continue
		}
		r.at += len(sign)
		if sign != "<<" && sign != "<<-" {
			c.target = true
			return
		}
		for r.peek(0) == ' ' || r.peek(0) == '\t' {
			r.at++
		}
		r.ends = append(r.ends, r.word().text)
		return
	}
}

// below reads the texts that follow below a line. They may be commands for a shell
// and mostly are not, so what is unsure in them is of no account.
func (r *reader) below() {
	ends := r.ends
	r.ends = nil
	for _, end := range ends {
		start, body := r.at, len(r.src)
		for r.at < len(r.src) {
			n := lineLength(r.src[r.at:])
			line := strings.TrimRight(strings.TrimLeft(r.src[r.at:r.at+n], "\t"), "\r")
			if line == end {
				body = r.at
				r.at = min(r.at+n+1, len(r.src))
				break
			}
			r.at = min(r.at+n+1, len(r.src))
		}
		was := r.unsure
		if r.read(r.src[start:min(body, r.at)], r.nested+1); r.left >= 0 {
			r.unsure = was
		}
	}
}

// doubled reads double parentheses, after a dollar or not. To some shells they
// are arithmetic, to others commands in commands: they are read as both, and what is
// unsure of the commands is of no account where it may well be arithmetic.
func (r *reader) doubled() {
	start := r.at
	expression := r.arithmetic()
	was := r.unsure
	if r.read(strings.TrimSuffix(r.src[start:r.at], "))"), r.nested+1); expression && r.left >= 0 {
		r.unsure = was
	}
}

// arithmetic reads what is in double parentheses, and says whether it may be an
// expression: no value stands right after another, and nothing in it is of no use in
// one. A pair that does not end as one is commands in commands.
func (r *reader) arithmetic() (expression bool) {
	expression = true
	var w spelling
	value, blank := false, false // what stands before
	for depth := 2; r.at < len(r.src); {
		switch b := r.src[r.at]; {
		case b == '(':
			depth++
			r.at++
			value, blank = false, false
		case b == ')':
			r.at++
			value, blank = true, false
			if depth--; depth > 1 {
				continue
			}
			if r.peek(0) != ')' {
				r.unsure = true
				return false
			}
			r.at++
			return expression
		case b == ' ' || b == '\t' || b == '\n' || b == '\r':
			blank = true
			r.at++
		case r.special(&w, false) || values(b):
			if expression = expression && !(value && blank); values(b) {
				r.at++
			}
			value, blank = true, false
		default:
			expression = expression && strings.IndexByte("{}.@", b) < 0
			value = false
			r.at++
		}
	}
	return false
}

// values says whether a character is of a number or a variable's name.
func values(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_' || b == '#' || b >= 0x80
}
