package webtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/skeinhq/skein/model/scripted"
)

// off is how far, in pixels, what is seen of a conversation is from its end; settled
// is a promise that is kept once the layout and what follows from it are over.
const (
	off     = "(({scrollTop, clientHeight, scrollHeight}) => Math.round(scrollHeight - scrollTop - clientHeight))(document.querySelector('sk-stream .scroll'))"
	settled = "new Promise((done) => { let n = 6; const next = () => (n-- ? requestAnimationFrame(next) : done(true)); next(); })"
)

// wordy says so much in a thread that it has to be scrolled.
func (s *site) wordy(id, title string) {
	s.Helper()
	said := make([]string, 40)
	for i := range said {
		said[i] = fmt.Sprintf("%d: %s", i, strings.Repeat("words that wrap where there is little room ", i%7+1))
	}
	s.thread(id, title, said...)
}

// wheel turns the mouse's wheel over the conversation.
func (t *tab) wheel(by float64) {
	t.Helper()
	call(t, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseWheel, X: 700, Y: 300, DeltaX: 1, DeltaY: by})
	eval[bool](t, settled)
}

func TestWhoIsAtTheEndStaysThereWhateverTheLayoutDoes(t *testing.T) {
	s := open(t)
	s.wordy("a", "Long")
	p := s.tab("/t/a")
	p.wait("document.querySelector('#m39')")
	p.wait("document.querySelector('.head .standing')?.dataset.is === 'live'")
	stays := func(after string) {
		t.Helper()
		eval[bool](p, settled)
		if got := eval[int](p, off); got > 1 {
			t.Errorf("after %s the end is %d pixels away", after, got)
		}
		if p.holds("document.querySelector('sk-stream .down')") {
			t.Errorf("after %s the newest message is offered as if somebody had left it", after)
		}
	}
	stays("it is opened")
	p.do("document.querySelector('textarea').focus()")
	p.write("one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine")
	stays("the composer has grown")
	p.do("(() => { const f = document.querySelector('textarea'); f.value = ''; f.dispatchEvent(new Event('input', {bubbles: true})); })()")
	stays("the composer has shrunk")
	p.do("document.querySelector('nav.tabs a').click()")
	p.wait("document.querySelector('.view .body > *')")
	stays("a view is beside it")
	p.size(900, 500)
	stays("the window is small")
	p.size(1280, 860)
	p.do("document.querySelector('.view header a').click()")
	p.wait("!document.querySelector('.view')")
	stays("the view is closed")

	// It scrolls a little, as where what is at the end has become lower, and much comes
	// before the page hears of it.
	p.do(`window.pad = document.createElement("div"); pad.style.cssText = "flex: none; height: 300px"; document.querySelector("sk-stream .column").append(pad)`)
	stays("something has come")
	p.do(`document.querySelector("sk-stream .scroll").scrollTop -= 3; pad.style.height = "900px"`)
	stays("more has come")

	// The reader leaves the end, and then the layout leads nobody back to it.
	p.wheel(-600)
	p.wait(off + " > 300")
	p.wait("document.querySelector('sk-stream .down')")
	p.do(`pad.style.height = "1500px"`)
	eval[bool](p, settled)
	if got := eval[int](p, off); got < 700 {
		t.Errorf("who reads elsewhere is led to %d pixels from the end", got)
	}
	for range 4 {
		p.wheel(500)
	}
	p.wait("!document.querySelector('sk-stream .down')")
	p.do(`pad.style.height = "2000px"`)
	stays("the reader is back")
}

func TestAThreadOpensAtItsNewestMessageHoweverLateTheLayoutIs(t *testing.T) {
	s := open(t)
	s.wordy("a", "One")
	s.wordy("b", "Two")
	p := s.tab("/t/a")
	for range 4 {
		for _, id := range []string{"b", "a"} {
			p.click(fmt.Sprintf("a[href='/t/%s']", id))
			p.wait(fmt.Sprintf("location.pathname === '/t/%s' && document.querySelector('#m39')", id))
			p.do("document.documentElement.style.fontSize = document.documentElement.style.fontSize ? '' : '21px'") // as a font that comes late
			eval[bool](p, settled)
			if got := eval[int](p, off); got > 1 {
				t.Fatalf("%s is opened %d pixels above its end", id, got)
			}
		}
	}
}

func TestAThreadWithoutATitleIsCalledByItsId(t *testing.T) {
	s := open(t)
	s.thread("nameless-7", "", "hello", "Hello!")
	p := s.tab("/t/nameless-7")
	p.wait("document.querySelector('.head h1')?.textContent === 'nameless-7'")
	p.wait("document.title === 'nameless-7 · Skein'")
	p.wait("document.querySelector('ol.threads .title')?.textContent === 'nameless-7'")
	p.click("button[aria-label='More about this thread']")
	p.clickText("Rename")
	p.wait("(({ariaLabel, placeholder, value}) => ariaLabel === 'Title' && placeholder === 'nameless-7' && value === '')(document.querySelector('.head input.title'))")
	p.keys("Escape")
	p.click("button[aria-label='More: nameless-7']")
	p.clickText("Rename")
	p.wait("document.querySelector('ol.threads input')?.placeholder === 'nameless-7'")
	p.keys("Escape")
	p.click("button[aria-label='More about this thread']")
	p.clickText("Delete")
	p.sees("“nameless-7” is deleted.")
	p.clickText("Undo")
}

func TestWhoDecidesReadsWhatACallWouldDoInLines(t *testing.T) {
	s := open(t)
	was, becomes := strings.Repeat("an old line that is rather long for a telephone\n", 40), "a new line\n<b>"+strings.Repeat("wide", 60)+"</b>"
	s.actor.answer("change it", scripted.Reply{Text: "I do.", Calls: []scripted.Call{{Name: "edit_file", Input: []byte(`{"path":"notes.txt","old":` + quoted(was) + `,"new":` + quoted(becomes) + `}`)}}})
	s.thread("a", "Changes")
	p := s.tab("/t/a")
	p.size(360, 700)
	p.say("change it")
	p.sees("Removed: 40 lines")
	p.sees("Added: 2 lines")
	if got := eval[string](p, "document.querySelector('.approval [data-piece=added]').textContent"); got != "+ a new line\n+ <b>"+strings.Repeat("wide", 60)+"</b>" {
		t.Errorf("what is added reads %q", got)
	}
	if got := eval[[]string](p, "[...document.querySelectorAll('.approval, .approval *')].filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth && getComputedStyle(e).display !== 'inline' || e.getBoundingClientRect().right > innerWidth).map((e) => e.outerHTML.slice(0, 200))"); len(got) > 0 {
		t.Errorf("at 360 pixels this is cut off: %q", got)
	}
	if !eval[bool](p, "(({clientHeight, scrollHeight, tabIndex}) => clientHeight < 300 && scrollHeight > clientHeight && tabIndex === 0)(document.querySelector('.approval [data-piece=removed]'))") {
		t.Error("many lines do not scroll by themselves")
	}
	if contains(p.text(".approval .question"), "{") || contains(p.text(".approval"), `\n`) {
		t.Errorf("raw JSON is shown: %s", p.text(".approval"))
	}
	p.accessible("change")
	p.clickText("Allow once")
	p.sees("Done: changed notes.txt")
}
