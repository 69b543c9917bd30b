package main

import (
	"context"
	"fmt"
	"iter"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

type replyCmd struct {
	Thread string `arg:"" help:"The thread."`
	Again  bool   `help:"Make the newest answer again."`
}

func (replyCmd) Help() string {
	return example("skein reply launch", "skein reply launch --again") +
		"\n\nIt goes on with a turn that was left open, waits for one that another process" +
		"\nruns, and ends where a call waits for an approval."
}

// Run has answered what waits and prints the answer as it comes.
func (c replyCmd) Run(a *app) error {
	return a.inThread(toGoOn, c.Thread, func(e *skein.Engine, t *skein.Thread) error {
		if err := a.atHome(a.ctx, t); err != nil {
			return err
		}
		ch := &chat{app: a, engine: e, thread: t, words: &forEyes}
		waits, err := ch.unanswered()
		if err != nil {
			return err
		}
		if !waits && !c.Again {
			return ch.note(fmt.Sprintf("nothing waits for an answer in %s\n", safe(c.Thread)))
		}
		answers := t.StreamReply
		if c.Again {
			answers = func(ctx context.Context) iter.Seq2[skein.Piece, error] { return t.StreamRegenerate(ctx, a.me()) }
		}
		_, err = ch.hear(answers)
		if asked, ok := waitsFor(err); ok {
			if err := ch.showAsked(asked); err != nil {
				return err
			}
			return &thread.Error{Code: thread.Permission, Op: "reply", Message: "the turn waits for an approval", Hint: fmt.Sprintf("skein approve %s or skein deny %s decides, then skein reply %s goes on", c.Thread, c.Thread, c.Thread)}
		}
		return err
	})
}

type stopCmd struct {
	Thread string `arg:"" help:"The thread."`
}

func (stopCmd) Help() string { return example("skein stop launch") }

// Run stops the thread's turn and waits until it has ended.
func (c stopCmd) Run(a *app) error {
	return a.inThread(toChange, c.Thread, func(_ *skein.Engine, t *skein.Thread) error {
		open, err := a.stopTurn(t)
		if err != nil {
			return err
		}
		if a.flags.JSON {
			return a.printJSON(map[string]any{"thread": c.Thread, "stopped": open})
		}
		return a.printf("%s\n", stopWords(open))
	})
}

// mostToStop is how long it is waited for another process to stop its turn: it is
// asked about so often as it renews its lease.
const mostToStop = 3 * skein.DefaultLease

// stopTurn stops a thread's turn, waits for its end and says whether one was open.
func (a *app) stopTurn(t *skein.Thread) (open bool, err error) {
	state, err := t.State(a.ctx)
	if err != nil || state.Turn == 0 {
		return false, err
	}
	ctx, stop := context.WithTimeout(a.ctx, mostToStop)
	defer stop()
	for {
		// In conflict somebody begins to run it at this very moment; and it may be that
		// the one who was asked had just let go of it.
		if err := t.Stop(a.ctx); err != nil && thread.CodeOf(err) != thread.Conflict {
			return true, err
		}
		now, err := t.State(a.ctx)
		if err != nil || now.Turn != state.Turn {
			return true, err
		}
		if model.Wait(ctx, lookForOwner) == nil {
			continue
		}
		if a.ctx.Err() != nil {
			return true, a.ctx.Err()
		}
		return true, &thread.Error{Code: thread.Timeout, Op: "stop", Thread: t.ID(), Message: fmt.Sprintf("the turn was asked to stop and has not within %v", mostToStop), Hint: "where its process hangs, end that; the next one goes on"}
	}
}

func stopWords(open bool) string {
	if open {
		return "the turn is stopped; what came of its answer is kept"
	}
	return "no turn runs"
}

type compactCmd struct {
	Thread string `arg:"" help:"The thread."`
}

func (compactCmd) Help() string {
	return example("skein compact launch") +
		"\n\nThe thread's strategies act as if the prompt were too large. What is stored stays."
}

func (c compactCmd) Run(a *app) error {
	return a.inThread(toGoOn, c.Thread, func(_ *skein.Engine, t *skein.Thread) error { return a.compact(t) })
}

// compact lets a thread's strategies act now, and tells what they have done.
func (a *app) compact(t *skein.Thread) error {
	before, err := t.State(a.ctx)
	if err != nil {
		return err
	}
	if err := t.Compact(a.ctx); err != nil {
		return err
	}
	cuts := []thread.Entry{}
	for e, err := range t.Entries(a.ctx, store.EntriesQuery{After: before.Tip, Kinds: []thread.Kind{thread.CutKind}}) {
		if err != nil {
			return err
		}
		cuts = append(cuts, e)
	}
	if a.flags.JSON {
		return a.printJSON(map[string]any{"thread": t.ID(), "cuts": cuts})
	}
	if len(cuts) == 0 {
		return a.printf("nothing could be made smaller\n")
	}
	for _, e := range cuts {
		if err := a.printf("%s\n", safe(about(&e))); err != nil {
			return err
		}
	}
	return nil
}
