package files

import (
	"strings"
	"unicode/utf8"
)

// The bounds of the look for a place like a text: lines of the text that are
// compared, lines of the file, and bytes of a line.
const (
	maxCompared = 8
	maxLooked   = 400_000
	maxWidth    = 200
)

// nearest gives the line, from 1, at which a text is most like another one, and
// how it is like it; 0 where it is not like it anywhere. White space at the ends
// of lines counts little.
func nearest(text, old string) (line int, like string) {
	want := linesFor(old, maxCompared)
	first := 0
	for first < len(want) && strings.TrimSpace(want[first]) == "" {
		first++
	}
	want = want[first:]
	if len(want) == 0 {
		return 0, ""
	}
	have := linesFor(text, maxLooked)
	best, at, spaces := 0.0, -1, false
	for i := range have {
		if sum, same := likeness(have[i:], want); sum > best {
			best, at, spaces = sum, i, same
		}
	}
	if at < 0 || best < float64(len(want))*0.4 {
		return 0, ""
	}
	if spaces {
		like = ", which differs in white space,"
	}
	return max(at+1-first, 1), like
}

func linesFor(text string, most int) (out []string) {
	for l := range strings.Lines(text) {
		if len(out) == most {
			break
		}
		out = append(out, strings.TrimRight(l, "\r\n"))
	}
	return out
}

// likeness adds up how much each line is like the wanted one, and says whether
// all are the same but for white space.
func likeness(have, want []string) (sum float64, same bool) {
	same = true
	for i, w := range want {
		if i >= len(have) {
			return sum, false
		}
		h, w := strings.TrimSpace(have[i]), strings.TrimSpace(w)
		if h == w {
			sum++
			continue
		}
		if strings.Join(strings.Fields(h), "") == strings.Join(strings.Fields(w), "") {
			sum += 0.95
			continue
		}
		same = false
		sum += alike(h, w)
	}
	return sum, same
}

// alike is which part of the longer of two lines they share at their beginnings
// and ends.
func alike(a, b string) float64 {
	a, b = a[:min(len(a), maxWidth)], b[:min(len(b), maxWidth)]
	short, long := min(len(a), len(b)), max(len(a), len(b))
	if long == 0 {
		return 1
	}
	start := 0
	for start < short && a[start] == b[start] {
		start++
	}
	end := 0
	for end < short-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	return float64(start+end) / float64(long)
}

// shortened is a line of a file as a model reads it: valid, and with a word on
// what is not shown of it.
func shortened(line string, most int) string {
	if len(line) > most {
		n := most
		for n > 0 && !utf8.RuneStart(line[n]) {
			n--
		}
		line = line[:n] + " […]"
	}
	text, _ := readable([]byte(line))
	return text
}
