package tui

import (
	"fmt"
	"strings"
)

// screen is what is drawn: as many lines as the terminal has, and the cursor.
type screen struct {
	lines []string
	x, y  int
	typed bool // the cursor shows
}

// The rows below the transcript: a rule, what is typed, the status.
const (
	ruleRows   = 1
	statusRows = 1
)

// typeWidth is the columns for typed text, beside the prompt sign.
func (m *model) typeWidth() int { return max(4, m.width-4) }

// typeHeight is the rows that typed text takes.
func (m *model) typeHeight() int {
	return m.input().height(m.cells, m.typeWidth(), max(1, min(10, m.height/3)))
}

// airRows are the empty rows between the transcript and the rule, where there is
// room.
func (m *model) airRows() int {
	if m.height < 16 {
		return 0
	}
	return 1
}

// talkHeight is the rows of the transcript.
func (m *model) talkHeight() int {
	return max(1, m.height-m.airRows()-len(m.remark())-ruleRows-statusRows-m.typeHeight())
}

// remark is what just happened, on rows of its own: where the rule has no room for
// it. It often ends with the way out.
func (m *model) remark() []string {
	if m.cells.width(m.notice.text) <= m.width-8 {
		return nil
	}
	room := min(max(1, m.height/3), m.height-m.airRows()-ruleRows-statusRows-m.typeHeight()-1)
	if room < 1 {
		return nil // then the rule shows what it can
	}
	rows := m.cells.wrap(m.notice.text, min(m.width-3, maxTextWidth))
	for i, row := range rows {
		rows[i] = "  " + m.notice.mark().on(row)
	}
	return rows[:min(len(rows), room)]
}

// panelHeight is the rows of a panel below its title.
func (m *model) panelHeight() int { return max(1, m.height-statusRows-2) }

// screen draws all.
func (m *model) screen() screen {
	if m.panel != nil {
		return m.panelScreen()
	}
	var s screen
	height := m.talkHeight()
	lines, first, _ := m.transcript.view(height)
	if len(lines) == 0 && m.ready && m.transcript.length == 0 {
		lines = m.welcome()
	}
	s.lines = append(s.lines, lines[:min(len(lines), height)]...)
	for len(s.lines) < height+m.airRows() {
		s.lines = append(s.lines, "")
	}
	s.lines = append(s.lines, m.remark()...)
	s.lines = append(s.lines, m.rule(first))

	rows, x, y := m.input().view(m.cells, m.typeWidth(), m.typeHeight())
	s.x, s.y, s.typed = x+2, len(s.lines)+y, true
	for i, row := range rows {
		sign := "  "
		if i == 0 {
			sign = strong.on("›") + " "
		}
		if i == 0 && m.input().empty() {
			row = faint.on(m.cells.clip(m.placeholder(), m.typeWidth()))
		}
		s.lines = append(s.lines, sign+row)
	}
	s.lines = append(s.lines, m.statusLine())
	return s
}

func (m *model) placeholder() string {
	switch {
	case !m.ready:
		return "opening…"
	case m.denying != nil:
		return "why not? Enter denies, Esc goes back"
	case m.transcript.focus != "":
		return "a, A or d decides; Esc goes back to typing"
	case m.answering || m.status.held:
		return "say more (Ctrl-S: now), or Ctrl-C to stop"
	}
	switch {
	case m.pending && !m.asks():
		return "/retry asks for an answer; or say something"
	case m.pending:
		return "Enter asks for the answer again; or say something"
	}
	return "say something, or /help"
}

// welcome is what an empty thread shows.
func (m *model) welcome() []string {
	return append([]string{""}, m.paragraph("Nothing was said here yet. Enter says what you type, Alt-Enter begins a new line, Ctrl-G shows the keys.")...)
}

// rule parts what is said from what is typed. It tells where the view is, once it
// is not at the end, and what just happened.
func (m *model) rule(first int64) string {
	left, right := "", ""
	mark := faint
	switch {
	case m.notice.text != "" && m.remark() == nil:
		left, mark = m.notice.text, m.notice.mark()
	case m.busy != "":
		left = m.busy
	case m.denying != nil:
		left = "denying the call"
	case m.cardsHint() != "":
		left, mark = m.cardsHint(), accent
	case m.answering:
		left = safeLine(m.status.agent) + " is answering"
	case m.status.held:
		left = safeLine(m.status.agent) + " is answering in another process"
	case m.pending:
		left = "the newest message has no answer"
	}
	if names := m.completions(); len(names) > 0 && left == "" {
		left = "Tab: /" + strings.Join(names, " /")
	}
	if t := &m.transcript; !t.follow && t.length > 0 {
		right = fmt.Sprintf("%s of %s · Esc: newest", grouped(min(first, t.length-1)+1), grouped(t.length))
		if m.width < 60 {
			right = fmt.Sprintf("%s/%s", countText(min(first, t.length-1)+1), countText(t.length))
		}
	}
	room := m.width - 4
	if w := m.cells.width(right) + 3; right != "" && w < room {
		room -= w
	} else {
		right = ""
	}
	out := faint.on("──")
	used := 2
	if left != "" {
		left = m.cells.clip(left, room-2)
		out += " " + mark.on(left) + " "
		used += m.cells.width(left) + 2
	}
	tail := ""
	if right != "" {
		tail = faint.on(" " + right + " ──")
	}
	fill := m.width - used - m.cells.width(tail)
	return out + faint.on(strings.Repeat("─", max(0, fill))) + tail
}

// statusLine says what the thread is and costs. What does not fit is left out,
// the least important first.
func (m *model) statusLine() string {
	name := safeLine(m.id)
	if m.status.title != "" {
		name = safeLine(m.status.title)
	}
	hints := []string{"Ctrl-G keys", ""} // the hint is the last to go
	waits := m.cardsHint() != "" && m.denying == nil
	switch {
	case m.panel != nil:
		hints[0] = m.panel.hint()
	case waits && m.transcript.focus != "":
		hints = []string{"a once · A always · d deny · Esc back", "a · A · d · Esc", ""}
	case waits:
		hints = []string{"Alt-A decides · Ctrl-G keys", "Alt-A decides", ""}
	}
	room := m.width - 4
	items := m.status.items()
	line := func(n int, hint string) string {
		s := m.cells.clip(name, max(8, room/3))
		for _, i := range items[:n] {
			s += " · " + safeLine(i)
		}
		if gap := room - m.cells.width(s) - m.cells.width(hint); hint != "" && gap >= 2 {
			return s + strings.Repeat(" ", gap) + hint
		}
		return s
	}
	if m.panel != nil {
		return "  " + faint.on(m.hintIn(hints[0], room))
	}
	for _, hint := range hints {
		for n := len(items); n >= 0; n-- {
			s := line(n, hint)
			if m.cells.width(s) <= room && strings.HasSuffix(s, hint) {
				return "  " + faint.on(s)
			}
		}
	}
	return "  " + faint.on(m.cells.clip(name, room))
}

// hintIn shortens a panel's hint: its end, which says how to leave, stays whole
// where it can.
func (m *model) hintIn(hint string, room int) string {
	i := strings.LastIndex(hint, " · ")
	if m.cells.width(hint) <= room || i < 0 {
		return m.cells.clip(hint, room)
	}
	end := hint[i:]
	left := room - m.cells.width(end)
	if left < 4 {
		return m.cells.clip(strings.TrimPrefix(end, " · "), room)
	}
	return m.cells.clip(hint[:i], left) + end
}

// panelScreen draws the panel in the transcript's place.
func (m *model) panelScreen() screen {
	var s screen
	s.lines = append(s.lines, "  "+bold.on(m.cells.clip(safeLine(m.panel.title(m)), m.width-4)), "")
	height := m.panelHeight()
	rows := m.panel.rows(m, height-1)
	for _, row := range rows[:min(len(rows), height-1)] {
		s.lines = append(s.lines, m.cells.clip(row, m.width))
	}
	for len(s.lines) < m.height-2 {
		s.lines = append(s.lines, "")
	}
	if m.notice.text != "" {
		s.lines = append(s.lines, "  "+m.notice.mark().on(m.cells.clip(m.notice.text, m.width-4)))
	} else {
		s.lines = append(s.lines, "")
	}
	s.lines = append(s.lines[:min(len(s.lines), m.height-1)], m.statusLine())
	s.x, s.y, s.typed = m.panel.cursor(m)
	return s
}

// text is the screen as a terminal is sent it.
func (s screen) text() string { return strings.Join(s.lines, "\n") }
