package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

// answer is an answer being made: what came of it so far.
type answer struct {
	id       string
	author   string
	thinking flow
	text     flow
	again    string // why it starts again, until something comes
}

// piece is what came of an answer since the last one: pieces of the same answer
// and type that came at once are one.
type piece struct {
	id     string
	author string
	kind   string // as thread.Live's Type
	text   string
}

func pieceOf(l *thread.Live) piece {
	return piece{id: l.ID, author: l.Author, kind: l.Type, text: l.Text}
}

// add takes a piece. What comes is foreign: it is made harmless here, where a
// sequence that two pieces share cannot be put together again.
func (a *answer) add(p piece) {
	switch p.kind {
	case "text":
		a.again = ""
		a.text.grow(safe(p.text))
	case "thinking":
		a.again = ""
		a.thinking.grow(safe(p.text))
	case "retry":
		a.text, a.thinking, a.again = flow{}, flow{}, safeLine(p.text)
	}
}

// lines renders what there is.
func (a *answer) lines(key drawKey) []string {
	c, width := key.look.cells, key.look.width
	var out []string
	if !key.goesOn {
		out = append(out, c.clip(strong.on(safeLine(a.author)), width))
	}
	if t := a.thinking.text; t != "" {
		p := part{kind: thinkingKind, text: t, size: len(t), lines: max(1, countLines(t))}
		open := key.folds.thinking
		title := "thinking"
		if a.text.text == "" {
			title += "…"
		}
		out = append(out, foldedLines(c, width, p, title, open)...)
	}
	done, tail := a.text.lines(key.look, false)
	out = append(out, done...)
	out = append(out, tail...)
	switch {
	case a.again != "":
		out = append(out, styled(faint, c.wrap("("+a.again+")", width))...)
	case a.text.text == "" && a.thinking.text == "":
		out = append(out, faint.on("…"))
	}
	return out
}

// adopt gives a finished message the lines that its answer was rendered to.
func (a *answer) adopt(d *drawn) {
	d.flows = make([]flow, len(d.parts))
	for i, p := range d.parts {
		if p.kind == textKind && p.text == a.text.text {
			d.flows[i] = a.text
			return
		}
	}
}

// waiting is a message that was said and is not in the log's order yet: it is on
// its way, or queued until the running turn ends.
type waiting struct {
	key    string
	seq    int64 // of the queued entry; 0: not acknowledged
	author string
	text   string // safe
	raw    string // as it was typed; empty where another said it
	when   string // of a turn that runs: by that one (now) or by one of its own
}

func (w *waiting) lines(key drawKey) []string {
	state := "  saying…"
	if w.seq != 0 {
		state = "  queued · next"
		if w.when == thread.WhenNow {
			state = "  queued · now"
		}
	}
	out := []string{key.look.cells.clip(bold.on(w.author)+faint.on(state), key.look.width)}
	return append(out, styled(faint, key.look.cells.wrap(w.text, key.look.width))...)
}

// status is what the line at the bottom says of the thread.
type status struct {
	title    string
	model    string
	agent    string
	strategy string // names

	modelBy, strategyBy skein.Source

	prompt   int64 // tokens of the newest request
	cached   int   // percent of the prompts' tokens that were read from the cache; -1: not known
	expected bool  // cached is what was the same, as no provider billed anything
	cost     float64
	backlog  int64
	tip      int64 // seq of the log's last entry
	branch   int64 // changes with each rewind and reset
	read     int64 // which reading it is: who owns a turn no tip tells
	length   int64
	problem  string // why lines are not written
	waits    bool   // something waits for an answer that nobody makes
	mine     bool   // the newest thing that a person said is the viewer's

	open      bool              // a turn is open
	held      bool              // and somebody runs it
	asked     []*card           // the calls that wait for a decision
	decisions map[string]string // what was decided in the turn, by the call's id
	queued    []*waiting
	newest    int64   // index of the newest message
	below     []aside // what stands after it
}

// chosen is a choice and whose word it is.
func chosen(choice string, by skein.Source) string {
	if choice == "" || by == "" {
		return choice
	}
	return choice + " (" + By(by) + ")"
}

// By says in words whose word a choice is.
func By(s skein.Source) string {
	if s == skein.ByAgent {
		return "agent's file"
	}
	return string(s)
}

// items gives the parts of the status line, what matters most first.
func (s *status) items() []string {
	out := []string{chosen(s.model, s.modelBy)}
	if s.prompt > 0 {
		out = append(out, countText(s.prompt)+" tokens")
	}
	if s.cached >= 0 {
		word := "cached"
		if s.expected {
			word = "same"
		}
		out = append(out, fmt.Sprintf("%d %% %s", s.cached, word))
	}
	if s.cost > 0 {
		out = append(out, fmt.Sprintf("$%.4f", s.cost))
	}
	out = append(out, chosen(s.strategy, s.strategyBy))
	switch {
	case s.problem != "":
		out = append(out, counted(s.backlog, "line", "lines")+" due: "+s.problem)
	case s.backlog == 1:
		out = append(out, "1 line due")
	case s.backlog > 0:
		out = append(out, countText(s.backlog)+" lines due")
	}
	return slices.DeleteFunc(out, func(s string) bool { return strings.TrimSpace(s) == "" })
}
