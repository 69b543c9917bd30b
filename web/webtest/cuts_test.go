package webtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// marked are the numbers of the cuts that the conversation marks, and told the ones of
// the ledger's table, each with its time.
const (
	marked = "[...document.querySelectorAll('.cut-made')].flatMap((c) => (c.localName === 'details' ? [...c.querySelectorAll('li')] : [c])).map((c) => c.querySelector('a').textContent.match(/\\d+/)[0] + ' ' + c.querySelector('time').dateTime)"
	told   = "[...document.querySelectorAll('.tables table:last-child tbody tr')].map((r) => r.cells[0].textContent.trim() + ' ' + r.querySelector('time').dateTime).reverse()"
)

func TestEveryCutIsMarkedWithItsTimeAndTheLedgerSaysTheSame(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	th, err := s.engine.Create(ctx, "cuts", "A talk that is cut", small())
	s.must(err)
	for i := range 24 {
		if _, err := th.Ask(ctx, "ana", fmt.Sprintf("%d: %s", i, strings.Repeat("a word that takes room ", 12))); err != nil {
			t.Fatal(err)
		}
	}
	p := s.tab("/t/cuts")
	p.size(1400, 900)
	p.wait("document.querySelector('.head .standing')?.dataset.is === 'live' && /since cut \\d+, \\d/.test(document.querySelector('.divider')?.textContent)")
	number := eval[int](p, "Number(document.querySelector('.divider').textContent.match(/since cut (\\d+), \\d/)[1])")
	if number < 3 {
		t.Fatalf("%d cuts are too few to say anything", number)
	}
	p.wait(fmt.Sprintf("%s.length === %d", marked, number))
	was := eval[[]string](p, marked)
	for i, m := range was {
		if !strings.HasPrefix(m, fmt.Sprintf("%d 20", i+1)) {
			t.Errorf("mark %d says %q", i+1, m)
		}
	}
	p.sees("became lines for the model")
	p.do("document.querySelector('.cut-made').scrollIntoView({block: 'center'})")
	p.accessible("cuts")

	p.click("a[href='/t/cuts/prompt']")
	p.clickText("As a table")
	p.wait("document.querySelectorAll('.tables table').length === 2")
	p.wait(told + "[0]?.startsWith('1 20')")
	if got := eval[[]string](p, told); !slices.Equal(got, was) {
		t.Errorf("the ledger tells of the cuts\n%q\nthe conversation of\n%q", got, was)
	}
	if got := eval[string](p, "[...document.querySelectorAll('.sums div')].find((d) => d.textContent.startsWith('Cuts')).querySelector('dd').textContent"); got != fmt.Sprint(number) {
		t.Errorf("the ledger counts %s cuts of %d", got, number)
	}
	p.accessible("cuts-table")
}

func TestCutsOfAThreadThatWasReadInAreOneTruth(t *testing.T) {
	s := open(t)
	s.long("harbour", 300)
	p := s.tab("/t/harbour")
	p.wait("document.querySelector('details.cut-made, p.cut-made')")
	p.wait("/since cut \\d+, \\d/.test(document.querySelector('.divider')?.textContent)")
	number := eval[string](p, "document.querySelector('.divider').textContent.match(/since cut (\\d+)/)[1]")
	p.do("document.querySelectorAll('details.cut-made').forEach((d) => { d.open = true; })")
	p.wait("(" + marked + ").at(-1)?.startsWith(" + quoted(number+" 20") + ")")
	p.accessible("cuts-import")
	p.click("a[href='/t/harbour/outline']")
	p.sees("since cut " + number)
	p.click("a[href='/t/harbour/prompt']")
	p.sees(number + " cuts were made as messages came in.")
	p.say("And the mole?")
	p.wait("document.querySelector('.sums')")
	p.wait("Number([...document.querySelectorAll('.sums div')].find((d) => d.textContent.startsWith('Cuts')).querySelector('dd').textContent) >= " + number)
	p.clickText("As a table")
	p.wait("[...document.querySelectorAll('.tables table:last-child td:first-child')].at(-1)?.textContent.trim() === " + quoted("1 to "+number))
}
