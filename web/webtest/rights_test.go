package webtest

import (
	"slices"
	"testing"
	"time"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/model/scripted"
)

func TestAStrangerShowsATokenAndSeesWhatItAllows(t *testing.T) {
	s := open(t)
	s.thread("a", "Apples", "hello", "Hello!")
	reader, _, err := s.engine.CreateToken(t.Context(), "rita", []string{skein.ScopeRead}, nil)
	s.must(err)
	s.kill()
	s.start() // a server looks for tokens when it starts
	p := s.tab("/t/a", "401", "403", "WebSocket")
	p.sees("This server wants a token")
	p.accessible("signin")
	p.do("document.querySelector('input[name=token]').focus()")
	p.write("wrong")
	p.keys("Enter")
	p.wait("document.querySelector('[role=alert]')")
	p.do("document.querySelector('input[name=token]').select()")
	p.write(reader)
	p.keys("Enter")
	p.sees("Hello!")
	p.wait("document.querySelector('.head .standing').dataset.is === 'live'")
	p.accessible("reader")
	if got := eval[[]string](p, "[...document.querySelectorAll('textarea, [aria-label=\"New thread\"], [aria-label=\"Edit and go back\"], [aria-label^=\"More: \"]')].map((e) => e.outerHTML)"); len(got) > 0 {
		t.Errorf("who may only read is offered %q", got)
	}
	p.sees("You may only read here: the token of rita has no right to write.")
	if got := eval[[]string](p, "[...document.querySelectorAll('.tabs a')].map((e) => e.textContent)"); !slices.Equal(got, []string{"Outline", "Wire", "Find"}) {
		t.Errorf("who may only read is offered the views %q", got)
	}
	p.click("button[aria-label='More about this thread']")
	if got := eval[[]string](p, "[...document.querySelectorAll('[role^=menuitem]')].map((e) => e.textContent.trim())"); !slices.Equal(got, []string{"Save as JSON lines", "Save as Markdown"}) {
		t.Errorf("who may only read is offered %q in the menu", got)
	}
	p.keys("Escape")
	p.size(360, 720)
	p.accessible("reader-narrow")
	p.size(1280, 860)
	p.do("history.pushState(null, '', '/t/a/prompt'); dispatchEvent(new PopStateEvent('popstate'))")
	p.sees("This view is not for you")
	p.do("history.pushState(null, '', '/t/a/wire'); dispatchEvent(new PopStateEvent('popstate'))")
	p.wait("document.querySelector('.log tbody tr')")
	p.misses("demonstration")
	if got := eval[string](p, "document.cookie + JSON.stringify({...localStorage, ...sessionStorage})"); got == "" || contains(got, reader) {
		t.Errorf("the token lies where scripts read it: %s", got)
	}

	// Another token is shown, which may do everything without saying so.
	boss, _, err := s.engine.CreateToken(t.Context(), "ada", []string{skein.ScopeAdmin}, nil)
	s.must(err)
	p.clickText("Show another token")
	p.wait("document.querySelector('input[name=token]')")
	p.do("document.querySelector('input[name=token]').focus()")
	p.write(boss)
	p.keys("Enter")
	p.wait("document.querySelector('textarea') && document.querySelectorAll('.tabs a').length === 4 && document.querySelector('[aria-label=\"New thread\"]')")
	p.wait("document.querySelector('.foot .me')?.textContent === 'ada'")
	p.say("hello again")
	p.wait(answered + "?.textContent.includes('You said: hello again')")
}

func TestATokenForSomeThreadsMakesNone(t *testing.T) {
	s := open(t)
	s.thread("a", "Apples", "hello", "Hello!")
	some, _, err := s.engine.CreateToken(t.Context(), "sam", []string{skein.ScopeRead, skein.ScopeWrite}, []string{"a"})
	s.must(err)
	s.kill()
	s.start()
	p := s.tab("/t/a", "401", "WebSocket")
	p.wait("document.querySelector('input[name=token]')")
	p.do("document.querySelector('input[name=token]').focus()")
	p.write(some)
	p.keys("Enter")
	p.wait("document.querySelector('textarea')")
	if got := eval[[]string](p, "[...document.querySelectorAll('[aria-label=\"New thread\"]')].map((e) => e.outerHTML)"); len(got) > 0 {
		t.Errorf("what is refused is offered: %q", got)
	}
	p.click("button[aria-label='More about this thread']")
	p.sees("Rename")
	p.misses("Fork")
}

func TestThinkingAndLongOutputAreFolded(t *testing.T) {
	s := open(t)
	long := ""
	for range 60 {
		long += "a line of output\n"
	}
	s.actor.answer("look", scripted.Reply{Thinking: "First I think about **it**.", Text: "I look.", Calls: []scripted.Call{{Name: "look", Input: []byte(`{"what":` + quoted(long) + `}`)}}})
	s.thread("a", "Looking")
	p := s.tab("/t/a")
	p.say("look")
	p.wait(answered + "?.textContent.includes('Done: ')")
	p.wait("document.querySelector('details.thinking:not([hidden]) summary')?.textContent.includes('Thinking')")
	if p.holds("document.querySelector('details.thinking').open") {
		t.Error("thinking is not folded")
	}
	p.wait("document.querySelector('.call[data-state=done]')")
	p.wait("[...document.querySelectorAll('.call sk-fold pre')].every((e) => e.textContent.split('\\n').length <= 6)")
	p.accessible("folded")
	p.clickText("Show all 61 lines")
	p.wait("[...document.querySelectorAll('.call sk-fold pre')].some((e) => e.textContent.split('\\n').length >= 60)")
	p.do("document.querySelector('details.thinking summary').click()")
	p.sees("First I think about it.")
}

func TestWhoFollowsForLongHoldsLittle(t *testing.T) {
	s := open(t)
	th := s.thread("a", "Long")
	p := s.tab("/t/a")
	p.wait("document.querySelector('.head .standing')?.dataset.is === 'live'")
	const many = 1500
	for i := range many {
		_, err := th.Say(t.Context(), "bob", "entry "+string(rune('a'+i%26))+" of many, one after the other")
		s.must(err)
	}
	p.wait("document.querySelector('#m1499')")
	if got := eval[int](p, "document.querySelectorAll('sk-message').length"); got > 400 {
		t.Errorf("%d messages are drawn of %d", got, many)
	}
	p.wait("(({scrollTop, clientHeight, scrollHeight}) => scrollHeight - scrollTop - clientHeight < 60)(document.querySelector('sk-stream .scroll'))")
}

func TestAFastAnswerLeavesThePageTime(t *testing.T) {
	s := open(t)
	text := ""
	for range 200 {
		text += "A paragraph with some **strong** words, `code` and a [link](https://example.com).\n\n- one\n- two\n\n```go\nfunc f() int { return 1 }\n```\n\n"
	}
	s.actor.answer("go", scripted.Reply{Text: text})
	s.actor.at(5*time.Millisecond, 20) // 4 tokens each: 800 a second
	s.thread("a", "Fast")
	p := s.tab("/t/a")
	p.wait("document.querySelector('.head .standing')?.dataset.is === 'live'")
	p.do("window.long = []; new PerformanceObserver((l) => long.push(...l.getEntries().map((e) => Math.round(e.duration)))).observe({type: 'longtask'})")
	p.do("window.drawn = 0; new MutationObserver((l) => { for (const m of l) for (const n of m.addedNodes) if (n.localName === 'p' || n.localName === 'ul' || n.localName === 'div') drawn++; }).observe(document.querySelector('sk-stream'), {subtree: true, childList: true})")
	p.say("go")
	p.wait(answered)
	blocks := eval[int](p, "document.querySelectorAll('.prose > *').length")
	drawn := eval[int](p, "window.drawn")
	t.Logf("%d blocks; %d elements added while it was written; long tasks, in ms: %v", blocks, drawn, eval[[]int](p, "window.long"))
	// Each block is drawn when it is finished, the open one once a frame at most, and
	// all once more at the end.
	if most := 3*blocks + 4*int(eval[float64](p, "performance.now()")/16); drawn > most {
		t.Errorf("%d elements were added for %d blocks", drawn, blocks)
	}
}
