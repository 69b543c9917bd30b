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

// shownPrompt are the texts that the view of a prompt shows, lines put together

// again, and long ones whole.

// pressed clicks a button of the wire's and waits until what is said of the step

// holds the words.

func TestNothingThatWasSaidRunsInAView(t *testing.T) {
	s := open(t)
	s.actor.answer("attack", scripted.Reply{Text: strings.Join(attacks, "\n")})
	th := s.thread("a", attacks[1]+attacks[0])
	odd := []string{strings.Repeat("incomprehensibilities", 40), "שלום, מה שלומך? השרת מוכן. 👩‍👩‍👧‍👦", "مرحبا بكم في المحادثة الطويلة", "| a | b |\n|---|---|\n| 1 | " + strings.Repeat("x", 400) + " |"}
	for _, text := range slices.Concat(attacks, odd, []string{"attack"}) {
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
		name, _, _ := strings.Cut(view, "?")
		p.narrow("attacks-" + name)
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
