package main

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/internal/agent"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

type threadsCmd struct {
	Limit   int  `default:"50" help:"At most so many; 0: all (${default})."`
	Deleted bool `help:"List the deleted ones instead."`
}

func (threadsCmd) Help() string { return example("skein threads --db t.db --json") }

func (c threadsCmd) Run(a *app) error {
	return a.with(toRead, func(e *skein.Engine) error {
		threads := e.Threads(a.ctx)
		if c.Deleted {
			threads = e.DeletedThreads(a.ctx)
		}
		return a.showThreads(threads, c.Limit)
	})
}

func (a *app) showThreads(threads iter.Seq2[thread.Thread, error], limit int) error {
	all := []thread.Thread{}
	for t, err := range threads {
		if err != nil {
			return err
		}
		if limit > 0 && len(all) == limit {
			break
		}
		all = append(all, t)
	}
	if a.flags.JSON {
		return a.printJSON(all)
	}
	for _, t := range all {
		if err := a.printf("%-20s %8d %-8s  %s  %s\n", safe(t.ID), t.Length, noun(t.Length, "message", "messages"), t.Updated.Local().Format("2006-01-02 15:04"), safe(thread.OneLine(t.Title))); err != nil {
			return err
		}
	}
	return nil
}

type showCmd struct {
	Thread string `arg:"" help:"The thread."`
	After  int64  `help:"Only entries after this seq."`
	Before int64  `help:"Only entries before this seq."`
	Limit  int    `default:"0" help:"At most so many; 0: all (${default})."`
	Newest bool   `help:"The newest first."`
	Active bool   `help:"Without what was undone."`
}

func (showCmd) Help() string { return example("skein show launch --newest --limit 20") }

// Run prints the log: one line an entry, or one JSON object a line. Messages
// that are not active say undone where others have their number.
func (c showCmd) Run(a *app) error {
	q := store.EntriesQuery{After: c.After, Before: c.Before, Limit: c.Limit, Newest: c.Newest, Inactive: !c.Active}
	return a.inThread(toRead, c.Thread, func(_ *skein.Engine, t *skein.Thread) error {
		state, err := t.State(a.ctx)
		if err != nil {
			return err
		}
		for e, err := range t.Entries(a.ctx, q) {
			if err != nil {
				return err
			}
			if err := a.showEntry(&state, &e); err != nil {
				return err
			}
		}
		return nil
	})
}

func (a *app) showEntry(t *thread.Thread, e *thread.Entry) error {
	if a.flags.JSON {
		data, err := thread.Encode(e)
		if err != nil {
			return err
		}
		return a.printf("%s\n", safeJSON(string(data)))
	}
	index := ""
	switch {
	case e.Kind == thread.MessageKind && !t.Active(t.OriginAt(e.Seq), e.Branch, e.Index):
		index = "undone"
	case e.IsMessage():
		index = fmt.Sprint(e.Index)
	}
	return a.printf("%6d %6s  %s  %-8s %s\n", e.Seq, index, e.Time.Local().Format("2006-01-02 15:04:05"), e.Kind, safe(about(e)))
}

type promptCmd struct {
	Thread string `arg:"" help:"The thread."`
	At     int64  `placeholder:"SEQ" help:"Show what the answer at this seq of the log was made from instead."`
}

func (promptCmd) Help() string {
	return example("skein prompt launch --agent north", "skein prompt launch --at 12")
}

func (c promptCmd) Run(a *app) error {
	return a.inThread(toPreview, c.Thread, func(e *skein.Engine, t *skein.Thread) error {
		if err := a.shop.concerns(a.ctx, e, t); err != nil {
			return err
		}
		if c.At == 0 {
			return a.showPrompt(t, a.flags.Agent)
		}
		p, err := t.PromptAt(a.ctx, c.At)
		if err != nil {
			return err
		}
		return a.printPrompt(p)
	})
}

func (a *app) showPrompt(t *skein.Thread, agentName string) error {
	p, err := t.Prompt(a.ctx, agentName)
	if err != nil {
		return err
	}
	return a.printPrompt(p)
}

func (a *app) printPrompt(p *skein.Prompt) error {
	if a.flags.JSON {
		return a.printJSON(p)
	}
	return p.Print(a.out)
}

type outlineCmd struct {
	Thread string `arg:"" help:"The thread."`
}

func (outlineCmd) Help() string { return example("skein outline launch --json") }

func (c outlineCmd) Run(a *app) error {
	return a.inThread(toRead, c.Thread, func(_ *skein.Engine, t *skein.Thread) error { return a.showOutline(t) })
}

func (a *app) showOutline(t *skein.Thread) error {
	o, err := t.Outline(a.ctx)
	if err != nil {
		return err
	}
	sent := ""
	if o.Strategy != "" && !agent.Base(o.Strategy).Outlined() && !a.flags.JSON {
		if sent, err = a.sentWords(t, o); err != nil {
			return err
		}
	}
	return a.printOutline(o, sent)
}

// printOutline prints an outline and how it stands; or, where a strategy sends
// something else, what that is.
func (a *app) printOutline(o skein.Outline, sent string) error {
	if a.flags.JSON {
		return a.printJSON(o)
	}
	for _, l := range o.Lines {
		if err := a.printf("%d+%d|%s\n", l.ID, l.N, safe(l.Text)); err != nil {
			return err
		}
	}
	note := ""
	if o.Backlog > 0 {
		note = fmt.Sprintf(", %s due", counted(o.Backlog, "line", "lines"))
	}
	if o.Error != "" {
		note += ", last error: " + safe(thread.OneLine(o.Error))
	}
	if sent != "" {
		return a.printf("%s%s\n", safe(sent), note)
	}
	return a.printf("%s: %d in %s, %d whole (%s, marks %d,%d)%s\n",
		counted(o.Messages, "message", "messages"), o.Boundary, counted(len(o.Lines), "line", "lines"), o.Messages-o.Boundary, counted(o.Tail.Weight, "token", "tokens"), o.Tail.Low, o.Tail.High, note)
}

type usageCmd struct {
	Thread string `arg:"" help:"The thread."`
}

func (usageCmd) Help() string { return example("skein usage launch") }

func (c usageCmd) Run(a *app) error {
	return a.inThread(toRead, c.Thread, func(_ *skein.Engine, t *skein.Thread) error { return a.showUsage(t) })
}

func (a *app) showUsage(t *skein.Thread) error {
	u, err := t.Usage(a.ctx)
	if err != nil {
		return err
	}
	return a.printUsage(u)
}

// printUsage prints what requests took, by purpose and by agent, and how much of
// the prompts was the same as before.
func (a *app) printUsage(u skein.Usage) error {
	if a.flags.JSON {
		return a.printJSON(u)
	}
	rows := []string{counted(u.Requests, "request", "requests") + ": " + tookWords(u.Turns)}
	if u.Summary != (thread.Usage{}) {
		rows = append(rows, "summaries: "+tookWords(u.Summary))
	}
	if u.Lines != (thread.Usage{}) {
		rows = append(rows, "lines: "+tookWords(u.Lines))
	}
	for _, name := range slices.Sorted(maps.Keys(u.Agents)) {
		rows = append(rows, "by "+name+": "+tookWords(u.Agents[name]))
	}
	same := 0.0
	if u.Tokens > 0 {
		same = 100 * float64(u.Same) / float64(u.Tokens)
	}
	rows = append(rows, fmt.Sprintf("prompts: %s by estimate, %.1f %% the same as the request before", counted(u.Tokens, "token", "tokens"), same))
	return a.printf("%s\n", safe(strings.Join(rows, "\n")))
}

func tookWords(u thread.Usage) string {
	return fmt.Sprintf("input %d, cache read %d, cache write %d, output %s, %.4f dollars", u.Input, u.CacheRead, u.CacheWrite, counted(u.Output, "token", "tokens"), u.Cost)
}

// inThread opens the engine and a thread that must be there.
func (a *app) inThread(p purpose, id string, work func(*skein.Engine, *skein.Thread) error) error {
	return a.with(p, func(e *skein.Engine) error {
		t, err := e.Thread(a.ctx, id)
		if err != nil {
			return err
		}
		return work(e, t)
	})
}
