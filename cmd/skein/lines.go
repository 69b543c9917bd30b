package main

import (
	"cmp"
	"maps"
	"slices"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

type linesCmd struct {
	Thread   string `arg:"" help:"The thread."`
	All      bool   `help:"Show every line, and who wrote it."`
	Estimate bool   `help:"Say what it would take if --line-model wrote those that are missing; asks nobody."`
}

func (linesCmd) Help() string {
	return example("skein lines launch", "skein lines launch --all", "skein lines launch --estimate --line-model claude-haiku-4-5")
}

// writerOf is what one writer wrote.
type writerOf struct {
	By    string       `json:"by"`
	Lines int          `json:"lines"`
	Usage thread.Usage `json:"usage"`
}

// Run shows who wrote the lines of a thread, and what they took.
func (c linesCmd) Run(a *app) error {
	return a.inThread(toRead, c.Thread, func(_ *skein.Engine, t *skein.Thread) error {
		switch {
		case c.Estimate:
			return a.estimateLines(t)
		case c.All:
			return a.allLines(t)
		}
		return a.writers(t)
	})
}

func (a *app) writers(t *skein.Thread) error {
	by := map[string]*writerOf{}
	for n, err := range t.Lines(a.ctx) {
		if err != nil {
			return err
		}
		w := by[n.By]
		if w == nil {
			w = &writerOf{By: n.By}
			by[n.By] = w
		}
		w.Lines++
		if n.Usage != nil {
			w.Usage.Add(a.priced(n.By, *n.Usage))
		}
	}
	all := slices.SortedFunc(maps.Values(by), func(x, y *writerOf) int { return cmp.Or(cmp.Compare(y.Lines, x.Lines), cmp.Compare(x.By, y.By)) })
	if a.flags.JSON {
		return a.printJSON(all)
	}
	for _, w := range all {
		if err := a.printf("%-24s %8d %-5s  input %d, output %s, %.4f dollars\n", safe(w.By), w.Lines, noun(w.Lines, "line", "lines"), w.Usage.Input+w.Usage.CacheRead+w.Usage.CacheWrite, counted(w.Usage.Output, "token", "tokens"), w.Usage.Cost); err != nil {
			return err
		}
	}
	o, err := t.Outline(a.ctx)
	if err != nil || o.Backlog == 0 {
		return err
	}
	return a.printf("%s due; skein lines %s --estimate says what that would take\n", counted(o.Backlog, "more is", "more are"), safe(t.ID()))
}

// priced is what was taken, with its price where the table has one.
func (a *app) priced(by string, u thread.Usage) thread.Usage {
	if c, err := a.catalog(); err == nil && u.Cost == 0 {
		if rules, err := c.table.Rules(by); err == nil {
			u.Cost = rules.Cost(u)
		}
	}
	return u
}

func (a *app) allLines(t *skein.Thread) error {
	for n, err := range t.Lines(a.ctx) {
		if err != nil {
			return err
		}
		if a.flags.JSON {
			data, err := thread.Encode(n)
			if err != nil {
				return err
			}
			if err := a.printf("%s\n", safeJSON(string(data))); err != nil {
				return err
			}
			continue
		}
		if err := a.printf("%-16s %s\n", safe(n.By), safe(n.Line())); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) estimateLines(t *skein.Thread) error {
	if a.flags.LineModel == "" {
		return &thread.Error{Code: thread.Invalid, Op: "lines", Message: "no model is named to write lines", Hint: "--line-model NAME; skein models lists them"}
	}
	e, err := t.EstimateLines(a.ctx, a.flags.LineModel)
	if err != nil {
		return err
	}
	if a.flags.JSON {
		return a.printJSON(e)
	}
	return a.printf("%s missing; %s would write %s in %s: about %s in, %d out, %.2f dollars\n", counted(e.Lines, "line is", "lines are"), safe(e.Model), noun(e.Lines, "it", "them"), counted(e.Calls, "call", "calls"), counted(e.Input, "token", "tokens"), e.Output, e.Cost)
}
