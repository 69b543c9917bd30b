package process

import (
	"fmt"
	"unicode/utf8"
)

// kept is the head and the tail of a text of any length. It is given valid UTF-8
// and parts no character.
type kept struct {
	most    int // bytes of the head, and of the tail
	head    []byte
	full    bool   // the head takes no more
	tail    []byte // a ring once it has most bytes
	oldest  int    // where the ring begins
	dropped int64  // bytes that the ring has lost
}

func (k *kept) write(p []byte) {
	if !k.full {
		n := min(len(p), k.most-len(k.head))
		if n < len(p) {
			k.full = true
			n = runeStart(p, n)
		}
		k.head = append(k.head, p[:n]...)
		p = p[n:]
	}
	if over := len(p) - k.most; over > 0 { // these would be overwritten at once
		k.dropped += int64(len(k.tail) + over)
		k.tail, k.oldest, p = k.tail[:0], 0, p[over:]
	}
	n := min(len(p), k.most-len(k.tail))
	k.tail = append(k.tail, p[:n]...)
	for p = p[n:]; len(p) > 0; p = p[n:] {
		n = copy(k.tail[k.oldest:], p)
		k.oldest = (k.oldest + n) % len(k.tail)
		k.dropped += int64(n)
	}
}

// runeStart is the last place at or before n where a character of p begins.
func runeStart(p []byte, n int) int {
	for n > 0 && n < len(p) && !utf8.RuneStart(p[n]) {
		n--
	}
	return n
}

// cut is how many bytes at the beginning of the tail are of a character whose
// beginning is lost.
func (k *kept) cut() int {
	if k.dropped == 0 {
		return 0
	}
	for i := range k.tail {
		if utf8.RuneStart(k.tail[(k.oldest+i)%len(k.tail)]) {
			return i
		}
	}
	return len(k.tail)
}

func (k *kept) leftOut() int64 { return k.dropped + int64(k.cut()) }

func (k *kept) text() string {
	out := make([]byte, 0, len(k.head)+len(k.tail)+64)
	out = append(out, k.head...)
	if k.dropped > 0 {
		out = fmt.Appendf(out, "\n[… %d bytes left out …]\n", k.leftOut())
	}
	tail := len(out)
	out = append(append(out, k.tail[k.oldest:]...), k.tail[:k.oldest]...)
	return string(append(out[:tail], out[tail+k.cut():]...))
}
