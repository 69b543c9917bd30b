package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/internal/server"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/web"
)

type serveCmd struct {
	Listen    string        `env:"SKEIN_LISTEN" default:"127.0.0.1:8417" placeholder:"ADDR" help:"Address to listen at (${default})."`
	Host      []string      `env:"SKEIN_HOST" placeholder:"NAME" help:"Name that the server is reached by, besides localhost and addresses; again for more."`
	Origin    []string      `env:"SKEIN_ORIGIN" placeholder:"URL" help:"Another site whose pages may use the server with tokens of their own; again for more."`
	Drain     time.Duration `env:"SKEIN_DRAIN" default:"10s" help:"How long answers may go on by themselves when the server is to end (${default})."`
	AccessLog bool          `env:"SKEIN_ACCESS_LOG" help:"Log every request."`
}

func (serveCmd) Help() string {
	return example("skein serve", "skein serve --listen 0.0.0.0:8417 --host skein.example.com --json") +
		"\n\nBeyond this machine it serves only where a token is good for something: see skein token." +
		"\nSIGTERM or Ctrl-C ends it: streams end with a reason, answers have a moment, what" +
		"\nis left of them is made by the next process. A second one ends it at once."
}

// Run serves until a signal ends it.
func (c serveCmd) Run(a *app) error {
	if c.Drain <= 0 {
		return &thread.Error{Code: thread.Invalid, Op: "serve", Message: fmt.Sprintf("%v is no time to drain in", c.Drain), Hint: "write it like 10s"}
	}
	notice, err := a.unlock()
	if err != nil {
		return err
	}
	signals, stop := signal.NotifyContext(a.ctx, os.Interrupt)
	defer stop()
	a.ctx = context.WithoutCancel(a.ctx) // what runs ends by the drain
	return a.with(toAnswer, func(e *skein.Engine) error {
		if notice != "" {
			if _, err := fmt.Fprintf(a.errs, "skein: %s\n", safe(notice)); err != nil {
				return err
			}
		}
		return c.serve(signals, a, e)
	})
}

// serve listens, says so, and answers until signals ends.
func (c serveCmd) serve(signals context.Context, a *app, e *skein.Engine) error {
	ln, err := new(net.ListenConfig).Listen(signals, "tcp", c.Listen)
	if err != nil {
		return &thread.Error{Code: thread.Configuration, Op: "serve", Message: "nothing can listen at " + c.Listen, Hint: "--listen names another address", Err: err}
	}
	if err := server.CheckReach(a.ctx, e, ln.Addr()); err != nil { // before any turn is gone on with
		return errors.Join(err, ln.Close())
	}
	log := a.log()
	cfg := server.Config{
		Engine: e, Name: a.me(), Hosts: c.Host, Origins: c.Origin, Version: Version, Log: log,
		Mounts: []server.Mount{{Pattern: "/", Handler: web.Handler()}},
		Limits: server.Limits{Grace: c.Drain},
	}
	if c.AccessLog {
		cfg.Access = log
	}
	s, err := server.New(a.ctx, cfg)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	if err := a.listening(ln.Addr()); err != nil {
		return errors.Join(err, ln.Close(), s.Close())
	}
	told := make(chan struct{})
	untold := context.AfterFunc(signals, func() {
		defer close(told)
		signal.Reset(os.Interrupt, syscall.SIGTERM) // the next one ends the process
		log.Info("draining", "most", c.Drain.String())
	})
	err = errors.Join(s.Serve(signals, ln), s.Close())
	if !untold() {
		<-told // where there is little to drain it may be over sooner than it is told
	}
	return err
}

// listening says where the server is reached.
func (a *app) listening(at net.Addr) error {
	if a.flags.JSON {
		return a.lineJSON(map[string]string{"listening": "http://" + at.String()})
	}
	return a.printf("listening at http://%s\n", at)
}

// log is what a server tells of itself on standard error: a line each, as JSON an
// object each.
func (a *app) log() *slog.Logger {
	if a.flags.JSON {
		return slog.New(slog.NewJSONHandler(harmless{a.errs, safeJSON}, nil))
	}
	return slog.New(slog.NewTextHandler(harmless{a.errs, safe}, nil))
}

// harmless writes what it is given as a terminal can bear it.
type harmless struct {
	to   io.Writer
	safe func(string) string
}

func (h harmless) Write(p []byte) (int, error) {
	if _, err := io.WriteString(h.to, h.safe(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
