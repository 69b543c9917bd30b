package webtest

import (
	"context"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
)

func TestSearchGivesLinesThatOpenInTheirPlace(t *testing.T) {
	s := open(t)
	s.long("harbour", 4200)
	other := s.thread("other", "Zebras", "Is there a zebra?", "No zebras here.", "And now?", "Still none.")
	p := s.tab("/t/harbour")

	// By keys alone: to the search, the words, the first line, open.
	p.wait("document.querySelector('.head .standing')?.dataset.is === 'live'")
	p.wait(inComposer)
	p.do("document.activeElement.blur()")
	p.keys("g", "f")
	p.wait("document.activeElement.type === 'search' && document.activeElement.closest('sk-find')")
	p.write("zebra painting")
	p.wait("document.querySelectorAll('button.hit').length >= 1 && document.querySelector('.sum')")
	p.wait("document.querySelector('button.hit').textContent.includes('zebra')")
	p.keys("ArrowDown")
	p.wait("document.activeElement === document.querySelector('button.hit')")
	p.keys("Enter")
	p.wait("document.activeElement.ariaExpanded === 'true' && document.querySelector('.opened .text')?.textContent.trim() === " + quoted(needle))
	if got := eval[[]string](p, "[...document.querySelectorAll('.opened mark')].map((m) => m.textContent)"); !slices.Equal(got, []string{"zebra", "painting"}) {
		t.Errorf("marked is %q", got)
	}
	p.clickText("What was it about?")
	p.wait("document.querySelector('.around')?.textContent.includes('56+8')")
	p.accessible("find")
	p.narrow("find")
	p.clickText("Show in the outline")
	p.wait("location.pathname === '/t/harbour/outline' && location.search === '?at=60%2B1'")

	// Over all threads.
	p.run(chromedp.Navigate(s.url() + "/search?q=zebra"))
	p.sees("in 2 threads")
	p.wait("document.querySelectorAll('sk-search .in').length === 2")
	p.accessible("search")
	p.narrow("search")
	p.clickText("only here")
	p.wait("location.pathname.endsWith('/find') && location.search === '?q=zebra'")

	// What was undone is found where it is asked for.
	if err := other.Rewind(context.Background(), 1, "ana"); err != nil {
		t.Fatal(err)
	}
	p.run(chromedp.Navigate(s.url() + "/t/other/find?q=none"))
	p.sees("Nothing was found.")
	p.do("[...document.querySelectorAll('.options label')].find((l) => l.textContent.includes('undone')).click()")
	p.wait("document.querySelector('button.hit .at')?.textContent === 'undone'")
	p.do("document.querySelector('button.hit').click()")
	p.wait("document.querySelector('.opened .text')?.textContent === 'Still none.'")
}
