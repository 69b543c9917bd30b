package webtest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/model/scripted"
	"github.com/skeinhq/skein/thread"
)

// answered is the newest answer that is done.
const answered = "[...document.querySelectorAll('.message[data-role=assistant]:not(.live)')].at(-1)"

func TestSomebodyTalksAndIsAnswered(t *testing.T) {
	s := open(t)
	p := s.tab("/")
	p.sees("Conversations that never end")
	p.accessible("welcome")
	p.clickText("New thread")
	p.wait("location.pathname.startsWith('/t/')")
	p.wait("document.activeElement.localName === 'textarea'")
	s.actor.answer("Ship on the 12th", scripted.Reply{Text: "You said it: **the 12th**."})
	p.say("Ship on the 12th")
	p.wait(answered + "?.querySelector('strong')?.textContent === 'the 12th'")
	if got := p.text(".message[data-role=user] .prose"); got != "Ship on the 12th" {
		t.Errorf("the message reads %q", got)
	}
	if got := eval[string](p, "document.querySelector('textarea').value"); got != "" {
		t.Errorf("the composer still holds %q", got)
	}
	p.accessible("talk")
}

func TestAnAnswerIsDrawnAsItGrowsAndCanBeStopped(t *testing.T) {
	s := open(t)
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, "Paragraph %d of an answer with **some** words.\n\n", i)
	}
	s.actor.answer("go on", scripted.Reply{Thinking: "I think about it.", Text: b.String()})
	s.actor.at(2*time.Millisecond, 8)
	s.thread("long", "A long answer")
	p := s.tab("/t/long")
	p.say("go on")
	p.wait("document.querySelectorAll('.live [data-grows=text] > p').length > 3")
	p.do("window.first = document.querySelector('.live [data-grows=text] > p')")
	p.wait("document.querySelectorAll('.live [data-grows=text] > p').length > 12")
	if !eval[bool](p, "window.first.isConnected && window.first === document.querySelector('.live [data-grows=text] > p')") {
		t.Error("what was drawn of the answer is drawn anew")
	}
	p.wait("document.querySelector('[data-aloud]').textContent.includes('Paragraph')")
	if got := eval[int](p, "document.querySelector('[data-aloud]').children.length"); got > 3 {
		t.Errorf("%d announcements are kept", got)
	}
	p.wait("(({scrollTop, clientHeight, scrollHeight}) => scrollHeight - scrollTop - clientHeight < 60)(document.querySelector('sk-stream .scroll'))")
	p.clickText("Stop")
	p.wait(answered + "?.querySelector('[data-stop=aborted]')")
	p.wait("!document.querySelector('.live')")
	got := s.messages("long")
	if len(got) != 2 || !strings.HasPrefix(b.String(), got[1]) || got[1] == "" {
		t.Errorf("what is kept of the answer is no beginning of it: %d messages, %.80q", len(got), got[len(got)-1])
	}
}

// TestALongAnswerLooksTheSameOnceItIsWhole compares what was drawn while an answer
// grew with what is drawn of it after a reload.
func TestALongAnswerLooksTheSameOnceItIsWhole(t *testing.T) {
	var plain, table, refers strings.Builder
	for i := range 120 {
		fmt.Fprintf(&plain, "## Part %d\n\nText with `code` and a [link](https://example.com/%d).\n\n- one\n\n- two\n  more\n\n```go\nx := %d\n\ny := 1\n```\n\n> quoted\n\n#### Deep\n\n1. a\n2. b\n\n", i, i, i)
		fmt.Fprintf(&table, "| row %d | %s |\n", i, strings.Repeat("wide ", 10))
		fmt.Fprintf(&refers, "Paragraph %d refers to [this][ref].\n\n", i)
	}
	s := open(t)
	s.actor.at(time.Millisecond, 200)
	s.thread("a", "Long answers")
	p := s.tab("/t/a")
	for what, text := range map[string]string{"plain": plain.String() + "The end is open: **bold", "table": "| a | b |\n|---|---|\n" + table.String(), "refers": refers.String() + "[ref]: https://example.com/ref\n"} {
		s.actor.answer(what, scripted.Reply{Text: text})
		was := eval[int](p, "document.querySelectorAll('.message[data-role=assistant]:not(.live)').length")
		p.say(what)
		p.wait(fmt.Sprintf("document.querySelectorAll('.message[data-role=assistant]:not(.live)').length === %d && !document.querySelector('.live')", was+1))
	}
	drawn := "[...document.querySelectorAll('.message[data-role=assistant] .prose')].map((e) => e.innerHTML.replace(/<!--.*?-->/g, '').replace(/\\s+/g, ' '))"
	grown := eval[[]string](p, drawn)
	p.do("location.reload()")
	p.wait("document.querySelectorAll('.message[data-role=assistant]').length === 3")
	anew := eval[[]string](p, drawn)
	for i := range anew {
		if grown[i] != anew[i] {
			at := 0
			for at < min(len(grown[i]), len(anew[i])) && grown[i][at] == anew[i][at] {
				at++
			}
			t.Errorf("answer %d differs from byte %d on:\n  grown %.200q\n  anew  %.200q", i, at, grown[i][max(0, at-40):], anew[i][max(0, at-40):])
		}
	}
}

func TestWhatIsSaidMeanwhileIsQueuedOrHeard(t *testing.T) {
	s := open(t)
	s.actor.answer("begin", scripted.Reply{Text: strings.Repeat("word ", 400)})
	s.actor.at(3*time.Millisecond, 5)
	s.thread("busy", "Busy")
	p := s.tab("/t/busy")
	p.say("begin")
	p.wait("document.querySelector('.live [data-grows=text]')?.textContent.includes('word')")
	p.do("document.querySelector('textarea').focus()")
	p.write("and then this")
	p.keys("Enter")
	p.sees("is answered after this turn")
	p.write("hear me now")
	p.ctrl("Enter")
	p.sees("is heard before the next step")
	p.accessible("queued")
	s.actor.at(0, 100)
	p.wait(answered + "?.textContent.includes('and then this')")
	p.misses("is answered after this turn")
	got := strings.Join(s.messages("busy"), "\n")
	for _, text := range []string{"and then this", "hear me now"} {
		if strings.Count(got, "You said: "+text) > 1 || !strings.Contains(got, text) {
			t.Errorf("%q is not answered once:\n%s", text, got)
		}
	}
}

func TestACallWaitsForSomebodyToDecide(t *testing.T) {
	s := open(t)
	for what, text := range map[string]string{"one": "deploy one", "two": "deploy two", "three": "deploy three", "four": "deploy four"} {
		s.actor.answer(text, scripted.Reply{Text: "I deploy it.", Calls: []scripted.Call{{Name: "deploy", Input: []byte(`{"what":"` + what + `"}`)}}})
	}
	s.thread("ops", "Operations")
	p := s.tab("/t/ops")
	p.say("deploy one")
	p.sees("asks to use")
	p.sees("It changes what others use.")
	p.accessible("approval")
	p.clickText("Allow once")
	p.wait(answered + "?.textContent.includes('Done: deployed one')")

	p.say("deploy two")
	p.clickText("Deny…")
	p.wait("document.activeElement.name === 'reason'")
	p.write("not on a <b>Friday</b>")
	p.keys("Enter")
	p.wait("!document.querySelector('sk-approval')")
	p.wait(answered + "?.textContent.includes('Friday')")
	p.wait("[...document.querySelectorAll('.call[data-state=denied] .state')].map((e) => e.textContent).join() === 'denied'")

	p.say("deploy three")
	p.clickText("Always in this thread")
	p.wait(answered + "?.textContent.includes('Done: deployed three')")
	p.say("deploy four")
	p.wait(answered + "?.textContent.includes('Done: deployed four')")
	if n := s.logged("ops", thread.ApprovalKind); n != 6 {
		t.Errorf("%d entries of approvals, want three asked and three decided", n)
	}
}

func TestThreadsAreFoundRenamedForkedAndDeletedWithAWayBack(t *testing.T) {
	s := open(t)
	s.thread("a", "Apples", "hello", "Hello!")
	s.thread("b", "Bananas", "hello", "Hello!")
	p := s.tab("/t/a")
	p.sees("Bananas")
	p.wait(inComposer)
	p.keys("Escape", "/")
	p.wait("document.activeElement.id === 'find-thread'")
	p.write("BANA")
	p.wait("document.querySelectorAll('ol.threads > li > a').length === 1")
	p.keys("Enter")
	p.wait("location.pathname === '/t/b' && document.querySelector('h1')?.textContent === 'Bananas'")
	p.do("(({dispatchEvent: _}) => { const f = document.querySelector('#find-thread'); f.value = ''; f.dispatchEvent(new Event('input')); })(window)")

	p.click("button[aria-label='More: Bananas']")
	p.clickText("Rename")
	p.wait("document.activeElement.matches('ol.threads input')")
	p.write("Plantains")
	p.keys("Enter")
	p.wait("document.querySelector('h1').textContent === 'Plantains'")
	p.accessible("list")

	p.click("button[aria-label='More about this thread']")
	p.clickText("Fork")
	p.wait("location.pathname !== '/t/b' && document.querySelectorAll('sk-message').length === 2")
	p.click("button[aria-label='More about this thread']")
	p.sees("Branch: Plantains")
	p.clickText("Branch: Plantains")
	p.wait("location.pathname === '/t/b'")

	p.click("button[aria-label='More about this thread']")
	p.clickText("Delete")
	p.wait("location.pathname === '/'")
	p.sees("is deleted.")
	p.clickText("Undo")
	p.wait("document.querySelector('a[href=\"/t/b\"]')")
	if _, err := s.engine.Thread(t.Context(), "b"); err != nil {
		t.Errorf("after the undo: %v", err)
	}
	p.click("button[aria-label='More: Apples']")
	p.clickText("Delete")
	p.wait("!document.querySelector('a[href=\"/t/a\"]')")
	p.click(".notices button[aria-label=Close]")
	s.until(func() bool { _, err := s.engine.Thread(t.Context(), "a"); return thread.CodeOf(err) == thread.NotFound })
}

func TestAMessageIsEditedInItsPlaceAndAnAnswerMadeAgain(t *testing.T) {
	s := open(t)
	s.thread("a", "Edits", "first", "One.", "second", "Two.", "third", "Three.")
	p := s.tab("/t/a")
	p.sees("Three.")
	p.do("document.querySelector('textarea').focus()")
	p.write("half a thought")
	p.do("document.querySelector('#m2').focus()")
	p.keys("e")
	p.wait("document.querySelector('textarea').value === 'second' && document.activeElement.localName === 'textarea'")
	p.wait("document.querySelectorAll('[data-undoes]').length === 4")
	p.accessible("edit")
	p.keys("Escape")
	p.wait("document.querySelector('textarea').value === 'half a thought' && !document.querySelector('[data-undoes]')")
	p.do("document.querySelector('#m2').focus()")
	p.keys("e")
	p.wait("document.querySelector('textarea').value === 'second'")
	p.write("second, better")
	p.keys("Enter")
	p.wait(answered + "?.textContent.includes('You said: ')")
	p.wait("document.querySelector('textarea').value === 'half a thought'")
	if got := strings.Join(s.messages("a"), "|"); got != "first|One.|secondsecond, better|You said: secondsecond, better" && got != "first|One.|second, better|You said: second, better" {
		t.Errorf("the thread is %s", got)
	}
	s.actor.answer(s.messages("a")[2], scripted.Reply{Text: "Another answer."})
	p.wait("document.querySelector('#m3 [aria-label=\"Answer again\"]')")
	p.do("document.querySelector('#m3 [aria-label=\"Answer again\"]').click()")
	p.wait(answered + "?.textContent.includes('Another answer.')")
	if got := s.messages("a"); len(got) != 4 {
		t.Errorf("%d messages after the answer was made again: %q", len(got), got)
	}

	// The first message of all, and going back at once.
	p.do("document.querySelector('#m0').focus()")
	p.keys("e")
	p.clickText("Go back now")
	p.sees("Say something")
	if got := eval[string](p, "document.querySelector('textarea').value"); got != "first" {
		t.Errorf("the composer holds %q", got)
	}
}

func TestFilesArePastedDroppedAndSent(t *testing.T) {
	s := open(t)
	s.thread("a", "Files")
	p := s.tab("/t/a")
	p.wait("document.querySelector('textarea') && document.querySelector('.head .standing')?.dataset.is === 'live'")
	p.do(`window.png = Uint8Array.from(atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="), (c) => c.charCodeAt(0));
		window.give = (kind, ...files) => { const d = new DataTransfer(); for (const f of files) d.items.add(f);
			const e = kind === "paste" ? new ClipboardEvent("paste", {clipboardData: d, bubbles: true, cancelable: true}) : new DragEvent("drop", {dataTransfer: d, bubbles: true, cancelable: true});
			document.querySelector("textarea").dispatchEvent(e); }`)
	p.do(`give("paste", new File([png], "plan.png", {type: "image/png"}))`)
	p.wait("document.querySelectorAll('.blobs li').length === 1 && !document.querySelector('.blobs [data-state]')")
	p.do(`give("drop", new File(["<svg xmlns='http://www.w3.org/2000/svg' onload='window.hurt=1'><script>window.hurt=1</script></svg>"], "<img src=x onerror=window.hurt=1>.svg", {type: "image/svg+xml"}), new File(["a,b\n1,2\n"], "table.csv", {type: "text/csv"}))`)
	p.wait("document.querySelectorAll('.blobs li').length === 3 && !document.querySelector('.blobs [data-state]')")
	p.do("location.reload()") // what is attached stays
	p.wait("document.querySelectorAll('.blobs li').length === 3")
	p.say("see these")
	p.wait("document.querySelector('#m0 .picture img')?.naturalWidth === 1")
	p.wait("document.querySelectorAll('#m0 a.file').length === 2")
	p.accessible("files")
	if eval[bool](p, "window.hurt === 1") {
		t.Error("a file ran as a program")
	}
	svg := eval[[]string](p, "fetch(document.querySelector('#m0 a.file').href).then((r) => [r.headers.get('content-type'), r.headers.get('content-disposition')])")
	if strings.Contains(svg[0], "svg") || strings.Contains(svg[0], "html") || !strings.HasPrefix(svg[1], "attachment") {
		t.Errorf("an SVG is served as %q", svg)
	}
}

func TestEarlierMessagesComeWhereOneReadsAndLinksLeadToThem(t *testing.T) {
	s := open(t)
	th, err := s.engine.Create(t.Context(), "long", "A long talk", skein.Settings{Tail: skein.Marks{Low: 400, High: 800}})
	s.must(err)
	for i := range 160 {
		_, err := th.Ask(t.Context(), "ana", fmt.Sprintf("message %d, in which %s", 2*i, strings.Repeat("something is said ", i%7)))
		s.must(err)
	}
	p := s.tab("/t/long")
	p.wait("document.querySelectorAll('sk-message').length === 50")
	p.sees("270 earlier")
	p.sees("From here on the model gets every message whole")
	p.wait("(({scrollTop, clientHeight, scrollHeight}) => scrollHeight - scrollTop - clientHeight < 60)(document.querySelector('sk-stream .scroll'))")
	p.do("document.querySelector('.divider').scrollIntoView({block: 'center'})")
	p.accessible("divider")
	p.do("document.querySelector('.down').click()")

	place := "(() => { const s = document.querySelector('sk-stream .scroll'); const m = document.querySelector('#m275').getBoundingClientRect(); return Math.round(m.top - s.getBoundingClientRect().top); })()"
	p.do("document.querySelector('#m275').scrollIntoView({block: 'center'})")
	time.Sleep(100 * time.Millisecond)
	was := eval[int](p, place)
	p.do("document.querySelector('[data-fetch=earlier]').click()")
	p.wait("document.querySelectorAll('sk-message').length >= 100")
	time.Sleep(150 * time.Millisecond)
	if is := eval[int](p, place); max(is-was, was-is) > 3 {
		t.Errorf("the message that was read has moved from %d to %d", was, is)
	}

	p.do("history.pushState(null, '', '/t/long/m/40'); dispatchEvent(new PopStateEvent('popstate'))")
	p.wait("document.querySelector('.marked #m40')")
	p.wait("(() => { const b = document.querySelector('#m40').getBoundingClientRect(); return b.top > 0 && b.bottom < innerHeight && document.activeElement.id === 'm40'; })()")
	p.wait("document.querySelector('.hole')?.textContent.includes('messages are not shown here.')")
	p.accessible("hole")
	for range 10 {
		if !eval[bool](p, "!!document.querySelector('[data-fetch=hole]')") {
			break
		}
		p.do("document.querySelector('[data-fetch=hole]')?.click()")
		time.Sleep(200 * time.Millisecond)
	}
	p.wait("!document.querySelector('.hole')")
	order := eval[[]int](p, "[...document.querySelectorAll('article[id^=m]')].map((e) => Number(e.id.slice(1)))")
	for i := 1; i < len(order); i++ {
		if order[i] != order[i-1]+1 {
			t.Fatalf("after %d comes %d", order[i-1], order[i])
		}
	}
	p.expect("404")
	p.do("history.pushState(null, '', '/t/long/m/9999'); dispatchEvent(new PopStateEvent('popstate'))")
	p.sees("There is no message 9,999")
}

func TestEverythingIsDoneByKeys(t *testing.T) {
	s := open(t)
	s.thread("a", "Apples", "hello", "Hello!", "more", "More.")
	p := s.tab("/t/a")
	p.sees("More.")
	p.wait(inComposer)
	p.do("document.activeElement.blur()")
	p.keys("?")
	p.wait("document.querySelector('dialog[open]')")
	p.accessible("keys")
	p.keys("Escape")
	p.wait("!document.querySelector('dialog[open]')")
	p.do("document.querySelector('sk-stream .scroll').focus()")
	p.keys("k")
	p.wait("document.activeElement.id === 'm3'")
	p.keys("k", "k")
	p.wait("document.activeElement.id === 'm1'")
	p.keys(".")
	p.wait("document.activeElement.role === 'menuitem'")
	p.accessible("menu")
	p.keys("Escape")
	p.wait("!document.querySelector('.menu')")
	p.keys("c")
	p.wait("document.activeElement.localName === 'textarea'")
	p.keys("ArrowUp")
	p.wait("document.querySelector('textarea').value === 'more'")
	p.keys("Escape", "Escape")
	p.wait("document.activeElement.id === 'm3'")
	p.keys("n")
	p.wait("location.pathname !== '/t/a' && document.activeElement.localName === 'textarea'")
	p.write("by keys alone")
	p.keys("Enter")
	p.wait(answered + "?.textContent.includes('You said: by keys alone')")
}
