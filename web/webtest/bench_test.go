package webtest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"github.com/skeinhq/skein/model/scripted"
)

// long opens a site on a thread of so many messages: one that the benchmarks of the
// module bench have made in SKEIN_BENCH_DIR, or, where it is short, one of its own.
func long(b *testing.B, n int) (s *site, id string) {
	b.Helper()
	if n <= 1000 {
		s = open(b)
		th := s.thread("long", "Long")
		for i := range n {
			_, err := th.Say(b.Context(), "bob", fmt.Sprintf("Message %d of a conversation that goes on and on.", i))
			s.must(err)
		}
		return s, "long"
	}
	made, err := filepath.Glob(filepath.Join(os.Getenv("SKEIN_BENCH_DIR"), fmt.Sprintf("skein-%d-*.db", n)))
	if err != nil || len(made) == 0 {
		b.Skipf("there is no thread of %d messages in SKEIN_BENCH_DIR: go run ./cmd/generate in bench makes one", n)
	}
	s = &site{TB: b, path: made[0], address: "127.0.0.1:0", actor: &actor{answers: map[string]scripted.Reply{}}, huge: true}
	s.start()
	b.Cleanup(s.kill)
	for t, err := range s.engine.Threads(b.Context()) {
		s.must(err)
		id = t.ID
	}
	return s, id
}

// numbers are those of an environment variable, or else the ones given.
func numbers(b *testing.B, name string, otherwise ...int) (all []int) {
	b.Helper()
	for field := range strings.SplitSeq(os.Getenv(name), ",") {
		if field == "" {
			return otherwise
		}
		n, err := strconv.Atoi(field)
		if err != nil {
			b.Fatalf("%s: %v", name, err)
		}
		all = append(all, n)
	}
	return all
}

// How late the first message of a thread shows, from the start of the page's load,
// and all that its first screen holds.
func BenchmarkFirstContent(b *testing.B) {
	for _, n := range numbers(b, "SKEIN_BENCH_MESSAGES", 100) {
		b.Run(fmt.Sprintf("messages=%d", n), func(b *testing.B) {
			s, id := long(b, n)
			p := s.tab("/t/" + id)
			p.wait("document.querySelector('.message')")
			call(p, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `
				new MutationObserver((_, o) => {
					if (document.querySelector('.message')?.textContent) {
						o.disconnect();
						requestAnimationFrame(() => window.first = performance.now());
					}
				}).observe(document, {subtree: true, childList: true})`})
			var all []float64
			for b.Loop() {
				p.run(chromedp.Navigate(s.url() + "/t/" + id))
				p.wait("window.first")
				all = append(all, eval[float64](p, "window.first"))
			}
			slices.Sort(all)
			b.ReportMetric(all[len(all)/2], "median-ms")
			b.ReportMetric(all[0], "best-ms")
		})
	}
}

// What a tab holds that follows a thread: after a hundred entries, and after as many
// as are asked for with SKEIN_BENCH_ENTRIES (36,000 are an hour's, ten a second),
// each with an answer's worth of streamed text.
func BenchmarkFollow(b *testing.B) {
	for _, n := range numbers(b, "SKEIN_BENCH_ENTRIES", 1000) {
		b.Run(fmt.Sprintf("entries=%d", n), func(b *testing.B) {
			for b.Loop() {
				s := open(b)
				th := s.thread("a", "Long")
				p := s.tab("/t/a")
				p.wait("document.querySelector('.head .standing')?.dataset.is === 'live'")
				held := map[int]float64{}
				for i := range n {
					e, err := th.Say(b.Context(), "bob", fmt.Sprintf("Entry %d: some **strong** words, `code` and a list.\n\n- one\n- two\n", i))
					s.must(err)
					if (i+1)%50 == 0 { // who lags behind is sent a snapshot, which is less work
						p.wait(fmt.Sprintf("document.querySelector('#m%d')", e.Index))
					}
					if i+1 == 100 || i+1 == n {
						held[i+1] = p.heap()
					}
				}
				b.ReportMetric(held[100], "MB-after-100")
				b.ReportMetric(held[n], "MB-after-all")
				b.ReportMetric(eval[float64](p, "document.querySelectorAll('*').length"), "elements")
			}
		})
	}
}

// heap is what JavaScript holds in the tab, in MB, once what nobody needs is gone.
func (t *tab) heap() float64 {
	t.Helper()
	call(t, performance.Enable, performance.EnableParams{})
	for range 3 {
		call(t, heapprofiler.CollectGarbage, cdp.Empty{})
	}
	for _, m := range call(t, performance.GetMetrics, cdp.Empty{}).Metrics {
		if m.Name == "JSHeapUsedSize" {
			return m.Value / (1 << 20)
		}
	}
	t.Fatal("the browser does not say what JavaScript holds")
	return 0
}

// How much of a tab's main thread an answer of 200 tokens a second takes, and the
// longest time that it could not react.
func BenchmarkStream(b *testing.B) {
	text := strings.Repeat("A paragraph with some **strong** words, `code` and a [link](https://example.com).\n\n- one\n- two\n\n```go\nfunc f() int { return 1 }\n```\n\n", 30)
	for b.Loop() {
		s := open(b)
		s.actor.answer("go", scripted.Reply{Text: text})
		s.actor.at(5*time.Millisecond, 4)
		s.thread("a", "Fast")
		p := s.tab("/t/a")
		p.wait("document.querySelector('.head .standing')?.dataset.is === 'live'")
		call(p, performance.Enable, performance.EnableParams{})
		p.do("window.long = []; new PerformanceObserver((l) => long.push(...l.getEntries().map((e) => e.duration))).observe({type: 'longtask'})")
		before, begun := p.busy(), time.Now()
		p.say("go")
		p.wait(answered)
		b.ReportMetric(100*(p.busy()-before)/time.Since(begun).Seconds(), "%-busy")
		b.ReportMetric(eval[float64](p, "Math.max(0, ...window.long)"), "longest-task-ms")
	}
}

// busy is for how many seconds the tab has worked.
func (t *tab) busy() float64 {
	t.Helper()
	for _, m := range call(t, performance.GetMetrics, cdp.Empty{}).Metrics {
		if m.Name == "TaskDuration" {
			return m.Value
		}
	}
	t.Fatal("the browser does not say how busy it is")
	return 0
}
