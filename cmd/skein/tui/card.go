package tui

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

// cardRows is how many rows of an input a card shows before it is folded out.
const cardRows = 10

// card is a call that waits for somebody to allow or deny it. Its bar stands in
// the gutter, where no text of a message reaches, and the rule below the
// transcript counts the cards: a text that looks like one is none.
type card struct {
	call     string // its id
	agent    string
	tool     string
	always   string // what A allows
	question string // empty where the input's view says it
	reason   string // of the rule that asks
	rows     []inputRow
	size     int               // bytes of the input
	cut      bool              // rows are not all of it
	sum      [sha256.Size]byte // of tool and input: ids come again

	private bool   // the viewer may not see it, nor decide
	open    bool   // folded out
	sent    bool   // a decision is on its way
	decided string // what was decided and by whom; empty: it waits

	key   cardKey
	drawn []string
}

// cardKey is all that a card's lines depend on besides the call.
type cardKey struct {
	look                *markdown
	focused, open, sent bool
	decided             string
}

func sumOf(a skein.Asked) [sha256.Size]byte {
	return sha256.Sum256(append([]byte(a.Tool+"\n"), a.Input...))
}

// cardOf makes the card of a call; what that would change is looked at in the
// workspace, nil where there is none.
func cardOf(a skein.Asked, workspace fs.FS) *card {
	c := &card{call: a.Call, agent: safeLine(a.Agent), tool: safeLine(a.Tool), reason: safeLine(a.Reason), size: len(a.Input), sum: sumOf(a), always: safeLine(Always(a))}
	var special bool
	c.rows, special = inputRows(a.Tool, a.Input)
	if rows, ok := replaces(workspace, a.Input); ok && special && a.Tool == "write_file" {
		c.rows = slices.Concat(rows, others(a.Input, "path", "content"))
	}
	if question := plain(thread.OneLine(a.Question)); !special && !strings.HasPrefix(question, a.Tool+": {") {
		c.question = question // else it is the input, which is shown
	}
	for i, n := 0, 0; i < len(c.rows); i++ {
		if n += len(c.rows[i].text); n > maxOutput {
			c.rows[i].text = safe(c.rows[i].text[:max(0, len(c.rows[i].text)-(n-maxOutput))])
			c.rows, c.cut = c.rows[:i+1], true
		}
	}
	return c
}

// privateCard stands for a call that is not for the viewer's eyes.
func privateCard(a skein.Asked, _ fs.FS) *card {
	return &card{call: a.Call, agent: safeLine(a.Agent), tool: safeLine(a.Tool), question: "(private)", sum: sumOf(a), private: true}
}

// waits says whether nobody has decided yet.
func (c *card) waits() bool { return c.decided == "" }

// lines gives the card's lines, from before where they still hold.
func (c *card) lines(look *markdown, focused bool) []string {
	key := cardKey{look, focused, c.open, c.sent, c.decided}
	if c.drawn == nil || c.key != key {
		c.key, c.drawn = key, c.draw(look, focused)
	}
	return c.drawn
}

// draw draws the card but for its bar. What the call holds is set in, so that it
// cannot pass for what the card says.
func (c *card) draw(look *markdown, focused bool) []string {
	w, width := look.cells, look.width
	out := []string{w.clip(strong.on(c.agent)+" asks to use "+bold.on(c.tool), width)}
	set := func(s style, sign, text string) (rows []string) {
		for i, row := range w.wrap(text, max(2, width-2-len(sign))) {
			if i > 0 {
				sign = strings.Repeat(" ", len(sign))
			}
			rows = append(rows, s.on("  "+sign+row))
		}
		return rows
	}
	if c.question != "" {
		out = append(out, set(style{}, "", c.question)...)
	}
	var rows []string
	marks := map[string]style{"- ": bad, "+ ": accent}
	for _, r := range c.rows {
		rows = append(rows, set(marks[r.sign], r.sign, r.text)...)
	}
	if hidden := len(rows) - cardRows; hidden > 1 && !c.open {
		rows = append(rows[:cardRows], faint.on(w.clip("  … "+counted(int64(hidden), "more row", "more rows")+": Enter folds it out", width)))
	} else if c.cut {
		rows = append(rows, faint.on(w.clip(fmt.Sprintf("  … %s in all", bytesText(c.size)), width)))
	}
	out = append(out, rows...)
	if c.reason != "" {
		out = append(out, styled(faint, w.wrap("Why it asks: "+c.reason, width))...)
	}
	return append(out, c.state(w, width, focused)...)
}

// state says what can be done about the card, or what was.
func (c *card) state(w cells, width int, focused bool) []string {
	switch {
	case c.decided != "":
		return styled(bold, w.wrap(c.decided, width))
	case c.private:
		return []string{faint.on(w.clip("others decide", width))}
	case c.sent:
		return []string{faint.on(w.clip("deciding…", width))}
	case focused:
		return styled(strong, w.wrap("a: allow once · A: "+c.always+" · d: deny", width))
	}
	return []string{faint.on(w.clip("Alt-A decides", width))}
}

// noteOf says what was decided of a call, and by whom.
func noteOf(a *thread.Approval) (string, bool) {
	by := safeLine(a.By)
	switch {
	case a.State == thread.ApprovalDenied && a.Reason != "":
		return "denied by " + by + ": " + safeLine(a.Reason), true
	case a.State == thread.ApprovalDenied:
		return "denied by " + by, true
	case a.State == thread.ApprovalAllowed && a.Scope == thread.ScopeThread:
		return "allowed by " + by + ", always in this thread", true
	case a.State == thread.ApprovalAllowed:
		return "allowed by " + by, true
	}
	return "", false
}

// noteCall notes what was decided of the message's call of that id; the first
// decision counts. It says whether there is such a call.
func (m *message) noteCall(call, note string) bool {
	for i := range m.parts {
		if p := &m.parts[i]; p.kind == callKind && p.call == call {
			if p.note == "" {
				p.note = note
			}
			return true
		}
	}
	return false
}

// decided notes a decision on the call's card and on the newest call of that id.
func (t *transcript) decided(call, note string) {
	if c := t.cardOf(call); c != nil && c.waits() {
		c.decided, c.sent = note, false
	}
	if t.focus == call {
		t.focus = ""
	}
	for _, d := range slices.Backward(t.held) {
		if d.noteCall(call, note) {
			d.lines = nil
			return
		}
	}
}

// cardOf gives the card of a call, nil where there is none.
func (t *transcript) cardOf(call string) *card {
	for _, c := range t.cards {
		if c.call == call {
			return c
		}
	}
	return nil
}

// waitingCards are those that nobody has decided.
func (t *transcript) waitingCards() (out []*card) {
	for _, c := range t.cards {
		if c.waits() && !c.sent && !c.private {
			out = append(out, c)
		}
	}
	return out
}

// takeCards takes the calls that wait as the log has them, oldest first. A card
// that was decided stays until its call is answered.
func (t *transcript) takeCards(asked []*card, decisions map[string]string, open bool) {
	was := t.cards
	t.cards = nil
	for _, c := range was {
		i := slices.IndexFunc(asked, func(a *card) bool { return a.call == c.call })
		still := i >= 0 && asked[i].sum == c.sum
		if note := decisions[c.call]; note != "" && i < 0 {
			t.decided(c.call, note)
			c.decided = note
		}
		if open && (still && c.waits() || i < 0 && !c.waits()) { // else a later call has the id of an earlier one
			t.cards = append(t.cards, c)
		}
	}
	for _, a := range asked {
		if t.cardOf(a.call) == nil {
			t.cards = append(t.cards, a)
		}
	}
	if c := t.cardOf(t.focus); c == nil || !c.waits() || !slices.Contains(was, c) {
		t.focus = ""
	}
}

// letGo lets go of the card of a call that runs or has its result.
func (t *transcript) letGo(call string) {
	t.cards = slices.DeleteFunc(t.cards, func(c *card) bool { return c.call == call })
	if t.focus == call {
		t.focus = ""
	}
}
