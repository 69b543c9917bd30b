package webtest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

func TestTwoTabsAndAKilledServerLoseNothing(t *testing.T) {
	s := open(t)
	s.thread("a", "Shared", "hello", "Hello!")
	one, two := s.tab("/t/a"), s.tab("/t/a")
	for _, p := range []*tab{one, two} {
		p.expect("ERR_CONNECTION_REFUSED", "WebSocket", "Failed to load resource")
	}
	one.say("from one")
	two.wait(answered + "?.textContent.includes('You said: from one')")
	two.say("from two")
	one.wait(answered + "?.textContent.includes('You said: from two')")

	// Each types something of its own, and the server dies.
	one.do("document.querySelector('textarea').focus()")
	one.write("draft of one")
	two.do("document.querySelector('textarea').focus()")
	two.write("draft of two")
	s.kill()
	one.wait("document.querySelector('.head .standing').dataset.is === 'offline'")
	two.wait("document.querySelector('.head .standing').dataset.is === 'offline'")
	one.accessible("offline")

	// What is sent meanwhile waits, over a reload as well.
	two.keys("Enter")
	two.sees("is sent when the connection is back")
	one.do("document.querySelector('textarea').focus()")
	one.keys("Enter")
	one.sees("is sent when the connection is back")
	one.write("half a thought")
	time.Sleep(50 * time.Millisecond)

	s.start()
	for _, p := range []*tab{one, two} {
		p.wait("document.querySelector('.head .standing').dataset.is === 'live'")
		p.wait("!document.querySelector('.waiting')")
		for _, text := range []string{"draft of one", "draft of two"} { // one turn may answer both
			p.wait("[...document.querySelectorAll('.message[data-role=user]:not(.waiting) .prose')].filter((e) => e.textContent.trim() === '" + text + "').length === 1")
		}
		p.wait(answered + "?.textContent.includes('You said: draft of ')")
	}
	all := strings.Join(s.messages("a"), "|")
	for _, text := range []string{"|draft of one", "|draft of two"} {
		if strings.Count(all, text) != 1 {
			t.Errorf("%q is said %d times: %s", text, strings.Count(all, text), all)
		}
	}
	if got := eval[string](one, "document.querySelector('textarea').value"); got != "half a thought" {
		t.Errorf("the draft is %q", got)
	}
}

func TestWhatWasTypedSurvivesAReloadAndAClosedTab(t *testing.T) {
	s := open(t)
	s.thread("a", "Drafts")
	s.thread("b", "Others")
	p := s.tab("/t/a")
	p.wait("document.querySelector('textarea')")
	p.do("document.querySelector('textarea').focus()")
	p.write("a thought\nof two lines")
	p.do("location.reload()")
	p.wait("document.querySelector('textarea')?.value === 'a thought\\nof two lines'")
	p.wait("document.querySelector('a[href=\"/t/b\"]')")
	p.do("document.querySelector('a[href=\"/t/b\"]').click()")
	p.wait("location.pathname === '/t/b' && document.querySelector('textarea')?.value === ''")
	p.do("document.querySelector('textarea').focus()")
	p.write("something else")
	p.do("document.querySelector('a[href=\"/t/a\"]').click()")
	p.wait("location.pathname === '/t/a' && document.querySelector('textarea')?.value === 'a thought\\nof two lines'")
	p.do("location.href = 'about:blank'") // the tab is left
	time.Sleep(200 * time.Millisecond)
	q := s.tab("/t/a")
	q.wait("document.querySelector('textarea')?.value === 'a thought\\nof two lines'")
}

func TestWhatACrashedTabHeldIsFoundByTheNext(t *testing.T) {
	s := open(t)
	s.thread("a", "Crashes")
	p := s.tab("/t/a")
	p.wait("document.querySelector('textarea') && document.querySelector('.head .standing')?.dataset.is === 'live'")
	p.do("document.querySelector('textarea').focus()")
	p.write("typed before the crash")
	ctx, cancel := context.WithTimeout(p.ctx, time.Second)
	defer cancel()
	if _, err := chromedp.Call(ctx, page.Crash, cdp.Empty{}); err == nil {
		t.Fatal("the tab has not crashed")
	}
	q := s.tab("/t/a")
	q.wait("document.querySelector('textarea')?.value === 'typed before the crash'")
	q.wait(inComposer)
	q.keys("Enter")
	q.wait(answered + "?.textContent.includes('You said: typed before the crash')")
	r := s.tab("/t/a")
	r.wait(answered)
	if got := eval[string](r, "document.querySelector('textarea').value"); got != "" {
		t.Errorf("what was said is a draft again: %q", got)
	}
}

func TestAMessageThatIsRefusedIsNotLost(t *testing.T) {
	s := open(t)
	s.thread("a", "Refusals")
	p := s.tab("/t/a")
	p.expect("Failed to load resource", "404")
	p.wait("document.querySelector('.head .standing')?.dataset.is === 'live'")
	th, err := s.engine.Thread(t.Context(), "a")
	s.must(err)
	p.do("document.querySelector('textarea').focus()")
	p.write("into the void")
	s.must(th.Delete(t.Context()))
	p.keys("Enter")
	p.sees("This thread was deleted.")
	p.sees("into the void")
	p.accessible("gone")
}
