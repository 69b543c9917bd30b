package tui

import (
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/skeinhq/skein/thread"
)

// denial is the reason that is being typed why a call is denied.
type denial struct {
	call string
	sum  [sha256.Size]byte // of the card
	why  editor
}

// input is what typing goes into.
func (m *model) input() *editor {
	if m.denying != nil {
		return &m.denying.why
	}
	return &m.editor
}

// toCards gives the keys to the oldest card that waits. Two keys decide, and the
// second is heard only by a card: no typing, however fast, allows anything.
func (m *model) toCards() {
	waiting := m.transcript.waitingCards()
	if len(waiting) == 0 {
		m.notice = notice{text: "nothing waits for a decision"}
		return
	}
	m.focusOn(waiting[0])
}

// focusOn gives the keys to a card and brings it into view.
func (m *model) focusOn(c *card) {
	t := &m.transcript
	t.end()
	t.focus = c.call
	if !t.atEnd() {
		return // it comes into view with the newest page
	}
	at := place{index: t.to() + int64(len(t.running)+slices.Index(t.cards, c))}
	if at.before(t.bottom(m.talkHeight())) {
		t.top, t.follow = at, false
	}
}

// onCard are the keys of the card that has them; all others are the editor's.
func onCard() []binding {
	return []binding{
		{[]string{"a"}, "allow it once", func(m *model) []effect {
			return m.decide(thread.Approval{State: thread.ApprovalAllowed, Scope: thread.ScopeOnce})
		}},
		{[]string{"A"}, "allow the tool always in this thread, a command only as it is", func(m *model) []effect {
			return m.decide(thread.Approval{State: thread.ApprovalAllowed, Scope: thread.ScopeThread})
		}},
		{[]string{"d"}, "deny it, with a reason", do(func(m *model) {
			c := m.transcript.cardOf(m.transcript.focus)
			m.denying = &denial{call: c.call, sum: c.sum, why: newEditor()}
		})},
		{[]string{"enter"}, "fold its input out or in", do(func(m *model) {
			c := m.transcript.cardOf(m.transcript.focus)
			c.open = !c.open
			m.focusOn(c)
		})},
		{[]string{"up", "shift+tab"}, "the card before", do(func(m *model) { m.nextCard(-1) })},
		{[]string{"down", "tab", "alt+a", "ctrl+y"}, "the card after", do(func(m *model) { m.nextCard(1) })},
		{[]string{"esc"}, "back to typing", do(func(m *model) { m.transcript.focus = "" })},
	}
}

var keysOnCard = bound(onCard())

// cardKey takes a key where a card has the keys. Of others, text gives them back
// to the editor.
func (m *model) cardKey(name, text string) (out []effect, taken bool) {
	t := &m.transcript
	if m.panel != nil {
		t.focus = "" // what is typed in a panel is for the panel
	}
	if t.focus == "" || m.denying != nil {
		return nil, false
	}
	if text != "" {
		name = text
	}
	if b, ok := keysOnCard[name]; ok {
		return b.run(m), true
	}
	if text != "" {
		t.focus = ""
	}
	return nil, false
}

// nextCard goes to another card that waits.
func (m *model) nextCard(by int) {
	waiting := m.transcript.waitingCards()
	i := slices.IndexFunc(waiting, func(c *card) bool { return c.call == m.transcript.focus })
	m.focusOn(waiting[(i+by+len(waiting))%len(waiting)])
}

// decide decides about the card that has the keys, and gives them back: the next
// card takes a word of its own.
func (m *model) decide(a thread.Approval) []effect {
	t := &m.transcript
	a.Call = t.focus
	if m.denying != nil {
		a.Call = m.denying.call
	}
	t.focus, m.denying = "", nil
	t.end()
	if c := t.cardOf(a.Call); c == nil || !c.waits() || c.sent {
		m.notice = notice{text: "that was decided already"}
		return nil
	} else {
		c.sent = true
	}
	return []effect{decideCall{a, &t.cardOf(a.Call).sum}}
}

// deny denies with the reason that was typed.
func (m *model) deny() []effect {
	why := strings.TrimSpace(m.denying.why.text())
	return m.decide(thread.Approval{State: thread.ApprovalDenied, Reason: why})
}

// mindDenial lets go of a reason that is typed for a call which has been decided
// meanwhile.
func (m *model) mindDenial() {
	if m.denying == nil {
		return
	}
	if c := m.transcript.cardOf(m.denying.call); c != nil && c.waits() && c.sum == m.denying.sum {
		return
	}
	m.denying = nil
	m.notice = notice{text: "that was decided already"}
}

// wasDecided notes that a decision did not reach the log; that it did, the log
// tells.
func (m *model) wasDecided(d decided) []effect {
	if c := m.transcript.cardOf(d.call); c != nil {
		c.sent = false
	}
	m.say(d.err)
	return []effect{readStatus{}}
}

// cardsHint says what waits for a decision.
func (m *model) cardsHint() string {
	n := len(m.transcript.waitingCards())
	if n == 0 {
		return ""
	}
	return counted(int64(n), "call waits", "calls wait") + " for a decision"
}
