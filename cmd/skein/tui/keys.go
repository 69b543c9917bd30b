package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// binding is a key and what it does.
type binding struct {
	keys  []string
	about string // empty: not worth a line of help
	run   func(*model) []effect
}

// do makes a binding's action of a function that wants nothing done outside.
func do(f func(*model)) func(*model) []effect {
	return func(m *model) []effect { f(m); return nil }
}

// edit makes an action of one on what is typed.
func edit(f func(*editor)) func(*model) []effect {
	return do(func(m *model) { f(m.input()); m.transcript.marked, m.transcript.focus = -1, "" })
}

// always are the keys that mean the same everywhere.
var always = []binding{
	{[]string{"ctrl+c"}, "stop the answer; twice: leave", (*model).interrupt},
	{[]string{"ctrl+z"}, "", func(*model) []effect { return []effect{suspend{}} }},
}

// ways are the keys that open a panel, also in the place of another.
func ways() []binding {
	return []binding{
		{[]string{"ctrl+o"}, "the outline, to open line by line", (*model).showOutline},
		{[]string{"ctrl+f"}, "search", func(m *model) []effect { return m.showSearch("") }},
		{[]string{"ctrl+t"}, "threads", (*model).showThreads},
		{[]string{"ctrl+g", "f1"}, "this help", do(func(m *model) { m.panel = m.helpPanel() })},
	}
}

// talking are the keys where no panel is open.
func talking() []binding {
	return slices.Concat([]binding{
		{[]string{"enter"}, "say it (during an answer: for the next one)", (*model).submit},
		{[]string{"ctrl+s", "alt+s"}, "say it now, to the answer being made", (*model).steer},
		{[]string{"alt+a", "ctrl+y"}, "go to the call that waits for a decision", do((*model).toCards)},
		{[]string{"alt+enter", "shift+enter", "ctrl+j"}, "begin a new line", edit(func(e *editor) { e.insert("\n") })},
		{[]string{"up", "ctrl+p"}, "line up; at the first: what was said before", do((*model).earlier)},
		{[]string{"down", "ctrl+n"}, "line down; at the last: what was said after", do((*model).later)},
		{[]string{"pgup"}, "scroll back by a page", do(func(m *model) { m.scroll(-m.page()) })},
		{[]string{"pgdown"}, "scroll on by a page", do(func(m *model) { m.scroll(m.page()) })},
		{[]string{"ctrl+up", "shift+up", "alt+up"}, "scroll back by a line", do(func(m *model) { m.scroll(-1) })},
		{[]string{"ctrl+down", "shift+down", "alt+down"}, "scroll on by a line", do(func(m *model) { m.scroll(1) })},
		{[]string{"ctrl+home", "alt+<"}, "the first message", do(func(m *model) { m.transcript.show(0) })},
		{[]string{"ctrl+end", "alt+>", "esc"}, "the newest message", do((*model).backToEnd)},
		{[]string{"tab"}, "choose the message before (or end a command's name)", do((*model).tab)},
		{[]string{"shift+tab"}, "choose the message after", do(func(m *model) { m.mark(1) })},
		{[]string{"ctrl+r"}, "show or fold thinking", do(func(m *model) { m.fold(func(f *folds) { f.thinking = !f.thinking }) })},
		{[]string{"ctrl+x"}, "show or fold what tools gave", do(func(m *model) { m.fold(func(f *folds) { f.output = !f.output }) })},
	}, ways(), []binding{
		{[]string{"ctrl+d"}, "leave, where nothing is typed", (*model).deleteOrLeave},

		{[]string{"left", "ctrl+b"}, "", edit((*editor).left)},
		{[]string{"right"}, "", edit((*editor).right)},
		{[]string{"ctrl+left", "alt+left", "alt+b"}, "", edit((*editor).wordLeft)},
		{[]string{"ctrl+right", "alt+right", "alt+f"}, "", edit((*editor).wordRight)},
		{[]string{"home", "ctrl+a"}, "", edit((*editor).home)},
		{[]string{"end", "ctrl+e"}, "", edit((*editor).end)},
		{[]string{"backspace", "ctrl+h"}, "", edit(func(e *editor) { e.remove(e.left) })},
		{[]string{"delete"}, "", edit(func(e *editor) { e.remove(e.right) })},
		{[]string{"ctrl+w", "alt+backspace", "ctrl+backspace"}, "", edit(func(e *editor) { e.remove(e.wordLeft) })},
		{[]string{"alt+d", "ctrl+delete", "alt+delete"}, "", edit(func(e *editor) { e.remove(e.wordRight) })},
		{[]string{"ctrl+u"}, "", edit((*editor).removeToStart)},
		{[]string{"ctrl+k"}, "", edit((*editor).removeToEnd)},
	})
}

// bindings finds keys by their names.
type bindings map[string]binding

func bound(tables ...[]binding) bindings {
	out := bindings{}
	for _, table := range tables {
		for _, b := range table {
			for _, k := range b.keys {
				out[k] = b
			}
		}
	}
	return out
}

var keysTalking, keysWays, keysAlways = bound(talking()), bound(ways()), bound(always)

// key takes a key that was pressed.
func (m *model) key(k tea.KeyPressMsg) []effect {
	name := k.String()
	if k.Text != "" && k.Mod&^(tea.ModShift|tea.ModCapsLock|tea.ModNumLock) == 0 {
		name = "" // it is text, whatever it is called
	}
	if b, ok := keysAlways[name]; ok {
		return b.run(m)
	}
	m.leaving, m.transcript.stuck = false, false
	m.notice = notice{}
	if out, taken := m.cardKey(name, k.Text); taken {
		return out
	}
	if m.panel != nil {
		if b, ok := keysWays[name]; ok {
			return b.run(m)
		}
		return m.inPanel(name, k.Text)
	}
	if name == "enter" && m.transcript.marked >= 0 {
		m.openMarked()
		return nil
	}
	if b, ok := keysTalking[name]; ok {
		return b.run(m)
	}
	if k.Text != "" {
		m.transcript.marked = -1
		m.input().insert(k.Text)
	}
	return nil
}

// backToEnd goes to the newest message, and away from the reason of a denial to its
// card.
func (m *model) backToEnd() {
	if m.denying != nil {
		m.transcript.focus, m.denying = m.denying.call, nil
	}
	m.transcript.end()
}

// paste takes text that came at once.
func (m *model) paste(text string) []effect {
	switch m.panel.(type) {
	case nil:
	case *pager: // nothing is typed in it
		m.panel, m.behind = nil, nil
	default:
		return m.inPanel("", firstLine(typeable(text)))
	}
	m.transcript.focus = ""
	m.input().insert(text)
	return nil
}

func (m *model) wheel(w tea.MouseWheelMsg) {
	by := 3
	if w.Button == tea.MouseWheelUp {
		by = -3
	} else if w.Button != tea.MouseWheelDown {
		return
	}
	if m.panel != nil {
		m.panel.scroll(by)
		return
	}
	m.scroll(by)
}

// interrupt stops the answer, or leaves where it was pressed before.
func (m *model) interrupt() []effect {
	if m.leaving {
		return m.quit()
	}
	m.leaving = true
	switch {
	case m.answering || m.status.held:
		m.notice = notice{text: "stopping; Ctrl-C again leaves"}
		return []effect{stopAnswer{}}
	case len(m.transcript.waitingCards()) > 0:
		m.notice = notice{text: "Ctrl-C again leaves; the call goes on waiting, and /stop ends the turn"}
		return nil
	}
	m.notice = notice{text: "Ctrl-C again leaves; what is typed is kept"}
	return nil
}

func (m *model) deleteOrLeave() []effect {
	if m.denying == nil && m.editor.empty() {
		return m.quit()
	}
	in := m.input()
	in.remove(in.right)
	return nil
}

func (m *model) page() int { return max(1, m.talkHeight()-2) }

func (m *model) scroll(by int) { m.transcript.scroll(by, m.talkHeight()) }

func (m *model) fold(change func(*folds)) {
	change(&m.transcript.folds)
	for _, d := range m.transcript.held {
		d.opened = nil
	}
}

// earlier moves up a row, or from the first one back in what was said.
func (m *model) earlier() {
	m.transcript.marked = -1
	if m.input().vertical(m.cells, m.typeWidth(), -1) || m.denying != nil || m.back == len(m.history) {
		return
	}
	if m.back == 0 {
		m.typed = m.editor.text()
	}
	m.back++
	m.editor.set(m.history[len(m.history)-m.back])
}

// later moves down a row, or from the last one on in what was said.
func (m *model) later() {
	m.transcript.marked = -1
	if m.input().vertical(m.cells, m.typeWidth(), 1) || m.denying != nil || m.back == 0 {
		return
	}
	m.back--
	if m.back == 0 {
		m.editor.set(m.typed)
		return
	}
	m.editor.set(m.history[len(m.history)-m.back])
}

// tab ends the name of a command that is begun, else it chooses a message.
func (m *model) tab() {
	if names := m.completions(); len(names) > 0 {
		m.editor.set("/" + shared(names))
		if len(names) == 1 {
			m.editor.insert(" ")
		}
		return
	}
	m.mark(-1)
}

// completions are the commands whose name is begun.
func (m *model) completions() []string {
	begun, ok := strings.CutPrefix(m.editor.text(), "/")
	if !ok || m.denying != nil || strings.ContainsAny(begun, " \n") {
		return nil
	}
	var out []string
	for _, c := range m.commands {
		if strings.HasPrefix(c.Name, begun) {
			out = append(out, c.Name)
		}
	}
	slices.Sort(out)
	return out
}

// shared gives what all names begin with.
func shared(names []string) string {
	out := names[0]
	for _, n := range names[1:] {
		for !strings.HasPrefix(n, out) {
			out = out[:len(out)-1]
		}
	}
	return out
}

// mark chooses the next message in a direction, among those that can be seen
// first of all.
func (m *model) mark(by int64) {
	t := &m.transcript
	if len(t.held) == 0 {
		return
	}
	height := m.talkHeight()
	_, first, last := t.view(height)
	switch {
	case t.marked < 0 && by < 0, t.marked > last && by < 0:
		t.marked = min(last, t.to()-1)
	case t.marked < 0, t.marked < first && by > 0:
		t.marked = first
	default:
		t.marked = max(t.from, min(t.marked+by, t.to()-1))
	}
	at := place{index: t.marked}
	switch {
	case t.marked < first || t.marked == first && t.top.line > 0:
		t.top, t.follow = at, false
	case t.marked >= last:
		bottom := t.up(place{index: t.marked + 1}, height)
		if t.top.before(bottom) {
			t.top, t.follow = bottom, false
		}
	}
}

// openMarked shows or folds what the chosen message holds.
func (m *model) openMarked() {
	d := m.transcript.at(m.transcript.marked)
	if d == nil {
		return
	}
	f := m.transcript.folds
	if d.opened != nil {
		f = *d.opened
	}
	open := !f.thinking && !f.output
	d.opened = &folds{thinking: open, output: open}
}

// helpPanel shows what keys and commands there are.
func (m *model) helpPanel() *pager {
	p := newPager("help", m.help())
	p.hang = true
	return p
}

// help says what keys and commands there are.
func (m *model) help() string {
	var b strings.Builder
	for _, table := range [][]binding{talking(), always} {
		for _, k := range table {
			if k.about != "" {
				fmt.Fprintf(&b, "%-11s  %s\n", keyText(k.keys[0]), k.about)
			}
		}
	}
	b.WriteString("\nOn a call that waits for a decision:\n")
	for _, k := range onCard() {
		fmt.Fprintf(&b, "%-11s  %s\n", cardKeyText(k.keys[0]), k.about)
	}
	b.WriteString("\nWith a message chosen, Enter shows or folds its thinking and its tools' output.\nThe wheel scrolls; Shift and the mouse select text.\n\n")
	for _, c := range m.commands {
		fmt.Fprintf(&b, "%-21s  %s\n", "/"+strings.TrimSpace(c.Name+" "+c.Args), c.About)
	}
	return b.String()
}

// cardKeyText writes a key's name; where it is a letter, upper and lower case are
// two keys.
func cardKeyText(name string) string {
	if len(name) == 1 {
		return name
	}
	return keyText(name)
}

// keyText writes a key's name as keyboards do.
func keyText(name string) string {
	parts := strings.Split(name, "+")
	if page, ok := strings.CutPrefix(name, "pg"); ok {
		return "Pg" + strings.ToUpper(page[:1]) + page[1:]
	}
	for i, p := range parts {
		parts[i] = strings.ToUpper(p[:1]) + p[1:]
	}
	return strings.Join(parts, "-")
}
