package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skeinhq/skein/thread"
)

// prose is Markdown as models write it.
const prose = "The plan has **three** parts, and `cost.txt` names them.\n\n- first the hall\n- then the press\n\n```go\nfor i := range 10 {\n\tfmt.Println(i)\n}\n```\n\n| what | cost |\n|---|---|\n| hall | 1200 |\n\nWhat is left is *small*, and can wait until the week after.\n\n"

// BenchmarkFrameWhileAnAnswerComes draws frames as at 200 tokens a second: seven
// tokens and a typed key between two of them. It tells how long frames took, and
// how often messages were rendered that were finished.
func BenchmarkFrameWhileAnAnswerComes(b *testing.B) {
	for _, length := range []int64{100, 1_000_000} {
		b.Run(fmt.Sprint(length), func(b *testing.B) {
			l := openLong(b, length)
			l.give(answering{sitting: 1, on: true})
			l.m.screen()
			tokens := strings.SplitAfter(strings.Repeat(prose, 40), " ")
			var times []time.Duration
			at := 0
			for b.Loop() {
				piece := strings.Join(tokens[at:min(at+7, len(tokens))], "")
				if at += 7; at >= len(tokens) {
					b.StopTimer()
					l.give(answering{sitting: 1})
					at = 0
					b.StartTimer()
				}
				began := time.Now()
				l.give(pieces("n", "text", piece), keyOf("x"))
				l.m.screen()
				times = append(times, time.Since(began))
			}
			again := 0
			for _, d := range l.m.transcript.held {
				again += max(0, d.rendered-1)
			}
			slices.Sort(times)
			for name, share := range map[string]float64{"p50-ns/frame": 0.5, "p99-ns/frame": 0.99, "max-ns/frame": 1} {
				b.ReportMetric(float64(times[int(share*float64(len(times)-1))]), name)
			}
			b.ReportMetric(float64(again), "finished-rendered-again")
		})
	}
}

// BenchmarkKey types into an open thread.
func BenchmarkKey(b *testing.B) {
	l := openLong(b, 1_000_000)
	for b.Loop() {
		l.press("x")
		l.m.screen()
		if len(l.m.editor.lines[0]) > 200 {
			l.m.editor.set("")
		}
		l.effects = l.effects[:0]
	}
}

// BenchmarkScrollBack scrolls page after page, each of which is read.
func BenchmarkScrollBack(b *testing.B) {
	l := openLong(b, 1_000_000)
	for b.Loop() {
		l.press("pgup")
		l.serve()
		l.loads = l.loads[:0]
		l.m.screen()
		if l.m.transcript.top.index < 1000 {
			l.press("esc")
			l.serve()
		}
	}
}

// BenchmarkFirstScreen draws what an opened thread shows first.
func BenchmarkFirstScreen(b *testing.B) {
	for _, length := range []int64{60, 1_000_000} {
		b.Run(fmt.Sprint(length), func(b *testing.B) {
			page := pageOf(max(0, length-pageMessages), length)
			for b.Loop() {
				s := play(b, 80, 24)
				s.give(opened{sitting: 1, id: "launch", length: length, page: page, status: status{length: length, tip: length, cached: -1}})
				s.m.screen()
			}
		})
	}
}

// BenchmarkFinishedAnswer renders a long answer at once.
func BenchmarkFinishedAnswer(b *testing.B) {
	text := strings.Repeat(prose, 40)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s := play(b, 80, 24)
		s.opens(numbered(user("go on"), agent(thread.Text(text)))...)
		s.m.screen()
	}
}
