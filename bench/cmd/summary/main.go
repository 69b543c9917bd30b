// Command summary reads the output of the benchmarks and prints one table: what
// was measured, Skein's figure, the figure beside it, their ratio, the target.
// A figure is the best of a benchmark's runs.
//
//	go test -bench . | go run ./cmd/summary
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	if err := summarize(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "summary:", err)
		os.Exit(1)
	}
}

func summarize(in io.Reader, out io.Writer) error {
	figures, err := read(in)
	if err != nil {
		return err
	}
	return write(out, rows, figures)
}
