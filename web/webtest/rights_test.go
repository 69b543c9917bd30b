package webtest

import (
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
	if got := eval[string](p, "document.cookie + JSON.stringify({...localStorage, ...sessionStorage})"); got == "" || contains(got, reader) {
		t.Errorf("the token lies where scripts read it: %s", got)
	}
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
