package tui

import (
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	tea "charm.land/bubbletea/v2"
)

// maxTextWidth is the widest that text is set: longer lines are hard to read.
const maxTextWidth = 100

// model is all that the screen shows.
type model struct {
	// Fixed from the start.
	me       string
	commands []Command
	greeting string // shown at first
	newKey   func() string
	zone     *time.Location
	now      func() time.Time // for the dates of what is not of today

	// The screen.
	width, height int
	cells         cells
	look          *markdown

	// The thread.
	sitting    int
	since      int // the first sitting in this thread without a break
	id         string
	ready      bool // the thread is open
	transcript transcript
	status     status
	fresh      int64 // the first reading of a status that is not out of date
	answering  bool
	pending    bool // something waits for an answer that nobody makes

	// What is typed.
	editor  editor
	saying  []draftSaying // on its way to the log
	history []string
	back    int    // how far back in the history; 0: what is typed now
	typed   string // what was typed before going back
	kept    draft  // what was last handed over to be kept

	denying *denial         // the reason being typed why a call is denied; nil: none
	warned  map[string]bool // what was warned of

	// What is beside the transcript.
	panel   panel // in its place; nil: none
	behind  panel // comes when the panel closes; nil: none
	notice  notice
	leaving bool // Ctrl-C was pressed once
	busy    string
	gone    bool
}

// notice is one line that says what just happened.
type notice struct {
	text string
	bad  bool
}

// mark is how the notice is drawn.
func (n notice) mark() style {
	if n.bad {
		return bad
	}
	return faint
}

func newModel(cfg Config) *model {
	m := &model{
		me: cfg.Me, commands: cfg.Commands, greeting: safeLine(cfg.Notice), newKey: cfg.newKey, zone: cfg.Zone, now: cfg.now,
		editor: newEditor(), cells: cells{ansi.WcWidth},
	}
	if m.now == nil {
		m.now = time.Now
	}
	m.transcript.restart(0)
	m.transcript.zone = m.zone
	m.resize(80, 24)
	return m
}

// resize sets all that depends on the screen's size and on how it measures.
func (m *model) resize(width, height int) {
	m.width, m.height = max(width, 10), max(height, 5)
	text := max(8, min(m.width-3, maxTextWidth))
	if m.look != nil && m.look.width == text && m.look.cells == m.cells {
		return
	}
	look, err := newMarkdown(m.cells, text)
	if err != nil {
		m.say(err)
		return
	}
	m.look, m.transcript.look = look, look
}

// update takes what came and gives what is to be done.
func (m *model) update(msg any) []effect {
	var out []effect
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resize(msg.Width, msg.Height)
	case tea.ModeReportMsg:
		if msg.Mode == ansi.ModeUnicodeCore && (msg.Value == ansi.ModeReset || msg.Value == ansi.ModeSet || msg.Value == ansi.ModePermanentlySet) {
			m.cells.method = ansi.GraphemeWidth
			m.resize(m.width, m.height)
		}
	case tea.KeyPressMsg:
		out = m.key(msg)
	case tea.PasteMsg:
		m.leaving = false
		out = m.paste(msg.Content)
	case tea.MouseWheelMsg:
		m.wheel(msg)
	default:
		out = m.news(msg)
		if m.transcript.tells(m.notice.text) {
			m.notice = notice{} // once is enough
		}
	}
	m.transcript.now = m.now()
	m.transcript.today = dayOf(m.transcript.now, m.zone)
	m.mindDenial()
	return append(out, m.wants()...)
}

// wants gives the effects that follow from the state alone: the page to read
// next, and what is typed to keep.
func (m *model) wants() (out []effect) {
	if m.ready && !m.gone {
		if from, to, ok := m.transcript.wants(); ok {
			m.transcript.asking = true
			out = append(out, loadPage{from, to, m.transcript.age})
		}
	}
	if d := (draft{Thread: m.id, Text: m.editor.text(), Saying: m.saying}); m.ready && !d.same(m.kept) {
		d.Saying = slices.Clone(d.Saying)
		m.kept = d
		out = append(out, keepDraft{d})
	}
	return out
}

// news takes what came from the engine.
func (m *model) news(msg any) []effect {
	switch msg := msg.(type) {
	case opened:
		return m.open(msg)
	case pageRead:
		if msg.sitting == m.sitting && msg.age == m.transcript.age {
			m.takePage(msg)
		}
	case said:
		if m.current(msg.sitting) {
			return m.wasSaid(msg)
		}
	case answering:
		if msg.sitting == m.sitting {
			return m.answers(msg)
		}
	case happened:
		if msg.sitting == m.sitting {
			return m.happen(msg)
		}
	case fellBehind:
		if msg.sitting == m.sitting {
			return []effect{openThread{m.id}}
		}
	case statusRead:
		if msg.sitting == m.sitting && !m.say(msg.err) {
			m.takeStatus(msg.status)
		}
	case commandRan:
		if m.current(msg.sitting) {
			return m.ran(msg)
		}
	case decided:
		if m.current(msg.sitting) {
			return m.wasDecided(msg)
		}
	case effectDone:
		if m.current(msg.sitting) {
			return m.done(msg)
		}
	case warned:
		m.warn(safeLine(msg.text))
	case ticked: // what runs is drawn with its time
	default:
		if m.panel != nil {
			return m.panel.news(m, msg)
		}
	}
	return nil
}

// current says whether what was asked for in a sitting is still of use: it was in
// this thread, perhaps before all was read anew.
func (m *model) current(sitting int) bool { return sitting >= m.since && sitting <= m.sitting }

// open begins a sitting in a thread.
func (m *model) open(o opened) (out []effect) {
	if o.sitting < m.sitting {
		return nil
	}
	if o.problem != nil {
		m.busy = ""
		m.say(o.problem)
		return nil
	}
	first, again := m.id == "", o.id == m.id
	m.sitting, m.id, m.ready, m.busy = o.sitting, o.id, true, ""
	m.status, m.answering, m.pending = o.status, o.answering, o.status.waits && !o.answering
	folds := m.transcript.folds
	m.transcript = transcript{look: m.look, zone: m.zone, folds: folds, age: m.transcript.age}
	m.transcript.restart(o.length)
	m.transcript.takeQueue(o.status.queued, o.status.tip)
	m.transcript.takeCards(o.status.asked, o.status.decisions, o.status.open)
	m.takePage(o.page)
	if !again {
		m.since = o.sitting
		out, m.notice = m.carry(), notice{text: m.greeting}
		m.greeting = ""
		m.saying, m.denying, m.warned = nil, nil, nil
		typed := "" // before the first thread was open
		if first {
			typed = m.editor.text()
		}
		m.editor.set(o.draft.Text)
		m.editor.insert(typed)
		m.kept = draft{} // what the file says may be out of date
		m.history, m.back = nil, 0
		if o.draft.Text != "" {
			m.notice = notice{text: "what you had typed is here again"}
		}
		for _, d := range m.transcript.held {
			if d.mine {
				m.remember(plainText(&d.message))
			}
		}
	}
	return out
}

// takeStatus takes what was read of the thread, unless more has happened since: two
// are read at once, and the later one may come first.
// What another process said is in the log without having been seen to happen: its
// messages are read as a page.
func (m *model) takeStatus(s status) {
	t := &m.transcript
	if s.tip < m.status.tip || s.read < max(m.status.read, m.fresh) {
		return
	}
	if s.branch != m.status.branch || s.length < t.length {
		t.restart(s.length)
	}
	t.length = s.length
	t.takeQueue(s.queued, s.tip)
	t.takeCards(s.asked, s.decisions, s.open)
	t.takeBelow(s.newest, s.tip, s.below)
	m.status = s
	m.pending = s.waits && !m.answering && len(m.saying) == 0
}

func (m *model) takePage(p pageRead) {
	if m.say(p.err) {
		m.transcript.asking, m.transcript.stuck, m.transcript.target = false, true, -1
		return
	}
	m.transcript.take(p.from, p.messages)
}

// plainText gives the text of a message that somebody typed.
func plainText(d *message) string {
	var texts []string
	for _, p := range d.parts {
		if p.kind == textKind && !p.cut {
			texts = append(texts, p.text)
		}
	}
	return strings.Join(texts, "\n")
}

// wasSaid notes that what was said is in the log, or puts it back to be said
// again.
func (m *model) wasSaid(s said) []effect {
	i := slices.IndexFunc(m.saying, func(d draftSaying) bool { return d.Key == s.key })
	var text string
	if i >= 0 {
		text = m.saying[i].Text
		m.saying = slices.Delete(m.saying, i, i+1)
	}
	if s.err != nil {
		m.dropWaiting(func(w *waiting) bool { return w.key == s.key })
		m.unsay(text)
		m.say(s.err)
		return nil
	}
	m.pending, m.status.mine = false, true
	if s.remark != "" {
		m.notice = notice{text: safeLine(s.remark)}
	}
	if s.queued {
		for _, w := range m.transcript.waiting {
			if w.key == s.key {
				w.seq = s.seq
			}
		}
	}
	return nil
}

// unsay puts text back before what is typed.
func (m *model) unsay(text string) {
	if text == "" {
		return
	}
	if now := m.editor.text(); strings.TrimSpace(now) != "" {
		text += "\n\n" + now
	}
	m.editor.set(text)
}

func (m *model) dropWaiting(which func(*waiting) bool) {
	m.transcript.waiting = slices.DeleteFunc(m.transcript.waiting, which)
}

// answers notes that an answer began or ended.
func (m *model) answers(a answering) []effect {
	m.answering = a.on
	if a.on {
		m.pending = false
		return nil
	}
	m.transcript.answers, m.transcript.running = nil, nil
	m.fresh = max(m.fresh, a.fresh)
	switch {
	case a.parked:
		m.status.held = false // from here on Ctrl-C leaves it open
	case a.stopped:
		m.notice = notice{text: "stopped"}
		m.pending = len(m.transcript.waiting) > 0
	case a.err != nil:
		m.pending = true
		m.say(a.err)
	}
	return []effect{readStatus{}}
}

// happen takes what was committed and what came of answers.
func (m *model) happen(h happened) []effect {
	t := &m.transcript
	refresh := false
	for _, e := range h.events {
		switch {
		case e.piece != nil:
			m.answer(*e.piece)
		case e.undone:
			t.restart(h.length)
			t.answers, t.waiting, t.running, t.cards, t.focus = nil, nil, nil, nil, ""
			refresh = true
		case e.title != nil:
			m.status.title = *e.title
		case e.queued != nil:
			m.queue(e.queued)
		case e.aside != nil:
			t.putBelow(*e.aside)
			refresh = true
		case e.warning != "":
			m.warn(e.warning)
		case e.decided != nil:
			t.decided(e.decided.call, e.decided.note)
			refresh = true
		case e.begun != nil:
			t.runs(e.begun.call, e.begun.name, e.begun.at)
			t.letGo(e.begun.call) // the call itself says who allowed it
		case e.printed != nil:
			r := t.runs(e.printed.call, e.printed.name, e.printed.at)
			r.printed = ending(r.printed+e.printed.text, maxPrinted)
		case e.message != nil:
			m.committed(e)
			refresh = true
		case e.asked:
			refresh = true
		}
	}
	if h.tip > m.status.tip {
		m.status.tip, m.status.backlog = h.tip, h.backlog
		t.length = max(t.length, h.length)
	}
	if refresh {
		return []effect{readStatus{}}
	}
	return nil
}

// answer adds a piece to the answer that it is of.
func (m *model) answer(p piece) {
	if p.id == "" {
		return // of no answer: a line of the outline that failed, which the status tells
	}
	t := &m.transcript
	i := slices.IndexFunc(t.answers, func(a *answer) bool { return a.id == p.id })
	if i < 0 {
		t.answers = append(t.answers, &answer{id: p.id, author: p.author})
		i = len(t.answers) - 1
	}
	t.answers[i].add(p)
}

// queue shows a message that waits for the running turn's end.
func (m *model) queue(w *waiting) {
	t := &m.transcript
	for _, have := range t.waiting {
		if have.key != "" && have.key == w.key {
			have.seq, have.when = w.seq, w.when
			return
		}
	}
	t.waiting = append(t.waiting, w)
}

// committed puts a message at the end, in the place of the answer or of what was
// being said.
func (m *model) committed(e event) {
	t := &m.transcript
	m.dropWaiting(func(w *waiting) bool {
		return e.key != "" && w.key == e.key || e.taken != 0 && w.seq == e.taken
	})
	for i := range e.message.parts {
		p := &e.message.parts[i]
		if p.kind != outputKind {
			continue
		}
		t.letGo(p.call)
		if r := t.ran(p.call); r != nil {
			e.message.tookSince(p.call, r.began)
		}
	}
	i := slices.IndexFunc(t.answers, func(a *answer) bool { return a.id == e.message.id })
	d := t.add(*e.message)
	if i >= 0 {
		if d != nil {
			t.answers[i].adopt(d)
		}
		t.answers = slices.Delete(t.answers, i, i+1)
	}
}

// ran takes what a command printed.
func (m *model) ran(c commandRan) []effect {
	m.busy = ""
	if c.left {
		return m.quit()
	}
	if c.err != nil {
		if m.editor.empty() {
			m.editor.set(c.text)
		}
		m.say(c.err)
		return nil
	}
	if c.output != "" {
		m.offer(newPager(c.text, c.output))
	}
	switch {
	case c.moved != "":
		m.panel, m.behind = nil, nil
		m.busy = "opening " + c.moved
		return []effect{openThread{c.moved}}
	case c.anew:
		return []effect{openThread{m.id}}
	}
	return []effect{readStatus{}}
}

// say shows an error; it says whether there was one.
func (m *model) say(err error) bool {
	if err == nil {
		return false
	}
	m.notice = notice{text: safeLine(Words(err)), bad: true}
	return true
}

// remember adds to the history what was said.
func (m *model) remember(text string) {
	text = strings.TrimSpace(text)
	if text == "" || len(m.history) > 0 && m.history[len(m.history)-1] == text {
		return
	}
	m.history = append(m.history, text)
}

func (m *model) quit() []effect {
	m.gone = true
	return []effect{leave{}}
}

// submit says what is typed, or runs it.
func (m *model) submit() []effect {
	text := strings.TrimSpace(m.editor.text())
	m.notice = notice{}
	switch {
	case m.denying != nil:
		return m.deny()
	case !m.ready:
		return nil
	case text == "" && m.pending && !m.answering && !m.asks():
		m.notice = notice{text: "/retry asks for an answer"}
		return nil
	case text == "" && m.pending && !m.answering:
		m.pending = false
		return []effect{answerNow{}}
	case text == "":
		return nil
	}
	m.remember(text)
	m.back = 0
	m.editor.set("")
	if strings.HasPrefix(text, "/") {
		return m.command(text)
	}
	return m.sayThat(text, "")
}

// asks says whether Enter alone asks for the answer that is missing: only to what
// the viewer said. Elsewhere, as in an imported thread, a stray Enter would send
// all of a prompt that nobody meant to pay for.
func (m *model) asks() bool {
	return m.status.mine || slices.ContainsFunc(m.transcript.waiting, func(w *waiting) bool { return w.raw != "" })
}
