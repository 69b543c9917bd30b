package webtest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
)

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

	// Two fingers zoom, too.
	was := p.text(".ruler")
	at := eval[[]float64](p, "(({left, top, width}) => [left + width / 2, top + 40])(document.querySelector('.icicle canvas').getBoundingClientRect())")
	fingers := func(kind input.DispatchTouchEventType, apart float64) {
		one, two := 1.0, 2.0
		points := []*input.TouchPoint{{X: at[0] - apart, Y: at[1], ID: &one}, {X: at[0] + apart, Y: at[1], ID: &two}}
		if kind == input.DispatchTouchEventTypeTouchEnd {
			points = []*input.TouchPoint{}
		}
		call(p, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points})
	}
	fingers(input.DispatchTouchEventTypeTouchStart, 20)
	for apart := 25.0; apart < 140; apart += 15 {
		fingers(input.DispatchTouchEventTypeTouchMove, apart)
	}
	fingers(input.DispatchTouchEventTypeTouchEnd, 0)
	p.wait("document.querySelector('.ruler').textContent !== " + quoted(was))

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
