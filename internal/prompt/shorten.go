package prompt

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/skeinhq/skein/thread"
)

// shorten shows results that alone go over the window by head and tail. Each
// keeps its share of half the window, so that what must stand beside them has
// room.
func (l *Layout) shorten(results []thread.Part, at []int64) {
	room := l.Rules.Room()
	weight := 0
	for i := range results {
		weight += results[i].Weigh()
	}
	if room == 0 || weight <= room {
		return
	}
	share := float64(room/2) / float64(weight)
	for i := range results {
		results[i].Parts = slices.Clone(results[i].Parts) // they may be the log's own
		for j := range results[i].Parts {
			p := &results[i].Parts[j]
			if p.Type == thread.TextPart {
				p.Text = headAndTail(p.Text, int(float64(len(p.Text))*share), at[i])
			}
		}
	}
}

// headAndTail keeps about so many bytes of a text, half from its start and half
// from its end, and says between them how much it was and how to open it.
func headAndTail(text string, keep int, index int64) string {
	marker := "\n[output cut from " + strconv.Itoa(utf8.RuneCountInString(text)) + " characters; zoom " + strconv.FormatInt(index, 10) + " 1]\n"
	if len(text) <= 2*len(marker) {
		return text // nothing would be won
	}
	keep = max(keep, len(marker))
	head := (keep - len(marker)) / 2
	tail := len(text) - head
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return text[:head] + marker + text[tail:]
}
