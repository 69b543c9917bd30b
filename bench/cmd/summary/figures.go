package main

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// figures are the measured values by benchmark and unit, one for each run.
type figures map[string][]float64

// processors is what the testing package adds to a benchmark's name.
var processors = regexp.MustCompile(`-\d+$`)

func key(benchmark, unit string) string { return benchmark + " " + unit }

// read takes the benchmarks' lines out of the output of go test: a name, a
// count, then values and units in turn.
func read(in io.Reader) (figures, error) {
	f := figures{}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
			continue
		}
		name := processors.ReplaceAllString(strings.TrimPrefix(words[0], "Benchmark"), "")
		for pair := range slices.Chunk(words[2:], 2) {
			if len(pair) < 2 {
				return nil, fmt.Errorf("%s: the value %q has no unit", words[0], pair[0])
			}
			v, err := strconv.ParseFloat(pair[0], 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", words[0], err)
			}
			f[key(name, pair[1])] = append(f[key(name, pair[1])], v)
		}
	}
	return f, lines.Err()
}

// best gives the smallest of a benchmark's values: what a run takes when the
// machine does little else.
func (f figures) best(benchmark, unit string) (v float64, ok bool) {
	all := f[key(benchmark, unit)]
	if len(all) == 0 {
		return 0, false
	}
	return slices.Min(all), true
}
