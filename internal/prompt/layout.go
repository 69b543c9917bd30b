package prompt

import (
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// Layout is the history while it is laid out. A plugin's History calls Chat,
// Whole and Say in the order in which the model should read.
type Layout struct {
	Input
	Lines    []thread.Node  // of the outline, those within the age
	Messages []thread.Entry // whole ones, those within the age

	plugin  Plugin
	out     []placed
	told    []thread.Context
	sharp   blobPlace       // the first blob that is sent; those before it are references
	private map[string]bool // calls that this agent may not see
	running int             // where in out the run of the newest calls starts

	// What is made once and cut into pieces, for few allocations.
	texts   arena
	parts   []thread.Part
	inner   []thread.Part // of results
	from    []int64       // the messages that a message's results come from
	scratch []thread.Part
	dst     []model.Message
}

// kind says what a placed message is.
type kind int

const (
	history  kind = iota // of the log, or a plugin's own
	chat                 // the lines
	contexts             // the definition's contexts, first
	turn                 // the turn's contexts, last
)

// placed is a message of the prompt with where it comes from.
type placed struct {
	model.Message
	kind   kind
	index  int64         // of the stored message; thread.NoIndex for all else
	entry  *thread.Entry // own replies: the stored message
	tokens int
	after  sum // the chain's sum up to and with it
}

func newLayout(in Input, p Plugin) *Layout {
	n := len(in.Past.Kept) + len(in.Past.Messages)
	l := &Layout{
		Input: in, Lines: in.Past.Outline, Messages: in.Past.whole(), plugin: p,
		out:   make([]placed, 0, n+n/4+4),
		parts: make([]thread.Part, 0, n+n/4+len(in.Past.Outline)/4+8),
	}
	l.texts.b.Grow(int(lineBytes(in.Past.Outline)) + 16*len(in.Past.Outline) + textBytes(l.Messages))
	return l
}

// textBytes is about what the arena will hold of the messages: what users said,
// after their names.
func textBytes(messages []thread.Entry) int {
	n := 0
	for i := range messages {
		m := messages[i].Message
		if m == nil || m.Role != thread.User {
			continue
		}
		for j := range m.Parts {
			n += len(m.Parts[j].Text) + len(m.Author) + 2
		}
	}
	return n
}

// Say adds a message of its own.
func (l *Layout) Say(m model.Message) { l.place(m, placed{index: thread.NoIndex}) }

// Whole adds a stored message as the plugins render it, after the contexts that
// were told with it. What the agent may not see is left out.
func (l *Layout) Whole(e *thread.Entry) {
	m := e.Message
	if m == nil {
		return // erased
	}
	if !m.VisibleTo(l.Definition.Agent) {
		l.hide(m)
		return
	}
	if len(m.Contexts) > 0 {
		l.Say(contextMessage(m.Contexts))
		l.remember(m.Contexts)
	}
	l.scratch = l.scratch[:0]
	l.dst = l.plugin.Message(l.dst[:0], l, e)
	for _, made := range l.dst {
		if made.Role == thread.Assistant {
			l.place(made, placed{index: e.Index, entry: e})
			continue
		}
		l.place(made, placed{index: e.Index})
	}
}

// place adds a copy of a message as one that comes from where p says, so that
// nothing of the log is changed when it is put in order.
func (l *Layout) place(m model.Message, p placed) {
	if len(m.Parts) == 0 {
		return
	}
	start := len(l.parts)
	l.parts = append(l.parts, m.Parts...)
	p.Role = m.Role
	p.Parts = l.parts[start:len(l.parts):len(l.parts)]
	l.out = append(l.out, p)
}

// hide remembers the calls of a message that the agent may not see: their
// results are not shown either.
func (l *Layout) hide(m *thread.Message) {
	for _, p := range m.Parts {
		if p.Type != thread.CallPart {
			continue
		}
		if l.private == nil {
			l.private = make(map[string]bool)
		}
		l.private[valid(p.ID)] = true
	}
}

// own says whether a message is the agent's own reply.
func (l *Layout) own(m *thread.Message) bool {
	return m.Role == thread.Assistant && m.Author == l.Definition.Agent
}
