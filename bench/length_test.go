package bench_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/bench/long"
	"github.com/skeinhq/skein/bench/talk"
	"github.com/skeinhq/skein/thread"
)

// lengths are the lengths at which Skein is measured beside itself.
func lengths(b *testing.B) []int64 {
	b.Helper()
	list := os.Getenv("SKEIN_BENCH_MESSAGES")
	switch {
	case list != "":
	case testing.Short():
		list = "100,1000"
	default:
		list = "100,1000,10000"
	}
	var all []int64
	for _, field := range strings.Split(list, ",") {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			b.Fatalf("SKEIN_BENCH_MESSAGES: %v", err)
		}
		all = append(all, n)
	}
	return all
}

// atEachLength runs a benchmark on the threads of package long.
func atEachLength(b *testing.B, run func(b *testing.B, path string, n int64)) {
	for _, n := range lengths(b) {
		b.Run(fmt.Sprintf("messages=%d", n), func(b *testing.B) {
			path, err := long.File(b.Context(), n, long.Small())
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			run(b, path, n)
		})
	}
}

// opened is an engine with one thread.
type opened struct {
	engine *skein.Engine
	thread *skein.Thread
}

func openLong(b *testing.B, path string, n int64) opened {
	b.Helper()
	e, err := long.Open(b.Context(), path)
	if err != nil {
		b.Fatal(err)
	}
	t, err := e.Thread(b.Context(), long.ID(n))
	if err != nil {
		b.Fatal(err)
	}
	return opened{e, t}
}

func (o opened) close(b *testing.B) {
	b.Helper()
	if err := o.engine.Close(); err != nil {
		b.Fatal(err)
	}
}

func (o opened) prompt(b *testing.B) {
	b.Helper()
	if _, err := o.thread.Prompt(b.Context(), ""); err != nil {
		b.Fatal(err)
	}
}

// undo takes back what a benchmark said after the thread's n messages, and with
// it every cut that was made since. The engine that said it is closed by then: it
// may have been cutting the thread, and nobody can rewind what another one cuts.
func undo(b *testing.B, path string, n int64) {
	b.Helper()
	o := openLong(b, path, n)
	defer o.close(b)
	if err := o.thread.Rewind(context.WithoutCancel(b.Context()), n-1, "bench"); err != nil {
		b.Fatal(err)
	}
}

// weights reports what the prompt is made of, so that one can see that lengths
// are compared at equal weights.
func (o opened) weights(b *testing.B) {
	b.Helper()
	outline, err := o.thread.Outline(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(long.Weight(outline)), "outline-tokens")
	b.ReportMetric(float64(outline.Tail.Weight), "tail-tokens")
}

// BenchmarkOpen opens a database and a thread in it.
func BenchmarkOpen(b *testing.B) {
	atEachLength(b, func(b *testing.B, path string, n int64) {
		for b.Loop() {
			o := openLong(b, path, n)
			b.StopTimer()
			o.close(b)
			b.StartTimer()
		}
	})
}

// BenchmarkPromptWarm builds the prompt again, from what the engine has at hand.
func BenchmarkPromptWarm(b *testing.B) {
	atEachLength(b, func(b *testing.B, path string, n int64) {
		o := openLong(b, path, n)
		defer o.close(b)
		o.prompt(b)
		for b.Loop() {
			o.prompt(b)
		}
		o.weights(b)
	})
}

// BenchmarkPromptCold builds the first prompt of an engine.
func BenchmarkPromptCold(b *testing.B) {
	atEachLength(b, func(b *testing.B, path string, n int64) {
		o := openLong(b, path, n)
		for b.Loop() {
			b.StopTimer()
			o.close(b)
			o = openLong(b, path, n)
			b.StartTimer()
			o.prompt(b)
		}
		o.weights(b)
		o.close(b)
	})
}

// BenchmarkViewWarm opens a window, as the first who views a thread in an engine
// that runs, and takes its first frame.
func BenchmarkViewWarm(b *testing.B) {
	atEachLength(b, func(b *testing.B, path string, n int64) {
		o := openLong(b, path, n)
		defer o.close(b)
		o.view(b)
		for b.Loop() {
			o.view(b)
		}
	})
}

// BenchmarkViewCold opens the first window of an engine.
func BenchmarkViewCold(b *testing.B) {
	atEachLength(b, func(b *testing.B, path string, n int64) {
		o := openLong(b, path, n)
		for b.Loop() {
			b.StopTimer()
			o.close(b)
			o = openLong(b, path, n)
			b.StartTimer()
			o.view(b)
		}
		o.close(b)
	})
}

func (o opened) view(b *testing.B) {
	b.Helper()
	w, err := o.thread.View(b.Context(), skein.ViewOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Next(b.Context()); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkZoomWarm opens lines that were opened before, as a reader does who
// follows an outline down and back: 256 lines of every width, from anywhere in the
// thread.
func BenchmarkZoomWarm(b *testing.B) {
	atEachLength(b, func(b *testing.B, path string, n int64) {
		o := openLong(b, path, n)
		defer o.close(b)
		spans := spansOf(n)
		var known []thread.Span
		for range 256 {
			known = append(known, spans())
		}
		for _, s := range known {
			o.zoom(b, s)
		}
		i := 0
		for b.Loop() {
			o.zoom(b, known[i%len(known)])
			i++
		}
	})
}

// BenchmarkZoomAnywhere opens lines that nobody has opened yet, in an engine that
// is running: of a long thread, each lies on pages that the store has not read.
func BenchmarkZoomAnywhere(b *testing.B) {
	atEachLength(b, func(b *testing.B, path string, n int64) {
		o := openLong(b, path, n)
		defer o.close(b)
		spans := spansOf(n)
		for b.Loop() {
			o.zoom(b, spans())
		}
	})
}

// BenchmarkZoomOneOfMany opens lines that nobody has opened yet, each in one of a
// thousand threads of a thousand messages. Beside it, [BenchmarkZoomAnywhere] in one
// thread of a million shows what the length alone costs: both databases are as
// large, and what is opened lies on pages that were not read yet. It takes minutes to
// make, and runs where a thread of a million messages is measured too.
func BenchmarkZoomOneOfMany(b *testing.B) {
	const threads, n = 1000, 1000
	if !slices.Contains(lengths(b), threads*n) {
		b.Skip("SKEIN_BENCH_MESSAGES names no thread of 1000000 messages to compare with")
	}
	b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
		path, err := long.Many(b.Context(), threads, n, long.Small())
		if err != nil {
			b.Fatal(err)
		}
		e, err := long.Open(b.Context(), path)
		if err != nil {
			b.Fatal(err)
		}
		var all [threads]opened
		for i := range all {
			t, err := e.Thread(b.Context(), long.ManyID(i))
			if err != nil {
				b.Fatal(err)
			}
			all[i] = opened{e, t}
		}
		defer all[0].close(b)
		spans, r := spansOf(n), rand.New(rand.NewPCG(2, 2))
		b.ReportAllocs()
		for b.Loop() {
			all[r.IntN(threads)].zoom(b, spans())
		}
	})
}

// BenchmarkZoomCold opens one line in an engine that has just started.
func BenchmarkZoomCold(b *testing.B) {
	atEachLength(b, func(b *testing.B, path string, n int64) {
		o := openLong(b, path, n)
		spans := spansOf(n)
		for b.Loop() {
			b.StopTimer()
			o.close(b)
			o = openLong(b, path, n)
			b.StartTimer()
			o.zoom(b, spans())
		}
		o.close(b)
	})
}

func (o opened) zoom(b *testing.B, s thread.Span) {
	b.Helper()
	if _, err := o.thread.Zoom(b.Context(), "ana", s, 1); err != nil {
		b.Fatalf("%v: %v", s, err)
	}
}

// spansOf gives spans at random, all within the first three quarters of the
// thread, where every line is built. The widths are the same at each length.
func spansOf(n int64) func() thread.Span {
	r := rand.New(rand.NewPCG(1, 1))
	return func() thread.Span {
		width := int64(1) << r.IntN(5)
		return thread.Span{ID: r.Int64N(n*3/4/width) * width, N: width}
	}
}

// BenchmarkSay stores one message, synced to disk.
func BenchmarkSay(b *testing.B) {
	atEachLength(b, func(b *testing.B, path string, n int64) {
		defer undo(b, path, n)
		o := openLong(b, path, n)
		defer o.close(b)
		said := talk.New(3)
		for b.Loop() {
			o.say(b, said.Next().Text)
		}
	})
}

func (o opened) say(b *testing.B, text string) {
	b.Helper()
	if _, err := o.thread.Say(b.Context(), "ana", text); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkNextTurn is all that stands between what the user says and the call
// of the model, as in BenchmarkTurn.
func BenchmarkNextTurn(b *testing.B) {
	atEachLength(b, func(b *testing.B, path string, n int64) {
		defer undo(b, path, n)
		o := openLong(b, path, n)
		defer o.close(b)
		o.prompt(b)
		said := talk.New(4)
		for b.Loop() {
			o.say(b, said.Next().Text)
			o.prompt(b)
			b.StopTimer()
			if err := o.thread.Reply(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	})
}

// BenchmarkAsk is a whole turn of the echo model, cuts and lines included.
func BenchmarkAsk(b *testing.B) {
	atEachLength(b, func(b *testing.B, path string, n int64) {
		defer undo(b, path, n)
		o := openLong(b, path, n)
		defer o.close(b)
		said := talk.New(5)
		for b.Loop() {
			if _, err := o.thread.Ask(b.Context(), "ana", said.Next().Text); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkCommand runs `skein prompt` as a process of its own, from its start
// to its end.
func BenchmarkCommand(b *testing.B) {
	skein := filepath.Join(b.TempDir(), "skein")
	build(b, skein, "..", "./cmd/skein")
	atEachLength(b, func(b *testing.B, path string, n int64) {
		var most int64
		for b.Loop() {
			c := exec.CommandContext(b.Context(), skein, "--db", path, "prompt", long.ID(n))
			out, err := c.CombinedOutput()
			if err != nil || len(out) == 0 {
				b.Fatalf("%v: %v\n%s", c, err, out)
			}
			if used, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
				most = max(most, used.Maxrss)
			}
		}
		b.ReportMetric(float64(most)/1024, "MB-rss")
	})
}

// build compiles a command.
func build(b *testing.B, to, dir, pkg string) {
	b.Helper()
	c := exec.CommandContext(b.Context(), "go", "build", "-o", to, pkg)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		b.Fatalf("%v: %v\n%s", c, err, out)
	}
}
