package tui

import (
	"fmt"
	"strings"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

// tree is the outline: lines that open to the two that each was made from, down
// to the messages.
type tree struct {
	list
	outline skein.Outline
	roots   []*branch
	loaded  bool

	strategy string // names, where it is not the outline that says what is sent
}

// branch is a line, or a message's text.
type branch struct {
	span    thread.Span
	text    string // safe
	missing bool
	depth   int
	open    bool
	asking  bool
	below   []*branch
	message bool // text is the message itself, on as many rows as it takes
}

func (m *model) showOutline() []effect {
	m.panel = &tree{}
	return []effect{readOutline{}}
}

func (t *tree) title(*model) string {
	if !t.loaded {
		return "outline"
	}
	if t.strategy != "" {
		return fmt.Sprintf("outline · %s, which %s not sent", counted(int64(len(t.outline.Lines)), "line", "lines"), isAre(len(t.outline.Lines)))
	}
	return fmt.Sprintf("outline · %s in %s, %s whole", counted(t.outline.Boundary, "message", "messages"),
		counted(int64(len(t.outline.Lines)), "line", "lines"), grouped(t.outline.Messages-t.outline.Boundary))
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func (t *tree) hint() string { return "→ opens · ← closes · Enter goes to the message · Esc" }

// visible lists the branches that can be seen.
func (t *tree) visible() []*branch { return t.all(func(b *branch) bool { return b.open }) }

// all lists the branches, and what is below those that hold.
func (t *tree) all(below func(*branch) bool) []*branch {
	var out []*branch
	var walk func([]*branch)
	walk = func(bs []*branch) {
		for _, b := range bs {
			out = append(out, b)
			if below(b) {
				walk(b.below)
			}
		}
	}
	walk(t.roots)
	return out
}

func (t *tree) rows(m *model, height int) []string {
	if !t.loaded {
		return []string{faint.on("  reading…")}
	}
	all := t.visible()
	if t.strategy != "" {
		said := append(m.paragraph("What is sent of this thread is up to "+strings.ReplaceAll(t.strategy, ",", ", ")+" and not to the outline, whose lines are written all the same."), "")
		if len(all) == 0 || len(said) >= height {
			return said
		}
		from, to := t.window(len(all), height-len(said))
		return append(said, t.choices(m, all, from, to)...)
	}
	if len(all) == 0 {
		return m.paragraph("Nothing is under a line yet: every message is in the prompt whole. A first cut comes when the newest messages weigh more than " + grouped(int64(t.outline.Tail.High)) + " tokens.")
	}
	from, to := t.window(len(all), height)
	return t.choices(m, all, from, to)
}

// choices draws some of the branches.
func (t *tree) choices(m *model, all []*branch, from, to int) (out []string) {
	for i, b := range all[from:to] {
		out = append(out, m.choice(b.row(m), from+i == t.at))
	}
	return out
}

func (b *branch) row(m *model) string {
	indent := strings.Repeat("  ", min(b.depth, max(0, m.width/8)))
	if b.message {
		return indent + "  " + b.text
	}
	sign := "▸"
	if b.open {
		sign = "▾"
	}
	if b.asking {
		sign = "…"
	}
	text := b.text
	if b.missing {
		text = faint.on("(not written yet)")
	}
	return indent + accent.on(sign) + " " + faint.on(b.span.String()) + " " + text
}

func (t *tree) key(m *model, name, text string) []effect {
	all := t.visible()
	if by, ok := moves(name, m.panelHeight()); ok {
		t.move(by, len(all))
		return nil
	}
	switch name {
	case "home":
		t.move(-1<<30, len(all))
		return nil
	case "end":
		t.move(1<<30, len(all))
		return nil
	}
	if name == "esc" || text == "q" {
		m.panel = nil
		return nil
	}
	if len(all) == 0 {
		return nil
	}
	b := all[t.at]
	switch {
	case name == "right" || text == " " && !b.open:
		return t.openBranch(b)
	case name == "left" || text == " ":
		t.close(b, all)
	case name == "enter" && (b.span.N > 1 && !b.message):
		if b.open {
			b.open = false
			return nil
		}
		return t.openBranch(b)
	case name == "enter":
		m.panel = nil
		m.transcript.show(b.span.ID)
	}
	return nil
}

func (t *tree) openBranch(b *branch) []effect {
	if b.message || b.asking {
		return nil
	}
	if b.below != nil {
		b.open = true
		return nil
	}
	b.asking = true
	return []effect{openLine{b.span}}
}

// close folds a branch, or goes to the one above it.
func (t *tree) close(b *branch, all []*branch) {
	if b.open {
		b.open = false
		return
	}
	for i := t.at - 1; i >= 0; i-- {
		if all[i].depth < b.depth {
			t.at = i
			return
		}
	}
}

func (t *tree) news(m *model, msg any) []effect {
	switch msg := msg.(type) {
	case outlineRead:
		if !m.current(msg.sitting) {
			return nil
		}
		if m.say(msg.err) {
			m.panel = nil
			return nil
		}
		t.loaded, t.outline, t.roots = true, msg.outline, nil
		if t.strategy = safeLine(msg.strategy); t.strategy == "outline" || strings.HasSuffix(t.strategy, ",outline") {
			t.strategy = ""
		}
		for _, l := range msg.outline.Lines {
			t.roots = append(t.roots, &branch{span: thread.Span{ID: l.ID, N: l.N}, text: safeLine(l.Text)})
		}
		t.at = max(0, len(t.roots)-1)
	case lineOpened:
		if !m.current(msg.sitting) {
			return nil
		}
		for _, b := range t.all(func(*branch) bool { return true }) {
			if b.span == msg.span && b.asking {
				b.asking = false
				if !m.say(msg.err) {
					b.open, b.below = true, b.opens(m, msg.zoomed)
				}
			}
		}
	}
	return nil
}

// opens makes what is below a branch of what zoom gave.
func (b *branch) opens(m *model, z skein.Zoomed) (out []*branch) {
	for _, l := range z.Lines {
		out = append(out, &branch{span: l.Span, text: safeLine(l.Text), missing: l.Missing, depth: b.depth + 1})
	}
	if z.Message == nil {
		return out
	}
	for _, row := range m.cells.wrap(safe(z.Message.Text), max(10, min(m.width-2*b.depth-8, maxTextWidth))) {
		out = append(out, &branch{span: b.span, text: row, depth: b.depth + 1, message: true})
	}
	return out
}

func (t *tree) scroll(by int) { t.move(by, len(t.visible())) }

func (t *tree) cursor(*model) (x, y int, ok bool) { return 0, 0, false }

// paragraph sets a remark in a panel.
func (m *model) paragraph(text string) []string {
	var out []string
	for _, line := range m.cells.wrap(text, min(m.width-4, 72)) {
		out = append(out, faint.on("  "+line))
	}
	return out
}
