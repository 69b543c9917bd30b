package webtest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/model/scripted"
	"github.com/skeinhq/skein/thread"
)

// gathered has the page give the next file it saves to the test.
const gathered = `window.saved = new Promise((done) => { const make = URL.createObjectURL; URL.createObjectURL = (b) => { void b.text().then(done); URL.createObjectURL = make; return make.call(URL, b); }; }); true`

func TestAThreadIsSavedAsWhatTheLogHolds(t *testing.T) {
	s := open(t)
	s.actor.answer("look", scripted.Reply{Text: "I look.", Calls: []scripted.Call{{Name: "look", Input: []byte("{\"what\":\"a ``` fence\"}")}}})
	th := s.thread("a", "To be kept", "one", "One.", "gone", "Gone.")
	s.must(th.Rewind(t.Context(), 1, "ana"))
	for _, text := range []string{"look", strings.Repeat("long ", 80_000)} { // longer than a view sends whole
		if _, err := th.Ask(t.Context(), "ana", text); err != nil {
			t.Fatal(err)
		}
	}
	p := s.tab("/t/a")
	p.wait("document.querySelector('.head .standing')?.dataset.is === 'live'")
	file := func(item string) string {
		t.Helper()
		p.do(gathered)
		p.click("button[aria-label='More about this thread']")
		p.clickText(item)
		return eval[string](p, "window.saved")
	}
	lines := strings.Split(strings.TrimSpace(file("Save as JSON lines")), "\n")
	var texts []string
	undone := 0
	for _, line := range lines {
		var e struct {
			Seq     int64
			Undone  bool
			Message *thread.Message
		}
		s.must(json.Unmarshal([]byte(line), &e))
		if e.Seq == 0 || e.Message == nil {
			t.Fatalf("this line is no message: %.200s", line)
		}
		if e.Undone {
			undone++
			continue
		}
		texts = append(texts, e.Message.PlainText())
	}
	if want := s.messages("a"); !slices.Equal(texts, want) || undone != 2 {
		t.Errorf("saved are %d messages and %d undone ones, of %d", len(texts), undone, len(want))
	}
	p.sees("It is saved as a.jsonl.")

	text := file("Save as Markdown")
	for _, want := range []string{"# To be kept\n", "\n## ana · #0 · 20", "\none\n", "Calls `look`:\n\n````\na ``` fence\n````", "Result of `look`:", strings.TrimSpace(strings.Repeat("long ", 80_000))} {
		if !strings.Contains(text, want) {
			t.Errorf("the text holds no %.100q", want)
		}
	}
	if strings.Contains(text, "Gone.") {
		t.Error("the text holds what was undone")
	}
	p.sees("It is saved as a.md.")
}

func TestSomebodyChoosesWhoAnswers(t *testing.T) {
	s := open(t)
	s.thread("a", "Who answers", "one", "One.")
	p := s.tab("/t/a")
	p.wait("document.querySelector('.head')?.textContent.includes('north')")
	p.do("document.querySelector(\"[aria-label='More about this thread']\").focus()")
	p.keys("Enter")
	p.wait("document.activeElement.role === 'menuitem'")
	p.accessible("thread-menu")
	p.clickText("Answered by north…")
	p.wait("document.activeElement.role === 'menuitemradio' && document.activeElement.ariaChecked === 'true' && document.activeElement.textContent.trim() === 'north'")
	p.accessible("agents")
	p.keys("ArrowDown", "Enter")
	p.sees("south answers here from now on.")
	p.wait("document.querySelector('.head')?.textContent.includes('south')")
	p.say("two")
	p.wait("[...document.querySelectorAll('.message[data-role=assistant] .who')].at(-1)?.textContent.trim() === 'south'")
}

func TestAllIsUndoneOnceSomebodyHasSaidSo(t *testing.T) {
	s := open(t)
	s.thread("a", "Begin anew", "one", "One.")
	p := s.tab("/t/a")
	p.sees("One.")
	ask := func() {
		p.click("button[aria-label='More about this thread']")
		p.clickText("Undo everything…")
		p.wait("document.querySelector('dialog[open]') && document.activeElement.value === 'no'")
	}
	ask()
	p.accessible("reset")
	p.keys("Escape")
	p.wait("!document.querySelector('dialog[open]')")
	if got := s.messages("a"); len(got) != 2 {
		t.Fatalf("left as it is, the thread holds %q", got)
	}
	ask()
	p.do("document.querySelector('dialog [value=yes]').click()")
	p.sees("2 messages undone by a reset")
	p.wait("!document.querySelector('#m0')")
}

func TestUndoOfADeletionComesBackToTheThread(t *testing.T) {
	s := open(t)
	s.thread("a", "Apples", "one", "One.")
	s.thread("b", "Bees", "two", "Two.")
	p := s.tab("/t/a/outline")
	p.wait("document.querySelector('.panel')")
	p.click("button[aria-label='More about this thread']")
	p.clickText("Delete")
	p.sees("“Apples” is deleted.")
	p.wait("location.pathname === '/'")
	p.clickText("Undo")
	p.wait("location.pathname === '/t/a/outline' && document.querySelector('#m1')?.textContent.includes('One.')")
	p.wait("[...document.querySelectorAll('ol.threads .title')].some((e) => e.textContent === 'Apples')")
}

func TestDemonstrationsAreKnownAndAllGoAtOnce(t *testing.T) {
	s := open(t)
	s.thread("a", "Apples", "one", "One.")
	for _, id := range []string{"demo-aaaaaa", "demo-bbbbbb"} {
		_, err := s.engine.Create(t.Context(), id, "Demonstration", skein.Settings{})
		s.must(err)
	}
	p := s.tab("/t/demo-aaaaaa")
	p.wait("document.querySelector('.head .demo')?.textContent === 'demonstration'")
	p.wait("[...document.querySelectorAll('ol.threads .demo')].length === 2")
	p.sees("2 demonstration threads")
	p.accessible("demos")
	p.clickText("Remove them")
	p.sees("2 threads are deleted.")
	p.wait("location.pathname === '/' && document.querySelectorAll('ol.threads > li').length === 1")
	p.clickText("Undo")
	p.wait("location.pathname === '/t/demo-aaaaaa' && document.querySelectorAll('ol.threads > li').length === 3")
	p.clickText("Remove them")
	p.sees("2 threads are deleted.")
	p.do("document.querySelector('.notices [aria-label=Close]').click()")
	p.misses("2 threads are deleted.")
	gone := func(id string) bool {
		_, err := s.engine.Thread(t.Context(), id)
		return thread.CodeOf(err) == thread.NotFound
	}
	s.until(func() bool { return gone("demo-aaaaaa") && gone("demo-bbbbbb") })
	if gone("a") {
		t.Error("a thread of somebody's went with them")
	}
}
