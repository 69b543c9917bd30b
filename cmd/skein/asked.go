package main

import (
	"errors"
	"fmt"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/cmd/skein/tui"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// waitsFor gives the calls that a turn waits for, where err says that it does.
func waitsFor(err error) ([]skein.Asked, bool) {
	var e *thread.Error
	if !errors.As(err, &e) {
		return nil, false
	}
	w, ok := e.Details.(skein.Waiting)
	return w.Asked, ok
}

// showAsked prints what waits for an approval and how to decide; as JSON an object
// {asked} a call.
func (c *chat) showAsked(asked []skein.Asked) error {
	if c.flags.JSON {
		for _, w := range asked {
			if err := c.lineJSON(map[string]any{"asked": w}); err != nil {
				return err
			}
		}
		return nil
	}
	for _, w := range asked {
		id := ""
		if len(asked) > 1 {
			id = fmt.Sprintf(c.words.named, w.Call)
		}
		if err := c.printf(c.words.asks, safe(w.Agent), safe(id), safe(questionOf(w))); err != nil {
			return err
		}
	}
	if c.typist == nil {
		return nil // nobody can type an answer
	}
	call, what := "", ""
	for _, w := range asked {
		if what != "" && what != tui.Always(w) {
			what = "such calls always in this thread"
			break
		}
		what = tui.Always(w)
	}
	if len(asked) > 1 {
		call = " CALL"
	}
	return c.printf(c.words.decide, call, safe(what))
}

// showDecided prints what others have decided since.
func (c *chat) showDecided(since int64) error {
	q := store.EntriesQuery{After: since, Kinds: []thread.Kind{thread.ApprovalKind}}
	for e, err := range c.thread.Entries(c.ctx, q) {
		if err != nil {
			return err
		}
		a := e.Approval
		if a == nil || a.State == thread.ApprovalAsked {
			continue
		}
		if c.flags.JSON {
			if err := c.lineJSON(map[string]any{"decided": a}); err != nil {
				return err
			}
			continue
		}
		if err := c.printf(c.words.decided, safe(aboutApproval(a))); err != nil {
			return err
		}
	}
	return nil
}
