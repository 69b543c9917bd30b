package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	tea "charm.land/bubbletea/v2"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/internal/recall"
	"github.com/skeinhq/skein/thread"
)

// long plays a thread of n messages, none of which is there before it is asked
// for.
type long struct {
	*stage
	n     int64
	loads []loadPage
}

func nth(i int64) message {
	m := agent(thread.Text(fmt.Sprintf("answer %d", i)))
	if i%2 == 0 {
		m = user(fmt.Sprintf("question %d\nwith a second line", i))
	}
	m.index, m.id = i, fmt.Sprint("id-", i)
	return m
}

func pageOf(from, to int64) pageRead {
	p := pageRead{sitting: 1, from: from}
	for i := from; i < to; i++ {
		p.messages = append(p.messages, nth(i))
	}
	return p
}

func openLong(t testing.TB, n int64) *long {
	l := &long{stage: play(t, 80, 24), n: n}
	l.give(opened{sitting: 1, id: "launch", length: n, page: pageOf(max(0, n-pageMessages), n), status: status{length: n, tip: n, cached: -1}})
	return l
}

// serve reads the pages that are asked for, until none is.
func (l *long) serve() *long {
	for {
		asked := wanted[loadPage](l.stage)
		if len(asked) == 0 {
			return l
		}
		for _, a := range asked {
			l.loads = append(l.loads, a)
			p := pageOf(a.from, min(a.to, l.m.transcript.length))
			p.age = a.age
			l.give(p)
		}
	}
}

func TestOnlyWindowsOfALongThreadAreRead(t *testing.T) {
	const n = 1_000_000
	l := openLong(t, n)
	if asked := wanted[loadPage](l.stage); len(asked) > 0 {
		t.Errorf("opening asks for more than the newest page: %v", asked)
	}
	for range 400 {
		before := l.m.transcript.top
		l.press("pgup")
		l.serve()
		l.text()
		if top := l.m.transcript.top; !top.before(before) {
			t.Fatalf("a page back from %v is %v", before, top)
		}
	}
	l.press("ctrl+home")
	l.serve()
	if s := l.text(); !strings.Contains(s, "question 0\n") {
		t.Errorf("Ctrl-Home does not show the first message:\n%s", s)
	}
	for range 40 {
		l.press("pgdown")
		l.serve()
		l.text()
	}
	l.press("esc")
	l.serve()
	if s := l.text(); !strings.Contains(s, fmt.Sprint("answer ", n-1)) {
		t.Errorf("Esc does not show the newest message:\n%s", s)
	}
	for _, a := range l.loads {
		if a.to-a.from > pageMessages || a.from < 0 || a.to > n {
			t.Errorf("%v is read at once", a)
		}
	}
	if held := len(l.m.transcript.held); held > heldMessages {
		t.Errorf("%d messages are held", held)
	}
}

func TestScrollingBackLeavesNoMessageOut(t *testing.T) {
	l := openLong(t, 500)
	next := int64(499)
	for next > 0 {
		lines := strings.Split(l.text(), "\n")
		for i := len(lines) - 1; i >= 0; i-- {
			var seen int64
			if _, err := fmt.Sscanf(strings.TrimSpace(lines[i]), "question %d", &seen); err != nil {
				if _, err := fmt.Sscanf(strings.TrimSpace(lines[i]), "answer %d", &seen); err != nil {
					continue
				}
			}
			if seen < next-1 {
				t.Fatalf("after %d comes %d:\n%s", next, seen, strings.Join(lines, "\n"))
			}
			next = min(next, seen)
		}
		l.press("pgup")
		l.serve()
	}
}

func TestTheViewStandsStillWhileMoreIsRead(t *testing.T) {
	l := openLong(t, 10_000)
	var asked []loadPage
	for len(asked) == 0 {
		l.press("pgup")
		asked = wanted[loadPage](l.stage)
	}
	before := l.talk()
	p := pageOf(asked[0].from, asked[0].to)
	p.age = asked[0].age
	l.give(p)
	m := at(l.stage, user("news"))
	l.give(happened{sitting: 1, tip: 10_001, length: 10_001, events: []event{{message: &m}}})
	if d := cmp.Diff(before, l.talk()); d != "" {
		t.Errorf("(-before +after):\n%s", d)
	}
}

// talk is the screen above the rule, without styles.
func (s *stage) talk() string {
	return strings.Join(strings.Split(s.text(), "\n")[:s.m.talkHeight()], "\n")
}

// answersInPieces says something and streams an answer to it.
func answersInPieces(s *stage, text string, size int) *stage {
	s.types("go on").press("enter").give(
		happened{sitting: 1, tip: 50, length: s.m.transcript.length + 1, events: []event{{message: ptr(at(s, user("go on"))), key: fmt.Sprint("key-", s.keys)}}},
		said{sitting: 1, key: fmt.Sprint("key-", s.keys)}, answering{sitting: 1, on: true})
	for text != "" {
		n := min(size, len(text))
		s.give(pieces("new", "text", text[:n]))
		s.text()
		text = text[n:]
	}
	return s
}

func ptr[T any](v T) *T { return &v }

// at gives a message the place after the last.
func at(s *stage, m message) message {
	m.index = s.m.transcript.length
	m.id = fmt.Sprint("id-", m.index)
	return m
}

const markdownAnswer = "# Plan\n\nFirst **bold** words.\n\n- one\n- two\n\n```go\nx := 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nAnd the end."

func TestAFinishedAnswerIsDrawnAsItWasWhileItCame(t *testing.T) {
	s := play(t, 70, 40).opens(plan()[:1]...)
	answersInPieces(s, markdownAnswer, 7)
	coming := s.talk()
	m := agent(thread.Text(markdownAnswer))
	m = at(s, m)
	m.id = "new"
	s.give(happened{sitting: 1, tip: 51, length: m.index + 1, events: []event{{message: &m}}}, answering{sitting: 1})
	done := s.talk()
	if d := cmp.Diff(coming, done); d != "" {
		t.Errorf("the screen jumps when the answer ends (-coming +done):\n%s", d)
	}
}

func TestFinishedMessagesAreRenderedOnce(t *testing.T) {
	s := play(t, 70, 200).opens(many(60)...)
	answersInPieces(s, strings.Repeat("word after word.\n\n", 60), 9)
	for _, d := range s.m.transcript.held {
		if d.rendered > 1 {
			t.Errorf("message %d was rendered %d times", d.index, d.rendered)
		}
	}
}

func TestTypingGoesOnWhileAnAnswerComes(t *testing.T) {
	s := play(t, 70, 20).opens(plan()[:1]...)
	s.types("he")
	s.give(answering{sitting: 1, on: true}, pieces("n", "text", "one "))
	s.types("llo")
	s.give(pieces("n", "text", "two "))
	if got := s.m.editor.text(); got != "hello" {
		t.Errorf("%q is typed", got)
	}
	if !strings.Contains(s.text(), "› hello") || !strings.Contains(s.text(), "one two") {
		t.Errorf("not shown:\n%s", s.text())
	}
}

func TestCtrlCStopsThenLeaves(t *testing.T) {
	s := play(t, 70, 20).opens(plan()[:1]...).give(answering{sitting: 1, on: true})
	if s.press("ctrl+c"); len(wanted[stopAnswer](s)) != 1 {
		t.Error("the answer is not stopped")
	}
	s.give(answering{sitting: 1, stopped: true})
	s.types("x").press("ctrl+c")
	if len(wanted[leave](s)) != 0 {
		t.Error("it leaves although something was typed in between")
	}
	if s.press("ctrl+c"); len(wanted[leave](s)) != 1 {
		t.Error("the second Ctrl-C does not leave")
	}
}

func TestWhatIsTypedIsKeptUntilItIsInTheLog(t *testing.T) {
	s := play(t, 70, 20).opens()
	s.types("hello")
	drafts := wanted[keepDraft](s)
	if last := drafts[len(drafts)-1].draft; last.Text != "hello" {
		t.Errorf("kept: %+v", last)
	}
	s.press("enter")
	kept := s.m.kept
	if d := cmp.Diff(draft{Thread: "launch", Saying: []draftSaying{{"key-1", "hello"}}}, kept); d != "" {
		t.Errorf("while it is said (-want +got):\n%s", d)
	}
	s.give(said{sitting: 1, key: "key-1", seq: 3})
	if !s.m.kept.empty() {
		t.Errorf("after it was said: %+v", s.m.kept)
	}
}

func TestWhatCouldNotBeSaidComesBack(t *testing.T) {
	s := play(t, 70, 20).opens().types("hello").press("enter").types("next")
	s.give(said{sitting: 1, key: "key-1", err: &thread.Error{Code: thread.Storage, Message: "the disk is full"}})
	if got := s.m.editor.text(); got != "hello\n\nnext" {
		t.Errorf("typed is %q", got)
	}
	if !strings.Contains(s.text(), "the disk is full") || len(s.m.transcript.waiting) > 0 {
		t.Errorf("not told:\n%s", s.text())
	}
}

func TestHistoryComesBackAndGoesAgain(t *testing.T) {
	s := play(t, 70, 20).opens(user("first"), agent(thread.Text("yes")), user("second\nline"))
	s.types("now")
	var got []string
	for _, key := range []string{"up", "up", "up", "up", "down", "down", "down", "down"} {
		s.press(key)
		got = append(got, s.m.editor.text())
	}
	want := []string{"second\nline", "second\nline", "first", "first", "second\nline", "second\nline", "now", "now"}
	want[5] = "now" // the cursor stands in the last line
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestAPasteIsNeverSaidByItself(t *testing.T) {
	s := play(t, 70, 20).opens().give(tea.PasteMsg{Content: "one\rtwo\r\n/exit\n\x1b[2J"})
	if said := wanted[sayText](s); len(said) > 0 {
		t.Errorf("said: %v", said)
	}
	if got := s.m.editor.text(); got != "one\ntwo\n/exit\n[2J" {
		t.Errorf("typed: %q", got)
	}
}

func TestEverySlashCommandDoesSomething(t *testing.T) {
	for _, c := range append(testCommands, Command{Name: "retry"}) {
		s := play(t, 70, 20).opens(plan()...)
		s.types("/" + c.Name)
		s.effects = nil
		s.press("enter")
		done := false
		for _, e := range s.effects {
			switch e.(type) {
			case runCommand, answerNow, answerAgain:
				done = true
			}
		}
		if !done && s.m.panel == nil {
			t.Errorf("/%s does nothing", c.Name)
		}
		if len(s.m.transcript.waiting) > 0 {
			t.Errorf("/%s is said", c.Name)
		}
	}
}

func TestAHitIsGoneTo(t *testing.T) {
	l := openLong(t, 10_000)
	l.press("ctrl+f").types("words").press("enter")
	l.give(wordsFound{sitting: 1, query: "words", results: skein.Results{Hits: []recall.Hit{newHit(4321, "north → ana: answer 4321", "answer")}}})
	l.effects = nil
	l.press("enter")
	l.serve()
	if s := l.text(); !strings.Contains(s, "▎ answer 4321") {
		t.Errorf("the hit is not shown:\n%s", s)
	}
}

func TestWhatBelongsToAThreadThatWasLeftIsDropped(t *testing.T) {
	s := play(t, 70, 20).opens(plan()[:1]...)
	s.give(opened{sitting: 2, id: "diary", draft: draft{Thread: "diary"}})
	s.give(pieces("n", "text", "stray"), pageOf(0, 20), said{sitting: 1, err: errors.New("stray")})
	if strings.Contains(s.text(), "stray") || s.m.transcript.length > 0 {
		t.Errorf("it is shown:\n%s", s.text())
	}
}

func TestARewindIsSeen(t *testing.T) {
	s := play(t, 70, 20).opens(many(10)...)
	s.give(happened{sitting: 1, tip: 20, length: 4, events: []event{{undone: true}}})
	asked := wanted[loadPage](s)
	if len(asked) != 1 || asked[0].from != 0 || asked[0].to != 4 {
		t.Fatalf("asked for %v", asked)
	}
	s.give(pageRead{sitting: 1, age: asked[0].age - 1, messages: many(10)}) // asked for before
	s.give(pageRead{sitting: 1, age: asked[0].age, messages: many(4)})
	if text := s.text(); strings.Contains(text, "question 4") || !strings.Contains(text, "answer 3") {
		t.Errorf("shown:\n%s", text)
	}
}

// TestAnyHistoryOfKeysAndNewsFitsTheScreen plays at random, on screens of any
// size.
func TestAnyHistoryOfKeysAndNewsFitsTheScreen(t *testing.T) {
	var keys []string
	for _, b := range append(talking(), always...) {
		keys = append(keys, b.keys[0])
	}
	rapid.Check(t, func(rt *rapid.T) {
		l := openLong(t, rapid.SampledFrom([]int64{0, 1, 7, 100, 1_000_000}).Draw(rt, "length"))
		steps := map[string]func(){
			"key":  func() { l.press(rapid.SampledFrom(keys).Draw(rt, "key")) },
			"type": func() { l.types(typedTexts.Draw(rt, "text")) },
			"size": func() {
				l.give(tea.WindowSizeMsg{Width: rapid.IntRange(1, 120).Draw(rt, "width"), Height: rapid.IntRange(1, 50).Draw(rt, "height")})
			},
			"piece": func() { l.give(pieces("n", "text", safe(markdownText().Draw(rt, "piece")))) },
			"end": func() {
				m := at(l.stage, agent(thread.Text("the end")))
				m.id = "n"
				l.give(happened{sitting: 1, tip: l.m.status.tip + 1, length: m.index + 1, events: []event{{message: &m}}})
			},
			"pages": func() { l.serve() },
			"undone": func() {
				n := l.m.transcript.length / 2
				l.give(happened{sitting: 1, tip: l.m.status.tip + 1, length: n, events: []event{{undone: true}}})
			},
		}
		names := []string{"key", "key", "key", "type", "size", "piece", "end", "pages", "undone"}
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			name := rapid.SampledFrom(names).Draw(rt, "step")
			steps[name]()
			s := l.m.screen()
			if len(s.lines) != l.m.height {
				rt.Fatalf("after %s the screen has %d lines, not %d", name, len(s.lines), l.m.height)
			}
			for i, line := range s.lines {
				if w := l.m.cells.width(line); w > l.m.width {
					rt.Fatalf("after %s line %d is %d columns wide, not %d: %q", name, i, w, l.m.width, line)
				}
				if strings.ContainsFunc(ansi.Strip(line), Harmful) {
					rt.Fatalf("after %s line %d is %q", name, i, line)
				}
			}
			if n := len(l.m.transcript.held); n > heldMessages+pageMessages {
				rt.Fatalf("%d messages are held", n)
			}
		}
	})
}

func TestAPageThatCannotBeReadIsAskedForByTheNextKey(t *testing.T) {
	l := openLong(t, 1000)
	l.press("ctrl+home")
	for i := range 2 {
		asked := wanted[loadPage](l.stage)
		if len(asked) != 1 {
			t.Fatalf("time %d: asked for %v", i, asked)
		}
		l.give(pageRead{sitting: 1, age: asked[0].age, err: &thread.Error{Code: thread.Storage, Message: "the disk is gone"}})
		if again := wanted[loadPage](l.stage); len(again) > 0 {
			t.Fatalf("asked again at once: %v", again)
		}
		if s := l.text(); !strings.Contains(s, "the disk is gone") {
			t.Errorf("not told:\n%s", s)
		}
		l.press("ctrl+home")
	}
}

func TestCountsTakeFewColumns(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 9_999: "9999", 10_000: "10.0k", 99_940: "99.9k", 100_000: "100k", 999_499: "999k", 999_999: "1.00M", 1_234_567: "1.23M"} {
		if got := countText(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}
