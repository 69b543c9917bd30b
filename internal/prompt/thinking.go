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
// it is the one it was made with. Where the model's rule asks for it, the last
// reply with calls keeps its thinking all the same. What was kept so stays: the
// reply made with it proves by its hash that it was sent, so the prompt after it
// still starts with the one before.
func (l *Layout) seal(c *chain) {
	last := l.lastReply()
	out := make([]placed, 0, len(l.out))
	before := c.sum()
	for i := range l.out {
		p := l.out[i]
		if p.Role == thread.Assistant && hasThinking(p) && !l.sends(c, before, i, last, out) {
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
func (l *Layout) sends(c *chain, before sum, i, last int, out []placed) bool {
	p := l.out[i]
	switch {
	case p.entry == nil || l.Rules.Thinking == model.ThinkingNone:
		return false
	case len(out) > 0 && out[len(out)-1].Role == thread.Assistant:
		return false // no provider takes thinking in the middle of a side's words
	case !slices.ContainsFunc(p.Parts, isSpoken):
		return false // nor thinking that leads to nothing
	case slices.ContainsFunc(p.Parts, l.foreignThought):
		return false
	case p.entry.Message.Request != nil && p.entry.Message.Request.Hash == before.String():
		return true
	case l.Rules.Thinking != model.ThinkingKept || !hasCalls(p):
		return false
	case i == last:
		return true
	}
	return l.proved(c, i)
}

// proved says whether the next reply was made with this one's thinking before
// it.
func (l *Layout) proved(c *chain, i int) bool {
	c = c.clone()
	for ; i < len(l.out); i++ {
		c.message(&l.out[i].Message)
		if i+1 < len(l.out) && l.out[i+1].Role == thread.Assistant {
			next := l.out[i+1].entry
			return next != nil && next.Message.Request != nil && next.Message.Request.Hash == c.sum().String()
		}
	}
	return false
}

// lastReply is the position of the agent's last message, -1 without.
func (l *Layout) lastReply() int {
	for i := len(l.out) - 1; i >= 0; i-- {
		if isAssistant(l.out[i]) {
			return i
		}
	}
	return -1
}

// effort is how hard the model is asked to think. Where its rule asks for the
// thinking of a running call and there is none, it is not asked to think.
func (l *Layout) effort() string {
	last := l.lastReply()
	switch {
	case l.Rules.Thinking == model.ThinkingNone:
		return ""
	case l.Rules.Thinking == model.ThinkingKept && last >= 0 && hasCalls(l.out[last]) && !hasThinking(l.out[last]):
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
