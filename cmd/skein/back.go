package main

import (
	"strings"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

type zoomCmd struct {
	Thread string `arg:"" help:"The thread."`
	ID     int64  `arg:"" name:"id" help:"The line's first message."`
	N      int64  `arg:"" name:"n" help:"How many messages it stands for; 1 opens the message."`
	Page   int    `default:"1" help:"Page of a long message (${default})."`
}

func (zoomCmd) Help() string { return example("skein zoom launch 8 4", "skein zoom launch 8 1") }

func (c zoomCmd) Run(a *app) error {
	return a.inThread(toRead, c.Thread, func(_ *skein.Engine, t *skein.Thread) error {
		return a.showZoom(t, thread.Span{ID: c.ID, N: c.N}, c.Page)
	})
}

func (a *app) showZoom(t *skein.Thread, span thread.Span, page int) error {
	z, err := t.Zoom(a.ctx, a.me(), span, page)
	if err != nil {
		return err
	}
	return a.show(z, z.String())
}

type readCmd struct {
	Thread string `arg:"" help:"The thread."`
	ID     int64  `arg:"" name:"id" help:"The first message."`
	Count  int64  `arg:"" optional:"" default:"1" help:"How many (${default})."`
}

func (readCmd) Help() string { return example("skein read launch 10 4") }

func (c readCmd) Run(a *app) error {
	return a.inThread(toRead, c.Thread, func(_ *skein.Engine, t *skein.Thread) error { return a.showRead(t, c.ID, c.Count) })
}

func (a *app) showRead(t *skein.Thread, index, count int64) error {
	r, err := t.Read(a.ctx, a.me(), index, count)
	if err != nil {
		return err
	}
	return a.show(r, r.String())
}

type searchCmd struct {
	Thread   string   `arg:"" help:"The thread."`
	Words    []string `arg:"" help:"Words to look for; a message may hold any of them."`
	Limit    int      `default:"10" help:"At most so many hits, up to 100 (${default})."`
	Before   int      `help:"Lines to show before each hit."`
	After    int      `help:"Lines to show after each hit."`
	Inactive bool     `help:"Find undone messages too."`
}

func (searchCmd) Help() string { return example("skein search launch harbour hall --after 1") }

func (c searchCmd) Run(a *app) error {
	return a.inThread(toRead, c.Thread, func(_ *skein.Engine, t *skein.Thread) error {
		return a.showSearch(t, skein.SearchQuery{Text: strings.Join(c.Words, " "), Limit: c.Limit, Before: c.Before, After: c.After, Inactive: c.Inactive})
	})
}

func (a *app) showSearch(t *skein.Thread, q skein.SearchQuery) error {
	r, err := t.Search(a.ctx, a.me(), q)
	if err != nil {
		return err
	}
	return a.show(r, r.String())
}

// show prints a value as JSON, or else its text.
func (a *app) show(v any, text string) error {
	if a.flags.JSON {
		return a.printJSON(v)
	}
	return a.printf("%s\n", safe(text))
}
