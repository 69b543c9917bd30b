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
	if room, ok := in.room(); ok {
		most = min(most, room)
	}
	w := newWindow(in.Messages, in.Turn)
	start, left := w.start(most)
	if in.stuck(left) {
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
	messages []Message
	asked    int    // the running turn's user message; -1: there is none
	newest   int    // where the newest step begins
	legal    []bool // where it may begin
	held     []bool // what stays wherever it begins
}

func newWindow(messages []Message, turn int64) *window {
	pairs := pair(messages)
	w := &window{messages: messages, asked: asked(messages, turn), legal: pairs.starts(messages), held: pairs.held(messages)}
	w.newest = max(0, w.asked)
	for i := len(messages) - 1; i > w.asked; i-- {
		if m := messages[i].Message; m != nil && m.Role == thread.Assistant {
			w.newest = i
			break
		}
	}
	return w
}

// start finds the first place from which at most so many tokens are left, or the
// last place there is, with what is left from there.
func (w *window) start(most int) (start, left int) {
	first := -1 // of the messages before the place, the first that stays
	before := 0 // what those weigh
	rest := tokens(w.messages)
	left = rest
	for i := range w.messages[:w.newest+1] {
		opener := first
		if opener < 0 {
			opener = i
		}
		if i > 0 && w.legal[i] && asks(w.messages[opener].Message) {
			if start, left = i, before+rest; left <= most {
				return start, left
			}
		}
		t := w.messages[i].tokens()
		rest -= t
		if w.stays(i) {
			first = opener
			before += t
		}
	}
	return start, left
}

// stays says whether a message stays wherever the window starts.
func (w *window) stays(i int) bool { return i == w.asked || w.held[i] }

// from gives what stays with the window from a place on.
func (w *window) from(start int) []Message {
	var out []Message
	for i := range w.messages {
		if i >= start || w.stays(i) {
			out = append(out, w.messages[i])
		}
	}
	return out
}

// asks says whether a message is a user's words.
func asks(m *thread.Message) bool {
	return m != nil && m.Role == thread.User && len(m.Results()) == 0
}

// asked finds the user's message that the running turn answers: the newest one
// said before the turn began; between turns the newest of all. Those that were
// said into the running turn come after.
func asked(messages []Message, turn int64) int {
	newest := -1
	for i := len(messages) - 1; i >= 0; i-- {
		m := &messages[i]
		if m.Seq == 0 || !asks(m.Message) {
			continue
		}
		if turn == 0 || m.Seq < turn {
			return i
		}
		newest = max(newest, i)
	}
	return newest
}
