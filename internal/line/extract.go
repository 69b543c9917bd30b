package line

import (
	"sort"
	"strings"

	"github.com/skeinhq/skein/thread"
)

// ExtractiveVersion is the version of the extractive writer's rules: lines of
// the same version and input are the same.
const ExtractiveVersion = 1

// Extract writes a message's line by rule: the sentences of its leaf that say
// most, in their order, after who spoke to whom. It is a function of the message
// and fixed tables alone: deterministic, at most [thread.LineBytes], valid UTF-8,
// never empty, no grapheme parted, no anchor made up (I8), and of a long text
// never its bare beginning. A leaf that fits is its own line.
func Extract(m *thread.Message) string {
	us := utterances(m)
	if whole := joined(us); len(whole) <= thread.LineBytes {
		return whole
	}
	for i := range us {
		if us[i].kind == called {
			us[i].text = strings.Join(arguments(us[i].text), "\n")
		}
	}
	return choose(us, Leaf(m))
}

// gap joins two fragments with something left out between them.
const gap = " " + Ellipsis + " "

// choice is a line being chosen from fragments.
type choice struct {
	utterances []utterance
	fragments  []fragment
	covered    []bool  // by term id
	state      []state // by fragment
	opened     []bool  // utterances that have a fragment taken
	halves     [2]int  // bytes taken of each half
	used       int     // bytes, about
}

// state is what has become of a fragment.
type state uint8

const (
	open  state = iota
	taken       // stands in the line
	gone        // stands in the line within another, or cannot stand there
)

// choose writes the line. sources are what its anchors must occur in.
func choose(us []utterance, sources ...string) string {
	c := choice{utterances: us, opened: make([]bool, len(us))}
	c.gather()
	c.fill(sentences, thread.LineBytes*3/4)
	c.fill(bareAnchors, thread.LineBytes*7/8)
	c.fill(sentences, thread.LineBytes)
	c.fill(bareAnchors, thread.LineBytes)
	return c.settle(sources)
}

// Sentences come first, since those that hold anchors are worth most; what room
// they leave goes to the anchors that none of them holds, then to more prose.
func sentences(f *fragment) bool   { return !f.bare }
func bareAnchors(f *fragment) bool { return f.bare }

// fill takes what is worth most, among the fragments of one sort, until the line
// has so many bytes.
func (c *choice) fill(sort func(*fragment) bool, bytes int) {
	for before := -1; c.used != before; {
		before = c.used
		for i := c.best(sort, bytes-c.used); i >= 0; i = c.best(sort, bytes-c.used) {
			c.take(i)
		}
		// What a fragment costs is an estimate; what the line has is known.
		c.used = len(c.render())
	}
}

// gather finds the fragments of all utterances and scores them.
func (c *choice) gather() {
	l := lexicon{ids: map[string]int{}}
	for i := range c.utterances {
		u := &c.utterances[i]
		from := len(c.fragments)
		c.fragments = append(c.fragments, fragments(i, u.text)...)
		fs := c.fragments[from:]
		for j := range fs {
			l.score(&fs[j], u)
		}
		place(fs, u.kind)
		c.addBare(&l, i)
	}
	sort.SliceStable(c.fragments, func(i, j int) bool {
		a, b := &c.fragments[i], &c.fragments[j]
		if a.utterance != b.utterance {
			return a.utterance < b.utterance
		}
		return a.start < b.start
	})
	for i := range c.fragments {
		for j := range c.fragments[i].terms {
			t := &c.fragments[i].terms[j]
			t.value *= frequency(l.counts[t.id])
		}
	}
	c.covered = make([]bool, len(l.counts))
	c.state = make([]state, len(c.fragments))
}

// frequency is what it makes of a term's value that it stands n times.
func frequency(n int) float64 {
	switch {
	case n <= 1:
		return 1
	case n <= 3:
		return 1.25
	default:
		return 1.4
	}
}

// place raises what stands first and last.
func place(fs []fragment, kind utteranceKind) {
	if len(fs) == 0 {
		return
	}
	fs[0].factor *= 1.3
	fs[len(fs)-1].factor *= 1.2
	if kind == called && len(fs) > 1 {
		fs[0].factor *= 1.3
	}
}

// addBare adds the anchors of an utterance as fragments of their own, for where
// there is no room for their sentences. A number alone says nothing.
func (c *choice) addBare(l *lexicon, i int) {
	u := &c.utterances[i]
	seen := map[string]bool{}
	eachAnchor(u.text, func(a anchor) {
		text := u.text[a.start:a.end]
		switch {
		case !standsBare(u.kind, a.kind, text), seen[text], len(text) > fragmentBytes:
			return
		}
		seen[text] = true
		if a.kind == numberAnchor {
			end := nextWord(u.text, a.end)
			if end == a.end {
				return
			}
			a.end = end
		}
		a.start += len(text) - len(lastNames(text))
		if boundaryBefore(u.text, a.start) != a.start || boundaryBefore(u.text, a.end) != a.end {
			return // a part of a longer character
		}
		id, known := l.ids[baseName(text)]
		if !known {
			return
		}
		c.fragments = append(c.fragments, fragment{
			utterance: i, start: a.start, end: a.end, size: a.end - a.start, bare: true,
			terms: []term{{id, anchorValues[a.kind]}}, factor: kindFactors[u.kind] * bareFactor(a.kind),
		})
	})
}

// standsBare says whether an anchor says something without its sentence. Of what
// a call holds only files do, the rest is most often text on its way to one; of
// what a tool gave, files and ids.
func standsBare(said utteranceKind, kind anchorKind, text string) bool {
	spoken := said == userSaid || said == agentSaid
	switch kind {
	case pathAnchor:
		return !strings.HasPrefix(text, ".") && (strings.Contains(text, ".") || strings.Count(text, "/") > 1)
	case idAnchor:
		return said != called && !strings.HasPrefix(text, "-")
	case urlAnchor:
		return true
	case nameAnchor:
		return spoken && !strings.Contains(text, ".")
	case quotedAnchor:
		return spoken && strings.Contains(text, " ")
	}
	return spoken
}

// bareFactor is what an anchor is worth without its sentence: a file still says
// what was worked on, the name of a function little.
func bareFactor(kind anchorKind) float64 {
	if kind == nameAnchor {
		return 0.4
	}
	return 0.8
}

// nextWord gives the end of the word that follows the number at end after a
// space, else end.
func nextWord(text string, end int) int {
	i := end + 1
	for i < len(text) && isLetter(text[i]) {
		i++
	}
	if end < len(text) && text[end] == ' ' && i > end+2 && !parts(text, i) {
		return i
	}
	return end
}

// longPath is how long a path may be to be shown whole where it stands bare.
const longPath = 40

// lastNames is a long path's last three names.
func lastNames(path string) string {
	at := len(path)
	for n := 0; n < 3 && at > 0; n++ {
		at = strings.LastIndexByte(path[:at], '/')
	}
	if at <= 0 || len(path) <= longPath || strings.Contains(path, "://") {
		return path
	}
	return path[at+1:]
}

// best gives the fragment that is worth most for its bytes and fits in the room,
// or -1.
func (c *choice) best(sort func(*fragment) bool, room int) int {
	best, most := -1, 0.0
	for i := range c.fragments {
		f := &c.fragments[i]
		cost := c.cost(f)
		if c.state[i] != open || cost > room || !sort(f) {
			continue
		}
		if worth := c.gain(f) / float64(cost+worthBytes); worth > most {
			best, most = i, worth
		}
	}
	return best
}

// worthBytes keeps short fragments from winning by their shortness alone.
const worthBytes = 24

// cost is about how many bytes the line grows by.
func (c *choice) cost(f *fragment) int {
	if c.opened[f.utterance] {
		return f.size + len(gap)
	}
	return f.size + len(c.utterances[f.utterance].head) + 1
}

// gain is what a fragment would add to what the line says already.
func (c *choice) gain(f *fragment) float64 {
	sum := 0.02 // a sentence of common words alone is better than none
	for _, t := range f.terms {
		if c.covered[t.id] {
			sum += t.value * repeated
		} else {
			sum += t.value
		}
	}
	sum *= f.factor
	half := c.utterances[f.utterance].half
	if c.halves[half] > c.halves[1-half]+thread.LineBytes/4 {
		sum *= 0.5
	}
	return sum
}

func (c *choice) take(i int) {
	f := &c.fragments[i]
	c.state[i] = taken
	cost := c.cost(f)
	c.opened[f.utterance] = true
	c.used += cost
	c.halves[c.utterances[f.utterance].half] += cost
	for _, t := range f.terms {
		c.covered[t.id] = true
	}
	for j := range c.fragments {
		g := &c.fragments[j]
		if j == i || c.state[j] == taken && !g.bare {
			continue
		}
		within := g.utterance == f.utterance && g.start < f.end && f.start < g.end && (g.bare || !f.bare)
		if within || !g.bare && c.text(g) == c.text(f) {
			c.state[j] = gone
		}
	}
}

// text is what the fragment says.
func (c *choice) text(f *fragment) string {
	return strings.TrimSpace(c.utterances[f.utterance].text[f.start:f.end])
}
