package prompt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skeinhq/skein/internal/prompt"
	"github.com/skeinhq/skein/thread"
)

// running is a thread whose agent has just called a tool, after thinking.
func running(t *testing.T, def prompt.Definition) *log {
	l := newLog().say("ana", "First").reply(thread.Text("Yes")).say("ana", "Look")
	p := l.build(t, def)
	return l.answer(p, thought("I should look", "sig-1", def.Model), call("a", "search", `{}`)).result("a", "search", "found")
}

func thinks(p *prompt.Prompt) bool { return strings.Contains(lines(p.Request.Messages), "sig-1") }

func TestThinkingIsSentWhereThePromptBeforeItIsTheSame(t *testing.T) {
	for _, name := range []string{"echo", "claude-haiku-4-5", "claude-opus-5-5", "gpt-6.2-sol"} {
		def := north(name)
		def.Thinking = "high"
		l := running(t, def)
		l.answer(l.build(t, def), thread.Text("Found it")).say("ana", "Thanks")
		if !thinks(l.build(t, def)) {
			t.Errorf("%s: it is left out though nothing changed", name)
		}
		def.Instructions = "You are somebody else."
		if thinks(l.build(t, def)) {
			t.Errorf("%s: it is sent after the instructions changed", name)
		}
		if l.cutAt(2); thinks(l.build(t, north(name))) {
			t.Errorf("%s: it is sent after a cut", name)
		}
	}
}

func TestThinkingOfAnotherModelIsNotSent(t *testing.T) {
	def := north("claude-opus-5-5")
	def.Thinking = "high"
	l := running(t, def)
	def.Model = "claude-haiku-4-5"
	p := l.build(t, def)
	if thinks(p) || p.Request.Thinking != "" {
		t.Errorf("thinking %q goes to another model:\n%s", p.Request.Thinking, lines(p.Request.Messages))
	}
	def.Model = "gpt-4.1"
	if p := l.build(t, def); p.Request.Thinking != "" {
		t.Error("a model that does not think is asked to")
	}
}

// TestARunningCallGetsWhatItsModelNeeds cuts while a call runs: the prompt
// before the thinking is not the one it was made with any more.
func TestARunningCallGetsWhatItsModelNeeds(t *testing.T) {
	for name, kept := range map[string]bool{"claude-haiku-4-5": true, "claude-opus-5-5": false, "gpt-6.2-sol": false} {
		def := north(name)
		def.Thinking = "high"
		l := running(t, def).cutAt(2)
		p := l.build(t, def)
		if thinks(p) != kept || p.Request.Thinking != "high" {
			t.Errorf("%s: kept is %v, want %v; asked to think: %q", name, thinks(p), kept, p.Request.Thinking)
		}
		l.answer(p, thread.Text("Found it")).say("ana", "Thanks")
		q := l.build(t, def)
		if thinks(q) != kept || !strings.HasPrefix(lines(q.Request.Messages), lines(p.Request.Messages)) {
			t.Errorf("%s: the next turn's prompt does not start with the one before:\n%s\n%s", name, lines(p.Request.Messages), lines(q.Request.Messages))
		}
	}
}

func TestARunningCallWithoutThinkingIsNotAskedToThink(t *testing.T) {
	def := north("claude-haiku-4-5")
	def.Thinking = "high"
	l := newLog().say("ana", "Look").reply(call("a", "search", `{}`)).result("a", "search", "found")
	if p := l.build(t, def); p.Request.Thinking != "" {
		t.Errorf("it is asked to think: %q", p.Request.Thinking)
	}
	if p := l.reply(thread.Text("Yes")).say("ana", "And?").build(t, def); p.Request.Thinking != "high" {
		t.Error("the next turn is not asked to think")
	}
}

func TestThinkingWithoutASignatureOrWordsIsNotSent(t *testing.T) {
	def := north("echo")
	l := newLog().say("ana", "Look")
	l.answer(l.build(t, def), thread.Part{Type: thread.ThinkingPart, Text: "unsigned"}, thread.Text("Yes")).say("ana", "More")
	l.answer(l.build(t, def), thought("only", "sig-1", "echo")).say("ana", "Then?")
	if got := lines(l.build(t, def).Request.Messages); strings.Contains(got, "thinking") {
		t.Errorf("got\n%s", got)
	}
}

// An answer of sixty blocks of thinking between its texts is sent as it is, or
// without any of them: never in part and never changed.
func TestSixtyInterleavedThoughtsAreSentAllOrNone(t *testing.T) {
	const n = 60
	def := north("claude-opus-5-5")
	def.Thinking = "high"
	var parts []thread.Part
	for i := range n {
		parts = append(parts, thought(fmt.Sprintf(" thought %d\n", i), fmt.Sprintf("sig-%d==", i), def.Model), thread.Text(fmt.Sprintf("word %d", i)))
	}
	talk := func() *log {
		l := newLog().say("ana", "First").reply(call("a", "search", `{}`)).result("a", "search", strings.Repeat("found ", 500)).reply(thread.Text("Yes")).say("ana", "Look")
		l.answer(l.build(t, def), parts...)
		return l.say("ana", "Thanks")
	}
	sent := func(l *log, def prompt.Definition) (blocks []thread.Part) {
		p := l.build(t, def)
		if err := prompt.Validate(&p.Request, rulesOf(t, def.Model)); err != nil {
			t.Error(err)
		}
		for _, m := range p.Request.Messages {
			for _, part := range m.Parts {
				if part.Type == thread.ThinkingPart {
					blocks = append(blocks, part)
				}
			}
		}
		return blocks
	}
	blocks := sent(talk(), def)
	if len(blocks) != n {
		t.Fatalf("%d blocks of %d are sent", len(blocks), n)
	}
	for i, b := range blocks {
		if want := parts[2*i]; b.Text != want.Text || b.Signature != want.Signature {
			t.Errorf("block %d is sent as %q, %q", i, b.Text, b.Signature)
		}
	}
	changes := map[string]func(l *log, def *prompt.Definition){
		"instructions":       func(_ *log, def *prompt.Definition) { def.Instructions += " And brief." },
		"tools":              func(_ *log, def *prompt.Definition) { def.Tools[0].Description = "Searches." },
		"another model":      func(_ *log, def *prompt.Definition) { def.Model = "claude-haiku-4-5" },
		"a cut":              func(l *log, _ *prompt.Definition) { l.cutAt(3) },
		"a shortened result": func(l *log, _ *prompt.Definition) { l.shortenAt(2) },
		"the age's edge": func(l *log, def *prompt.Definition) {
			l.now = l.now.Add(40 * 24 * time.Hour)
			l.say("ana", "Later")
			def.MaxAge = 24 * time.Hour
		},
	}
	for about, change := range changes {
		l, other := talk(), def
		other.Tools = slices.Clone(def.Tools)
		change(l, &other)
		if blocks := sent(l, other); len(blocks) != 0 {
			t.Errorf("after %s %d blocks are sent", about, len(blocks))
		}
	}
}
