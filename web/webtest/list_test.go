package webtest

import (
	"testing"

	"github.com/skeinhq/skein/model/scripted"
)

func TestTheRowOfTheOpenThreadSaysWhatItsViewSays(t *testing.T) {
	s := open(t)
	s.actor.answer("deploy", scripted.Reply{Text: "I will.", Calls: []scripted.Call{{Name: "deploy", Input: []byte(`{"what":"the plan"}`)}}})
	s.thread("a", "Apples", "hello", "Hello!")
	p := s.tab("/t/a")
	p.wait("document.querySelector(\"ol.threads a[href='/t/a']\") && document.querySelector('.head .standing')?.dataset.is === 'live'")
	// The list is not fetched again: what its row says comes from the view.
	p.do("{ const real = fetch; window.fetch = (what, how) => /\\/v1\\/threads(\\?|$)/.test(what.url ?? String(what)) ? new Promise(() => {}) : real(what, how); }")
	was := eval[string](p, "document.querySelector('ol.threads time').dateTime")
	p.say("deploy")
	p.wait("document.querySelector('.approval')")
	p.wait("document.querySelector('ol.threads .waits')")
	p.clickText("Allow once")
	p.wait(answered + "?.textContent.includes('Done: deployed the plan')")
	p.wait("!document.querySelector('ol.threads .waits, ol.threads .runs')")
	p.wait("Date.parse(document.querySelector('ol.threads time').dateTime) > Date.parse(" + quoted(was) + ")")
}

func TestAThreadIsTitledByWhatIsFirstSaidInIt(t *testing.T) {
	s := open(t)
	s.thread("bare", "", "hello", "Hello!")
	p := s.tab("/")
	title := func(is string) {
		t.Helper()
		p.wait("document.querySelector('.head h1')?.textContent === " + quoted(is) + " && document.querySelector('ol.threads [aria-current=page] .title')?.textContent === " + quoted(is))
	}
	p.click("[aria-label='New thread']")
	p.wait("location.pathname !== '/' && " + inComposer)
	p.say("Plan the harbour festival, with all the boats that are painted red")
	title("Plan the harbour festival, with all the boats that are…")
	p.wait(answered + " && document.querySelector('[aria-label=\"Answer again\"]')")
	first := eval[string](p, "location.pathname")
	p.say("and now something else")
	p.wait(answered + "?.textContent.includes('You said: and now something else')")
	title("Plan the harbour festival, with all the boats that are…")
	p.click("button[aria-label='More about this thread']")
	p.clickText("Fork")
	p.wait("location.pathname !== " + quoted(first))
	title("Fork of Plan the harbour festival, with all the boats that are…")

	// What somebody has titled, and what others made, stays as it is.
	p.click("[aria-label='New thread']")
	p.wait("!document.querySelector('.head h1').textContent.includes('Plan') && " + inComposer)
	id := eval[string](p, "location.pathname.slice(3)")
	th, err := s.engine.Thread(t.Context(), id)
	s.must(err)
	s.must(th.Title(t.Context(), "By another", "bob"))
	p.say("hello")
	p.wait(answered + "?.textContent.includes('Hello!')")
	title("By another")
	p.do("history.pushState(null, '', '/t/bare'); dispatchEvent(new PopStateEvent('popstate'))")
	p.wait("document.querySelector('#m1')")
	p.say("more")
	p.wait(answered + "?.textContent.includes('You said: more')")
	title("bare")
}
