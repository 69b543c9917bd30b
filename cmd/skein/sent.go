package main

import (
	"fmt"
	"strings"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/internal/agent"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// sentWords says in one sentence what is sent of a thread whose strategies are not
// the outline's: how many messages whole, and what stands for the others.
func (a *app) sentWords(t *skein.Thread, o skein.Outline) (string, error) {
	names := strings.ReplaceAll(o.Strategy, ",", ", ")
	c, err := a.newestCut(t, o.Strategy)
	if err != nil {
		return "", err
	}
	if c == nil || c.Kept == nil {
		return fmt.Sprintf("%s: all are sent whole; %s has not acted yet", counted(o.Messages, "message", "messages"), names), nil
	}
	left, written, shortened := keptOf(c)
	left += o.Messages - c.Length
	rest := o.Messages - left
	parts := []string{fmt.Sprintf("%s: %d sent whole", counted(o.Messages, "message", "messages"), left-shortened)}
	if shortened > 0 {
		parts = append(parts, fmt.Sprintf("%d with shortened results", shortened))
	}
	switch {
	case rest > 0 && written > 0:
		parts = append(parts, fmt.Sprintf("a summary stands for %d", rest))
	case rest > 0:
		parts = append(parts, fmt.Sprintf("%d left out", rest))
	}
	return strings.Join(parts, ", ") + " (" + names + ")", nil
}

// newestCut gives the cut that a thread with that chain goes on from; nil where there
// is none.
func (a *app) newestCut(t *skein.Thread, chain string) (*thread.Cut, error) {
	q := store.EntriesQuery{Kinds: []thread.Kind{thread.CutKind}, Newest: true, Limit: 1}
	for e, err := range t.Entries(a.ctx, q) {
		if err != nil || e.Cut == nil || e.Cut.Chain != chain {
			return nil, err
		}
		return e.Cut, nil
	}
	return nil, nil
}

// keptOf counts what a cut has left: messages of the log, messages that a strategy
// wrote, and, of those of the log, the ones whose results are shortened.
func keptOf(c *thread.Cut) (left int64, written, shortened int64) {
	for _, k := range c.Kept {
		switch {
		case k.First == 0:
			written++
		case k.Message != nil || k.Results > 0:
			shortened++
		}
	}
	return int64(c.After.Messages) - written, written, shortened
}

// noTail tells that marks do nothing with the strategies that are in force.
func (a *app) noTail(e *skein.Engine, s skein.Settings) error {
	f, err := e.InForce(s)
	if err != nil || a.flags.Tail == "" && a.flags.Outline == "" || agent.Base(f.Strategy.Name).Outlined() {
		return err
	}
	a.warn(fmt.Sprintf("--tail and --outline do nothing here: they are the outline's, and %s is in force", strings.ReplaceAll(f.Strategy.Name, ",", ", ")))
	return nil
}
