package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// What is held and shown of what a call prints while it runs.
const (
	maxPrinted  = 4 << 10 // bytes
	printedRows = 6
)

// running is a tool call that runs, and the end of what it has printed.
type running struct {
	call    string // its id
	name    string // of the tool, safe
	began   time.Time
	printed string // raw
}

// printed is what a call has printed since the last frame.
type printed struct {
	call, name string
	at         time.Time
	text       string // raw, at most maxPrinted bytes of its end
}

// ending gives the last n bytes of a text.
func ending(text string, n int) string { return text[max(0, len(text)-n):] }

// runs notes that a call runs.
func (t *transcript) runs(call, name string, at time.Time) *running {
	for _, r := range t.running {
		if r.call == call {
			return r
		}
	}
	r := &running{call: call, name: safeLine(name), began: at}
	t.running = append(t.running, r)
	return r
}

// ran takes a call that has ended off the list.
func (t *transcript) ran(call string) *running {
	i := slices.IndexFunc(t.running, func(r *running) bool { return r.call == call })
	if i < 0 {
		return nil
	}
	r := t.running[i]
	t.running = slices.Delete(t.running, i, i+1)
	return r
}

// lines draws what runs, for how long, and the last rows that it printed.
func (r *running) lines(key drawKey, now time.Time) []string {
	c, width := key.look.cells, key.look.width
	head := accent.on("… ") + bold.on(r.name) + faint.on(" runs")
	if took := tookText(now.Sub(r.began)); took != "" {
		head += faint.on(", " + took)
	}
	out := []string{c.clip(head, width)}
	for _, row := range r.rows() {
		out = append(out, faint.on(c.clip("│ "+untab(row), width)))
	}
	return out
}

// rows are the newest rows, harmless. What a carriage return would write over is
// left out, as a terminal would show it.
func (r *running) rows() []string {
	text := strings.TrimRight(strings.ReplaceAll(r.printed, "\r\n", "\n"), "\r\n")
	if text == "" {
		return nil
	}
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(line, "\r")
		out = append(out, safe(line[strings.LastIndexByte(line, '\r')+1:]))
	}
	return out[max(0, len(out)-printedRows):]
}

// tookSince notes how long the call of that id took, which the message holds the
// result of. It says whether it does.
func (m *message) tookSince(call string, began time.Time) bool {
	for i := range m.parts {
		if p := &m.parts[i]; p.kind == outputKind && p.call == call {
			p.note = tookText(m.time.Sub(began))
			return true
		}
	}
	return false
}

// tookText writes a time for people, in whole seconds; nothing where it is none.
func tookText(d time.Duration) string {
	switch d = d.Truncate(time.Second); {
	case d < time.Second:
		return ""
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
}
