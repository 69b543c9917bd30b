package agent

import (
	"fmt"

	"github.com/skeinhq/skein/internal/outline"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// Default marks, in tokens.
var (
	DefaultTail    = outline.Marks{Low: 20_000, High: 40_000}
	DefaultOutline = outline.Marks{Low: 4_000, High: 8_000}
)

// MaxBody is the most bytes of images and files, as sent, that a tail may hold.
const MaxBody = 16 << 20

// Marks are the weights between which a thread's prompt is held.
type Marks struct {
	Tail    outline.Limits
	Outline outline.Marks
}

// MarksFor gives the marks of a thread: the settings', else the agent's, else
// the defaults, divided by the model's token factor, and never more than the
// model's window leaves: a third of it at the most is the outline's.
func MarksFor(s Settings, a Agent, r model.Rules) Marks {
	tail := first(s.Tail, a.Tail, DefaultTail)
	lines := first(s.Outline, a.Outline, DefaultOutline)
	if f := r.Factor; f > 0 {
		tail, lines = divided(tail, f), divided(lines, f)
	}
	hard := tail.High * 3 / 2
	if room := r.Room(); room > 0 {
		if most := max(1, room/3); lines.High > most {
			lines = outline.Marks{Low: min(lines.Low, max(1, most/2)), High: most}
		}
		hard = max(1, min(hard, room-lines.High))
		tail.High = min(tail.High, hard)
		tail.Low = min(tail.Low, tail.High)
	}
	return Marks{Tail: outline.Limits{Marks: tail, Hard: hard, Bytes: MaxBody}, Outline: lines}
}

// CheckMarks refuses marks between which nothing can be held. The zero marks are
// none.
func CheckMarks(of string, m outline.Marks) error {
	if m == (outline.Marks{}) || m.Low >= 0 && m.High > 0 && m.Low <= m.High {
		return nil
	}
	return &thread.Error{Code: thread.Invalid, Op: "marks", Message: fmt.Sprintf("the %s's marks are low %d and high %d", of, m.Low, m.High), Hint: "low must be 0 or more and at most high, and high more than 0"}
}

func first(candidates ...outline.Marks) outline.Marks {
	for _, m := range candidates {
		if m != (outline.Marks{}) {
			return m
		}
	}
	return outline.Marks{}
}

func divided(m outline.Marks, by float64) outline.Marks {
	return outline.Marks{Low: int(float64(m.Low) / by), High: int(float64(m.High) / by)}
}
