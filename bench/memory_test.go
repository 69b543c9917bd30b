package bench_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/skeinhq/skein/bench/long"
)

// BenchmarkMemory is the memory of a process that has many threads open, their
// prompts built and at hand. The time it takes says nothing.
func BenchmarkMemory(b *testing.B) {
	threads := 1000
	if testing.Short() {
		threads = 20
	}
	const messages = 100
	path, err := long.Many(b.Context(), threads, messages, long.Small())
	if err != nil {
		b.Fatal(err)
	}
	hold := filepath.Join(b.TempDir(), "hold")
	build(b, hold, ".", "./cmd/hold")
	b.Run("threads="+strconv.Itoa(threads), func(b *testing.B) {
		var held struct{ Before, Open, Prompts float64 }
		for b.Loop() {
			c := exec.CommandContext(b.Context(), hold, "-db", path, "-threads", strconv.Itoa(threads))
			out, err := c.Output()
			if err != nil {
				b.Fatalf("%v: %v\n%s", c, err, out)
			}
			if err := json.Unmarshal(out, &held); err != nil {
				b.Fatalf("%v: %v\n%s", c, err, out)
			}
		}
		b.ReportMetric(held.Before/1024, "MB-rss-before")
		b.ReportMetric(held.Open/1024, "MB-rss-open")
		b.ReportMetric(held.Prompts/1024, "MB-rss-prompts")
		b.ReportMetric((held.Prompts-held.Before)/float64(threads), "KB/thread")
	})
}
