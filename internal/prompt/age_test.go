package prompt_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skeinhq/skein/internal/prompt"
	"github.com/skeinhq/skein/thread"
)

func aged(age time.Duration) prompt.Definition {
	def := north("echo")
	def.MaxAge = age
	return def
}

// TestTheAgesEdgeMovesInSteps says a word every minute to an agent that sees
// an hour: nothing older than that is ever there, at least nine tenths of it
// are, and the edge moves once in six minutes.
func TestTheAgesEdgeMovesInSteps(t *testing.T) {
	l := newLog()
	first, moves := "", 0
	for i := range 200 {
		l.say("ana", fmt.Sprintf("word %d.", i))
		p := l.build(t, aged(time.Hour))
		got := p.Sections[3].Messages[0].Parts[0].Text
		if first != "" && got != first {
			moves++
			if p.Ledger.Cause != prompt.CauseAge {
				t.Errorf("after %d words the edge moved and the ledger says %+v", i, p.Ledger)
			}
		}
		first = got
		if n := len(p.Sections[3].Messages); i >= 61 && (n < 55 || n > 61) {
			t.Fatalf("after %d words %d are there", i, n)
		}
		l.previous = &p.Stamp
		l.now = l.now.Add(time.Minute)
	}
	if moves < 22 || moves > 25 {
		t.Errorf("the edge moved %d times in 200 minutes", moves)
	}
}

func TestTheAgesEdgeIsALegalStart(t *testing.T) {
	l := newLog().say("ana", "Look").reply(call("a", "search", `{}`))
	l.now = l.now.Add(2 * time.Hour)
	l.result("a", "search", "late").reply(thread.Text("Found"))
	got := history(l.build(t, aged(time.Hour)))
	if strings.Contains(got, "late") || strings.Contains(got, "Look") || !strings.Contains(got, "Found") {
		t.Errorf("got\n%s", got)
	}
	l.messages = l.messages[:3] // the newest is the result: its call stays with it
	if got := history(l.build(t, aged(time.Hour))); !strings.Contains(got, `"toolCall"`) || !strings.Contains(got, "late") {
		t.Errorf("got\n%s", got)
	}
}

func TestOldLinesLeaveAndWithTheLastTheHeader(t *testing.T) {
	l := newLog()
	for i := range 10 {
		l.say("ana", fmt.Sprintf("word %d.", i))
		l.now = l.now.Add(time.Hour)
	}
	l.cutAt(8)
	if got := chatLines(l.build(t, aged(5*time.Hour))); len(got) != 3 || !strings.HasPrefix(got[0], "5+1|") {
		t.Errorf("the lines are %q", got)
	}
	if got := history(l.build(t, aged(time.Hour))); strings.Contains(got, "chat") || strings.Contains(got, "word 7.") || !strings.Contains(got, "word 9.") {
		t.Errorf("got\n%s", got)
	}
	if got := chatLines(l.build(t, aged(0))); len(got) != 8 {
		t.Errorf("without an age the lines are %q", got)
	}
}

func TestTheNewestMessageIsNeverTooOld(t *testing.T) {
	l := newLog().say("ana", "Hello")
	l.now = l.now.Add(1000 * time.Hour)
	if got := history(l.build(t, aged(1))); !strings.Contains(got, "Hello") {
		t.Errorf("got %s", got)
	}
}
