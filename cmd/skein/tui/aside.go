package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skeinhq/skein/thread"
)

// aside is a line below a message that nobody said: a cut, a warning, the limit
// that a turn ended at.
type aside struct {
	seq  int64  // of its entry; 0: no entry says it
	text string // safe, on one line
	more string // safe: what folds out; empty: nothing
}

// asideOf takes from an entry what stands between messages.
func asideOf(e *thread.Entry, viewer string) (aside, bool) {
	switch n := e.Turn; {
	case e.Cut != nil:
		return aside{seq: e.Seq, text: cutText(e.Cut), more: summaries(e.Cut, viewer)}, true
	case n == nil || n.State != thread.TurnEnded || n.Reason != thread.StopLimit:
		return aside{}, false
	case n.Error == nil:
		return aside{seq: e.Seq, text: "the turn ended at one of its limits"}, true
	default:
		return aside{seq: e.Seq, text: safeLine(whole(n.Error))}, true
	}
}

// whole is what an error says as it does where it happens, with its way out: that may
// stand in its message already.
func whole(e *thread.Error) string {
	if e.Hint == "" || strings.HasSuffix(e.Message, " ("+e.Hint+")") {
		return e.Message
	}
	return e.Message + " (" + e.Hint + ")"
}

// cutText says what a cut did: the strategy, the messages, the tokens before and
// after.
func cutText(c *thread.Cut) string {
	what := counted(messagesGone(c), "message", "messages") + " left or shortened"
	if len(c.Gone) == 0 {
		what = fmt.Sprintf("%s in %s", counted(c.Boundary, "message", "messages"), counted(int64(len(c.Outline)), "line", "lines"))
	}
	weight := func(w thread.CutWeight) string { return countText(int64(w.Outline) + int64(w.Tail)) }
	return fmt.Sprintf("%s · %s · %s → %s tokens", safeLine(c.Strategy), what, weight(c.Before), weight(c.After))
}

// messagesGone counts the messages that left or changed. The ranges of a cut are
// of entries, among which others may lie.
func messagesGone(c *thread.Cut) int64 {
	n := int64(0)
	for _, r := range c.Gone {
		n += r.Last - r.First + 1
	}
	if most := int64(c.Before.Messages); most > 0 {
		n = min(n, most)
	}
	return n
}

// summaries gives the texts that a strategy had written in the place of messages.
func summaries(c *thread.Cut, viewer string) string {
	var texts []string
	for _, k := range c.Kept {
		if k.First == 0 && k.Message != nil && k.Message.VisibleTo(viewer) {
			texts = append(texts, k.Message.PlainText())
		}
	}
	p := clipped(part{}, strings.Join(texts, "\n\n"), maxOutput)
	if p.cut {
		p.text += "\n…"
	}
	return strings.TrimSpace(p.text)
}

// lines draws an aside: a rule with the text in it or, where that does not fit,
// the text alone.
func (a aside) lines(key drawKey) []string {
	c, width := key.look.cells, key.look.width
	sign := ""
	if a.more != "" {
		sign = "▸ "
		if key.folds.output {
			sign = "▾ "
		}
	}
	head := "── " + sign + a.text + " "
	var out []string
	if room := width - c.width(head); room >= 2 {
		out = append(out, faint.on(head+strings.Repeat("─", room)))
	} else {
		out = styled(faint, c.wrap("── "+sign+a.text, width))
	}
	if a.more == "" || !key.folds.output {
		return out
	}
	for _, row := range c.wrap(a.more, max(2, width-3)) {
		out = append(out, strings.TrimRight("   "+faint.on(row), " "))
	}
	return out
}

// below puts what stands between messages where it belongs: entries are those
// from the first message on, in order.
func below(messages []message, entries []thread.Entry, viewer string) {
	at := 0
	for i := range entries {
		e := &entries[i]
		for at+1 < len(messages) && messages[at+1].seq < e.Seq {
			at++
		}
		switch {
		case e.Rewind != nil:
			dropBelow(messages, e.Rewind.To)
		case e.Reset != nil:
			dropBelow(messages, 0)
		case e.Turn != nil && e.Turn.State == thread.TurnStarted:
			for j := at + 1; j < len(messages); j++ {
				if messages[j].tookSince(e.Turn.Call, e.Time) {
					break
				}
			}
		case e.Approval != nil:
			note, ok := noteOf(e.Approval)
			for j := at; ok && j >= 0; j-- {
				if messages[j].noteCall(e.Approval.Call, note) {
					break
				}
			}
		default:
			if a, ok := asideOf(e, viewer); ok {
				messages[at].below = append(messages[at].below, a)
			}
		}
	}
}

// dropBelow lets go of what a rewind undid.
func dropBelow(messages []message, to int64) {
	for i := range messages {
		messages[i].below = slices.DeleteFunc(messages[i].below, func(a aside) bool { return a.seq > to })
	}
}

// maxWarned is how many warnings are remembered as told.
const maxWarned = 200

// warn tells of something calmly, and of the same once.
func (m *model) warn(text string) {
	if text == "" || m.warned[text] || len(m.warned) >= maxWarned {
		return
	}
	if m.warned == nil {
		m.warned = map[string]bool{}
	}
	m.warned[text] = true
	if !m.transcript.putBelow(aside{text: text}) {
		m.notice = notice{text: text}
	}
}

// putBelow puts an aside below the message that was the newest then; false where
// that is not held. What an entry says is put there once it is: a message may be
// counted before it comes, and what stands below it or before it comes meanwhile.
func (t *transcript) putBelow(a aside) bool {
	at := len(t.held) - 1
	for a.seq != 0 && at > 0 && t.held[at].seq > a.seq {
		at--
	}
	if at < 0 || at == len(t.held)-1 && !t.atEnd() {
		if a.seq != 0 && len(t.unplaced) < maxUnplaced {
			t.unplaced = append(t.unplaced, a)
		}
		return false
	}
	d := t.held[at]
	if a.seq != 0 && (d.seq > a.seq || slices.ContainsFunc(d.below, func(b aside) bool { return b.seq == a.seq })) {
		return true // who goes back to it reads it with its message
	}
	d.below, d.lines = append(d.below, a), nil
	return true
}

// maxUnplaced is how many asides wait for their message at most.
const maxUnplaced = 100

// placeAsides puts the asides that waited for their message below it.
func (t *transcript) placeAsides() {
	waited := t.unplaced
	t.unplaced = nil
	for _, a := range waited {
		t.putBelow(a)
	}
}

// tells says whether a text stands below the newest message already.
func (t *transcript) tells(text string) bool {
	d := t.at(t.length - 1)
	return d != nil && slices.ContainsFunc(d.below, func(a aside) bool { return a.text == text })
}

// takeBelow puts what the log, as of its tip, has below the newest message in the
// place of what was known of it. Warnings, which no entry says, stay.
func (t *transcript) takeBelow(index, tip int64, logged []aside) {
	d := t.at(index)
	if d == nil || index != t.length-1 {
		return
	}
	told := slices.DeleteFunc(slices.Clone(d.below), func(a aside) bool { return a.seq != 0 && a.seq <= tip })
	if now := slices.Concat(logged, told); !slices.Equal(now, d.below) {
		d.below, d.lines = now, nil
	}
}
