package tui

import (
	"fmt"
	"strings"

	"github.com/skeinhq/skein/thread"
)

// threads is the list of threads, to switch to one or make one.
type threads struct {
	list
	query  query
	all    []thread.Thread
	loaded bool
	chosen bool // Enter came before the list
}

// maxThreads is how many threads are listed.
const maxThreads = 500

func (m *model) showThreads() []effect {
	m.panel = &threads{query: newQuery("")}
	return []effect{listThreads{}}
}

func (t *threads) title(*model) string {
	if !t.loaded {
		return "threads"
	}
	return "threads · " + counted(int64(len(t.matching())), "thread", "threads")
}

func (t *threads) hint() string { return "type to choose or to name a new one · Enter opens · Esc" }

// matching are the threads that hold what is typed in their id or title.
func (t *threads) matching() []thread.Thread {
	typed := strings.ToLower(strings.TrimSpace(t.query.text()))
	if typed == "" {
		return t.all
	}
	var out []thread.Thread
	for _, x := range t.all {
		if strings.Contains(strings.ToLower(x.ID), typed) || strings.Contains(strings.ToLower(x.Title), typed) {
			out = append(out, x)
		}
	}
	return out
}

func (t *threads) rows(m *model, height int) []string {
	line, _ := t.query.line(m.cells, m.width-5)
	out := []string{"  " + strong.on("› ") + line, ""}
	if !t.loaded {
		return append(out, faint.on("  reading…"))
	}
	all := t.matching()
	if len(all) == 0 {
		return append(out, m.paragraph("Enter makes the thread "+strings.TrimSpace(t.query.text())+".")...)
	}
	from, to := t.window(len(all), height-len(out))
	for i, x := range all[from:to] {
		name := safeLine(x.ID)
		if x.ID == m.id {
			name = strong.on(name)
		}
		row := m.cells.pad(name, 20) + " " + faint.on(fmt.Sprintf("%9s", grouped(x.Length)))
		if m.width >= 60 {
			row += faint.on("  " + x.Updated.In(m.zone).Format("2006-01-02 15:04"))
		}
		out = append(out, m.choice(row+"  "+safeLine(x.Title), from+i == t.at))
	}
	return out
}

func (t *threads) key(m *model, name, text string) []effect {
	all := t.matching()
	if by, ok := moves(name, m.panelHeight()-2); ok {
		t.move(by, len(all))
		return nil
	}
	switch name {
	case "esc":
		m.panel = nil
	case "enter":
		return t.choose(m)
	default:
		if t.query.key(name, text) {
			t.list = list{}
		}
	}
	return nil
}

// choose opens the chosen thread, or makes the one that is named.
func (t *threads) choose(m *model) []effect {
	if t.chosen = !t.loaded; t.chosen {
		return nil
	}
	id := strings.TrimSpace(t.query.text())
	if all := t.matching(); t.at < len(all) {
		id = all[t.at].ID
	}
	if id == "" {
		return nil
	}
	m.panel = nil
	if id == m.id {
		return nil
	}
	m.busy = "opening " + safeLine(id)
	return []effect{openThread{id}}
}

func (t *threads) news(m *model, msg any) []effect {
	read, ok := msg.(threadsRead)
	if !ok || !m.current(read.sitting) {
		return nil
	}
	if m.say(read.err) {
		m.panel = nil
		return nil
	}
	t.loaded, t.all = true, read.threads
	if t.chosen {
		return t.choose(m)
	}
	return nil
}

func (t *threads) scroll(by int) { t.move(by, len(t.matching())) }

func (t *threads) cursor(m *model) (x, y int, ok bool) {
	_, x = t.query.line(m.cells, m.width-5)
	return 4 + x, 2, true
}
