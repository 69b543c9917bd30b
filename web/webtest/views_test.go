package webtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/model/scripted"
	"github.com/skeinhq/skein/transcript"
)

// needle is what somebody said long ago, once.
const needle = "The spare key hangs behind the zebra painting."

// small are marks so low that a short thread has been cut.
func small() (s skein.Settings) {
	s.Tail.Low, s.Tail.High = 400, 800
	s.Outline.Low, s.Outline.High = 600, 900
	return s
}

// long makes a thread of n messages, with the needle as number 60, and cut.
func (s *site) long(id string, n int) *skein.Thread {
	s.Helper()
	ctx := context.Background()
	t, err := s.engine.Create(ctx, id, "A long one", small())
	s.must(err)
	_, err = t.Import(ctx, bytes.NewReader(spoken(n)), transcript.Options{User: "ana", Agent: "north"})
	s.must(err)
	s.until(func() bool {
		o, err := t.Outline(ctx)
		s.must(err)
		state, err := t.State(ctx)
		s.must(err)
		return o.Backlog == 0 && len(o.Lines) > 3 && state.Indexed >= state.Tip
	})
	return t
}

// spoken is a talk of n messages as another program's log.
func spoken(n int) []byte {
	var b bytes.Buffer
	fmt.Fprintln(&b, `{"type":"session","id":"spoken"}`)
	begin := time.Date(2024, 3, 1, 8, 0, 0, 0, time.UTC)
	for i := range n {
		role, text := "user", fmt.Sprintf("What about point %d of the harbour plan, and who measures the %dth mole?", i, i%17)
		if i%2 == 1 {
			role, text = "assistant", fmt.Sprintf("Point %d stays as it is. Ben measures it on day %d and writes the depth down.", i-1, i%31)
		}
		if i == 60 {
			text = needle
		}
		line, err := json.Marshal(map[string]any{"type": "message", "timestamp": begin.Add(time.Duration(i) * time.Minute), "message": map[string]any{"role": role, "content": text, "stopReason": "stop"}})
		if err != nil {
			panic(err)
		}
		b.Write(append(line, '\n'))
	}
	return b.Bytes()
}

// narrow looks at a view as a telephone shows it: nothing may be wider than it is.
func (t *tab) narrow(name string) {
	t.Helper()
	t.size(360, 720)
	t.wait("innerWidth === 360 && document.querySelector('.view .body')")
	time.Sleep(150 * time.Millisecond) // what is drawn on a canvas follows the new size in the next picture
	wide := eval[[]string](t, `[document.documentElement, ...document.querySelectorAll('.view .body, .view .body > *, .view .body > * > *, .view .body > * > * > *')].filter((e) => getComputedStyle(e).overflowX === 'visible' || e.matches('html, .body')).filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.localName + '.' + e.className + ' ' + e.scrollWidth + ' of ' + e.clientWidth)`)
	if len(wide) > 0 {
		t.Errorf("%s is wider than the screen: %q", name, wide)
	}
	t.accessible(name + "-narrow")
	t.size(1280, 860)
}

// mouse moves the mouse to a place of an element, given as parts of its size, and
// does there what is asked.
func (t *tab) mouse(selector string, x, y float64, kinds ...input.DispatchMouseEventType) {
	t.Helper()
	t.do("document.querySelector(" + quoted(selector) + ").scrollIntoView({block: 'nearest'})")
	at := eval[[]float64](t, "(({left, top, width, height}) => [left, top, width, height])(document.querySelector("+quoted(selector)+").getBoundingClientRect())")
	px, py := at[0]+x*at[2], at[1]+y*at[3]
	if len(kinds) == 0 {
		t.run(chromedp.MouseClickXY(px, py))
	}
	for _, k := range kinds {
		p := input.DispatchMouseEventParams{Type: k, X: px, Y: py}
		if k == input.DispatchMouseEventTypeMouseWheel {
			p.DeltaX, p.DeltaY = 0.01, -240 // a zero would be left out, which the browser refuses
		}
		call(t, input.DispatchMouseEvent, p)
	}
}

// colours counts the colours of a canvas.
func (t *tab) colours(selector string) int {
	t.Helper()
	return eval[int](t, "((c) => new Set(new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer)).size)(document.querySelector("+quoted(selector)+"))")
}

// sent are the texts of a prompt's parts, in their order.
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

// shownPrompt are the texts that the view of a prompt shows, lines put together
// again, and long ones whole.
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

func TestThePictureLeadsFromTheWholeThreadToAMessage(t *testing.T) {
	s := open(t)
	s.long("harbour", 4200)
	p := s.tab("/t/harbour/outline")
	p.wait("document.querySelectorAll('.panel ol.halves > li').length > 3")
	p.sees("Of 4,200 messages the model gets")
	p.wait("document.querySelector('.ruler').textContent === 'all 4,200 messages'")
	time.Sleep(300 * time.Millisecond) // the picture comes to rest
	asked := `performance.getEntriesByType('resource').filter((e) => e.name.includes('/nodes?')).length`
	if n := eval[int](p, asked); n == 0 || n > 24 {
		t.Errorf("%d requests for lines at the first look", n)
	}
	if n := p.colours(".icicle canvas"); n < 6 {
		t.Errorf("the picture has %d colours", n)
	}
	p.accessible("outline")

	// Hover says the line; the wheel zooms; a click opens.
	p.mouse(".icicle canvas", 0.2, 0.05, input.DispatchMouseEventTypeMouseMoved)
	p.wait("document.querySelector('.tip p')?.textContent.length > 20")
	p.mouse(".icicle canvas", 0.2, 0.05, input.DispatchMouseEventTypeMouseWheel)
	p.wait("/^messages .* of 4,200$/.test(document.querySelector('.ruler').textContent)")
	p.mouse(".icicle canvas", 0.2, 0.05)
	p.wait("document.querySelector('.path [aria-current]').textContent === '0 – 4,095' && document.querySelectorAll('.panel .halves button').length === 2")

	// The list below is the same way, down to the message itself.
	for range 12 {
		was := eval[string](p, "document.querySelector('.path [aria-current]').textContent")
		p.do("document.querySelector('.panel .halves button').click()")
		p.wait("document.querySelector('.path [aria-current]').textContent !== " + quoted(was) + " && (document.querySelectorAll('.panel .halves button').length === 2 || document.querySelector('.panel article'))")
	}
	p.wait("document.querySelector('.panel article .text')?.textContent.includes('What about point 0 of the harbour plan')")

	// By keys alone, with what a screen reader hears.
	p.do("document.querySelector('.icicle').focus()")
	p.keys("ArrowRight", "ArrowRight", "ArrowUp")
	p.wait("document.querySelector('sk-outline [aria-live]').textContent.startsWith('Messages 2 to 3, level 1 of 12: ')")
	p.keys("ArrowDown", "ArrowRight")
	p.wait("document.querySelector('sk-outline [aria-live]').textContent.startsWith('Message 3: ')")
	p.keys("Escape")
	p.wait("document.querySelector('.ruler').textContent === 'all 4,200 messages' && !location.search.includes('at=')")

	// What was found is lit up; the next one is opened, marked, and shown where it was said.
	p.do("document.querySelector('.seek input').focus()")
	p.write("zebra painting")
	p.keys("Enter")
	p.wait("document.querySelector('.hits')?.textContent === '1 message'")
	p.wait("[...document.querySelectorAll('.panel [data-found]')].length === 1")
	p.clickText("Later")
	p.wait("[...document.querySelectorAll('.panel article mark')].map((m) => m.textContent).join(' ') === 'zebra painting'")
	p.accessible("outline-found")
	p.narrow("outline")
	p.wait("document.querySelector('.panel article')")
	p.clickText("Open in the conversation")
	p.wait("location.pathname === '/t/harbour/m/60'")
	p.sees(needle)
	if n := eval[int](p, asked); n > 120 {
		t.Errorf("%d requests for lines in all", n)
	}
}

func TestThePictureGrowsWithTheThread(t *testing.T) {
	s := open(t)
	th := s.thread("new", "New")
	p := s.tab("/t/new/outline")
	p.sees("There is nothing to see yet")
	for i := range 5 {
		if _, err := th.Say(context.Background(), "ana", fmt.Sprintf("Thing %d", i)); err != nil {
			t.Fatal(err)
		}
	}
	p.wait("document.querySelector('.ruler')?.textContent === 'all 5 messages'")
	p.sees("The model gets all 5 messages whole")
	p.do("document.querySelector('.icicle').focus()")
	p.keys("ArrowDown", "ArrowDown", "ArrowDown")
	p.wait("document.querySelector('.panel article .text')?.textContent.includes('Thing 0')")
	if err := th.Reset(context.Background(), "ana"); err != nil {
		t.Fatal(err)
	}
	p.sees("There is nothing to see yet")
}

// pressed clicks a button of the wire's and waits until what is said of the step
// holds the words.
func (t *tab) pressed(button, words string) {
	t.Helper()
	b := "[...document.querySelectorAll('sk-wire .controls button')].find((b) => b.textContent.trim() === " + quoted(button) + " && !b.disabled)"
	t.wait(b)
	t.do(b + ".click()")
	t.wait("document.querySelector('sk-wire .step').textContent.includes(" + quoted(words) + ")")
}

func TestTheWireShowsEachOperationAndBreaksNothing(t *testing.T) {
	s := open(t)
	s.thread("talk", "A talk", "one", "two", "three", "four")
	p := s.tab("/t/talk/wire")
	p.size(2000, 900) // room for all blocks
	p.sees("A snapshot: the last 4 messages of 4")
	if got := eval[[]string](p, "[...document.querySelectorAll('sk-wire .controls button')].map((b) => b.textContent.trim())"); !slices.Equal(got, []string{"Nothing earlier", "Cut the link", "Hold"}) {
		t.Errorf("an ordinary thread is offered %q", got)
	}
	p.clickText("Try it on a demonstration thread")
	p.wait("/^\\/t\\/demo-[a-z0-9]+\\/wire$/.test(location.pathname)")
	p.sees("A snapshot: the last 3 messages of 3")
	id := eval[string](p, "location.pathname.split('/')[2]")
	window := func() string {
		return eval[string](p, "[...document.querySelectorAll('.in-window')].map((b) => b.dataset.is[0]).join('')")
	}

	for i := range 4 {
		p.pressed("New entry", fmt.Sprintf("the window holds %d of at most 7", i+4))
	}
	if got := window(); got != "wwwwwww" {
		t.Errorf("the window is %s", got)
	}
	p.pressed("New entry", "its oldest 4 left in one splice")
	p.wait("[...document.querySelectorAll('.in-window')].map((b) => b.dataset.is[0]).join('') === 'nnnnwwww'")
	p.accessible("wire")

	p.pressed("Fetch earlier", "there is nothing earlier")
	p.wait("[...document.querySelectorAll('.in-window')].map((b) => b.dataset.is[0]).join('') === 'hhhhwwww'")
	p.wait("[...document.querySelectorAll('sk-wire .controls button')].some((b) => b.textContent.trim() === 'Nothing earlier' && b.disabled)")

	p.pressed("Cut the link", "The link is cut")
	p.wait("document.querySelector('.counters dd').textContent === 'cut off'")
	p.pressed("New entry", "waits in the store")
	p.pressed("New entry", "waits in the store")
	p.wait("[...document.querySelectorAll('.in-window')].map((b) => b.dataset.is[0]).join('') === 'hhhhwwwwnn'")
	if got := eval[string](p, "document.querySelector('.talk .standing')?.dataset.is ?? document.querySelector('.side .standing').dataset.is"); got != "live" {
		t.Errorf("the page's own link is %q", got)
	}
	p.picture("wire-cut")
	p.pressed("Reconnect", "the snapshot holds just what was missed, 2 messages, and joins what was held")
	p.wait("[...document.querySelectorAll('.in-window')].map((b) => b.dataset.is[0]).join('') === 'hhhhhhhhww'")

	p.pressed("Hold", "On hold")
	p.pressed("New entry", "on hold")
	p.wait("document.querySelectorAll('.in-store').length === 11")
	p.pressed("Let go", "brings what was missed: one message. It overlaps")
	p.pressed("New entry, answered", "came at the end")
	p.wait("document.querySelectorAll('.in-store').length === 13")

	p.pressed("Play", "came at the end")
	p.wait("document.querySelectorAll('.in-store').length > 13 || document.querySelector('.lanes .earlier')")
	p.pressed("Pause", "")
	p.narrow("wire")
	p.wait("document.querySelector('sk-wire .controls')")
	p.pressed("Reset", "undone")
	p.wait("document.querySelectorAll('.in-store').length === 0")
	p.wait("document.querySelector('.log tbody tr [dir]') && document.querySelectorAll('.log tbody tr').length <= 300")
	if got := eval[int](p, "Number(document.querySelector('.counters div:nth-child(4) dd').textContent.match(/^[\\d,]+/)[0].replace(/,/g, ''))"); got < 20 {
		t.Errorf("%d operations were counted", got)
	}
	if got := s.messages("talk"); len(got) != 4 {
		t.Errorf("the thread that was only looked at has become %q", got)
	}
	if got := s.messages(id); len(got) != 0 {
		t.Errorf("the demonstration still holds %q", got)
	}
}

func TestSearchGivesLinesThatOpenInTheirPlace(t *testing.T) {
	s := open(t)
	s.long("harbour", 4200)
	other := s.thread("other", "Zebras", "Is there a zebra?", "No zebras here.", "And now?", "Still none.")
	p := s.tab("/t/harbour")

	// By keys alone: to the search, the words, the first line, open.
	p.wait("document.querySelector('.head .standing')?.dataset.is === 'live'")
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

func TestNothingThatWasSaidRunsInAView(t *testing.T) {
	s := open(t)
	s.actor.answer("attack", scripted.Reply{Text: strings.Join(attacks, "\n")})
	th := s.thread("a", attacks[1]+attacks[0])
	for _, text := range append(slices.Clone(attacks), "attack") {
		if _, err := th.Ask(context.Background(), "ana", text); err != nil {
			t.Fatal(err)
		}
	}
	p := s.tab("/t/a/prompt")
	for view, there := range map[string]string{
		"prompt": ".sections details", "outline?at=0%2B1": ".panel article .text", "wire": ".log tbody tr", "find?q=script&around=1&undone=1": "button.hit",
	} {
		p.run(chromedp.Navigate(s.url() + "/t/a/" + view))
		p.wait("document.querySelector(" + quoted(there) + ")")
		p.do("document.querySelectorAll('.view details').forEach((d) => { d.open = true; })")
		p.do("document.querySelectorAll('button.hit').forEach((b) => b.click())")
		time.Sleep(200 * time.Millisecond)
		if eval[bool](p, "window.hurt === 1") {
			t.Errorf("%s: something that was said has run", view)
		}
		if got := eval[[]string](p, "[...document.querySelectorAll('.view .body :is(script, iframe, object, embed, style, link, meta, img, svg, math, [onerror], [onload]), .view a[href^=javascript]')].map((e) => e.outerHTML.slice(0, 120))"); len(got) > 0 {
			t.Errorf("%s: what was said has become markup: %q", view, got)
		}
	}
	p.sees(strings.Split(attacks[0], ">")[0])
}

func TestViewsComeBackAfterAKilledServer(t *testing.T) {
	s := open(t)
	s.long("harbour", 300)
	for view, alive := range map[string]string{
		"outline": "document.querySelectorAll('.panel ol.halves > li').length > 0 && !document.querySelector('sk-outline .trouble')",
		"wire":    "document.querySelector('.counters dd')?.textContent === 'live'",
		"prompt":  "document.querySelectorAll('.sections details').length > 0",
	} {
		p := s.tab("/t/harbour/" + view)
		p.expect("ERR_CONNECTION_REFUSED", "WebSocket", "Failed to load resource", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET")
		p.wait(alive)
		s.kill()
		p.wait("document.querySelector('.side .standing').dataset.is === 'offline'")
		switch view {
		case "outline": // what is asked for now fails, is said, and is asked for again
			p.do("document.querySelector('.icicle').focus()")
			p.keys("ArrowDown", "ArrowDown")
			p.wait("document.querySelector('.panel .trouble')")
		case "wire":
			p.wait("document.querySelector('.counters dd').textContent === 'cut off'")
		}
		s.start()
		p.wait("document.querySelector('.side .standing').dataset.is === 'live'")
		p.wait(alive)
		th, err := s.engine.Thread(context.Background(), "harbour")
		s.must(err)
		if _, err := th.Ask(context.Background(), "ana", "Are you back in the "+view+"?"); err != nil {
			t.Fatal(err)
		}
		news := map[string]string{
			"outline": "document.querySelector('sk-outline .about').textContent.startsWith('Of ' + (300 + %d) + ' messages')",
			"wire":    "[...document.querySelectorAll('.log td')].some((e) => e.textContent.includes('Are you back in the wire?'))",
			"prompt":  "[...document.querySelectorAll('.sent pre')].at(-1).textContent.includes('Are you back in the prompt?')",
		}[view]
		if strings.Contains(news, "%d") {
			state, err := th.State(context.Background())
			s.must(err)
			news = fmt.Sprintf(news, state.Length-300)
		}
		p.wait(news)
	}
}
