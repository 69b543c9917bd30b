// Command live measures how threads are served to those who watch them, beside
// centrifuge, and writes the figures as the testing package writes a benchmark's.
//
//	go run ./cmd/live                        every case, of both servers
//	go run ./cmd/live -case Fan -seconds 30
//	go run ./cmd/live -profile /tmp          with profiles of the servers
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"

	"github.com/skeinhq/skein/bench/live"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "live:", err)
		os.Exit(1)
	}
}

func run() error {
	l := &live.Load{Out: os.Stdout}
	serve := flag.String("serve", "", "be a server of that `kind`, skein or centrifuge")
	gather := flag.Duration("gather", 0, "how long the server gathers what it sends")
	which := flag.String("case", ".", "the cases whose name this `expression` matches")
	flag.Float64Var(&l.Seconds, "seconds", 10, "how long each case writes")
	flag.IntVar(&l.Watched, "clients", 1000, "how many clients watch")
	flag.IntVar(&l.Idle, "idle", 8000, "how many connections are idle")
	flag.StringVar(&l.Profile, "profile", "", "a `folder` for profiles of the servers")
	flag.Parse()
	if *serve != "" {
		return live.Serve(context.Background(), live.Kind(*serve), *gather)
	}
	cases, err := regexp.Compile(*which)
	if err != nil {
		return err
	}
	if err := live.Room(l.Idle + 100); err != nil {
		return err
	}
	for _, c := range live.Cases {
		if !cases.MatchString(c.Name) {
			continue
		}
		for _, kind := range []live.Kind{live.OfSkein, live.OfCentrifuge} {
			if c.Alone && kind != live.OfSkein {
				continue
			}
			if err := c.Run(l, kind); err != nil {
				return fmt.Errorf("%s of %s: %w", c.Name, kind, err)
			}
		}
	}
	return nil
}
