package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skeinhq/skein/thread"
)

// What is held of one message at the most. The rest is a /zoom away.
const (
	maxShown  = 64 << 10 // bytes of a text
	maxOutput = 16 << 10 // bytes of a tool's output, or of thinking
)

// partKind says what a part of a message shows.
type partKind int

const (
	textKind partKind = iota
	thinkingKind
	callKind
	outputKind
	noteKind
)

// part is what is shown of a part of a message.
type part struct {
	kind   partKind
	text   string // safe
	name   string // of the tool
	call   string // id of the call
	note   string // of a call: what was decided of it; of a result: how long it took
	failed bool
	size   int  // bytes there were
	lines  int  // the same
	cut    bool // text is not all
}

// message is what is shown of a message: plain values, harmless for a terminal.
type message struct {
	index  int64
	seq    int64
	id     string
	author string
	mine   bool
	role   thread.Role
	time   time.Time
	parts  []part
	model  string
	stop   thread.Stop
	below  []aside
}

// messageOf takes from an entry what is shown to the viewer.
func messageOf(e *thread.Entry, viewer string) message {
	m := message{index: e.Index, seq: e.Seq, id: e.ID, time: e.Time}
	if e.Message == nil {
		m.parts = []part{{kind: noteKind, text: "(erased)"}}
		return m
	}
	m.author, m.role, m.model, m.stop = safeLine(e.Message.Author), e.Message.Role, safeLine(e.Message.Model), e.Message.Stop
	m.mine = e.Message.Role == thread.User && e.Message.Author == viewer
	if !e.Message.VisibleTo(viewer) {
		m.parts = []part{{kind: noteKind, text: "(private)"}}
		return m
	}
	for _, p := range e.Message.Parts {
		if shown, ok := partOf(p); ok {
			m.parts = append(m.parts, shown)
		}
	}
	if note, ok := stopNotes[m.stop]; ok {
		m.parts = append(m.parts, part{kind: noteKind, text: note})
	}
	return m
}

// stopNotes are said where an answer did not end by itself.
var stopNotes = map[thread.Stop]string{
	thread.StopLength:      "(cut off: the answer reached its greatest length)",
	thread.StopRefusal:     "(the model refused)",
	thread.StopError:       "(the answer broke off)",
	thread.StopAborted:     "(stopped)",
	thread.StopInterrupted: "(interrupted)",
}

func partOf(p thread.Part) (part, bool) {
	switch p.Type {
	case thread.TextPart:
		return clipped(part{kind: textKind}, p.Text, maxShown), p.Text != ""
	case thread.ThinkingPart:
		if p.Redacted || p.Text == "" {
			return part{kind: noteKind, text: "(thinking, not shown by the provider)"}, true
		}
		return clipped(part{kind: thinkingKind}, p.Text, maxOutput), true
	case thread.CallPart:
		return clipped(part{kind: callKind, name: safeLine(p.Name), call: p.ID}, thread.OneLine(string(p.Input)), maxOutput), true
	case thread.ResultPart:
		return clipped(part{kind: outputKind, name: safeLine(p.Name), call: p.Call, failed: p.IsError}, resultText(p.Parts), maxOutput), true
	case thread.BlobPart:
		return part{kind: noteKind, text: fmt.Sprintf("[%s %s %s]", safeLine(p.MediaType), safeLine(p.Name), bytesText(int(p.Size)))}, true
	}
	return part{kind: noteKind, text: "[a part that this version does not know]"}, true
}

func resultText(parts []thread.Part) string {
	var out []string
	for _, p := range parts {
		switch p.Type {
		case thread.TextPart:
			out = append(out, p.Text)
		case thread.BlobPart:
			out = append(out, fmt.Sprintf("[%s %s %s]", p.MediaType, p.Name, bytesText(int(p.Size))))
		default:
			out = append(out, "["+string(p.Type)+"]")
		}
	}
	return strings.Join(out, "\n")
}

// clipped sets a part's text, up to limit bytes of it.
func clipped(p part, text string, limit int) part {
	p.size, p.lines = len(text), max(1, countLines(text))
	if len(text) > limit {
		for limit > 0 && text[limit]&0xc0 == 0x80 {
			limit--
		}
		text, p.cut = text[:limit], true
	}
	p.text = safe(text)
	return p
}

// bytesText writes a size for people.
func bytesText(n int) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}

// countText writes a count in few columns.
func countText(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprint(n)
	case n < 100_000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	case n < 999_500:
		return fmt.Sprintf("%.0fk", float64(n)/1e3)
	}
	return fmt.Sprintf("%.2fM", float64(n)/1e6)
}

// grouped writes a number with its thousands apart.
func grouped(n int64) string {
	s := fmt.Sprint(n)
	var out []string
	for len(s) > 3 {
		out = append(out, s[len(s)-3:])
		s = s[:len(s)-3]
	}
	out = append(out, s)
	slices.Reverse(out)
	return strings.Join(out, ",")
}

// folds says what of messages is shown whole.
type folds struct {
	thinking bool
	output   bool
}

// drawn is a message and what it was last rendered to.
type drawn struct {
	message
	flows    []flow // by part; only texts use theirs
	opened   *folds // of this message alone, where somebody chose
	key      drawKey
	lines    []string
	rendered int // how often, for tests and benchmarks
}

// drawKey is all that the lines depend on besides the message.
type drawKey struct {
	look   *markdown
	folds  folds
	goesOn bool // under the header of the message before
	zone   *time.Location
	today  string // what is of another day says which
}

// render gives the message's lines, from what they were made before if that still
// holds.
func (d *drawn) render(key drawKey) []string {
	if d.opened != nil {
		key.folds = *d.opened
	}
	if d.lines != nil && d.key == key {
		return d.lines
	}
	d.key = key
	d.rendered++
	if len(d.flows) != len(d.parts) {
		d.flows = make([]flow, len(d.parts))
	}
	out := []string{}
	if !key.goesOn {
		out = append(out, d.header(key))
	}
	for i, p := range d.parts {
		out = append(out, d.part(i, p, key)...)
	}
	for _, a := range d.below {
		out = append(append(out, ""), a.lines(key)...)
	}
	d.lines = out
	return out
}

// dayOf writes the day of a time.
func dayOf(t time.Time, zone *time.Location) string { return t.In(zone).Format(time.DateOnly) }

func (d *drawn) header(key drawKey) string {
	name := bold
	if d.role == thread.Assistant {
		name = strong
	}
	head := name.on(d.author)
	if !d.time.IsZero() {
		at := d.time.In(key.zone).Format("15:04")
		if day := dayOf(d.time, key.zone); day != key.today {
			at = day + " " + at
		}
		head += faint.on("  " + at)
	}
	return key.look.cells.clip(head, key.look.width)
}

// part renders one part as lines.
func (d *drawn) part(i int, p part, key drawKey) []string {
	c, width := key.look.cells, key.look.width
	switch p.kind {
	case textKind:
		var lines []string
		if d.role == thread.User { // what people type stays as they typed it
			lines = c.wrap(p.text, width)
		} else {
			f := &d.flows[i]
			if f.text == "" {
				f.grow(p.text)
			}
			done, tail := f.lines(key.look, true)
			lines = append(slices.Clone(done), tail...)
		}
		if p.cut {
			lines = append(lines, "", faint.on(c.clip(fmt.Sprintf("… %s in all: /zoom %d 1 2 goes on", bytesText(p.size), d.index), width)))
		}
		return lines
	case thinkingKind:
		return foldedLines(c, width, p, "thinking", key.folds.thinking)
	case callKind:
		lines := []string{accent.on("→ ") + c.clip(bold.on(p.name)+" "+faint.on(c.clip(untab(p.text), width)), width-2)}
		if p.note != "" {
			lines = append(lines, styled(faint, c.wrap("  "+p.note, width))...)
		}
		return lines
	case outputKind:
		return foldedLines(c, width, p, p.name, key.folds.output)
	}
	return styled(faint, c.wrap(p.text, width))
}

// foldedLines shows thinking or a tool's output: a line about it, and all of it
// where it is open.
func foldedLines(c cells, width int, p part, title string, open bool) []string {
	count := p.lines
	size := fmt.Sprintf("%d lines", count)
	if count == 1 {
		size = bytesText(p.size)
	} else if p.kind == outputKind {
		size += ", " + bytesText(p.size)
	}
	if p.note != "" {
		size += ", " + p.note
	}
	sign, mark := "▸ ", faint
	if open {
		sign = "▾ "
	}
	if p.kind == outputKind {
		sign = "← "
		if p.failed {
			mark, size = bad, "failed, "+size
		}
		if p.failed && strings.HasPrefix(p.text, "This call was n") {
			size = "not run, " + strings.TrimPrefix(size, "failed, ")
		}
	}
	head := mark.on(sign + title)
	if text := firstLine(p.text); !open && p.kind == thinkingKind && count == 1 && !p.cut && c.width(head)+2+c.width(untab(text)) <= width {
		return []string{head + faint.on("  "+untab(text))} // that is all of it
	}
	head += faint.on("  " + size)
	if !open {
		if p.failed && !strings.Contains(strings.TrimSpace(p.text), "\n") {
			if rows := c.wrap(untab(strings.TrimSpace(p.text)), max(2, width-2)); len(rows) <= failedRows && c.width(head)+2+c.width(rows[0]) > width {
				return append([]string{c.clip(head, width)}, styled(faint, setIn(rows))...)
			}
		}
		if room := width - c.width(head) - 2; room > 12 {
			head += faint.on("  " + c.clip(untab(firstLine(p.text)), room))
		}
		return []string{c.clip(head, width)}
	}
	lines := []string{c.clip(head, width)}
	for _, line := range c.wrap(strings.TrimRight(p.text, "\n"), width-2) {
		lines = append(lines, strings.TrimRight("  "+faint.on(line), " "))
	}
	if p.cut {
		lines = append(lines, faint.on("  …"))
	}
	return lines
}

// failedRows is how many rows of why a call failed, or was denied, are shown whole.
const failedRows = 4

func setIn(rows []string) []string {
	for i := range rows {
		rows[i] = "  " + rows[i]
	}
	return rows
}

func styled(s style, lines []string) []string {
	for i := range lines {
		lines[i] = s.on(lines[i])
	}
	return lines
}

// continues says whether b stands under a's header: a tool's output, and what the
// same agent says in the same run.
func continues(a, b *message) bool {
	if a == nil || len(a.below) > 0 {
		return false
	}
	switch b.role {
	case thread.Tool:
		return true
	case thread.Assistant:
		return a.role == thread.Tool || a.role == thread.Assistant && a.author == b.author && a.stop == thread.StopCalls
	}
	return false
}
