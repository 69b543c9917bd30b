package window_test

import (
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/skeinhq/skein/internal/window"
	"github.com/skeinhq/skein/thread"
)

// stepsOfARun is how many steps a run of the soak has.
const stepsOfARun = 200

// TestEveryClientHoldsWhatTheStoreSays plays a thread that is written to in all
// ways, and clients that view it over links that break, and compares each of them
// with the view built from scratch.
func TestEveryClientHoldsWhatTheStoreSays(t *testing.T) {
	if s := os.Getenv("SKEIN_SOAK"); s != "" {
		steps, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("SKEIN_SOAK: %v", err)
		}
		for name, n := range map[string]int{"rapid.checks": max(1, steps/stepsOfARun), "rapid.steps": stepsOfARun} {
			if err := flag.Set(name, strconv.Itoa(n)); err != nil {
				t.Fatal(err)
			}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(bubbled{t}, play)
	})
}

// bubbled is a test in a bubble of time, where nobody may ask for a deadline.
type bubbled struct{ rapid.TB }

func play(t *rapid.T) {
	w := newWorld(t)
	defer func() { w.end() }()
	var clients []*client
	viewers := []string{"", "", "ana", "bob"}
	tails := []int{1, 2, 3, 5, 50}
	defer func() {
		for _, c := range clients {
			if c.watch != nil {
				c.watch.Close()
			}
		}
	}()
	how := func(t *rapid.T) way {
		return rapid.SampledFrom([]way{atOnce, atOnce, atOnce, later, never}).Draw(t, "how")
	}
	pick := func(t *rapid.T) *client {
		if len(clients) == 0 {
			t.Skip("nobody views")
		}
		return clients[rapid.IntRange(0, len(clients)-1).Draw(t, "client")]
	}
	connected := func(t *rapid.T) *client {
		c := pick(t)
		if c.watch == nil {
			t.Skip("the link is down")
		}
		return c
	}
	flush := func() { // what is late comes before what a turn does
		for _, b := range w.late {
			w.rooms.Publish(b)
		}
		w.late = nil
	}
	sync := func(c *client) {
		if c.watch == nil {
			c.connect()
		}
		if c.holds {
			c.watch.Hold(false)
			c.holds = false
		}
		c.drain()
		c.check()
	}
	actions := map[string]func(*rapid.T){
		"say": func(t *rapid.T) {
			m := w.text("hello")
			if rapid.IntRange(0, 4).Draw(t, "private") == 0 {
				m.Audience = []string{"cem", "ana"}
			}
			w.say(how(t), m)
		},
		"say much": func(t *rapid.T) {
			for range rapid.SampledFrom([]int{3, 10, 130}).Draw(t, "n") {
				w.say(atOnce, w.text("more"))
			}
		},
		"say something long": func(t *rapid.T) {
			w.say(how(t), w.text(strings.Repeat("é", rapid.SampledFrom([]int{100_000, 200_000}).Draw(t, "runes"))))
		},
		"publish late": func(t *rapid.T) {
			if len(w.late) == 0 {
				t.Skip("nothing is late")
			}
			i := rapid.IntRange(0, len(w.late)-1).Draw(t, "which")
			w.rooms.Publish(w.late[i])
			w.late = append(w.late[:i], w.late[i+1:]...)
		},
		"turn": func(t *rapid.T) {
			if w.state().Turn != 0 {
				t.Skip("one is open")
			}
			w.begin(rapid.SampledFrom([]way{atOnce, atOnce, later}).Draw(t, "how"))
		},
		"piece": func(t *rapid.T) {
			if w.state().Turn == 0 {
				t.Skip("no turn is open")
			}
			kind := rapid.SampledFrom([]string{"text", "text", "text", "thinking", "retry"}).Draw(t, "kind")
			w.piece(kind, rapid.SampledFrom([]string{"so ", "été ", "\"q\"\n", "漢字", strings.Repeat("x", 300)}).Draw(t, "text"))
		},
		"answer": func(t *rapid.T) {
			if w.answer == nil {
				t.Skip("none is being made")
			}
			w.finish(rapid.Bool().Draw(t, "ends"))
		},
		"cut": func(t *rapid.T) {
			s := w.state()
			flush()
			w.cut(how(t), rapid.Int64Range(0, s.Length).Draw(t, "boundary"))
		},
		"rewind": func(t *rapid.T) {
			s := w.state()
			if s.Length == 0 {
				t.Skip("nothing to keep")
			}
			near := max(0, s.Length-rapid.SampledFrom([]int64{2, 6, 100}).Draw(t, "far"))
			flush()
			w.rewind(rapid.SampledFrom([]way{atOnce, atOnce, never}).Draw(t, "how"), rapid.Int64Range(near, s.Length-1).Draw(t, "to"))
		},
		"reset": func(t *rapid.T) {
			if rapid.IntRange(0, 3).Draw(t, "really") != 0 {
				t.Skip("seldom")
			}
			flush()
			w.reset(rapid.SampledFrom([]way{atOnce, never}).Draw(t, "how"))
		},
		"title": func(t *rapid.T) {
			w.commit(how(t), nil, event(thread.TitleKind, thread.Entry{Title: &thread.Title{Title: w.text("title").Parts[0].Text}}))
		},
		"restart": func(t *rapid.T) {
			if rapid.IntRange(0, 5).Draw(t, "really") != 0 {
				t.Skip("seldom")
			}
			w.end()
			for _, c := range clients {
				c.lose()
			}
			w.late, w.answer = nil, nil
			w.start()
		},
		"another client": func(t *rapid.T) {
			if len(clients) == 4 {
				t.Skip("enough")
			}
			o := window.Options{Tail: rapid.SampledFrom(tails).Draw(t, "tail"), Viewer: rapid.SampledFrom(viewers).Draw(t, "viewer")}
			if rapid.Bool().Draw(t, "slow") {
				o.Interval = 100 * time.Millisecond
			}
			clients = append(clients, w.client(string(rune('A'+len(clients))), o))
		},
		"read": func(t *rapid.T) {
			if c := connected(t); !c.holds {
				c.read()
			}
		},
		"lose": func(t *rapid.T) { connected(t).lose() },
		"hold": func(t *rapid.T) {
			c := connected(t)
			c.holds = !c.holds
			c.watch.Hold(c.holds)
		},
		"fetch earlier": func(t *rapid.T) {
			c := pick(t)
			if before := c.replica.Earlier(); before != 0 {
				c.fetch(before+1, rapid.IntRange(1, 10).Draw(t, "limit"))
			}
		},
		"fetch a hole": func(t *rapid.T) {
			c := pick(t)
			if holes := c.replica.Holes(); len(holes) > 0 {
				h := holes[rapid.IntRange(0, len(holes)-1).Draw(t, "hole")]
				c.fetch(h.Before, rapid.IntRange(1, 10).Draw(t, "limit"))
			}
		},
		"time": func(t *rapid.T) {
			time.Sleep(time.Duration(rapid.SampledFrom([]int{5, 40, 300}).Draw(t, "ms")) * time.Millisecond)
		},
		"sync": func(t *rapid.T) {
			c := pick(t)
			w.settle()
			sync(c)
		},
	}
	t.Repeat(actions)
	w.settle()
	for _, c := range clients {
		sync(c)
	}
}
