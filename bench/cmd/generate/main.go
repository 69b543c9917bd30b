// Command generate makes a database with one long thread, through Skein's own
// import. The same seed gives the same thread.
//
//	go run ./cmd/generate -db long.db -messages 1000000
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/bench/long"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	db := flag.String("db", "", "the database `file`; kept among the benchmarks' files where none is named")
	messages := flag.Int64("messages", 1_000_000, "how many messages")
	seed := flag.Uint64("seed", long.Seed, "which conversation")
	id := flag.String("thread", "", "the thread's id (long-N)")
	small := flag.Bool("small", false, "low marks, so that a thread of a hundred messages has been cut")
	flag.Parse()
	settings := skein.Settings{}
	if *small {
		settings = long.Small()
	}
	if *id == "" {
		*id = long.ID(*messages)
	}
	return generate(ctx, *db, *id, *messages, *seed, settings)
}

func generate(ctx context.Context, db, id string, messages int64, seed uint64, s skein.Settings) error {
	begun := time.Now()
	if db == "" {
		path, err := long.File(ctx, messages, s)
		if err != nil {
			return err
		}
		db, id = path, long.ID(messages)
	} else if err := long.New(ctx, db, id, messages, seed, s); err != nil {
		return err
	}
	took := time.Since(begun)
	return tell(ctx, db, id, took)
}

// tell says what is in the file.
func tell(ctx context.Context, db, id string, took time.Duration) error {
	e, err := long.Open(ctx, db)
	if err != nil {
		return err
	}
	defer e.Close()
	t, err := e.Thread(ctx, id)
	if err != nil {
		return err
	}
	o, err := t.Outline(ctx)
	if err != nil {
		return err
	}
	info, err := os.Stat(db)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d messages in %.1f s (%.0f a second), %d MB\n", id, o.Messages, took.Seconds(), float64(o.Messages)/took.Seconds(), info.Size()>>20)
	fmt.Printf("%d cuts, %d lines of %d tokens, a tail of %d messages and %d tokens, %d lines due\n",
		o.Cut, len(o.Lines), long.Weight(o), o.Messages-o.Tail.From, o.Tail.Weight, o.Backlog)
	fmt.Println(db)
	return nil
}
