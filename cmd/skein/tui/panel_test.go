package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/skeinhq/skein/thread"
)

func TestAPanelsKeyOpensItInThePlaceOfAnother(t *testing.T) {
	for key, want := range map[string]string{"ctrl+t": "*tui.threads", "ctrl+o": "*tui.tree", "ctrl+f": "*tui.search", "ctrl+g": "*tui.pager"} {
		for _, before := range []string{"/usage", "ctrl+t", "ctrl+o", "ctrl+f"} {
			s := play(t, 80, 20).opens(plan()...)
			if before == "/usage" {
				s.types(before).press("enter").give(commandRan{sitting: 1, text: before, output: "2 requests"})
			} else {
				s.press(before)
			}
			if got := fmt.Sprintf("%T", s.press(key).m.panel); got != want {
				t.Errorf("%s in the panel of %s opens %s", key, before, got)
			}
			if s.types("diary"); s.m.editor.text() != "" && want != "*tui.pager" {
				t.Errorf("%s in the panel of %s: %q is typed below", key, before, s.m.editor.text())
			}
		}
	}
}

func TestWhatACommandPrintsWaitsBehindAPanel(t *testing.T) {
	s := play(t, 80, 20).opens(plan()...).types("/usage").press("enter", "ctrl+t").types("di")
	s.give(commandRan{sitting: 1, text: "/usage", output: "2 requests"}, threadsRead{sitting: 1})
	s.types("ary")
	if p, ok := s.m.panel.(*threads); !ok || p.query.text() != "diary" {
		t.Fatalf("what was typed went elsewhere:\n%s", s.text())
	}
	if s.press("esc"); !strings.Contains(s.text(), "2 requests") {
		t.Errorf("it is lost:\n%s", s.text())
	}
	if s.press("esc"); s.m.panel != nil {
		t.Errorf("it does not close:\n%s", s.text())
	}
}

func TestAPanelOpenedWhileAThreadOpensStays(t *testing.T) {
	for _, key := range []string{"ctrl+t", "ctrl+o", "ctrl+f"} {
		s := play(t, 80, 20).opens(plan()...).press(key).types("x")
		if key == "ctrl+f" {
			s.press("enter")
		}
		s.effects = nil
		s.give(opened{sitting: 2, id: "diary", draft: draft{Thread: "diary"}})
		asked := len(s.effects) - len(wanted[keepDraft](s))
		s.types("y").press("enter")
		if s.m.panel == nil || asked == 0 || len(wanted[sayText](s)) > 0 {
			t.Errorf("after %s the panel is gone, or waits for the thread that was left:\n%s", key, s.text())
		}
	}
}

func TestAPasteInAPagerIsTypedWhole(t *testing.T) {
	s := play(t, 80, 20).opens().press("ctrl+g").give(tea.PasteMsg{Content: "one\ntwo"})
	if got := s.m.editor.text(); got != "one\ntwo" || s.m.panel != nil {
		t.Errorf("typed is %q", got)
	}
}

func TestARetryIsShownInTheAnswersPlace(t *testing.T) {
	s := play(t, 80, 20).opens(plan()[:1]...).give(answering{sitting: 1, on: true})
	s.give(pieces("n", "text", "half"), pieces("n", "retry", "anthropic cannot be reached; again in 600ms\x1b[2J"))
	if text := s.text(); !strings.Contains(text, "(anthropic cannot be reached; again in 600ms") || strings.Contains(text, "half") {
		t.Errorf("not shown:\n%s", text)
	}
	s.give(pieces("n", "text", "whole"))
	if text := s.text(); strings.Contains(text, "cannot be reached") || !strings.Contains(text, "whole") {
		t.Errorf("it stays:\n%s", text)
	}
	if p := pieceOf(&thread.Live{ID: "n", Type: "retry", Text: "busy"}); p.kind != "retry" || p.text != "busy" {
		t.Errorf("a retry comes as %+v", p)
	}
}
