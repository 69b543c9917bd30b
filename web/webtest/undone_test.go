package webtest

import (
	"slices"
	"testing"
)

// undone are the texts of the messages that are shown as undone.
const undone = "[...document.querySelectorAll('.message[data-undone] .prose')].map((e) => e.textContent.trim())"

func TestWhatWasUndoneIsMarkedAndOpensInItsPlace(t *testing.T) {
	s := open(t)
	th := s.thread("a", "Going back", "one", "One.", "two", "Two.", "three", "Three.")
	p := s.tab("/t/a")
	p.sees("Three.")
	if p.holds("document.querySelector('.undone')") {
		t.Error("something is marked as undone before anything was")
	}
	s.must(th.Rewind(t.Context(), 3, "ana"))
	p.sees("2 messages undone")
	p.misses("Three.")
	p.say("four")
	p.sees("You said: four")
	s.until(func() bool { return th.Rewind(t.Context(), 4, "ana") == nil }) // once the turn has ended
	p.sees("1 message undone")
	p.wait("document.querySelectorAll('.undone').length === 2")
	order := "[...document.querySelectorAll('sk-stream .column > *')].map((e) => e.matches('.undone') ? 'undone' : e.querySelector('.prose')?.textContent.trim())"
	if got := eval[[]string](p, order); !slices.Equal(got, []string{"one", "One.", "two", "Two.", "undone", "four", "undone"}) {
		t.Errorf("the marks stand so: %q", got)
	}
	p.accessible("undone-closed")

	// By keys alone: to the mark, open, and the messages are in their place.
	p.do("document.querySelector('[data-undone]').focus()")
	p.keys("Enter")
	p.wait(undone + ".length === 2")
	if got := eval[[]string](p, undone); !slices.Equal(got, []string{"three", "Three."}) {
		t.Errorf("undone were %q", got)
	}
	p.wait("document.activeElement.matches('[data-undone]') && document.activeElement.ariaExpanded === 'true'")
	p.wait("getComputedStyle(document.querySelector('.message[data-undone] .prose')).textDecorationLine === 'line-through'")
	p.wait("document.querySelector('.undone').compareDocumentPosition([...document.querySelectorAll('#m4')].at(-1)) & Node.DOCUMENT_POSITION_FOLLOWING")
	if got := eval[[]string](p, "(() => { const ids = [...document.querySelectorAll('[id]')].map((e) => e.id); return ids.filter((id, i) => ids.indexOf(id) !== i); })()"); len(got) > 0 {
		t.Errorf("ids are there twice: %q", got)
	}
	p.accessible("undone")
	p.size(360, 720)
	p.accessible("undone-narrow")
	p.size(1280, 860)
	if got := eval[[]string](p, "[...document.querySelectorAll('.message[data-undone] button')].map((e) => e.ariaLabel)"); slices.Contains(got, "Edit and go back") || slices.Contains(got, "Answer again") {
		t.Errorf("an undone message is offered %q", got)
	}

	// It is there after a reload, and what was said can be taken up again.
	p.do("location.reload()")
	p.wait("document.querySelectorAll('.undone').length === 2 && document.querySelectorAll('[data-undone]').length === 2")
	p.clickText("show")
	p.wait(undone + ".length === 2")
	p.do("document.querySelector('.message[data-undone] [aria-haspopup=menu]').click()")
	p.clickText("Into the composer")
	p.wait("document.querySelector('textarea').value === 'three'")
	p.clickText("hide")
	p.wait(undone + ".length === 0")

	// A reset takes all of it, and the branches are where they were.
	fork, err := th.Fork(t.Context(), 1, "branch", "The branch")
	s.must(err)
	s.must(th.Reset(t.Context(), "ana"))
	p.sees("8 messages undone by a reset")
	p.clickText("show")
	p.wait(undone + ".length === 8")
	p.accessible("undone-reset")
	p.click("a[href='/t/" + fork.ID() + "']")
	p.wait("location.pathname === '/t/branch' && document.querySelector('#m1')?.textContent.includes('One.')")
	p.click("button[aria-label='More about this thread']")
	p.sees("Branch: Going back")
}

func TestEditingAndAnsweringAgainLeaveAMark(t *testing.T) {
	s := open(t)
	s.thread("a", "Again", "one", "One.", "two", "Two.")
	p := s.tab("/t/a")
	p.sees("Two.")
	p.do("document.querySelector('#m2').focus()")
	p.keys("e")
	p.wait("document.querySelector('textarea').value === 'two'")
	p.write(" and a half")
	p.keys("Enter")
	p.wait("[...document.querySelectorAll('.message .prose')].at(-1)?.textContent.includes('You said:')")
	p.sees("2 messages undone")
	p.wait("document.querySelector('[aria-label=\"Answer again\"]')")
	p.do("document.querySelector('[aria-label=\"Answer again\"]').click()")
	p.sees("1 message undone")
	p.sees("2 messages undone")
}

func TestAForkShowsWhatWasUndoneInItsPast(t *testing.T) {
	s := open(t)
	th := s.thread("a", "The trunk", "one", "One.", "gone", "Gone.")
	s.must(th.Rewind(t.Context(), 1, "ana"))
	if _, err := th.Ask(t.Context(), "ana", "two"); err != nil {
		t.Fatal(err)
	}
	fork, err := th.Fork(t.Context(), 3, "branch", "The branch")
	s.must(err)
	if _, err := fork.Ask(t.Context(), "ana", "three"); err != nil {
		t.Fatal(err)
	}
	p := s.tab("/t/branch")
	p.sees("2 messages undone")
	p.clickText("show")
	p.wait(undone + ".join() === 'gone,Gone.'")
}
