package webtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/model/scripted"
)

// paused has the page note how long it takes from one picture to the next, in ms.
const paused = `window.pauses = []; (() => { let last = performance.now(); const tick = () => { const now = performance.now(); pauses.push(now - last); last = now; requestAnimationFrame(tick); }; requestAnimationFrame(tick); })(); true`

func TestManyThreadsWithNamesOfAllKindsFit(t *testing.T) {
	s := open(t)
	names := []string{
		strings.Repeat("a name that goes on ", 20), strings.Repeat("unbreakable", 40), strings.Repeat("محادثة طويلة جدا عن الميناء القديم ", 12),
		"עברית \u202e and turned", "👩‍👩‍👧‍👦" + strings.Repeat("🚢", 60), "<b>bold</b>", "ordinary",
	}
	for i := range 200 {
		_, err := s.engine.Create(t.Context(), fmt.Sprintf("t%03d", i), names[i%len(names)], skein.Settings{})
		s.must(err)
	}
	p := s.tab("/t/t195")
	for _, screen := range screens {
		p.size(screen.width, screen.height)
		for _, path := range []string{"/", "/t/t002", "/t/t001", "/t/t003/outline"} {
			p.do("history.pushState(null, '', " + quoted(path) + "); dispatchEvent(new PopStateEvent('popstate'))")
			p.wait("document.querySelector('.head h1, .side .threads li')")
			eval[bool](p, settled)
			if got := eval[[]string](p, sideways); len(got) > 0 {
				t.Errorf("%s at %d pixels is too wide:\n%s", path, screen.width, strings.Join(got, "\n"))
			}
		}
	}
	p.size(1280, 860)
	p.do("history.pushState(null, '', '/'); dispatchEvent(new PopStateEvent('popstate'))")
	p.wait("document.querySelectorAll('ol.threads > li').length === 101") // a page, and the button for older ones
	p.clickText("Older threads")
	p.wait("document.querySelectorAll('ol.threads > li').length === 200")
	p.accessible("many")
	p.do("document.querySelector('#find-thread').focus()")
	p.write("ordinary")
	p.wait("[...document.querySelectorAll('ol.threads .title')].every((e) => e.textContent === 'ordinary')")
}

func TestMillionsOfCharactersThatArePastedAreKept(t *testing.T) {
	s := open(t)
	s.thread("a", "Large", "one", "One.")
	p := s.tab("/t/a")
	p.wait("document.querySelector('.head .standing')?.dataset.is === 'live'")
	p.do("document.querySelector('textarea').focus()")
	p.do(paused)
	// As a browser does with what is pasted: it puts the text in, and tells of one input.
	p.do(`(() => {
		const text = "A line of what somebody has pasted.\n".repeat(145636); // 5 MB
		const data = new DataTransfer();
		data.setData("text/plain", text);
		const field = document.querySelector("textarea");
		if (!field.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}))) return;
		field.setRangeText(text, 0, 0, "end");
		field.dispatchEvent(new InputEvent("input", {bubbles: true, inputType: "insertFromPaste"}));
	})()`)
	p.wait("document.querySelector('.composer .blobs li')?.textContent.includes('5.2 MB')")
	p.sees("too long to be said")
	p.accessible("pasted")
	p.do("pauses.length = 0")
	p.write("See what I have pasted.")
	p.wait("pauses.length > 5")
	t.Logf("the longest pause between two pictures was %.0f ms", eval[float64](p, "Math.max(...pauses)"))
	p.do("location.reload()")
	p.wait("document.querySelector('textarea')?.value === 'See what I have pasted.' && document.querySelector('.composer .blobs li')?.textContent.includes('5.2 MB')")

	// What is long, and not too long, stays a text; it is kept once typing rests, or the page is left.
	p.wait("document.querySelector('.head .standing')?.dataset.is === 'live'")
	p.do(`(() => { const f = document.querySelector("textarea"); f.focus(); f.setRangeText("words and ".repeat(100_000), 0, f.value.length, "end"); f.dispatchEvent(new InputEvent("input", {bubbles: true})); })()`)
	p.write("more")
	if got := eval[[]int](p, `["words and more", document.querySelector("textarea").value].map((text) => {
		const [field, set] = [document.querySelector("textarea"), Storage.prototype.setItem];
		let kept = 0;
		Storage.prototype.setItem = function (...what) { kept++; return set.apply(this, what); };
		field.value = text;
		field.dispatchEvent(new InputEvent("input", {bubbles: true}));
		Storage.prototype.setItem = set;
		return kept;
	})`); got[0] != 1 || got[1] != 0 {
		t.Errorf("with a key stroke a short text is kept %d times, and a long one %d times", got[0], got[1])
	}
	p.do("location.reload()")
	p.wait("document.querySelector('textarea')?.value.length === 1000004 && document.querySelector('textarea').value.endsWith('and more')")
}

func TestHeavyMessagesLeaveThePageAlive(t *testing.T) {
	s := open(t)
	var table strings.Builder
	table.WriteString("| n | place | depth |\n|---|---|---|\n")
	for i := range 10_000 {
		fmt.Fprintf(&table, "| %d | mole %d | %d m |\n", i, i%17, i%9)
	}
	s.actor.answer("table", scripted.Reply{Text: table.String()})
	s.actor.answer("word", scripted.Reply{Text: strings.Repeat("x", 100_000)})
	s.actor.at(0, 4000)
	s.thread("a", "Heavy", "word", strings.Repeat("x", 100_000), "table", table.String(), strings.Repeat("y", 100_000), "Long, too.")
	p := s.tab("/t/a")
	for _, screen := range screens {
		p.size(screen.width, screen.height)
		p.wait("document.querySelector('#m5')")
		eval[bool](p, settled)
		for _, m := range []string{"m1", "m3", "m4"} {
			p.do("document.getElementById('" + m + "').scrollIntoView()")
			eval[bool](p, settled)
			if got := eval[[]string](p, sideways); len(got) > 0 {
				t.Errorf("%s at %d pixels is too wide:\n%.2000s", m, screen.width, strings.Join(got, "\n"))
			}
		}
	}
	p.size(1280, 860)
	if rows := eval[int](p, "document.querySelectorAll('#m3 tr').length"); rows > 600 {
		t.Errorf("%d rows of the table are drawn at once", rows)
	}
	p.sees("10,000 rows")
	p.clickText("Show more rows")
	p.wait("document.querySelectorAll('#m3 tr').length > 600")

	// It is typed in while all of it is there, and what is typed is there soon.
	p.do("document.querySelector('textarea').focus()")
	p.do(paused)
	for _, key := range strings.Split("typed beside it", "") {
		p.keys(key)
	}
	p.wait("document.querySelector('textarea').value === 'typed beside it'")
	t.Logf("the longest pause between two pictures was %.0f ms", eval[float64](p, "pauses.slice(1).reduce((a, b) => Math.max(a, b), 0)"))
}
