package tui

import (
	"slices"
	"time"

	"github.com/skeinhq/skein/thread"
)

const (
	pageMessages = 60  // read at once
	heldMessages = 360 // held at most; the far end is let go of
	nearEnd      = 20  // so near to the end of what is held the next page is asked for
)

// place is a line of the transcript: of the message at index, or, from the
// thread's length on, of what is not in the log yet.
type place struct {
	index int64
	line  int
}

// transcript is the part of a thread that can be seen: a window of its messages
// and, after the newest, what is being answered and said. The view hangs on a
// place, so that it stands still while messages are read in before it.
type transcript struct {
	length int64 // of the thread
	from   int64 // index of the first message held
	held   []*drawn

	running []*running
	cards   []*card
	answers []*answer
	waiting []*waiting

	unplaced []aside // whose message has not come

	follow bool // the end is in view, and stays so
	top    place
	folds  folds
	marked int64  // the message that is chosen; -1: none
	focus  string // the call whose card has the keys; empty: none

	look  *markdown
	zone  *time.Location
	today string // as the messages' dates are written
	now   time.Time

	asking bool  // a page is being read
	stuck  bool  // it could not be read: the next key tries again
	age    int   // changes when all that is held is let go of: older pages are not for it
	target int64 // the message to be shown when the page comes; -1: none
}

func (t *transcript) to() int64 { return t.from + int64(len(t.held)) }

// atEnd says whether the newest message is held.
func (t *transcript) atEnd() bool { return t.to() >= t.length }

// last is the index after the last item.
func (t *transcript) last() int64 {
	if !t.atEnd() {
		return t.to()
	}
	return t.to() + int64(len(t.running)+len(t.cards)+len(t.answers)+len(t.waiting))
}

// lines gives an item's lines, after an empty one where it does not go on from
// the item before.
func (t *transcript) lines(index int64) []string {
	key := drawKey{look: t.look, folds: t.folds, zone: t.zone, today: t.today}
	var before *message
	if i := index - t.from - 1; i >= 0 && i < int64(len(t.held)) {
		before = &t.held[i].message
	}
	var out []string
	if index < t.to() {
		d := t.held[index-t.from]
		key.goesOn = continues(before, &d.message)
		out = d.render(key)
	} else {
		out = t.loose(int(index-t.to()), before, &key)
	}
	if key.goesOn || index == t.from {
		return out
	}
	return append([]string{""}, out...)
}

// loose gives the lines of what is not in the log: the calls that run, the cards,
// the answers being made, what waits to be heard.
func (t *transcript) loose(i int, before *message, key *drawKey) []string {
	if i < len(t.running) {
		key.goesOn = true
		return t.running[i].lines(*key, t.now)
	}
	i -= len(t.running)
	if i < len(t.cards) {
		return t.cards[i].lines(key.look, t.cards[i].call == t.focus)
	}
	i -= len(t.cards)
	if i < len(t.answers) {
		a := t.answers[i]
		key.goesOn = continues(before, &message{role: thread.Assistant, author: a.author})
		return a.lines(*key)
	}
	return t.waiting[i-len(t.answers)].lines(*key)
}

// cardAt gives the card at an index, nil where something else stands.
func (t *transcript) cardAt(index int64) *card {
	if i := index - t.to() - int64(len(t.running)); t.atEnd() && i >= 0 && i < int64(len(t.cards)) {
		return t.cards[i]
	}
	return nil
}

// bottom is the place from which height lines show the end.
func (t *transcript) bottom(height int) place {
	p := place{index: t.last()}
	return t.up(p, height)
}

// up moves a place by lines towards the beginning, as far as there are any.
func (t *transcript) up(p place, n int) place {
	for n > p.line {
		if p.index <= t.from {
			return place{index: t.from}
		}
		n -= p.line
		p.index--
		p.line = len(t.lines(p.index))
	}
	p.line -= n
	return p
}

// down moves a place by lines towards the end.
func (t *transcript) down(p place, n int) place {
	for p.index < t.last() {
		have := len(t.lines(p.index)) - p.line
		if n < have {
			p.line += n
			return p
		}
		n -= have
		p = place{index: p.index + 1}
	}
	return p
}

func (p place) before(q place) bool {
	return p.index < q.index || p.index == q.index && p.line < q.line
}

// view gives height lines at most, and the indexes of the first and last message
// in view.
func (t *transcript) view(height int) (lines []string, first, last int64) {
	end := t.bottom(height)
	if t.follow {
		t.top = end
	} else {
		t.top = t.settled(t.top)
		if t.atEnd() && !t.top.before(end) {
			t.top, t.follow = end, true
		} else if end.before(t.top) {
			t.top = end
		}
	}
	first, last = t.top.index, t.top.index
	for p := t.top; p.index < t.last() && len(lines) < height; p = (place{index: p.index + 1}) {
		all := t.lines(p.index)
		if p.line < len(all) {
			last = p.index
			for _, line := range all[p.line:min(len(all), p.line+height-len(lines))] {
				lines = append(lines, t.gutter(p.index, line))
			}
		}
	}
	return lines, first, last
}

// gutter puts the mark of the chosen message before a line, or the bar of a card.
func (t *transcript) gutter(index int64, line string) string {
	switch c := t.cardAt(index); {
	case line == "":
		return ""
	case index == t.marked:
		return accent.on("▎") + " " + line
	case c != nil && c.call == t.focus:
		return strong.on("┃") + " " + line
	case c != nil:
		return faint.on("┃") + " " + line
	}
	return "  " + line
}

// settled moves a place that is not held any more to the nearest that is.
func (t *transcript) settled(p place) place {
	switch {
	case p.index < t.from:
		return place{index: t.from}
	case p.index >= t.last():
		return place{index: t.last()}
	}
	p.line = min(p.line, max(0, len(t.lines(p.index))-1))
	return p
}

// scroll moves the view by lines; by < 0 is towards the beginning.
func (t *transcript) scroll(by, height int) {
	if t.follow {
		t.top, t.follow = t.bottom(height), false
	}
	t.top = t.settled(t.top)
	if by < 0 {
		t.top = t.up(t.top, -by)
		return
	}
	t.top = t.down(t.top, by)
}

// wants gives the page of messages that should be read next, if any.
func (t *transcript) wants() (from, to int64, ok bool) {
	if t.asking || t.stuck {
		return 0, 0, false
	}
	if t.target >= 0 {
		from := max(0, min(t.target-pageMessages/2, t.length-pageMessages))
		return from, min(t.length, from+pageMessages), true
	}
	switch {
	case len(t.held) == 0:
		return max(0, t.length-pageMessages), t.length, t.length > 0
	case !t.follow && t.from > 0 && t.top.index < t.from+nearEnd:
		return max(0, t.from-pageMessages), t.from, true
	case t.follow && t.length-t.to() > pageMessages:
		return t.length - pageMessages, t.length, true
	case !t.atEnd() && (t.follow || t.top.index >= t.to()-2*nearEnd):
		return t.to(), min(t.length, t.to()+pageMessages), true
	}
	return 0, 0, false
}

// show goes to a message, which is read first where it is not held.
func (t *transcript) show(index int64) {
	index = max(0, min(index, t.length-1))
	if index >= t.from && index < t.to() {
		t.marked, t.follow, t.target = index, false, -1
		t.top = place{index: index}
		return
	}
	t.target = index
}

// end goes to the newest message.
func (t *transcript) end() {
	t.marked, t.target = -1, -1
	t.follow = true
	if !t.atEnd() {
		t.held, t.from = nil, t.length
		t.asking = false
		t.age++
	}
}

// take puts a page that was read in its place: before or after what is held, or
// instead of it.
func (t *transcript) take(from int64, page []message) {
	t.asking = false
	fresh := make([]*drawn, len(page))
	for i := range page {
		fresh[i] = &drawn{message: page[i]}
	}
	switch to := from + int64(len(page)); {
	case len(page) == 0:
		t.target = -1
		return
	case t.target >= from && t.target < to || len(t.held) == 0 || to < t.from || from > t.to():
		t.held, t.from = fresh, from
	case from < t.from:
		t.held = append(fresh[:t.from-from], t.held...)
		t.from = from
		if len(t.held) > heldMessages {
			t.held = slices.Clone(t.held[:heldMessages])
		}
	case to > t.to():
		t.held = append(t.held, fresh[t.to()-from:]...)
		if drop := len(t.held) - heldMessages; drop > 0 && (t.follow || t.top.index >= t.from+int64(drop)) {
			t.held = slices.Clone(t.held[drop:])
			t.from += int64(drop)
		}
	}
	t.length = max(t.length, t.to())
	t.placeAsides()
	if target := t.target; target >= 0 {
		t.target = -1
		t.show(target)
	}
}

// add puts a message that was committed at the end. Where the end is not held,
// or it does not fit, it is only counted.
func (t *transcript) add(m message) *drawn {
	if m.index != t.to() { // what was counted before it came is no gap
		t.length = max(t.length, m.index+1)
		return nil
	}
	d := &drawn{message: m}
	if len(t.held) == 0 {
		t.from = m.index
	}
	t.held = append(t.held, d)
	t.length = max(t.length, m.index+1)
	t.placeAsides()
	if len(t.held) > heldMessages && t.follow {
		drop := len(t.held) - heldMessages
		t.held = slices.Clone(t.held[drop:])
		t.from += int64(drop)
	}
	return d
}

// restart lets go of all that is held, as after a rewind.
func (t *transcript) restart(length int64) {
	t.length, t.from, t.held, t.unplaced = length, length, nil, nil
	t.follow, t.asking, t.marked, t.target = true, false, -1, -1
	t.top = place{index: length}
	t.age++
}

// at gives the message at an index, where it is held.
func (t *transcript) at(index int64) *drawn {
	if index < t.from || index >= t.to() {
		return nil
	}
	return t.held[index-t.from]
}
