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
// What is sent begins with a user's message: the one that asked for the oldest
// step. So the running turn's always stays, first where only steps of that turn are
// left; the newest step, calls that wait for their results, and what no model has
// been sent yet stay too.
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
	at, left := w.start(most)
	if in.stuck(left) {
		return Result{}, in.irreducible(left)
	}
	// What must stay can itself weigh more than Tokens. Then only a whole batch is
	// worth that the prompt changes at its start, or each step would change it.
	if left >= weight || !over && left > most && weight-left < o.BatchTokens {
		return Result{}, nil
	}
	return Result{Messages: w.from(at), Reason: in.reason("tokens")}, nil
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
	w := &window{messages: messages, asked: asked(messages, turn), legal: pairs.starts(messages), held: holdUnheard(messages, pairs.held(messages))}
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
// last place there is, with what is left from there. What is left begins with a
// user's message: where it would begin with a step, the message that asked for
// that step stays before it.
func (w *window) start(most int) (at place, left int) {
	at.opener = -1
	first := -1 // of the messages before the place, the first that stays
	before := 0 // what those weigh
	said := -1  // the newest user's message before the first that is left
	rest := tokens(w.messages)
	left = rest
	for i := range w.messages[:w.newest+1] {
		begin := first
		if begin < 0 {
			begin = i
		}
		asks := w.asks(begin)
		if i > 0 && w.legal[i] && (asks || said >= 0) {
			at, left = place{i, -1}, before+rest
			if !asks {
				at.opener = said
				left += w.messages[said].tokens()
			}
			if left <= most {
				return at, left
			}
		}
		t := w.messages[i].tokens()
		rest -= t
		if w.stays(i) {
			first = begin
			before += t
		} else if first < 0 && w.asks(i) {
			said = i
		}
	}
	return at, left
}

// place is where a window starts, and which message stands before it so that it
// begins with a user's; -1: none.
type place struct{ start, opener int }

// stays says whether a message stays wherever the window starts.
func (w *window) stays(i int) bool { return i == w.asked || w.held[i] }

func (w *window) asks(i int) bool { return asks(w.messages[i].Message) }

// from gives what stays with the window from a place on.
func (w *window) from(at place) []Message {
	var out []Message
	for i := range w.messages {
		if i >= at.start || i == at.opener || w.stays(i) {
			out = append(out, w.messages[i])
		}
	}
	return out
}

// asks says whether a message is a user's words.
func asks(m *thread.Message) bool {
	return m != nil && m.Role == thread.User && len(m.Results()) == 0
}

// holdUnheard adds to the messages that stay those that no model has been sent:
// what users said since the newest answer.
func holdUnheard(messages []Message, held []bool) []bool {
	for i := len(messages) - 1; i >= 0; i-- {
		m := messages[i].Message
		if m != nil && m.Role == thread.Assistant {
			break
		}
		held[i] = held[i] || messages[i].Seq != 0 && asks(m)
	}
	return held
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
