// Command hold opens many threads of a database and says how much memory the
// process takes for them, in kilobytes resident: before, with the threads open,
// and with the prompt of each built and kept at hand.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/bench/long"
)

func main() {
	db := flag.String("db", "", "the database `file`")
	threads := flag.Int("threads", 1000, "how many threads")
	flag.Parse()
	held, err := hold(context.Background(), *db, *threads)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(held)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "hold:", err)
		os.Exit(1)
	}
}

// held is the resident memory at three moments, in kilobytes.
type held struct {
	Before, Open, Prompts int
}

func hold(ctx context.Context, db string, n int) (h held, err error) {
	e, err := long.Open(ctx, db)
	if err != nil {
		return h, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if h.Before, err = resident(); err != nil {
		return h, err
	}
	threads := make([]*skein.Thread, n)
	for i := range threads {
		if threads[i], err = e.Thread(ctx, long.ManyID(i)); err != nil {
			return h, err
		}
		if _, err := threads[i].State(ctx); err != nil {
			return h, err
		}
	}
	if h.Open, err = resident(); err != nil {
		return h, err
	}
	for _, t := range threads {
		if _, err := t.Prompt(ctx, ""); err != nil {
			return h, err
		}
	}
	h.Prompts, err = resident()
	runtime.KeepAlive(threads)
	return h, err
}

// resident reads the process's resident memory, with garbage given back.
func resident() (kilobytes int, err error) {
	debug.FreeOSMemory()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			return strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")))
		}
	}
	return 0, errors.New("the system does not say how much memory is resident")
}
