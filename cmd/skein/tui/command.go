package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skeinhq/skein/thread"
)

// native is a command that the screen carries out by itself; done says whether it
// did.
type native func(m *model, rest string) (out []effect, done bool)

// natives are the commands that the screen carries out by itself, since they open
// a panel or act on the answer being made. Each may pass what follows it on: then
// it is run as all others are, which are the plain chat's and whose output is shown
// in a pager.
func natives() map[string]native {
	return map[string]native{
		"outline": alone(func(m *model) []effect { return m.showOutline() }),
		"threads": alone(func(m *model) []effect { return m.showThreads() }),
		"search": func(m *model, rest string) ([]effect, bool) {
			if rest == "" {
				return nil, false
			}
			return m.showSearch(rest), true
		},
		"help":  alone(do(func(m *model) { m.panel = m.helpPanel() })),
		"retry": alone((*model).retry),
		"stop":  alone((*model).halt),
		"compact": alone(func(m *model) []effect {
			m.busy = "/compact…"
			return []effect{compactNow{}}
		}),
		"steer": func(m *model, rest string) ([]effect, bool) {
			if rest == "" {
				m.notice = notice{text: "write /steer TEXT", bad: true}
				return nil, true
			}
			return m.sayThat(rest, thread.WhenNow), true
		},
		"approve": func(m *model, rest string) ([]effect, bool) {
			a := thread.Approval{State: thread.ApprovalAllowed, Scope: thread.ScopeOnce}
			words := strings.Fields(rest)
			if n := len(words); n > 0 && (words[n-1] == "always" || words[n-1] == "--always") {
				a.Scope, words = thread.ScopeThread, words[:n-1]
			}
			a.Call = strings.Join(words, " ")
			return []effect{decideCall{approval: a}}, true
		},
		"approve!": func(_ *model, rest string) ([]effect, bool) {
			return []effect{decideCall{approval: thread.Approval{Call: rest, State: thread.ApprovalAllowed, Scope: thread.ScopeThread}}}, true
		},
		"deny": func(m *model, rest string) ([]effect, bool) {
			a := thread.Approval{State: thread.ApprovalDenied, Reason: rest}
			if call, why, _ := strings.Cut(rest, " "); m.transcript.cardOf(call) != nil {
				a.Call, a.Reason = call, strings.TrimSpace(why)
			}
			return []effect{decideCall{approval: a}}, true
		},
	}
}

// alone makes a native of a command that takes nothing.
func alone(f func(*model) []effect) native {
	return func(m *model, rest string) ([]effect, bool) {
		if rest != "" {
			return nil, false
		}
		return f(m), true
	}
}

// command runs a slash command.
func (m *model) command(text string) []effect {
	name, rest, _ := strings.Cut(strings.TrimPrefix(text, "/"), " ")
	if run, ok := natives()[name]; ok {
		if out, done := run(m, strings.TrimSpace(rest)); done {
			return out
		}
	}
	m.busy = fmt.Sprintf("/%s…", safeLine(name))
	return []effect{runCommand{text}}
}

// retry has what waits for an answer answered; where nothing does it has the
// newest answer made again.
func (m *model) retry() []effect {
	switch {
	case m.answering:
		m.notice = notice{text: "an answer is being made; Ctrl-C stops it"}
		return nil
	case m.cardsHint() != "":
		m.notice = notice{text: m.cardsHint() + " first: Alt-A decides, /stop ends the turn"}
		return nil
	}
	m.pending = false
	return []effect{answerAgain{}}
}

// halt stops the turn, whoever runs it.
func (m *model) halt() []effect {
	if !m.answering && !m.status.held && len(m.transcript.cards) == 0 {
		m.notice = notice{text: "nothing runs here"}
		return nil
	}
	m.notice = notice{text: "stopping…"}
	return []effect{stopAnswer{}}
}

// done notes what came of an effect that shows nothing by itself.
func (m *model) done(d effectDone) []effect {
	m.busy = ""
	if !m.say(d.err) && d.text != "" {
		m.notice = notice{text: d.text}
	}
	return []effect{readStatus{}}
}

// sayThat puts a text on its way to the log. Of a turn that runs, when says
// whether that one hears it or one of its own.
func (m *model) sayThat(text, when string) []effect {
	s := draftSaying{Key: m.newKey(), Text: text}
	m.saying = append(m.saying, s)
	m.transcript.waiting = append(m.transcript.waiting, &waiting{key: s.Key, author: safeLine(m.me), text: safe(text), raw: text, when: when})
	m.transcript.end()
	return []effect{sayText{s.Key, s.Text, when}}
}

// steer says what is typed to the turn that runs.
func (m *model) steer() []effect {
	text := strings.TrimSpace(m.editor.text())
	if m.denying != nil || !m.ready || text == "" {
		return nil
	}
	if strings.HasPrefix(text, "/") {
		m.notice = notice{text: "a command is not said: Enter runs it"}
		return nil
	}
	m.remember(text)
	m.back = 0
	m.editor.set("")
	return m.sayThat(text, thread.WhenNow)
}

// takeQueue takes what is queued as the log has it: what was taken goes, what
// others said comes.
func (t *transcript) takeQueue(queued []*waiting, tip int64) {
	was := t.waiting
	t.waiting = nil
	for _, w := range was {
		still := slices.ContainsFunc(queued, func(q *waiting) bool { return q.seq == w.seq })
		if w.seq == 0 || w.seq > tip || still {
			t.waiting = append(t.waiting, w)
		}
	}
	for _, q := range queued {
		if !slices.ContainsFunc(t.waiting, func(w *waiting) bool { return w.seq == q.seq || w.key != "" && w.key == q.key }) {
			t.waiting = append(t.waiting, q)
		}
	}
}
