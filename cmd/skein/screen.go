package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/cmd/skein/tui"
)

// fullScreen talks on the whole screen. The commands are the plain chat's. A signal
// to end, or that the line is hung up, ends it as a key would: the terminal is left
// as it was found.
func (a *app) fullScreen(e *skein.Engine, id string, s skein.Settings, notice string, mouse bool) error {
	ctx := a.ctx
	if !signal.Ignored(syscall.SIGHUP) {
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP)
		defer stop()
	}
	drafts, forget, err := a.drafts()
	if err != nil {
		return err
	}
	return errors.Join(tui.Run(ctx, tui.Config{
		Engine: e, Thread: id, Settings: s, Me: a.me(), Model: a.modelName(), Drafts: drafts,
		Notice: notice, Commands: listed(), Mouse: mouse, In: a.in, Out: a.out,
		Workspace: a.shop.root.FS(), Warnings: a.showWarnings,
		Run: func(ctx context.Context, t *skein.Thread, text string, out io.Writer) (tui.Outcome, error) {
			printing := *a
			printing.ctx, printing.out, printing.errs = ctx, out, out
			c := &chat{app: &printing, engine: e, thread: t, words: &forEyes}
			left, err := c.command(text)
			return tui.Outcome{Thread: c.thread, Left: left}, err
		},
	}), forget())
}

// drafts is the folder for what is typed and not said; where nothing is to be kept,
// one that forget removes.
func (a *app) drafts() (dir string, forget func() error, err error) {
	if !a.flags.NoTranscript {
		return a.flags.DB + ".drafts", func() error { return nil }, nil
	}
	if dir, err = os.MkdirTemp("", "skein-"); err != nil {
		return "", nil, err
	}
	return dir, func() error { return os.RemoveAll(dir) }, nil
}

// modelName is the model where neither thread nor agent names one.
func (a *app) modelName() string {
	if a.flags.Model != "" && a.flags.Model != skein.Unset {
		return a.flags.Model
	}
	name, _ := a.fallback()
	return name
}

// listed are the slash commands as the screen lists them.
func listed() []tui.Command {
	var out []tui.Command
	for _, s := range slashes() {
		out = append(out, tui.Command{Name: s.name, Args: s.args, About: s.about})
	}
	return append(out, tui.Command{Name: "help", About: "show keys and commands"}, tui.Command{Name: "exit", About: "leave"})
}
