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
