package main

import (
	"fmt"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

type titleCmd struct {
	Thread string `arg:"" help:"The thread."`
	Title  string `arg:"" help:"Its new title."`
}

func (titleCmd) Help() string { return example(`skein title launch "Launch in December"`) }

func (c titleCmd) Run(a *app) error {
	return a.inThread(toChange, c.Thread, func(_ *skein.Engine, t *skein.Thread) error {
		if err := t.Title(a.ctx, c.Title, a.me()); err != nil {
			return err
		}
		return a.done(t)
	})
}

type rewindCmd struct {
	Thread string `arg:"" help:"The thread."`
	ID     int64  `arg:"" name:"id" help:"The message to keep as the newest."`
}

func (rewindCmd) Help() string { return example("skein rewind launch 11") }

func (c rewindCmd) Run(a *app) error {
	return a.inThread(toChange, c.Thread, func(_ *skein.Engine, t *skein.Thread) error { return a.rewind(t, c.ID) })
}

func (a *app) rewind(t *skein.Thread, index int64) error {
	if err := t.Rewind(a.ctx, index, a.me()); err != nil {
		return err
	}
	return a.done(t)
}

type resetCmd struct {
	Thread string `arg:"" help:"The thread."`
}

func (resetCmd) Help() string { return example("skein reset launch") }

func (c resetCmd) Run(a *app) error {
	return a.inThread(toChange, c.Thread, func(_ *skein.Engine, t *skein.Thread) error { return a.reset(t) })
}

func (a *app) reset(t *skein.Thread) error {
	if err := t.Reset(a.ctx, a.me()); err != nil {
		return err
	}
	return a.done(t)
}

type forkCmd struct {
	Thread string `arg:"" help:"The thread."`
	Name   string `arg:"" help:"The new thread."`
	ID     *int64 `arg:"" optional:"" name:"id" help:"The newest message that it shares (the newest)."`
	Title  string `help:"The new thread's title."`
}

func (forkCmd) Help() string { return example("skein fork launch plan-b 11") }

func (c forkCmd) Run(a *app) error {
	return a.inThread(toChange, c.Thread, func(_ *skein.Engine, t *skein.Thread) error {
		state, err := t.State(a.ctx)
		if err != nil {
			return err
		}
		at := state.Length - 1
		if c.ID != nil {
			at = *c.ID
		}
		_, err = a.forkThread(t, at, c.Name, c.Title)
		return err
	})
}

func (a *app) forkThread(t *skein.Thread, index int64, id, title string) (*skein.Thread, error) {
	forked, err := t.Fork(a.ctx, index, id, title)
	if err != nil {
		return nil, err
	}
	return forked, a.done(forked)
}

// done says how a thread stands after a change.
func (a *app) done(t *skein.Thread) error {
	state, err := t.State(a.ctx)
	if err != nil {
		return err
	}
	if a.flags.JSON {
		return a.printJSON(state)
	}
	return a.printf("%s: %s%s\n", safe(state.ID), counted(state.Length, "message", "messages"), titled(&state))
}

func titled(t *thread.Thread) string {
	if t.Title == "" {
		return ""
	}
	return fmt.Sprintf(", %q", safe(thread.OneLine(t.Title)))
}

type deleteCmd struct {
	Thread string `arg:"" help:"The thread."`
}

func (deleteCmd) Help() string { return example("skein delete launch", "skein undelete launch") }

func (c deleteCmd) Run(a *app) error {
	return a.inThread(toChange, c.Thread, func(e *skein.Engine, t *skein.Thread) error {
		if err := t.Delete(a.ctx); err != nil {
			return err
		}
		if _, err := e.Purge(a.ctx); err != nil {
			return err
		}
		if a.flags.JSON {
			return a.printJSON(map[string]string{"deleted": c.Thread})
		}
		return a.printf("%s is deleted; skein undelete %s brings it back within 7 days\n", safe(c.Thread), safe(c.Thread))
	})
}

type undeleteCmd struct {
	Thread string `arg:"" help:"The thread."`
}

func (undeleteCmd) Help() string { return example("skein undelete launch") }

func (c undeleteCmd) Run(a *app) error {
	return a.with(toChange, func(e *skein.Engine) error {
		if err := e.Undelete(a.ctx, c.Thread); err != nil {
			return err
		}
		t, err := e.Thread(a.ctx, c.Thread)
		if err != nil {
			return err
		}
		return a.done(t)
	})
}
