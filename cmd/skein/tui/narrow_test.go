package tui

import (
	"strings"
	"testing"
	"time"
)

func TestANarrowScreenSaysTheWayOutAndTheKeys(t *testing.T) {
	for _, c := range []struct {
		key, end string
	}{{"", "Ctrl-G keys"}, {"ctrl+t", "Esc"}, {"ctrl+f", "Esc closes"}, {"ctrl+o", "Esc"}, {"ctrl+g", "Esc closes"}} {
		for width := 30; width <= 80; width++ {
			s := withStatus(play(t, width, 20).opens(plan()...))
			s.m.status.title = strings.Repeat("a long title ", 4)
			if c.key != "" {
				s.press(c.key)
			}
			lines := strings.Split(s.text(), "\n")
			if footer := lines[19]; !strings.HasSuffix(footer, c.end) {
				t.Errorf("after %q the footer at %d columns is %q", c.key, width, footer)
			}
		}
	}
}

func TestHelpHangs(t *testing.T) {
	s := play(t, 40, 90).opens()
	s.m.commands = append(s.m.commands, Command{"import", "FILE [THREAD]", "take a transcript in, and go on in it from there"})
	text := s.press("ctrl+g").text()
	for _, want := range []string{
		"\n  Up           line up; at the first:\n               what was said before\n",
		"\n  /import FILE [THREAD]\n    take a transcript in, and go on in\n    it from there\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
}

func TestHomeAndEndGoToTheOutlinesEnds(t *testing.T) {
	s := outlined(play(t, 80, 20))
	tree := s.m.panel.(*tree)
	if s.press("home"); tree.at != 0 {
		t.Errorf("Home goes to line %d", tree.at)
	}
	if s.press("end"); tree.at != 2 {
		t.Errorf("End goes to line %d", tree.at)
	}
}

func TestWhatIsNotOfTodaySaysItsDay(t *testing.T) {
	messages := numbered(user("yesterday's"), user("today's"))
	messages[0].time = noon.Add(-24 * time.Hour)
	messages[1].time = noon
	s := play(t, 40, 20).opens(messages...)
	for _, want := range []string{"ana  2026-11-29 12:00\n", "ana  12:00\n"} {
		if !strings.Contains(s.text(), want) {
			t.Errorf("%q is not in:\n%s", want, s.text())
		}
	}
	s.m.now = func() time.Time { return noon.Add(12 * time.Hour) } // midnight passes
	s.press("x")
	if want := "ana  2026-11-30 12:00\n"; !strings.Contains(s.text(), want) {
		t.Errorf("after midnight %q is not in:\n%s", want, s.text())
	}
}
