package prompt

import (
	"time"

	"github.com/skeinhq/skein/thread"
)

// ageSteps is how many steps of the age's edge make up the age.
const ageSteps = 10

// within leaves out what is older than the definition's age, seen from the
// newest message: lines whose newest message is older, and whole messages up to
// a legal start. The edge stands on a grid of a tenth of the age, so that it
// moves seldom; it never lets through what is older than the age.
func (l *Layout) within(age time.Duration) {
	newest, ok := l.Past.newest()
	if age <= 0 || !ok {
		return
	}
	edge := ageEdge(newest, age)
	for len(l.Lines) > 0 && l.Lines[0].Time.Before(edge) {
		l.Lines = l.Lines[1:]
	}
	start := ageStart(l.Messages, edge)
	l.Messages = l.Messages[start:]
	if start > 0 {
		l.Lines = nil // they are older than a message that is too old
	}
}

// ageEdge is the time before which nothing is shown.
func ageEdge(newest time.Time, age time.Duration) time.Time {
	step := max(1, age.Milliseconds()/ageSteps)
	oldest := newest.UnixMilli() - age.Milliseconds()
	steps := oldest / step
	if oldest%step > 0 {
		steps++
	}
	return time.UnixMilli(steps * step)
}

// ageStart is the position of the first legal start that is not before the
// edge. The newest message always stays, with the call it answers.
func ageStart(messages []thread.Entry, edge time.Time) int {
	if len(messages) == 0 || !messages[0].Time.Before(edge) {
		return 0
	}
	legal := legalStarts(messages)
	newest := 0
	for i := range messages {
		if !legal[i] {
			continue
		}
		newest = i
		if !messages[i].Time.Before(edge) {
			return i
		}
	}
	return newest
}

// legalStarts says for each message whether whole messages may start at it: it
// carries no result, and no call before it has its result at or after it.
func legalStarts(messages []thread.Entry) []bool {
	legal := make([]bool, len(messages))
	called := make(map[string]int)
	for i := range messages {
		legal[i] = true
		m := messages[i].Message
		if m == nil {
			continue
		}
		for j := range m.Parts {
			switch p := &m.Parts[j]; p.Type {
			case thread.CallPart:
				called[p.ID] = i
			case thread.ResultPart:
				at, ok := called[p.Call]
				if ok && at == i {
					delete(called, p.Call) // it ran at the provider's
					continue
				}
				legal[i] = false
				for k := at + 1; ok && k < i; k++ {
					legal[k] = false
				}
				delete(called, p.Call)
			}
		}
	}
	return legal
}
