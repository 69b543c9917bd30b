package main

import (
	"fmt"
	"strings"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/strategy"
	"github.com/skeinhq/skein/thread"
)

// about says in one line what an entry records.
func about(e *thread.Entry) string {
	switch {
	case e.Message != nil:
		return thread.OneLine(skein.Leaf(e.Message)) + taken(e.Message)
	case e.Queued != nil:
		return aboutQueued(e.Queued)
	case e.Cut != nil:
		return aboutCut(e.Cut)
	case e.Turn != nil:
		return aboutTurn(e.Turn)
	case e.Approval != nil:
		return aboutApproval(e.Approval)
	case e.Rewind != nil:
		return by(fmt.Sprintf("to message %d, undoing %d", e.Rewind.Index, e.Rewind.Undid), e.Rewind.By)
	case e.Reset != nil:
		return by(fmt.Sprintf("undoing %d", e.Reset.Undid), e.Reset.By)
	case e.Title != nil:
		return by(thread.OneLine(e.Title.Title), e.Title.By)
	case e.Erase != nil:
		return by("entries "+numbered(e.Erase.Seqs), e.Erase.By)
	}
	return "erased"
}

// taken says which queued entry a message has taken.
func taken(m *thread.Message) string {
	if m.Queued == 0 {
		return ""
	}
	return fmt.Sprintf(" (queued at %d)", m.Queued)
}

func by(what, who string) string {
	if who == "" {
		return what
	}
	return what + ", by " + who
}

func numbered(seqs []int64) string {
	words := make([]string, len(seqs))
	for i, s := range seqs {
		words[i] = fmt.Sprint(s)
	}
	return strings.Join(words, ", ")
}

func aboutQueued(q *thread.Queued) string {
	when := "for the next turn"
	if q.When == thread.WhenNow {
		when = "for the running turn"
	}
	return thread.OneLine(skein.Leaf(q.Message)) + " (" + when + ")"
}

// aboutCut says what a cut has done: the outline's by its boundary and lines,
// another strategy's by how many messages it stands for.
func aboutCut(c *thread.Cut) string {
	s := fmt.Sprintf("%d %s: ", c.Number, c.Strategy)
	if c.Kept == nil {
		s += fmt.Sprintf("whole messages from %d, %s", c.Boundary, counted(len(c.Outline), "line", "lines"))
		if c.Merging {
			s += ", merging goes on"
		}
	} else {
		s += fmt.Sprintf("%s → %d", counted(c.Before.Messages, "message", "messages"), c.After.Messages)
		if len(c.Gone) > 0 {
			s += ", stands for entries " + ranges(c.Gone)
		}
	}
	s += fmt.Sprintf(", %d → %d tokens", c.Before.Outline+c.Before.Tail, c.After.Outline+c.After.Tail)
	if c.Reason != "" {
		s += " (" + c.Reason + ")"
	}
	if len(c.Locked) > 0 {
		s += fmt.Sprintf("; locked again: the %s %s", noun(len(c.Locked), "skill", "skills"), strings.Join(c.Locked, ", "))
	}
	if text := summaryOf(c); text != "" {
		s += "; the summary: " + text
	}
	return s
}

// maxRanges is how many ranges of entries are named.
const maxRanges = 4

func ranges(all []thread.Range) string {
	var words []string
	for _, r := range all[:min(len(all), maxRanges)] {
		if r.First == r.Last {
			words = append(words, fmt.Sprint(r.First))
			continue
		}
		words = append(words, fmt.Sprintf("%d–%d", r.First, r.Last))
	}
	if more := len(all) - maxRanges; more > 0 {
		words = append(words, fmt.Sprintf("%d more", more))
	}
	return strings.Join(words, ", ")
}

// summaryOf is the first line of the summary that a cut has made.
func summaryOf(c *thread.Cut) string {
	if c.Usage == nil {
		return ""
	}
	for _, k := range c.Kept {
		if k.Message == nil || k.First != 0 {
			continue
		}
		for line := range strings.Lines(strings.TrimPrefix(k.Message.PlainText(), strategy.SummaryHead)) {
			if line = strings.TrimSpace(line); line != "" {
				return thread.OneLine(line)
			}
		}
	}
	return ""
}

// aboutTurn says that a turn began, which call it started, or how it ended.
func aboutTurn(t *thread.Turn) string {
	switch t.State {
	case thread.TurnBegun:
		return "begun by " + t.Agent
	case thread.TurnStarted:
		return fmt.Sprintf("%s started %s", t.Agent, t.Call)
	}
	s := t.State
	if t.Reason != "" {
		s += ": " + string(t.Reason)
	}
	if t.Steps > 0 {
		s += ", " + counted(t.Steps, "step", "steps")
	}
	if t.Usage != nil {
		s += ", " + tokensOf(*t.Usage)
	}
	if t.Error != nil {
		s += fmt.Sprintf(", %s: %s", t.Error.Code, thread.OneLine(t.Error.Message))
	}
	return s
}

// tokensOf says what something took.
func tokensOf(u thread.Usage) string {
	s := fmt.Sprintf("input %d", u.Input+u.CacheRead+u.CacheWrite)
	if u.CacheRead+u.CacheWrite > 0 {
		s += fmt.Sprintf(" (read %d, written %d)", u.CacheRead, u.CacheWrite)
	}
	s += fmt.Sprintf(", output %s", counted(u.Output, "token", "tokens"))
	if u.Cost > 0 {
		s += fmt.Sprintf(", %.4f dollars", u.Cost)
	}
	return s
}

// aboutApproval says what was asked, or who decided what.
func aboutApproval(a *thread.Approval) string {
	s := by(a.State+" "+a.Call, a.By)
	if a.Scope == thread.ScopeThread {
		s += ", always in this thread"
	}
	if a.Question != "" {
		s += ": " + thread.OneLine(a.Question)
	}
	if a.Reason != "" {
		s += " (" + thread.OneLine(a.Reason) + ")"
	}
	return s
}
