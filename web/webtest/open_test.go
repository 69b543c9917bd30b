package webtest

import (
	"fmt"
	"testing"
)

const inComposer = "document.activeElement?.matches('sk-composer textarea')"

func TestWhoOpensAThreadWritesAtOnce(t *testing.T) {
	s := open(t)
	s.thread("a", "Apples", "hello", "Hello!")
	s.thread("b", "Bananas", "hello", "Hello!")
	p := s.tab("/t/a")
	p.wait(inComposer)
	p.click("a[href='/t/b']")
	p.wait("location.pathname === '/t/b' && " + inComposer)
	for _, c := range "Write the plan down" {
		p.keys(string(c))
	}
	p.wait("document.querySelector('sk-composer textarea').value === 'Write the plan down'")
	p.keys("Enter")
	p.wait(answered + "?.textContent.includes('You said: Write the plan down')")
	p.wait("location.pathname === '/t/b'")

	// By a key, and not where that would bring a keyboard onto the screen.
	p.do("document.querySelector(\"a[href='/t/a']\").focus()")
	p.keys("Enter")
	p.wait("location.pathname === '/t/a' && " + inComposer)
	p.size(700, 800)
	p.do("history.pushState(null, '', '/t/b'); dispatchEvent(new PopStateEvent('popstate'))")
	p.sees("You said: Write the plan down")
	p.wait("document.querySelector('sk-composer textarea')")
	if p.holds(inComposer) {
		t.Error("the composer has the focus where there is little room")
	}
}

func TestALetterOfAWordMakesNothing(t *testing.T) {
	s := open(t)
	s.thread("a", "Apples", "hello", "Hello!")
	p := s.tab("/t/a")
	p.wait(inComposer + " && document.querySelector('#m0')")
	for _, at := range []string{"#m0", ""} {
		for _, words := range []string{"Write the plan down", "now", "even", "undone"} {
			p.do("document.activeElement.blur()")
			if at != "" {
				p.do("document.querySelector('" + at + "').focus()")
			}
			// All in one go: how fast a test types is not what is tried.
			p.do(fmt.Sprintf("for (const key of [...%q]) document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, composed: true}))", words))
			p.keys("Escape")
			p.do("new Promise((r) => setTimeout(r, 400))")
			if p.holds("location.pathname !== '/t/a' || document.querySelector('.instead') || document.querySelectorAll('ol.threads > li').length > 1") {
				t.Errorf("%q, typed at %q, has made or changed something", words, at)
			}
		}
	}
	p.do("document.activeElement.blur()")
	p.keys("Escape", "n")
	p.wait("location.pathname !== '/t/a' && " + inComposer)
}

func TestKeysWalkTheMessagesFromWhereverNothingIsTyped(t *testing.T) {
	s := open(t)
	s.long("a", 100)
	p := s.tab("/t/a")
	newest := "document.activeElement === [...document.querySelectorAll('article.message')].at(-1)"
	p.wait(inComposer + " && document.querySelector('#m99')")
	p.do("document.activeElement.blur()")
	p.keys("k")
	p.wait(newest)
	p.keys("k")
	p.wait("document.activeElement.id === 'm98'")
	p.keys("c")
	p.wait(inComposer)
	p.keys("Escape")
	p.wait(newest)
	p.keys("k", "j")
	p.wait(newest)
	p.do("document.activeElement.blur()")
	p.keys("Home")
	p.wait("document.querySelector('button.down')")
	p.do("document.activeElement.blur()")
	p.keys("End")
	p.wait("!document.querySelector('button.down') && (({scrollTop, clientHeight, scrollHeight}) => scrollHeight - scrollTop - clientHeight < 60)(document.querySelector('sk-stream .scroll'))")
}

func TestOnlyOnesOwnMessagesAreEdited(t *testing.T) {
	s := open(t)
	th := s.thread("a", "Two", "mine", "Yours.")
	_, err := th.Say(t.Context(), "bob", "this is bob's")
	s.must(err)
	p := s.tab("/t/a")
	p.wait("document.querySelector('#m0 [aria-label=\"Edit and go back\"]') && document.querySelector('#m2')")
	if p.holds("document.querySelector('#m2 [aria-label=\"Edit and go back\"]')") {
		t.Error("the message of another can be edited")
	}
	p.click("#m2 [aria-haspopup=menu]")
	p.wait("document.querySelector('[role=menuitem]')")
	p.misses("Edit and go back")
	p.keys("Escape")
}
