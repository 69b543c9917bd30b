package recall

import (
	"strings"
	"unicode/utf8"

	"github.com/skeinhq/skein/internal/line"
	"github.com/skeinhq/skein/internal/word"
	"github.com/skeinhq/skein/thread"
)

// snippetBytes is the most bytes of a hit's text.
const snippetBytes = 400

// snippet is who said the message and the part of it that holds most of the
// words, on one line, with the places where they stand. What is left out shows as
// an ellipsis. It looks at what the index has of the message, so whatever was
// found is there to be shown.
func snippet(m *thread.Message, words []string) (text string, marks []word.Range) {
	lead := line.Clip(thread.OneLine(head(m)), snippetBytes/4) + ": "
	said := strings.ToValidUTF8(thread.OneLine(strings.Join(word.Said(m), "\n")), "\uFFFD")
	marks = []word.Range{}
	room := snippetBytes - len(lead)
	from, to := 0, len(said)
	if to > room {
		from, to = window(said, word.Mark(said, words), room-2*len(line.Ellipsis))
	}
	text = lead
	if from > 0 {
		text += line.Ellipsis
	}
	shift := len(text)
	text += said[from:to]
	if to < len(said) {
		text += line.Ellipsis
	}
	for _, r := range word.Mark(said[from:to], words) {
		marks = append(marks, word.Range{Start: r.Start + shift, End: r.End + shift})
	}
	return text, marks
}

// window is the piece of at most n bytes that holds the most different words,
// then the most words, the first of equals. It begins a little before the first
// of them, at a word.
func window(text string, marks []word.Range, n int) (from, to int) {
	first, last := bestRun(text, marks, n)
	if len(marks) > 0 {
		from = marks[first].Start
		spare := n - (marks[last].End - from)
		from = max(from-max(spare, 0)/3, 0)
	}
	from = wordStart(text, from)
	if len(marks) > 0 {
		from = min(from, marks[first].Start)
	}
	return from, wordEnd(text, from, min(from+n, len(text)))
}

// bestRun is the run of marks that fits into n bytes and holds the most.
func bestRun(text string, marks []word.Range, n int) (first, last int) {
	counts := map[string]int{}
	distinct, mostDistinct, most := 0, 0, 0
	for i, j := 0, 0; j < len(marks); j++ {
		w := strings.ToLower(text[marks[j].Start:marks[j].End])
		if counts[w]++; counts[w] == 1 {
			distinct++
		}
		for marks[j].End-marks[i].Start > n && i < j {
			out := strings.ToLower(text[marks[i].Start:marks[i].End])
			if counts[out]--; counts[out] == 0 {
				distinct--
			}
			i++
		}
		if distinct > mostDistinct || distinct == mostDistinct && j-i+1 > most {
			first, last, mostDistinct, most = i, j, distinct, j-i+1
		}
	}
	return first, last
}

// reach is how far a cut looks for the space before or after a word.
const reach = 32

// wordStart is a place at or after i where a word begins, if there is one near.
func wordStart(text string, i int) int {
	if i == 0 {
		return 0
	}
	if k := strings.IndexByte(text[i:min(i+reach, len(text))], ' '); k >= 0 {
		return i + k + 1
	}
	return graphemeStart(text, i)
}

// wordEnd is a place at or before i where a word ends, if there is one near.
func wordEnd(text string, from, i int) int {
	if i == len(text) || text[i] == ' ' {
		return i
	}
	if k := strings.LastIndexByte(text[max(from, i-reach):i], ' '); k >= 0 {
		return max(from, i-reach) + k
	}
	return graphemeStart(text, i)
}

// graphemeStart is the nearest place before i, or at it, that is between two
// graphemes.
func graphemeStart(text string, i int) int {
	for i > 0 && !utf8.RuneStart(text[i]) {
		i--
	}
	if i == 0 || i == len(text) {
		return i
	}
	return lastBoundary(text, i)
}
