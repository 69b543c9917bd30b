package webtest

import (
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
)

// lit are the texts that the page has marked, without changing them, as found.
const lit = "[...(CSS.highlights.get('found') ?? [])].map((r) => r.toString())"

func TestAHitHasItsDateAndLeadsToItsMarkedWords(t *testing.T) {
	s := open(t)
	s.long("harbour", 300)
	p := s.tab("/t/harbour/find")
	p.sees("A word finds its other forms")
	p.sees("What stands in quotes must be there letter for letter")
	p.wait("document.activeElement.type === 'search' && document.getElementById(document.activeElement.getAttribute('aria-describedby'))?.textContent.includes('quotes')")
	p.accessible("find-hints")
	p.write("zebra paintings")
	p.wait("document.querySelector('button.hit time')?.textContent === '1 Mar 2024' || document.querySelector('button.hit time')?.textContent === 'Mar 1, 2024'")
	p.wait("document.querySelector('#find-hint').hidden")
	p.accessible("find-dates")
	p.do("document.querySelector('button.hit').click()")
	p.clickText("Open in the conversation")
	p.wait("document.querySelector('.marked #m60') && " + lit + ".length === 2")
	if got := eval[[]string](p, lit); !slices.Equal(got, []string{"zebra", "painting"}) {
		t.Errorf("marked is %q", got)
	}
	if p.holds("document.querySelector('#m60 mark')") {
		t.Error("the message was changed to mark its words")
	}
	p.accessible("found-words")
	p.clickText("Newest")
	p.wait(lit + ".length === 0")

	// What stands in quotes is there letter for letter, or is not found.
	hits := "[...document.querySelectorAll('button.hit .at')].map((e) => e.textContent)"
	p.run(chromedp.Navigate(s.url() + "/t/harbour/find?q=" + "%22zebra+hangs%22"))
	p.sees("Nothing was found.") // the words are there, in another order
	p.sees("What stands in quotes must be there letter for letter")
	p.run(chromedp.Navigate(s.url() + "/t/harbour/find?q=" + "%22BEHIND+the+zebra%22"))
	p.wait(hits + ".length === 1 && " + hits + "[0] === '60'")
	p.run(chromedp.Navigate(s.url() + "/search?q=" + "%22the+zebra%22"))
	p.wait(hits + ".length === 1")
	p.run(chromedp.Navigate(s.url() + "/search?q=" + "%22zebra+the%22"))
	p.sees("Nothing was found.")
}

func TestTheOutlineLightsUpWhatIsTyped(t *testing.T) {
	s := open(t)
	s.long("harbour", 300)
	p := s.tab("/t/harbour/outline")
	p.wait("document.querySelector('.seek input') && document.querySelector('.panel')")
	p.do("document.querySelector('.seek input').focus()")
	p.write("zeb")
	p.write("ra")
	p.wait("document.querySelector('.seek .hits')?.textContent.startsWith('1 ')")
	p.wait("location.search === '?q=zebra' && document.activeElement.value === 'zebra'")
	p.clickText("Later")
	p.wait("document.querySelector('.panel article mark')?.textContent === 'zebra'")
	p.clickText("Open in the conversation")
	p.wait("document.querySelector('.marked #m60') && (" + lit + ").includes('zebra')")
	p.do("document.querySelector('a[href=\"/t/harbour/outline\"]').click()")
	p.wait("document.querySelector('.seek input')")
	p.do("document.querySelector('.seek input').focus()")
	p.write("x")
	p.keys("Backspace")
	p.wait("location.search === ''")
}
