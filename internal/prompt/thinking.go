package prompt

import (
	"slices"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// seal walks the messages in order with the chain: it decides which thinking is
// sent, leaves out what is then empty, and notes each message's weight and the
// chain's sum after it.
//
// Thinking goes only to the model that made it, and only if the prompt before
// it is the one it was made with. Where the model's rule asks for it, the
// replies of a running call keep their thinking all the same. What was kept so
// stays: the reply made with it proves by its hash that it was sent, so the
// prompt after it still starts with the one before.
func (l *Layout) seal(c *chain) {
	l.running = runOf(l.out)
	out := make([]placed, 0, len(l.out))
	before := c.sum()
	for i := range l.out {
		p := l.out[i]
		if p.Role == thread.Assistant && hasThinking(p) && !l.sends(c, before, i, out) {
			p.Parts = slices.DeleteFunc(p.Parts, isThinking)
		}
		if len(p.Parts) == 0 {
			continue
		}
		c.message(&p.Message)
		before = c.sum()
		p.after = before
		p.tokens = weigh(p.Parts)
		out = append(out, p)
	}
	l.out = out
}

// sends says whether the thinking of the i-th message is sent.
func (l *Layout) sends(c *chain, before sum, i int, out []placed) bool {
	p := l.out[i]
	switch {
	case p.entry == nil || l.Rules.Thinking == model.ThinkingNone:
		return false
	case len(out) > 0 && out[len(out)-1].Role == thread.Assistant:
		return false // no provider takes thinking in the middle of a side's words
	case !isThinking(p.Parts[0]) || isThinking(p.Parts[len(p.Parts)-1]):
		return false // nor after other parts, nor where it leads to nothing
	case slices.ContainsFunc(p.Parts, l.foreignThought):
		return false
	case p.madeFrom(before):
		return true
	case l.Rules.Thinking != model.ThinkingKept || !hasCalls(p):
		return false
	}
	return i >= l.running || l.proved(c, i)
}

// proved says whether a later reply of the same run, or the first after it, was
// made with this one's thinking before it.
func (l *Layout) proved(c *chain, i int) bool {
	c = c.clone()
	for ; i < len(l.out)-1; i++ {
		c.message(&l.out[i].Message)
		next := l.out[i+1]
		if next.Role != thread.Assistant {
			continue
		}
		if next.madeFrom(c.sum()) {
			return true
		}
		if l.out[i].Role == thread.User || !hasCalls(next) {
			return false // the run ended
		}
	}
	return false
}

// madeFrom says whether a reply was made from the prompt with that hash.
func (p placed) madeFrom(s sum) bool {
	return p.entry != nil && p.entry.Message.Request != nil && p.entry.Message.Request.Hash == s.String()
}

// runOf finds where the run of the newest calls starts: the last reply with
// calls, and before it replies with calls that have nothing but results between
// them. It is len(messages) where the last reply calls nothing.
func runOf(messages []placed) int {
	last := len(messages) - 1
	for last >= 0 && messages[last].Role != thread.Assistant {
		last--
	}
	if last < 0 || !hasCalls(messages[last]) {
		return len(messages)
	}
	start := last
	for i := last - 1; i >= 0 && messages[i].Role != thread.User; i-- {
		if messages[i].Role == thread.Tool {
			continue
		}
		if !hasCalls(messages[i]) {
			break
		}
		start = i
	}
	return start
}

// effort is how hard the model is asked to think. Where its rule asks for the
// thinking of a running call and there is none, it is not asked to think.
func (l *Layout) effort() string {
	switch run := runOf(l.out); {
	case l.Rules.Thinking == model.ThinkingNone:
		return ""
	case l.Rules.Thinking == model.ThinkingKept && run < len(l.out) && !hasThinking(l.out[run]):
		return ""
	}
	return l.Definition.Thinking
}

func (l *Layout) foreignThought(p thread.Part) bool {
	return isThinking(p) && p.Model != l.Definition.Model
}

func hasThinking(p placed) bool { return slices.ContainsFunc(p.Parts, isThinking) }

func isThinking(p thread.Part) bool { return p.Type == thread.ThinkingPart }

func isSpoken(p thread.Part) bool { return p.Type != thread.ThinkingPart }

func weigh(parts []thread.Part) int {
	w := 0
	for i := range parts {
		w += parts[i].Weigh()
	}
	return w
}
