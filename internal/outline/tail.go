package outline

// Message is what the tail knows of a message.
type Message struct {
	Weight  int
	Bytes   int64    // what it adds to a request's body
	Calls   []string // ids of the calls it makes
	Results []string // ids of the calls whose results it carries
}

// Limits are the marks of the tail.
type Limits struct {
	Marks
	Hard  int   // past this a cut may not wait, and what is left after it weighs at most this; 0: no such mark
	Bytes int64 // the same for the body's bytes; 0: no such mark
	Keep  int   // newest messages that always stay; 0 means 1
}

// Tail is the whole messages of a thread, from index Start on.
type Tail struct {
	Start    int64
	Messages []Message
}

// Weight is the sum of the messages' weights.
func (t Tail) Weight() int {
	w := 0
	for _, m := range t.Messages {
		w += m.Weight
	}
	return w
}

// Bytes is the sum of the messages' bytes.
func (t Tail) Bytes() int64 {
	var b int64
	for _, m := range t.Messages {
		b += m.Bytes
	}
	return b
}

// Over says whether a cut is called for: above HIGH between turns, above HARD
// inside one, above the bytes always.
func (t Tail) Over(l Limits, inTurn bool) bool {
	heavy := t.Weight() > l.High
	if inTurn {
		heavy = l.Hard > 0 && t.Weight() > l.Hard
	}
	return heavy || l.Bytes > 0 && t.Bytes() > l.Bytes
}

// Cut says where the whole messages should start instead. Oldest messages leave
// while what remains weighs at least LOW; if more than HARD, or more bytes than
// allowed, is left, oldest messages leave until it is not. The new start is
// legal, never past lines (the first message without a line) and leaves the
// newest Keep messages. It is t.Start where nothing may leave.
func (t Tail) Cut(l Limits, lines int64) int64 {
	n := len(t.Messages)
	keep := max(1, l.Keep)
	last := min(n-keep, int(lines-t.Start))
	if last <= 0 {
		return t.Start
	}
	legal := t.LegalStarts()
	weight, bytes := t.Weight(), t.Bytes()
	tooMuch := l.Hard > 0 && weight > l.Hard || l.Bytes > 0 && bytes > l.Bytes
	best := 0
	for start := 1; start <= last; start++ {
		weight -= t.Messages[start-1].Weight
		bytes -= t.Messages[start-1].Bytes
		if weight < l.Low && !tooMuch {
			break
		}
		if legal[start] {
			best = start
			tooMuch = l.Hard > 0 && weight > l.Hard || l.Bytes > 0 && bytes > l.Bytes
		}
	}
	return t.Start + int64(best)
}

// LegalStarts says for each message whether whole messages may start at it: it
// is no tool result, no call before it has its result at or after it, and no
// call before it is still without one.
func (t Tail) LegalStarts() []bool {
	legal := make([]bool, len(t.Messages)+1)
	ends := t.ends()
	barrier := 0 // the first position after the results of all calls seen so far
	for i, m := range t.Messages {
		legal[i] = i >= barrier && len(m.Results) == 0
		barrier = max(barrier, ends[i])
	}
	legal[len(t.Messages)] = len(t.Messages) >= barrier
	return legal
}

// ends gives, for each message, the position after the last result of its calls,
// past the end where one has none. A result answers the oldest open call of its
// id before it: models use ids again.
func (t Tail) ends() []int {
	ends := make([]int, len(t.Messages))
	open := map[string][]int{} // positions of the calls of an id that wait
	for i, m := range t.Messages {
		for _, id := range m.Results {
			if waiting := open[id]; len(waiting) > 0 {
				ends[waiting[0]] = max(ends[waiting[0]], i+1)
				open[id] = waiting[1:]
			}
		}
		for _, id := range m.Calls {
			open[id] = append(open[id], i)
		}
	}
	for _, waiting := range open {
		for _, i := range waiting {
			ends[i] = len(t.Messages) + 1
		}
	}
	return ends
}
