package webtest

import (
	"fmt"
	"testing"

	"github.com/skeinhq/skein/model/scripted"
)

// tabTo goes on by the Tab key to what the selector names, as somebody without a
// mouse does.
func (t *tab) tabTo(selector string) {
	t.Helper()
	is := "document.activeElement?.matches(" + quoted(selector) + ")"
	for range 120 {
		if t.holds(is) {
			return
		}
		t.keys("Tab")
	}
	t.Fatalf("the Tab key leads nowhere to %s", selector)
}

// view opens a view by its key, from wherever nothing is typed.
func (t *tab) view(key, there string) {
	t.Helper()
	t.do("document.querySelector('sk-stream .scroll')?.focus()") // where Escape leads
	t.keys("g", key)
	t.wait(there)
}

func TestThePageIsWalkedByKeysAlone(t *testing.T) {
	s := open(t)
	s.actor.answer("deploy", scripted.Reply{Text: "I will.", Calls: []scripted.Call{{Name: "deploy", Input: []byte(`{"what":"the plan"}`)}}})
	s.long("harbour", 300)
	p := s.tab("/")
	p.wait("document.querySelector('ol.threads a') && document.querySelector('[aria-label=\"New thread\"]')")

	// A new thread, a question, a tool that is asked about, an answer.
	p.keys("n")
	p.wait("document.activeElement.matches('sk-composer textarea') && document.querySelector('.head .standing')?.dataset.is === 'live'")
	p.write("deploy")
	p.keys("Enter")
	p.wait("document.querySelector('.approval')")
	p.press("Tab", 8) // back from the composer to the card
	for range 20 {
		if p.holds("document.activeElement.textContent === 'Allow once'") {
			break
		}
		p.press("Tab", 8)
	}
	p.wait("document.activeElement.textContent === 'Allow once'")
	p.keys("Enter")
	p.wait(answered + "?.textContent.includes('Done: deployed the plan')")
	p.wait("document.activeElement.matches('sk-composer textarea') && document.querySelector('[aria-label=\"Answer again\"]')") // Escape stops a turn that runs

	// What can be done with a message, and what was undone.
	p.keys("Escape", "k")
	p.wait("document.activeElement.matches('article.message')")
	p.keys(".")
	p.wait("document.activeElement.role === 'menuitem'")
	p.keys("Escape")
	p.wait("!document.querySelector('.menu') && document.activeElement.closest('article.message')")
	p.keys("c")
	p.keys("ArrowUp")
	p.wait("document.querySelector('textarea').value === 'deploy' && document.querySelector('.instead')")
	p.tabTo(".instead button")
	p.keys("Enter")
	p.wait("document.querySelector('[data-undone]')")
	p.keys("Escape")
	p.tabTo("[data-undone]")
	p.keys("Enter")
	p.wait(undone + ".length > 1 && document.activeElement.ariaExpanded === 'true'")

	// Each view: by its key, and what is in it by more.
	p.do("document.activeElement.blur()")
	p.keys("/")
	p.wait("document.activeElement.id === 'find-thread'")
	p.write("long one")
	p.keys("Enter")
	p.wait("location.pathname === '/t/harbour' && document.querySelector('#m299')")
	p.view("f", "document.activeElement.matches('sk-find input')")
	p.write("zebra")
	p.wait("document.querySelector('button.hit')")
	p.keys("ArrowDown", "Enter")
	p.wait("document.querySelector('.opened .text')?.textContent.includes('zebra')")
	p.tabTo(".opened footer a")
	p.keys("Enter")
	p.wait("document.activeElement.id === 'm60'")
	p.view("o", "document.querySelector('.panel ol.halves')")
	p.tabTo(".icicle")
	p.keys("ArrowRight", "ArrowDown", "Enter")
	p.wait("document.querySelector('.path [aria-current]')")
	p.keys("Escape")
	p.view("p", "document.querySelector('.sent')")
	p.tabTo(".sections summary")
	p.view("w", "document.querySelector('.log tbody tr')")
	p.tabTo("sk-wire .about button")
	p.keys("Enter")
	p.wait("location.pathname.startsWith('/t/demo-') && document.querySelector('sk-wire .controls .main:not([disabled])')")
	p.sees("A snapshot: the last 3 messages of 3.")
	p.tabTo("sk-wire .controls .main")
	p.keys("Enter")
	p.wait("document.querySelector('.step').textContent.includes('came at the end')")

	// Renamed, deleted, and brought back.
	was := eval[string](p, "location.pathname")
	p.do("document.activeElement.blur()")
	p.tabTo(".head [aria-haspopup=menu]")
	p.keys("Enter")
	p.wait("document.activeElement.textContent.includes('Rename')")
	p.keys("Enter")
	p.wait("document.activeElement.matches('input.title')")
	p.do("document.activeElement.select()")
	p.write("By keys")
	p.keys("Enter")
	p.wait("document.querySelector('.head h1')?.textContent === 'By keys'")
	p.tabTo(".head [aria-haspopup=menu]")
	p.keys("Enter")
	p.wait("document.activeElement.role === 'menuitem'")
	p.keys("End")
	p.wait("document.activeElement.textContent.includes('Delete')")
	p.keys("Enter")
	p.sees("“By keys” is deleted.")
	p.keys("u")
	p.wait(fmt.Sprintf("location.pathname === %q", was))
	p.accessible("walked")
}
