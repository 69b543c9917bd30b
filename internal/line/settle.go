package line

import (
	"strings"

	"github.com/skeinhq/skein/thread"
)

// settle makes of the fragments taken a line that holds all it promises: it
// leaves out fragments, least worth first, until the line fits and makes nothing
// up.
func (c *choice) settle(sources []string) string {
	c.reachBack()
	for {
		line := c.render()
		if line == "" {
			return c.fallback(sources)
		}
		if len(line) > thread.LineBytes {
			c.drop(c.least())
			continue
		}
		bad := Unsupported(line, sources...)
		if len(bad) == 0 {
			return line
		}
		c.dropHolding(bad)
	}
}

// reachBack makes room for something of the end where all that was taken is the
// text's beginning.
func (c *choice) reachBack() {
	lastTaken, rest := -1, -1
	for i := range c.fragments {
		switch {
		case c.state[i] == taken && rest >= 0:
			return // something before it was left out
		case c.state[i] == taken:
			lastTaken = i
		case c.state[i] == open && !c.fragments[i].bare:
			rest = i
		}
	}
	if rest < 0 || lastTaken < 0 {
		return
	}
	best := rest
	for i := lastTaken + 1; i < len(c.fragments); i++ {
		if c.state[i] == open && !c.fragments[i].bare && c.fragments[i].start > c.fragments[lastTaken].end && c.gain(&c.fragments[i]) > c.gain(&c.fragments[best]) {
			best = i
		}
	}
	for c.used+c.cost(&c.fragments[best]) > thread.LineBytes && lastTaken >= 0 {
		c.drop(lastTaken)
		for lastTaken--; lastTaken >= 0 && c.state[lastTaken] != taken; lastTaken-- {
		}
	}
	c.take(best)
}

// least gives the fragment taken whose own worth is least.
func (c *choice) least() int {
	least, worth := -1, 0.0
	for i := range c.fragments {
		if c.state[i] != taken {
			continue
		}
		f := &c.fragments[i]
		own := 0.0
		for _, t := range f.terms {
			own += t.value
		}
		own = own * f.factor / float64(f.size+worthBytes)
		if least < 0 || own < worth {
			least, worth = i, own
		}
	}
	return least
}

func (c *choice) drop(i int) {
	c.state[i] = gone
	c.used -= c.fragments[i].size + len(gap)
}

// dropHolding leaves out the fragments that hold those anchors. An anchor that
// only came about where two fragments meet costs the least of all.
func (c *choice) dropHolding(bad []string) {
	dropped := false
	for i := range c.fragments {
		if c.state[i] != taken {
			continue
		}
		f := &c.fragments[i]
		shown := shownAs(c.utterances[f.utterance].text, f.start, f.end)
		for _, a := range bad {
			if strings.Contains(shown, a) {
				c.drop(i)
				dropped = true
				break
			}
		}
	}
	if !dropped {
		c.drop(c.least())
	}
}

// render writes the fragments taken, an utterance a line. Utterances of one
// speaker that follow each other stand on one line.
func (c *choice) render() string {
	var lines []string
	before := -1
	for i := 0; i < len(c.fragments); {
		n := c.fragments[i].utterance
		from := i
		for i < len(c.fragments) && c.fragments[i].utterance == n {
			i++
		}
		text := c.shown(from, i)
		if text == "" {
			continue
		}
		u := &c.utterances[n]
		form := forms[u.kind]
		if before >= 0 && u.head != "" && c.utterances[before].head == u.head && c.utterances[before].kind == u.kind {
			last := &lines[len(lines)-1]
			*last = strings.TrimSuffix(*last, form.close) + form.gap + text + form.close
		} else {
			lines = append(lines, u.head+form.open+text+form.close)
		}
		before = n
	}
	return strings.Join(lines, "\n")
}

// form is how the fragments of an utterance stand in a line: those of a call in
// braces, so that a call is known as one when its line is merged.
type form struct{ open, gap, close string }

var forms = map[utteranceKind]form{
	userSaid:  {gap: gap},
	agentSaid: {gap: gap},
	gave:      {gap: gap},
	called:    {open: "{", gap: ", ", close: "}"},
}

// shown joins the taken fragments of [from, to), which are of one utterance.
func (c *choice) shown(from, to int) string {
	var b strings.Builder
	bare := false
	for i := from; i < to; i++ {
		if c.state[i] != taken {
			continue
		}
		f := c.fragments[i]
		u := &c.utterances[f.utterance]
		// Fragments that follow each other without a gap are shown as one.
		for next := c.following(i); next >= 0 && u.kind != called; next = c.following(i) {
			i, f.end = next, c.fragments[next].end
		}
		switch {
		case b.Len() == 0:
		case bare && f.bare:
			b.WriteString(", ")
		default:
			b.WriteString(forms[u.kind].gap)
		}
		if bare = f.bare; bare {
			b.WriteString(printable(u.text[f.start:f.end]))
			continue
		}
		b.WriteString(shownAs(u.text, f.start, f.end))
	}
	return b.String()
}

// following gives the fragment taken that goes on where fragment i ends, or -1.
func (c *choice) following(i int) int {
	f := &c.fragments[i]
	if f.bare {
		return -1
	}
	for j := i + 1; j < len(c.fragments) && c.fragments[j].utterance == f.utterance; j++ {
		g := &c.fragments[j]
		if g.bare || g.start < f.end {
			continue
		}
		if c.state[j] == taken && strings.TrimSpace(c.utterances[f.utterance].text[f.end:g.start]) == "" {
			return j
		}
		return -1
	}
	return -1
}

// fallback is the line of a text of which no fragment can stand: its ends, or
// only who spoke.
func (c *choice) fallback(sources []string) string {
	u := c.utterances[0]
	line := u.head + clipMiddle(u.text, thread.LineBytes/4, thread.LineBytes/4)
	if len(line) > thread.LineBytes || len(Unsupported(line, sources...)) > 0 {
		line = u.head + Ellipsis
	}
	if len(line) > thread.LineBytes || len(Unsupported(line, sources...)) > 0 {
		return Ellipsis
	}
	return line
}
