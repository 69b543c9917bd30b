package tui

import (
	"fmt"
	"strings"

	"github.com/skeinhq/skein"
)

// panel stands in the transcript's place: a pager, the outline, a search, the
// threads.
type panel interface {
	title(m *model) string
	hint() string
	rows(m *model, height int) []string       // height at most
	key(m *model, name, text string) []effect // a key, by its name or its text
	news(m *model, msg any) []effect          // what came from the engine
	scroll(by int)                            // by rows
	cursor(m *model) (x, y int, ok bool)      // where something is typed; y 0 is the title
}

// inPanel hands a key to the panel. What waits behind it comes into view once it
// closes.
func (m *model) inPanel(name, text string) []effect {
	out := m.panel.key(m, name, text)
	if m.panel == nil {
		m.panel, m.behind = m.behind, nil
	}
	return out
}

// offer shows what a command printed. A panel that was opened meanwhile stays: what
// is typed into it must not end up below.
func (m *model) offer(p panel) {
	if m.panel != nil {
		m.behind = p
		return
	}
	m.panel = p
}

// carry keeps a panel that was opened while a thread was: it asks the new thread.
func (m *model) carry() []effect {
	m.behind = nil
	switch p := m.panel.(type) {
	case *threads:
		return []effect{listThreads{}}
	case *search:
		again := p.asked != ""
		p.asked, p.asking, p.results, p.list = "", false, skein.Results{}, list{}
		if again {
			return p.ask()
		}
	case *tree:
		return m.showOutline()
	default:
		m.panel = nil
	}
	return nil
}

// list is a choice among rows, scrolled so that it can be seen.
type list struct {
	at, top int
}

func (l *list) move(by, n int) { l.at = max(0, min(l.at+by, n-1)) }

// window gives the part of n rows that is shown in height.
func (l *list) window(n, height int) (from, to int) {
	l.at = max(0, min(l.at, n-1))
	l.top = max(0, min(l.top, n-height))
	switch {
	case l.at < l.top:
		l.top = l.at
	case l.at >= l.top+height:
		l.top = l.at - height + 1
	}
	return l.top, min(n, l.top+height)
}

// moves are the keys that move in a list, by rows of a page of that height.
func moves(name string, height int) (by int, ok bool) {
	switch name {
	case "up", "ctrl+p":
		return -1, true
	case "down", "ctrl+n":
		return 1, true
	case "pgup":
		return -height, true
	case "pgdown":
		return height, true
	case "ctrl+home":
		return -1 << 30, true
	case "ctrl+end":
		return 1 << 30, true
	}
	return 0, false
}

// choice draws one row of a list.
func (m *model) choice(row string, on bool) string {
	row = m.cells.clip(row, m.width-2)
	if !on {
		return "  " + row
	}
	return strong.on("› ") + row
}

// pager shows text.
type pager struct {
	name string
	text string
	top  int
	look *markdown
	all  []string
	hang bool // lines of two columns: what does not fit stays in the second
}

func newPager(name, text string) *pager {
	return &pager{name: safeLine(name), text: safe(strings.TrimRight(text, "\n"))}
}

func (p *pager) title(*model) string { return p.name }
func (p *pager) hint() string        { return "↑ ↓ PgUp PgDn scroll · Esc closes" }

func (p *pager) rows(m *model, height int) []string {
	if p.look != m.look || p.all == nil {
		p.look = m.look
		p.all = p.set(m.cells, m.width-4)
	}
	p.top = max(0, min(p.top, len(p.all)-height))
	var out []string
	for _, line := range p.all[p.top:min(len(p.all), p.top+height)] {
		out = append(out, "  "+line)
	}
	return out
}

// set breaks the text into rows.
func (p *pager) set(c cells, width int) []string {
	if !p.hang {
		return c.wrap(p.text, width)
	}
	var out []string
	for line := range strings.SplitSeq(p.text, "\n") {
		out = append(out, c.hanging(line, width)...)
	}
	return out
}

func (p *pager) key(m *model, name, text string) []effect {
	by, ok := moves(name, m.panelHeight()-1)
	switch {
	case ok:
		p.scroll(by)
	case name == "home":
		p.top = 0
	case name == "end":
		p.top = 1 << 30
	case text == " ":
		p.scroll(m.panelHeight() - 1)
	case name == "esc" || name == "enter" || text == "q":
		m.panel = nil
	case text != "": // typing goes on below
		m.panel = nil
		m.editor.insert(text)
	}
	return nil
}

func (p *pager) news(*model, any) []effect { return nil }
func (p *pager) scroll(by int)             { p.top = max(0, p.top+by) }

func (p *pager) cursor(*model) (x, y int, ok bool) { return 0, 0, false }

// query is one line that is typed in a panel.
type query struct{ editor }

func newQuery(text string) query {
	q := query{newEditor()}
	q.insert(text)
	return q
}

// key takes a key; it says whether the text has changed.
func (q *query) key(name, text string) bool {
	was := q.text()
	switch name {
	case "left", "ctrl+b":
		q.left()
	case "right":
		q.right()
	case "home", "ctrl+a":
		q.home()
	case "end", "ctrl+e":
		q.end()
	case "backspace", "ctrl+h":
		q.remove(q.left)
	case "delete", "ctrl+d":
		q.remove(q.right)
	case "ctrl+w", "alt+backspace":
		q.remove(q.wordLeft)
	case "ctrl+u":
		q.removeToStart()
	case "ctrl+k":
		q.removeToEnd()
	default:
		q.insert(strings.ReplaceAll(text, "\n", " "))
	}
	return q.text() != was
}

// line draws the query, and says where its cursor stands.
func (q *query) line(c cells, width int) (text string, x int) {
	rows, x, _ := q.view(c, width, 1)
	return rows[0], x
}

// counted writes a number of things.
func counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%s %s", grouped(n), many)
}
