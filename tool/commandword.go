package tool

import (
	"strings"
)

// spelling is a word that is read.
type spelling struct {
	text   strings.Builder
	quoted bool
	open   bool // the shell makes something else of it, perhaps several words
	soft   bool // its last part is what the shell makes of it, but it stays one word
	brace  bool // an open brace
	either bool // and a comma or two dots in it
}

// word reads one word to the blank or sign that ends it.
func (r *reader) word() word {
	var w spelling
	for r.at < len(r.src) && r.left >= 0 {
		b := r.src[r.at]
		if strings.IndexByte(" \t\n\r;&|()", b) >= 0 || (b == '<' || b == '>') && (r.peek(1) != '(' || w.text.Len() > 0) {
			break
		}
		if b == '<' || b == '>' { // a process whose output or input is a file
			start := r.at
			r.at += 2
			r.list(')')
			w.open = true
			w.text.WriteString(r.src[start:r.at])
			continue
		}
		if r.special(&w, false) {
			continue
		}
		w.letter(b)
		r.at++
	}
	text := w.text.String()
	return word{text: text, plain: !w.quoted, open: (w.open || w.soft) && text != "[" && text != "[["}
}

// letter adds a character that stands for itself, or for others as a pattern.
func (w *spelling) letter(b byte) {
	switch {
	case b == '*' || b == '?' || b == '[':
		w.open = true
	case b == '{':
		w.brace, w.either = true, false
	case b == ',', b == '.' && strings.HasSuffix(w.text.String(), "."):
		w.either = w.brace
	case b == '}' && w.either:
		w.open = true
	case b == '/':
		w.soft = false
	}
	w.text.WriteByte(b)
}

// special reads what begins with a quote, a backslash, a dollar or a backquote,
// and says whether there was one. In a text that is quoted, a single quote and a
// backslash are mostly characters.
func (r *reader) special(w *spelling, within bool) bool {
	switch b := r.src[r.at]; {
	case b == '\\':
		r.backslash(w, within)
	case b == '\'' && !within:
		w.quoted = true
		end := strings.IndexByte(r.src[r.at+1:], '\'')
		if end < 0 {
			end = len(r.src) - r.at - 1
		}
		w.literal(r.src[r.at+1 : r.at+1+end])
		r.at = min(r.at+end+2, len(r.src))
	case b == '"':
		r.at++
		r.double(w)
	case b == '$':
		r.dollar(w, within)
	case b == '`':
		r.backquotes(w, within)
	default:
		return false
	}
	return true
}

// literal adds a text that stands for itself.
func (w *spelling) literal(s string) {
	if strings.Contains(s, "/") {
		w.soft = false
	}
	w.text.WriteString(s)
}

func (r *reader) backslash(w *spelling, within bool) {
	next := r.peek(1)
	switch {
	case r.at+1 >= len(r.src) || next == '\n':
	case within && strings.IndexByte("$`\"\\", next) < 0:
		w.literal(r.src[r.at : r.at+2])
	default:
		w.quoted = true
		w.literal(r.src[r.at+1 : r.at+2])
	}
	r.at = min(r.at+2, len(r.src))
}

// double reads the rest of a text in double quotes.
func (r *reader) double(w *spelling) {
	w.quoted = true
	for r.at < len(r.src) && r.left >= 0 {
		b := r.src[r.at]
		if b == '"' {
			r.at++
			return
		}
		if !r.special(w, true) {
			w.literal(r.src[r.at : r.at+1])
			r.at++
		}
	}
}

// dollar reads an expansion. Its text is what is written.
func (r *reader) dollar(w *spelling, within bool) {
	start := r.at
	r.at++
	switch b := r.peek(0); {
	case b == '(' && r.peek(1) == '(':
		r.at += 2
		r.doubled()
	case b == '(':
		r.at++
		r.list(')')
	case b == '{':
		r.at++
		r.braced(within)
	case b == '\'' && !within:
		r.escaped(w)
		return
	case b == '"' && !within:
		return
	case isName(b):
		for isName(r.peek(0)) {
			r.at++
		}
	case b != 0 && strings.IndexByte("@*#?$!-", b) >= 0:
		r.at++
	default:
		w.text.WriteByte('$')
		return
	}
	w.expansion(r.src[start:r.at], within)
}

// expansion adds what the shell replaces. One that is quoted stays in its word,
// and in a path does not make its last part.
func (w *spelling) expansion(s string, within bool) {
	w.soft = true
	w.open = w.open || !within
	w.text.WriteString(s)
}

func isName(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// braced reads the rest of an expansion in braces.
func (r *reader) braced(within bool) {
	if r.nested++; r.nested > maxNested {
		r.unsure = true
		r.at = len(r.src)
	}
	defer func() { r.nested-- }()
	var w spelling
	for r.at < len(r.src) && r.left >= 0 {
		if r.src[r.at] == '}' {
			r.at++
			return
		}
		if !r.special(&w, within) {
			r.at++
		}
	}
}

// escaped reads a text as $'…', in which a backslash begins a character by its
// number.
func (r *reader) escaped(w *spelling) {
	w.quoted = true
	start := r.at + 1
	for r.at = start; r.at < len(r.src) && r.src[r.at] != '\''; r.at++ {
		if r.src[r.at] == '\\' {
			w.open = true
			r.at++
		}
	}
	r.at = min(r.at, len(r.src))
	w.literal(r.src[start:r.at])
	r.at = min(r.at+1, len(r.src))
}

// backquotes reads commands in backquotes, of which a backslash before a dollar,
// a backquote or itself is no part.
func (r *reader) backquotes(w *spelling, within bool) {
	start := r.at
	var inner strings.Builder
	for r.at++; r.at < len(r.src) && r.src[r.at] != '`'; r.at++ {
		if next := r.peek(1); r.src[r.at] == '\\' && next != 0 && strings.IndexByte("$`\\", next) >= 0 {
			r.at++
		}
		inner.WriteByte(r.src[r.at])
	}
	r.at = min(r.at+1, len(r.src))
	r.read(inner.String(), r.nested+1)
	w.expansion(r.src[start:r.at], within)
}
