package live_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/skeinhq/skein/bench/live"
)

// A server that is measured is this program in another process.
func TestMain(m *testing.M) {
	if len(os.Args) == 5 && os.Args[1] == "-serve" {
		gather, err := time.ParseDuration(os.Args[4])
		if err == nil {
			err = live.Serve(context.Background(), live.Kind(os.Args[2]), gather)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// What is counted, and not timed, keeps to its bound at any speed: bytes on the
// wire, and memory.
func TestCountsKeepToTheirBounds(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	var out strings.Builder
	l := &live.Load{Seconds: 2, Watched: 50, Idle: 200, Out: &out}
	for _, c := range live.Cases {
		for _, kind := range []live.Kind{live.OfSkein, live.OfCentrifuge} {
			if c.Alone && kind != live.OfSkein {
				continue
			}
			if err := c.Run(l, kind); err != nil {
				t.Fatalf("%s of %s: %v\n%s", c.Name, kind, err, out.String())
			}
		}
	}
	t.Log("\n" + out.String())
	for _, want := range []struct {
		benchmark, unit string
		least, most     float64
	}{
		{"Fan/impl=skein", "%-delivered", 100, 100},
		{"Fan/impl=centrifuge", "%-delivered", 100, 100},
		{"FanGathered/impl=skein", "%-delivered", 90, 100}, // of who lags, a snapshot has the newest
		{"FanGathered/impl=centrifuge", "%-delivered", 100, 100},
		{"Reconnect/impl=skein", "bytes/missed-byte", 1, 1.3},
		{"Stalled/impl=skein", "KB/client", 1, 300},
		{"Tokens/over=websocket/impl=skein", "bytes/token", 4, 26},
		{"Tokens/over=sse/impl=skein", "bytes/token", 4, 32},
	} {
		if got, ok := figure(out.String(), want.benchmark, want.unit); !ok || got < want.least || got > want.most {
			t.Errorf("%s: %v %s, want %v to %v", want.benchmark, got, want.unit, want.least, want.most)
		}
	}
}

// figure finds a figure among lines of benchmarks.
func figure(lines, benchmark, unit string) (float64, bool) {
	for line := range strings.Lines(lines) {
		words := strings.Fields(line)
		if i := slices.Index(words, unit); i > 0 && words[0] == "Benchmark"+benchmark {
			v, err := strconv.ParseFloat(words[i-1], 64)
			return v, err == nil
		}
	}
	return 0, false
}
