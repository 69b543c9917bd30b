package main

import (
	"context"
	"errors"
	"iter"
	"net/url"
	"os"
	"os/signal"
	"strings"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/client"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

type watchCmd struct {
	Where string `arg:"" name:"thread" help:"The thread, or its address at a server."`
	Last  int    `placeholder:"N" help:"Begin with the newest N messages (50)."`
	From  int64  `placeholder:"SEQ" help:"Begin with the message at this seq of the log."`
	Token string `env:"SKEIN_TOKEN" placeholder:"SECRET" help:"Token for the server."`
}

func (watchCmd) Help() string {
	return example("skein watch launch", "skein watch http://127.0.0.1:8417/t/launch --last 5") +
		"\n\nWhat comes is printed, also of what other processes do, until an interrupt. Of a" +
		"\nserver answers show as they grow, and a lost connection comes back by itself. A" +
		"\ntoken is better given by SKEIN_TOKEN: others may see what is typed."
}

// source is a thread that is followed.
type source interface {
	Updates(context.Context) iter.Seq2[client.Update, error]
	Ranges() []view.Range
	Holes() []view.Hole
	Fetch(ctx context.Context, before int64, limit int) (more bool, err error)
	Forget()
}

// Run prints what comes in a thread until it is gone or a signal ends it.
func (c watchCmd) Run(a *app) error {
	ctx, stop := signal.NotifyContext(a.ctx, os.Interrupt)
	defer stop()
	var err error
	if at, ok := addressed(c.Where); ok {
		err = c.watchServer(ctx, a, at)
	} else {
		err = a.inThread(toRead, c.Where, func(_ *skein.Engine, t *skein.Thread) error {
			return a.tell(ctx, &here{thread: t, options: skein.ViewOptions{Tail: c.Last, From: c.From, Viewer: a.me()}})
		})
	}
	if ctx.Err() != nil {
		return nil // a watch has no other end
	}
	return err
}

func (c watchCmd) watchServer(ctx context.Context, a *app, at address) error {
	server, err := client.New(client.Config{URL: at.server, Token: c.Token})
	if err != nil {
		return err
	}
	if at.thread == "" {
		if at.thread, err = lastUsed(ctx, server); err != nil {
			return err
		}
	}
	return a.tell(ctx, server.Watch(at.thread, client.WatchOptions{Tail: c.Last, From: c.From}))
}

// tell prints what comes from a source.
func (a *app) tell(ctx context.Context, from source) error {
	t := newTeller(a)
	for u, err := range from.Updates(ctx) {
		if told := t.update(ctx, from, u); told != nil || err != nil {
			return errors.Join(t.end(), told, err)
		}
	}
	return t.end()
}

// address is where a server is, and which of its threads is meant.
type address struct{ server, thread string }

// addressed reads an address: a server's, a thread's page there or its path in the
// API.
func addressed(where string) (at address, ok bool) {
	u, err := url.Parse(where)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return at, false
	}
	path := u.EscapedPath()
	for _, mark := range []string{"/v1/threads/", "/t/"} {
		i := strings.LastIndex(path, mark)
		if i < 0 {
			continue
		}
		id, _, _ := strings.Cut(path[i+len(mark):], "/")
		if at.thread, err = url.PathUnescape(id); err != nil {
			return at, false
		}
		path = path[:i]
		break
	}
	at.server = (&url.URL{Scheme: u.Scheme, User: u.User, Host: u.Host}).String() + path
	return at, true
}

// lastUsed gives the thread of a server that was used last.
func lastUsed(ctx context.Context, server *client.Client) (string, error) {
	for t, err := range server.Threads(ctx) {
		return t.ID, err
	}
	return "", &thread.Error{Code: thread.NotFound, Op: "watch", Message: "the server has no thread", Hint: "skein chat --server URL NAME makes one"}
}

// here is a thread of the local database that is followed: the engine's view of it.
type here struct {
	thread  *skein.Thread
	options skein.ViewOptions
	replica view.Replica
	tries   int // faults in a row
}

// mostFaults is how many snapshots in a row may be no view.
const mostFaults = 3

// Updates follows the thread until ctx ends, or an error.
func (h *here) Updates(ctx context.Context) iter.Seq2[client.Update, error] {
	return func(yield func(client.Update, error) bool) {
		for {
			err := h.follow(ctx, yield)
			var fault *view.Fault
			switch {
			case err == nil || ctx.Err() != nil:
				return
			case errors.As(err, &fault) && h.tries < mostFaults: // one rule for all: watch again
				h.tries++
				h.options.From, h.options.Epoch = h.replica.Resume()
				continue
			}
			yield(client.Update{State: client.Gone, Reason: oneLine(err), View: h.replica.View()}, err)
			return
		}
	}
}

// follow is one watch; it gives nothing where the loop was left.
func (h *here) follow(ctx context.Context, yield func(client.Update, error) bool) error {
	w, err := h.thread.View(ctx, h.options)
	if err != nil {
		return err
	}
	defer w.Close()
	for {
		f, err := w.Next(ctx)
		if err != nil {
			return err
		}
		b, err := f.Batch()
		if err == nil {
			err = h.replica.Applied(b)
		}
		if err != nil {
			return err
		}
		h.tries = 0
		if !yield(client.Update{State: client.Live, Batch: &b, View: h.replica.View()}, nil) {
			return nil
		}
	}
}

// Ranges is what is held.
func (h *here) Ranges() []view.Range { return h.replica.Ranges() }

// Holes is what is missing in it.
func (h *here) Holes() []view.Hole { return h.replica.Holes() }

// Forget lets go of all that is older than the window.
func (h *here) Forget() { h.replica.Forget() }

// Fetch fetches the page of messages before a seq.
func (h *here) Fetch(ctx context.Context, before int64, limit int) (more bool, err error) {
	p, err := h.thread.Page(ctx, skein.PageQuery{Before: before, Limit: limit, Viewer: h.options.Viewer})
	if err != nil {
		return false, err
	}
	for _, e := range p.Items {
		more = e.Prev != 0 // the last is the oldest
	}
	return more, h.replica.Fetched(p)
}
