package main

import (
	"strings"
	"testing"
)

func TestSummary(t *testing.T) {
	const measured = `goos: linux
BenchmarkTurn/impl=skein-2         	     100	    500000 ns/op	  10 B/op	 2 allocs/op
BenchmarkTurn/impl=skein-2         	     100	    400000 ns/op	  10 B/op	 2 allocs/op
BenchmarkTurn/impl=skein-2         	     100	  90000000 ns/op	  10 B/op	 2 allocs/op
BenchmarkTurn/impl=adk-go-2        	      10	  50000000 ns/op
BenchmarkTurn/impl=langchaingo-2   	      10	   5000000 ns/op
BenchmarkPromptWarm/messages=100-2 	     100	      1000 ns/op
BenchmarkPromptWarm/messages=1000000-2	     100	      1200 ns/op
BenchmarkFan/impl=skein 1 8000 cpu-ns/delivery 12 p99-ms
BenchmarkFan/impl=centrifuge 1 11000 cpu-ns/delivery 10 p99-ms
BenchmarkIdle/impl=skein 1 20 KB/connection
BenchmarkIdle/impl=centrifuge 1 25 KB/connection
BenchmarkTokens/over=sse/impl=skein 1 33 bytes/token
BenchmarkMemory/threads=1000-2     	       1	         1 ns/op	  17.50 KB/thread	 30.5 MB-rss-prompts
PASS
`
	var out strings.Builder
	if err := summarize(strings.NewReader(measured), &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	want := []string{
		"what ours peer ratio target",
		"append, then load for the next turn 400 µs 50 ms adk-go 125× at least 20× faster met",
		"append, then load for the next turn 400 µs 5 ms langchaingo 12.5× at least 20× faster missed",
		"prompt, warm, 1000000 messages 1.2 µs 1 µs 100 messages 1.2× about the same met",
		"25 entries a second to 1,000: processor time each 8 µs 11 µs centrifuge 0.727× at most 0.8× met",
		"25 entries a second to 1,000: 99 of 100 within 12 ms 10 ms centrifuge 1.2×",
		"memory of an idle connection, of 8,000 20 KB 25 KB centrifuge 0.8× at most 0.7× missed",
		"memory of each of 1,000 open threads, KB 17.5",
		"memory of the process with all of them, MB 30.5",
		"bytes for a token of 4, over SSE 33 at most 32 missed",
	}
	if len(lines) != len(want) {
		t.Fatalf("got %d lines, want %d:\n%s", len(lines), len(want), out.String())
	}
	for i := range want {
		if got := strings.Join(strings.Fields(lines[i]), " "); got != want[i] {
			t.Errorf("line %d\ngot  %s\nwant %s", i, got, want[i])
		}
	}
}

func TestSummaryRefusesAValueWithoutAUnit(t *testing.T) {
	if err := summarize(strings.NewReader("BenchmarkTurn/impl=skein-2 100 500 ns/op 10\n"), &strings.Builder{}); err == nil {
		t.Error("no error")
	}
}
