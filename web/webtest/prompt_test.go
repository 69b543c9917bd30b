package webtest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/skeinhq/skein"
)

func sent(t *testing.T, p *skein.Prompt) (texts []string) {
	t.Helper()
	data, err := p.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var shape struct {
		Sections []struct {
			Messages []struct{ Parts []struct{ Text string } }
		}
	}
	if err := json.Unmarshal(data, &shape); err != nil {
		t.Fatal(err)
	}
	for _, s := range shape.Sections {
		for _, m := range s.Messages {
			for _, p := range m.Parts {
				texts = append(texts, p.Text)
			}
		}
	}
	return texts
}

const shownPrompt = `(() => {
  [...document.querySelectorAll('.sent button')].filter((b) => b.textContent.startsWith('Show all')).forEach((b) => b.click());
  return new Promise((r) => setTimeout(r, 100)).then(() => [...document.querySelectorAll('.sent pre, .sent ol.lines')].map((e) =>
    e.matches('pre') ? e.textContent : [...e.querySelectorAll('li')].map((l) => l.querySelector('a').textContent + '|' + l.querySelector('span').textContent + '\n').join('')));
})()`

func TestThePromptIsShownAsItWouldBeSentAndAsItWas(t *testing.T) {
	s := open(t)
	ctx := context.Background()
	th, err := s.engine.Create(ctx, "plan", "The plan", small())
	s.must(err)
	for i := range 40 {
		if _, err := th.Ask(ctx, "ana", fmt.Sprintf("Question %d: who measures the mole, and what did Ben write down about the depth of the harbour?", i)); err != nil {
			t.Fatal(err)
		}
	}
	p := s.tab("/t/plan/prompt")
	p.wait("document.querySelectorAll('.sections details').length > 2")
	next, err := th.Prompt(ctx, "")
	s.must(err)
	if got, want := eval[[]string](p, shownPrompt), sent(t, next); !slices.Equal(got, want) {
		t.Errorf("shown is\n%q\nbut sent would be\n%q", got, want)
	}
	p.sees("tokens are the same as in the request before")
	p.wait("document.querySelector('.sums dd').textContent === '40'")
	if n := p.colours(".chart canvas"); n < 5 {
		t.Errorf("the chart has %d colours", n)
	}
	p.accessible("prompt")

	// By keys alone: the request before the last, its prompt, and back.
	p.do("document.querySelector('.chart[role=slider]').focus()")
	p.keys("End")
	p.wait("document.querySelector('.what h2').textContent === 'Request 40'")
	p.keys("ArrowLeft", "ArrowLeft")
	p.wait("document.querySelector('.what h2').textContent === 'Request 38' && location.search.includes('at=')")
	p.wait("document.querySelector('.chart').ariaValueText.startsWith('Request 38:')")
	p.wait("document.querySelectorAll('.sections details').length > 2")
	then, err := th.PromptAt(ctx, eval[int64](p, "Number(new URLSearchParams(location.search).get('at'))"))
	s.must(err)
	p.wait("document.querySelector('.what .total').textContent === " + quoted(fmt.Sprintf("%d tokens", then.Tokens)) + " || document.querySelector('.what .total').textContent.replace(/\\D/g, '') === '" + fmt.Sprint(then.Tokens) + "'")
	if got, want := eval[[]string](p, shownPrompt), sent(t, then); !slices.Equal(got, want) {
		t.Errorf("shown of request 38 is\n%q\nbut sent was\n%q", got, want)
	}
	p.keys("Escape")
	p.sees("The next prompt")

	// With the mouse: a click on the chart shows that request.
	p.mouse(".chart canvas", 0.5, 0.6)
	p.wait("Math.abs(Number(document.querySelector('.what h2').textContent.replace(/\\D/g, '')) - 21) <= 3")
	p.clickText("As a table")
	p.wait("document.querySelector('tr[aria-current] button').textContent === document.querySelector('.what h2').textContent.replace(/\\D/g, '')")
	p.sees("tokens became")
	p.narrow("prompt")

	// What is said meanwhile is new in the next prompt.
	p.run(chromedp.Navigate(s.url() + "/t/plan/prompt"))
	p.wait("document.querySelectorAll('.sections details').length > 2")
	if _, err := th.Ask(ctx, "ana", "And a newer question?"); err != nil {
		t.Fatal(err)
	}
	p.wait("[...document.querySelectorAll('.sent[data-known=new]')].some((e) => e.textContent.includes('You said: And a newer question?')) || [...document.querySelectorAll('.sent')].at(-1).textContent.includes('newer question')")
	p.wait("document.querySelector('.sums dd').textContent === '41'")
}
