package tui

import (
	"errors"
	"strings"
	"testing"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/store/memory"
	"github.com/skeinhq/skein/thread"
)

func TestABadThreadNameLeavesTheChatAsItWas(t *testing.T) {
	r := sit(t, 0)
	r.press("ctrl+t").types("Bad Name").press("enter")
	r.shows("cannot be a name")
	r.types("/usage").press("enter")
	r.shows("/usage in launch")
	r.press("esc", "ctrl+o")
	r.shows("Nothing is under a line yet")
	r.press("esc", "ctrl+t")
	r.shows("1 thread")
	r.press("esc").types("hello").press("enter")
	r.shows("You said: ana: hello")
	r.settled()
}

func TestWhereNoThreadOpensThePanelsStillAnswer(t *testing.T) {
	r := &room{stage: play(t, 80, 24), came: make(chan any, 1<<10)}
	var err error
	if r.engine, err = skein.Open(t.Context(), skein.Config{Store: memory.New(memory.Options{})}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.engine.Close() })
	r.shell = newShell(t.Context(), Config{Engine: r.engine, Me: "ana", Drafts: t.TempDir()}, func(msg any) { r.came <- msg })
	t.Cleanup(r.leave)
	r.shell.do(openThread{"Bad Name"})
	r.shows("cannot be a name")
	r.press("ctrl+o")
	r.shows("no thread is open")
	r.press("ctrl+f").types("x").press("enter")
	r.shows("no thread is open")
	r.press("esc", "ctrl+t")
	r.shows("0 threads")
}

// TestEveryFailureReleasesWhatWaits fails each effect that something on the screen
// waits for.
func TestEveryFailureReleasesWhatWaits(t *testing.T) {
	failed := errors.New("the disk is gone")
	span := thread.Span{ID: 4, N: 2}
	cases := []struct {
		name  string
		begin func(*stage)
		end   any
	}{
		{"outline", func(s *stage) { s.opens().press("ctrl+o") }, outlineRead{sitting: 1, err: failed}},
		{"line", func(s *stage) { outlined(s).press("up", "right") }, lineOpened{sitting: 1, span: span, err: failed}},
		{"search", func(s *stage) { s.opens().press("ctrl+f").types("x").press("enter") }, wordsFound{sitting: 1, query: "x", err: failed}},
		{"threads", func(s *stage) { s.opens().press("ctrl+t") }, threadsRead{sitting: 1, err: failed}},
		{"switch", func(s *stage) { listed(s).types("new").press("enter") }, opened{sitting: 2, id: "new", problem: failed}},
		{"command", func(s *stage) { s.opens().types("/prompt").press("enter") }, commandRan{sitting: 1, text: "/prompt", err: failed}},
		{"compaction", func(s *stage) { s.opens().types("/compact").press("enter") }, effectDone{sitting: 1, err: failed}},
		{"decision", func(s *stage) { parkedAt(s, edits()).press("alt+a", "a") }, decided{sitting: 1, call: "edit-0", err: failed}},
		{"saying", func(s *stage) { s.opens().types("hi").press("enter") }, said{sitting: 1, key: "key-1", err: failed}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := play(t, 80, 20)
			c.begin(s)
			s.give(c.end)
			text := s.text()
			for _, waits := range []string{"reading…", "looking…", "opening", "/prompt…", "saying…", "… 4+2", "/compact…", "deciding…"} {
				if strings.Contains(text, waits) {
					t.Errorf("%q still waits:\n%s", waits, text)
				}
			}
			if !strings.Contains(text, failed.Error()) {
				t.Errorf("not told:\n%s", text)
			}
		})
	}
}

func TestWhatWasAskedForBeforeAllWasReadAnewIsStillTaken(t *testing.T) {
	s := play(t, 80, 20).opens().types("/usage").press("enter")
	s.give(opened{sitting: 2, id: "launch"}, commandRan{sitting: 1, text: "/usage", output: "2 requests"})
	if !strings.Contains(s.text(), "2 requests") {
		t.Errorf("lost:\n%s", s.text())
	}
}
