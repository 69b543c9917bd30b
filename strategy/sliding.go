package strategy

import (
	"cmp"
	"context"

	"github.com/skeinhq/skein/thread"
)

// The defaults of [Sliding].
const (
	DefaultSlidingTokens = 40_000
	DefaultSlidingBatch  = 10_000
)

// Sliding are the options of [SlidingWindow]. A zero field stands for its default.
type Sliding struct {
	Tokens      int // of the messages alone, above which the oldest leave; default 40,000
	BatchTokens int // so many tokens below Tokens are then left; default 10,000, negative: none
}

func (o Sliding) filled() Sliding {
	o.Tokens = max(1, cmp.Or(o.Tokens, DefaultSlidingTokens))
	o.BatchTokens = min(max(0, cmp.Or(o.BatchTokens, DefaultSlidingBatch)), o.Tokens)
	return o
}

// SlidingWindow sends the newest messages. Where they weigh more than Tokens,
// whole steps leave, oldest first, until at most Tokens − BatchTokens remain.
// The running turn's user message always stays, and stands first where the steps
// after it have begun to leave; so do the newest step and calls that wait for
// their results.
func SlidingWindow(o Sliding) Strategy {
	return Strategy{Name: SlidingName, Compact: o.filled().compact}
}

func (o Sliding) compact(_ context.Context, in Input) (Result, error) {
	weight, over := tokens(in.Messages), in.over()
	if weight <= o.Tokens && !over {
		return Result{}, nil
	}
	most := o.Tokens - o.BatchTokens
	room, limited := in.room()
	if limited {
		most = min(most, room)
	}
	w := window{in: &in, asked: asked(in.Messages, in.Turn), pairs: pair(in.Messages)}
	start, left := w.start(most)
	if over && limited && !in.Overflowing && left > room && !in.Followed {
		return Result{}, in.irreducible(left)
	}
	// What must stay can itself weigh more than Tokens. Then only a whole batch is
	// worth that the prompt changes at its start, or each step would change it.
	if start == 0 || !over && left > most && weight-left < o.BatchTokens {
		return Result{}, nil
	}
	return Result{Messages: w.from(start), Reason: in.reason("tokens")}, nil
}

// window finds where the messages that stay begin.
type window struct {
	in    *Input
	asked int // the running turn's user message; -1: there is none
	pairs *pairs
	held  []bool
}

// start finds the first place from which at most so many tokens are left, or the
// last place there is, with what is left from there.
func (w *window) start(most int) (start, left int) {
	messages := w.in.Messages
	legal := w.pairs.starts(messages)
	w.held = w.pairs.held(messages)
	before := 0 // tokens of the messages before that stay
	rest := tokens(messages)
	left = rest
	for i := range messages {
		if i > 0 && legal[i] && i <= w.newest() && w.opens(i) {
			if start, left = i, before+rest; left <= most {
				return start, left
			}
		}
		t := messages[i].tokens()
		rest -= t
		if w.stays(i) {
			before += t
		}
	}
	return start, left
}

// stays says whether a message stays wherever the window starts.
func (w *window) stays(i int) bool { return i == w.asked || w.held[i] }

// newest is where the newest step begins.
func (w *window) newest() int {
	messages := w.in.Messages
	for i := len(messages) - 1; i > w.asked; i-- {
		if m := messages[i].Message; m != nil && m.Role == thread.Assistant {
			return i
		}
	}
	return max(0, w.asked)
}

// opens says whether what stays, with the window from i on, begins with a user's
// message.
func (w *window) opens(i int) bool {
	for j := range i {
		if w.stays(j) {
			return w.user(j)
		}
	}
	return w.user(i)
}

func (w *window) user(i int) bool {
	m := w.in.Messages[i].Message
	return m != nil && m.Role == thread.User
}

func (w *window) from(start int) []Message {
	var out []Message
	for i := range w.in.Messages {
		if i >= start || w.stays(i) {
			out = append(out, w.in.Messages[i])
		}
	}
	return out
}

// asked finds the user's message that the running turn answers: the newest one
// said before the turn began; between turns the newest of all. Those that were
// said into the running turn come after.
func asked(messages []Message, turn int64) int {
	newest := -1
	for i := len(messages) - 1; i >= 0; i-- {
		m := &messages[i]
		if m.Message == nil || m.Message.Role != thread.User || m.Seq == 0 {
			continue
		}
		if turn == 0 || m.Seq < turn {
			return i
		}
		newest = max(newest, i)
	}
	return newest
}
