package webtest

import (
	"fmt"
	"slices"
	"testing"
)

func (t *tab) pressed(button, words string) {
	t.Helper()
	b := "[...document.querySelectorAll('sk-wire .controls button')].find((b) => b.textContent.trim() === " + quoted(button) + " && !b.disabled)"
	t.wait(b)
	t.do(b + ".click()")
	t.wait("document.querySelector('sk-wire .step').textContent.includes(" + quoted(words) + ")")
}

func TestTheWireShowsEachOperationAndBreaksNothing(t *testing.T) {
	s := open(t)
	s.thread("talk", "A talk", "one", "two", "three", "four")
	p := s.tab("/t/talk/wire")
	p.size(2000, 900) // room for all blocks
	p.sees("A snapshot: the last 4 messages of 4")
	if got := eval[[]string](p, "[...document.querySelectorAll('sk-wire .controls button')].map((b) => b.textContent.trim())"); !slices.Equal(got, []string{"Nothing earlier", "Cut the link", "Hold"}) {
		t.Errorf("an ordinary thread is offered %q", got)
	}
	p.clickText("Try it on a demonstration thread")
	p.wait("/^\\/t\\/demo-[a-z0-9]+\\/wire$/.test(location.pathname)")
	p.sees("A snapshot: the last 3 messages of 3")
	id := eval[string](p, "location.pathname.split('/')[2]")
	window := func() string {
		return eval[string](p, "[...document.querySelectorAll('.in-window')].map((b) => b.dataset.is[0]).join('')")
	}

	for i := range 4 {
		p.pressed("New entry", fmt.Sprintf("the window holds %d of at most 7", i+4))
	}
	if got := window(); got != "wwwwwww" {
		t.Errorf("the window is %s", got)
	}
	p.pressed("New entry", "its oldest 4 left in one splice")
	p.wait("[...document.querySelectorAll('.in-window')].map((b) => b.dataset.is[0]).join('') === 'nnnnwwww'")
	p.accessible("wire")

	p.pressed("Fetch earlier", "there is nothing earlier")
	p.wait("[...document.querySelectorAll('.in-window')].map((b) => b.dataset.is[0]).join('') === 'hhhhwwww'")
	p.wait("[...document.querySelectorAll('sk-wire .controls button')].some((b) => b.textContent.trim() === 'Nothing earlier' && b.disabled)")

	p.pressed("Cut the link", "The link is cut")
	p.wait("document.querySelector('.counters dd').textContent === 'cut off'")
	p.pressed("New entry", "waits in the store")
	p.pressed("New entry", "waits in the store")
	p.wait("[...document.querySelectorAll('.in-window')].map((b) => b.dataset.is[0]).join('') === 'hhhhwwwwnn'")
	if got := eval[string](p, "document.querySelector('.talk .standing')?.dataset.is ?? document.querySelector('.side .standing').dataset.is"); got != "live" {
		t.Errorf("the page's own link is %q", got)
	}
	p.picture("wire-cut")
	p.pressed("Reconnect", "the snapshot holds just what was missed, 2 messages, and joins what was held")
	p.wait("[...document.querySelectorAll('.in-window')].map((b) => b.dataset.is[0]).join('') === 'hhhhhhhhww'")

	p.pressed("Hold", "On hold")
	p.pressed("New entry", "on hold")
	p.wait("document.querySelectorAll('.in-store').length === 11")
	p.pressed("Let go", "brings the one message that was missed, and leaves no hole")
	p.pressed("New entry, answered", "came at the end")
	p.wait("document.querySelectorAll('.in-store').length === 13")

	p.pressed("Play", "came at the end")
	p.wait("document.querySelectorAll('.in-store').length > 13 || document.querySelector('.lanes .earlier')")
	p.pressed("Pause", "")
	p.narrow("wire")
	p.wait("document.querySelector('sk-wire .controls')")
	p.pressed("Reset", "undone")
	p.wait("document.querySelectorAll('.in-store').length === 0")
	p.wait("document.querySelector('.log tbody tr [dir]') && document.querySelectorAll('.log tbody tr').length <= 300")
	if got := eval[int](p, "Number(document.querySelector('.counters div:nth-child(4) dd').textContent.match(/^[\\d,]+/)[0].replace(/,/g, ''))"); got < 20 {
		t.Errorf("%d operations were counted", got)
	}
	if got := s.messages("talk"); len(got) != 4 {
		t.Errorf("the thread that was only looked at has become %q", got)
	}
	if got := s.messages(id); len(got) != 0 {
		t.Errorf("the demonstration still holds %q", got)
	}
}
