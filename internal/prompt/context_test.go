package prompt_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/internal/prompt"
	"github.com/skeinhq/skein/thread"
)

// told gives the names and first words of what a prompt tells now.
func told(p *prompt.Prompt) []string {
	var out []string
	for _, c := range p.Told {
		out = append(out, c.Name+": "+c.Text)
	}
	return out
}

func TestTodayIsToldAtTheEndThenStandsBeforeTheReply(t *testing.T) {
	l := newLog().say("ana", "Hello")
	p := l.build(t, north("echo"))
	if diff := cmp.Diff([]string{"today: It is Monday, 30 November 2026, 16:01 (UTC)."}, told(p)); diff != "" {
		t.Error(diff)
	}
	l.answer(p, thread.Text("Hi"))
	l.now = l.now.Add(time.Hour)
	l.say("ana", "And now?")
	q := l.build(t, north("echo"))
	if len(q.Told) != 0 {
		t.Errorf("told again on the same day: %q", told(q))
	}
	want := `user {"type":"text","text":"ana: Hello"}
user {"type":"text","text":"<context name=\"today\">\nIt is Monday, 30 November 2026, 16:01 (UTC).\n</context>"}
assistant {"type":"text","text":"Hi"}
user {"type":"text","text":"ana: And now?"}
`
	if diff := cmp.Diff(want, lines(q.Request.Messages)); diff != "" {
		t.Error(diff)
	}
}

func TestTodayIsToldAgainWhenDayOrZoneChanges(t *testing.T) {
	l := newLog().say("ana", "Hello")
	l.answer(l.build(t, north("echo")), thread.Text("Hi")).say("ana", "Again")
	tokyo, odd := north("echo"), north("echo")
	tokyo.Zone, odd.Zone = "Asia/Tokyo", "Nowhere/Land"

	if got := told(l.build(t, tokyo)); len(got) != 1 || got[0] != "today: It is Tuesday, 1 December 2026, 01:01 (Asia/Tokyo)." {
		t.Errorf("in Tokyo it tells %q", got)
	}
	if _, err := prompt.Build(odd, l.past(), prompt.Turn{Time: l.now}, rulesOf(t, "echo")); thread.CodeOf(err) != thread.Configuration {
		t.Errorf("an unknown zone: %v", err)
	}
	l.now = l.now.Add(8 * time.Hour)
	if got := told(l.build(t, north("echo"))); len(got) != 1 || !strings.Contains(got[0], "Tuesday, 1 December 2026, 00:01") {
		t.Errorf("on the next day it tells %q", got)
	}
}

func TestAContextIsToldAgainWhenTheCutTookIt(t *testing.T) {
	l := newLog().say("ana", "Hello")
	l.answer(l.build(t, north("echo")), thread.Text("Hi")).say("ana", "Again")
	l.cutAt(2)
	if got := told(l.build(t, north("echo"))); len(got) != 1 {
		t.Errorf("after the cut it tells %q", got)
	}
}

func TestTurnContextsAreToldWhenNewOrChanged(t *testing.T) {
	l := newLog().say("ana", "Hello")
	turn := func(contexts ...thread.Context) *prompt.Prompt {
		p, err := prompt.Build(north("echo"), l.past(), prompt.Turn{Time: l.now, Contexts: contexts}, rulesOf(t, "echo"))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	a1, a2 := thread.Context{Name: "a", Text: "one"}, thread.Context{Name: "a", Text: "two"}
	same := thread.Context{Name: "b", Text: "at 1", Same: "b"}
	l.answer(turn(a1, same), thread.Text("Hi")).say("ana", "Again")
	same.Text = "at 2"
	if got := told(turn(a1, same)); len(got) != 0 {
		t.Errorf("nothing changed and it tells %q", got)
	}
	l.answer(turn(a2, same), thread.Text("Hm")).say("ana", "More")
	if got := told(turn(a1, same)); len(got) != 1 || got[0] != "a: one" {
		t.Errorf("a changed back and it tells %q", got)
	}
}

func TestWithoutAClockNoDayIsTold(t *testing.T) {
	p, err := prompt.Build(north("echo"), newLog().say("ana", "Hello").past(), prompt.Turn{}, rulesOf(t, "echo"))
	if err != nil || len(p.Told) != 0 {
		t.Errorf("told %q, error %v", told(p), err)
	}
}
