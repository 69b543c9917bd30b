package live

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"sync"
	"time"
)

// Site is a server that is measured.
type Site interface {
	// Serve answers on the listener until ctx ends.
	Serve(ctx context.Context, ln net.Listener) error

	// Publish has all who watch see a text.
	Publish(ctx context.Context, text string) error

	// Answer has an answer of count pieces of so many bytes each made, every so
	// often.
	Answer(ctx context.Context, count, size int, every time.Duration) error

	// Where says where a client stands that has seen all.
	Where(ctx context.Context) (Place, error)

	// Close gives back what the site holds.
	Close() error
}

// Place is a place in a stream.
type Place struct {
	Seq   int64  `json:"seq"`
	Epoch string `json:"epoch"`
}

// command is a line that the load writes to a server.
type command struct {
	Do    string  `json:"do"` // publish, answer, where, rest, kernel, profile or heap
	Count int     `json:"count,omitempty"`
	Rate  float64 `json:"rate,omitempty"` // a second
	Size  int     `json:"size,omitempty"` // bytes
	Path  string  `json:"path,omitempty"` // of a profile; empty: it ends
}

// report is the line that answers one.
type report struct {
	Place
	Address string `json:"address,omitempty"`
	Last    int64  `json:"last,omitempty"`   // the stamp of the newest text
	Kernel  int64  `json:"kernel,omitempty"` // bytes
	Error   string `json:"error,omitempty"`
}

// Serve is a server of a kind, in this process: it does what standard input says
// until that ends.
func Serve(ctx context.Context, kind Kind, gather time.Duration) (err error) {
	var site Site
	switch kind {
	case OfSkein:
		dir, err := os.MkdirTemp("", "skein-live-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }() // a folder left there harms nobody
		if site, err = Skein(ctx, dir, gather); err != nil {
			return err
		}
	case OfCentrifuge:
		if site, err = Centrifuge(gather); err != nil {
			return err
		}
	default:
		return fmt.Errorf("there is no server of kind %q", kind)
	}
	defer func() { err = errors.Join(err, site.Close()) }()
	return obey(ctx, site, os.Stdin, os.Stdout)
}

// obey serves a site at a free port of this machine and does what the lines of in
// say, until they end.
func obey(ctx context.Context, site Site, in io.Reader, out io.Writer) (err error) {
	plain, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ln := &sockets{Listener: plain}
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- site.Serve(ctx, ln) }()
	defer func() {
		stop()
		err = errors.Join(err, <-ended)
	}()
	answers := json.NewEncoder(out)
	if err := answers.Encode(report{Address: ln.Addr().String()}); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var c command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return err
		}
		r, err := do(ctx, site, ln, c)
		if err != nil {
			r.Error = err.Error()
		}
		if err := answers.Encode(r); err != nil {
			return err
		}
	}
	return lines.Err()
}

func do(ctx context.Context, site Site, ln *sockets, c command) (r report, err error) {
	switch c.Do {
	case "publish":
		r.Last, err = publish(ctx, site, c)
	case "answer":
		err = site.Answer(ctx, c.Count, c.Size, time.Duration(float64(time.Second)/c.Rate))
	case "where":
		r.Place, err = site.Where(ctx)
	case "rest":
		debug.FreeOSMemory()
		debug.FreeOSMemory() // what a finalizer held goes with the second
	case "kernel":
		r.Kernel, err = ln.kernel()
	case "profile":
		err = profile(c.Path)
	case "heap":
		err = heap(c.Path)
	default:
		err = fmt.Errorf("there is no command %q", c.Do)
	}
	return r, err
}

// publish writes texts at a fixed rate, each when it is due, whether or not those
// before it are written.
func publish(ctx context.Context, site Site, c command) (last int64, err error) {
	every := time.Duration(float64(time.Second) / c.Rate)
	var work sync.WaitGroup
	failed := make(chan error, c.Count)
	begun := time.Now()
	for i := range c.Count {
		due := begun.Add(time.Duration(i) * every)
		time.Sleep(time.Until(due))
		last = due.UnixNano()
		text := stamped(last, c.Size)
		work.Go(func() {
			if err := site.Publish(ctx, text); err != nil {
				failed <- err
			}
		})
	}
	work.Wait()
	close(failed)
	return last, <-failed
}

// mark begins the stamp of a text: nothing else of what is sent has that sign.
const mark = '@'

// digits is how many a stamp has.
const digits = 19

// stamped is a text of that size that says when it was due.
func stamped(due int64, size int) string {
	stamp := fmt.Sprintf("%c%0*d ", mark, digits, due)
	return stamp + strings.Repeat("a word ", max(0, size-len(stamp))/7+1)[:max(0, size-len(stamp))]
}

func profile(path string) error {
	if path == "" {
		pprof.StopCPUProfile()
		return nil
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return pprof.StartCPUProfile(f) // the file is open until the process ends
}

func heap(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(pprof.WriteHeapProfile(f), f.Close())
}
