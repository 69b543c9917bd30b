package webtest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skeinhq/skein/model/scripted"
)

// sideways gives what reaches beyond the screen's sides, but for what lies in
// something that scrolls or cuts by itself and fits.
const sideways = `(() => {
	const fits = (e) => { const b = e.getBoundingClientRect(); return b.right <= innerWidth + 1 && b.left >= -1; };
	const within = (e) => { for (let p = e.parentElement; p; p = p.parentElement) if (getComputedStyle(p).overflowX !== 'visible' && fits(p)) return p !== document.body && p !== document.documentElement; return false; };
	const out = [document.documentElement, document.body].filter((e) => e.scrollWidth > innerWidth).map((e) => e.localName + ' is ' + e.scrollWidth + ' wide');
	for (const e of document.querySelectorAll('body *')) {
		if (e.checkVisibility() && !fits(e) && !within(e) && !e.closest('.unseen, .skip')) out.push(e.outerHTML.slice(0, 160));
	}
	for (const e of document.querySelectorAll('sk-stream .scroll, sk-stream .column, .view .body, sk-threads, .threads, .message, .composer, .head, .notices')) {
		if (e.checkVisibility() && e.scrollWidth > e.clientWidth + 1) out.push(e.className + ' ' + e.localName + ' scrolls sideways: ' + e.scrollWidth + ' of ' + e.clientWidth);
	}
	return out;
})()`

// covered gives the texts of buttons of the composer that something lies upon.
const covered = `[...document.querySelectorAll('.composer button, .composer textarea, .composer label')].filter((e) => {
	const b = e.getBoundingClientRect();
	const at = document.elementFromPoint(b.left + b.width / 2, b.top + b.height / 2);
	return !at || !(e === at || e.contains(at) || at.contains(e));
}).map((e) => e.textContent.trim() || e.localName)`

// screens are from a telephone to a large screen.
var screens = []struct{ width, height int64 }{{360, 740}, {768, 1024}, {1280, 860}, {2560, 1440}}

// full is a site with something of everything in it.
func full(t *testing.T) *site {
	t.Helper()
	s := open(t)
	s.long("harbour", 300)
	th := s.thread("rich", "Everything that a message can hold, and a title that is rather long", "Show me what you can write.", strings.Join([]string{
		"# What an answer holds", "Words, **strong** and *soft* ones, `code`, and a [link](https://example.com/a/rather/long/path).",
		"- one\n- two\n  - three", "> Somebody said so.", "```go\nfunc main() { fmt.Println(\"" + strings.Repeat("long ", 30) + "\") }\n```",
		"| Place | Boats | Depth |\n|---|---:|---:|\n| Harbour | 12 | 4.5 m |\n| " + strings.Repeat("averylongword", 12) + " | 3 | 2 m |",
		"مرحبا بكم في المحادثة الطويلة، هذا نص من اليمين إلى اليسار.", "👩‍👩‍👧‍👦 and " + strings.Repeat("incomprehensibilities", 20),
	}, "\n\n"))
	if _, err := th.Ask(t.Context(), "ana", "And now?"); err != nil {
		t.Fatal(err)
	}
	s.must(th.Rewind(t.Context(), 1, "ana"))
	s.actor.answer("deploy", scripted.Reply{Text: "I will.", Calls: []scripted.Call{{Name: "deploy", Input: []byte(`{"what":"the harbour plan, all of it, to where everybody sees it"}`)}}})
	s.thread("asks", "A tool is asked about")
	s.thread("demo-abc123", "Demonstration", "Entry 1: the tide turns at six.", "Yes.")
	for i := range 8 {
		s.thread(fmt.Sprintf("t%d", i), []string{"Tide tables", "محادثة عن الميناء القديم والسفن", "A boat with a name that goes on and on and on until nobody reads it any more", "Brot"}[i%4])
	}
	return s
}

func TestEveryViewFitsEveryScreen(t *testing.T) {
	s := full(t)
	p := s.tab("/t/asks")
	p.say("deploy")
	p.wait("document.querySelector('.approval')")
	views := []struct{ name, path, there string }{
		{"list", "/", "document.querySelectorAll('ol.threads > li').length > 8"},
		{"talk", "/t/rich", "document.querySelector('.undone') && document.querySelector('#m1 .table')"},
		{"asks", "/t/asks", "document.querySelector('.approval') && document.querySelector('.composer .row').textContent.includes('Stop')"},
		{"prompt", "/t/rich/prompt", "document.querySelector('.sums') && document.querySelector('.sections details')"},
		{"outline", "/t/harbour/outline", "document.querySelectorAll('.panel ol.halves > li').length > 3"},
		{"wire", "/t/demo-abc123/wire", "document.querySelector('.log tbody tr')"},
		{"find", "/t/harbour/find?q=zebra&around=1", "document.querySelector('button.hit time')?.textContent"},
		{"search", "/search?q=zebra+point", "document.querySelector('sk-search .in')"},
	}
	for _, screen := range screens {
		p.size(screen.width, screen.height)
		for _, v := range views {
			p.do("history.pushState(null, '', " + quoted(v.path) + "); dispatchEvent(new PopStateEvent('popstate'))")
			p.wait("location.pathname + location.search === " + quoted(v.path) + " && innerWidth === " + fmt.Sprint(screen.width))
			p.wait(v.there)
			eval[bool](p, settled)
			if got := eval[[]string](p, sideways); len(got) > 0 {
				t.Errorf("%s at %d pixels is too wide:\n%s", v.name, screen.width, strings.Join(got, "\n"))
			}
			if got := eval[[]string](p, covered); len(got) > 0 && p.holds("document.querySelector('.composer')?.checkVisibility()") {
				t.Errorf("%s at %d pixels: something lies upon %q", v.name, screen.width, got)
			}
			if rows := eval[int](p, "new Set([...document.querySelectorAll('.composer .row > :is(button, label)')].filter((e) => e.checkVisibility()).map((e) => Math.round(e.getBoundingClientRect().top / 4))).size"); rows > 1 {
				t.Errorf("%s at %d pixels: the composer's buttons stand in %d rows", v.name, screen.width, rows)
			}
			name := fmt.Sprintf("at-%d-%s", screen.width, v.name)
			if screen.width == 360 {
				p.accessible(name)
				continue
			}
			for _, scheme := range []string{"dark", "light"} {
				p.prefers(scheme)
				p.picture(name + "-" + scheme)
			}
		}
	}
}

func TestWordsForAWhileLeaveTheComposerFree(t *testing.T) {
	s := open(t)
	s.wordy("a", "Long")
	s.thread("b", "Other", "one", "One.")
	s.actor.at(20*time.Millisecond, 1)
	p := s.tab("/t/a")
	for _, screen := range screens {
		p.size(screen.width, screen.height)
		p.wait("document.querySelector('.head .standing')?.dataset.is === 'live'")
		p.do("document.querySelector('textarea').focus()")
		p.write("one\ntwo\nthree\nfour")
		for range 3 {
			p.do("document.querySelector('[aria-label=Copy]').click()")
		}
		p.wait("document.querySelector('.notices > div')")
		eval[bool](p, settled)
		if got := eval[[]string](p, covered); len(got) > 0 {
			t.Errorf("at %d pixels words lie upon %q", screen.width, got)
		}
		if !eval[bool](p, "(({bottom, left, right}) => bottom <= document.querySelector('sk-composer').getBoundingClientRect().top && left >= 0 && right <= innerWidth)(document.querySelector('.notices > div').getBoundingClientRect())") {
			t.Errorf("at %d pixels words are not above the composer", screen.width)
		}
		p.picture(fmt.Sprintf("words-%d", screen.width))
		p.do("document.querySelectorAll('.notices [aria-label=Close]').forEach((b) => b.click())")
		p.do("(() => { const f = document.querySelector('textarea'); f.value = ''; f.dispatchEvent(new Event('input', {bubbles: true})); })()")
	}
}
