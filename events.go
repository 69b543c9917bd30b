package skein

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// Event is one thing that happened in a thread, as observers are told.
type Event = thread.Event

// The purposes of usage.
const (
	ForTurn    = "turn"    // an answer
	ForSummary = "summary" // a summary that a strategy had written
	ForLine    = "line"    // a line of the outline
)

// EventsOf gives the events of a batch in order: those that the batch carries,
// that of its live piece, those of its entries, those of its lines. It reads
// nothing but the batch, so Time is not set where the batch does not say when,
// and some fields are not set that observers of an engine are told as well: see
// below.
//
// Each type has one source, so that nothing is told twice:
//
//	carried by the batch   conversation, instructions-loaded, skills-loaded, step, model-request,
//	                       model-response, model-retry, model-error, tool, tool-denied, tool-output,
//	                       stop-prevented, steer; warning; cut with a Reason, where none was made
//	live piece             text-delta; warning, of what failed beside the turns
//	assistant message      reasoning, text (of those that are active); usage (turn)
//	tool result            tool-result
//	cut entry              cut, compaction; usage (summary)
//	approval entry         approval-requested, approval-decided
//	end of a turn          finished where the model ended it, else stopped
//	line                   line; usage (line) where a model wrote it
//
// What an engine adds for its observers from the batches before: the Agent and
// Step of a running turn; the Name and Input of a call that was asked about; of a
// cut by the outline its Messages and Merged, where it has told of the cut before.
func EventsOf(b thread.Batch) []Event {
	out := slices.Clone(b.Events)
	if b.Live != nil {
		out = append(out, ofLive(&b.Thread, b.Live)...)
	}
	for i := range b.Entries {
		e := &b.Entries[i]
		if of, ok := sources[e.Kind]; ok {
			out = append(out, of(&b.Thread, e)...)
		}
	}
	for _, n := range b.Nodes {
		out = append(out, ofNode(&b.Thread, n)...)
	}
	return out
}

// sources say what the entries of a kind tell. The bodies of erased entries are
// nil; they tell nothing.
var sources = map[thread.Kind]func(*thread.Thread, *thread.Entry) []Event{
	thread.MessageKind:  ofMessage,
	thread.CutKind:      ofCut,
	thread.ApprovalKind: ofApproval,
	thread.TurnKind:     ofTurn,
}

func ofLive(t *thread.Thread, l *thread.Live) []Event {
	e := Event{Thread: t.ID, Turn: t.Turn, Agent: l.Author, ID: l.ID}
	switch l.Type {
	case string(model.TextDelta):
		e.Type, e.Text = thread.TextDeltaEvent, l.Text
	case "error": // of Engine.report
		e.Type, e.Reason = thread.WarningEvent, l.Text
	default:
		return nil
	}
	return []Event{e}
}

// about is an event of an entry with what all such events have.
func about(t *thread.Thread, e *thread.Entry) Event {
	return Event{Time: e.Time, Thread: t.ID, ID: e.ID, Seq: e.Seq}
}

func ofMessage(t *thread.Thread, e *thread.Entry) []Event {
	m := e.Message
	if m == nil {
		return nil
	}
	var out []Event
	if m.Role == thread.Assistant {
		out = spoken(t, e)
	}
	for _, p := range m.Results() {
		text := (&thread.Message{Parts: p.Parts}).PlainText()
		r := about(t, e)
		r.Type, r.Turn, r.Name, r.CallID, r.IsError = thread.ResultEvent, m.Turn, p.Name, p.Call, p.IsError
		r.Preview, r.Characters = preview(text), utf8.RuneCountInString(text)
		out = append(out, r)
	}
	return out
}

// spoken tells of an answer: what was thought and said, if it is active, and what
// it took in any case.
func spoken(t *thread.Thread, e *thread.Entry) []Event {
	m := e.Message
	base := about(t, e)
	base.Turn, base.Agent = m.Turn, m.Author
	var thoughts []string
	for _, p := range m.Parts {
		if p.Type == thread.ThinkingPart && p.Text != "" {
			thoughts = append(thoughts, p.Text)
		}
	}
	var out []Event
	if e.IsMessage() && len(thoughts) > 0 {
		r := base
		r.Type, r.Text = thread.ReasoningEvent, strings.Join(thoughts, "\n")
		out = append(out, r)
	}
	if text := m.PlainText(); e.IsMessage() && text != "" {
		r := base
		r.Type, r.Text = thread.TextEvent, text
		out = append(out, r)
	}
	if m.Usage != nil {
		u := base
		u.Type, u.Model, u.Usage, u.Purpose = thread.UsageEvent, m.Model, m.Usage, ForTurn
		out = append(out, u)
	}
	return out
}

func ofCut(t *thread.Thread, e *thread.Entry) []Event {
	c := e.Cut
	if c == nil {
		return nil
	}
	cut := about(t, e)
	cut.Agent, cut.Step = c.Agent, c.Step
	if c.Agent != "" {
		cut.Turn = t.Turn
	}
	shrunk := cut
	cut.Type, cut.Number, cut.Strategy, cut.Boundary = thread.CutEvent, c.Number, c.Strategy, c.Boundary
	cut.Before, cut.After, cut.Lines, cut.Messages = &c.Before, &c.After, len(c.Outline), gone(c)
	shrunk.Type, shrunk.Strategy, shrunk.Messages = thread.CompactionEvent, cut.Strategy, cut.Messages
	out := []Event{cut, shrunk}
	if c.Usage != nil {
		u := about(t, e)
		u.Type, u.Turn, u.Agent, u.Step, u.Usage, u.Purpose = thread.UsageEvent, cut.Turn, c.Agent, c.Step, c.Usage, ForSummary
		out = append(out, u)
	}
	return out
}

// gone counts the messages that a cut took away or changed, as far as it says
// so: a later cut by the outline does not. Ranges of seqs may have entries
// between their messages, so there are never more than there were.
func gone(c *thread.Cut) int {
	if len(c.Gone) == 0 {
		if c.Prev == 0 {
			return int(c.Boundary)
		}
		return 0
	}
	n := 0
	for _, r := range c.Gone {
		n += int(r.Last - r.First + 1)
	}
	if c.Before.Messages > 0 {
		n = min(n, c.Before.Messages)
	}
	return n
}

func ofApproval(t *thread.Thread, e *thread.Entry) []Event {
	a := e.Approval
	if a == nil {
		return nil
	}
	out := about(t, e)
	out.Turn, out.CallID, out.Reason = t.Turn, a.Call, a.Reason
	if a.State == thread.ApprovalAsked {
		out.Type, out.Text = thread.AskedEvent, a.Question
		return []Event{out}
	}
	out.Type, out.State, out.Scope, out.By = thread.DecidedEvent, a.State, a.Scope, a.By
	return []Event{out}
}

func ofTurn(t *thread.Thread, e *thread.Entry) []Event {
	n := e.Turn
	if n == nil || n.State != thread.TurnEnded {
		return nil
	}
	out := about(t, e)
	out.Turn, out.Agent, out.Usage, out.Steps = n.Turn, n.Agent, n.Usage, n.Steps
	if n.Reason == thread.StopEnd {
		out.Type, out.Stop = thread.FinishedEvent, n.Reason
		return []Event{out}
	}
	out.Type, out.Reason, out.Error = thread.StoppedEvent, string(n.Reason), n.Error
	return []Event{out}
}

func ofNode(t *thread.Thread, n thread.Node) []Event {
	line := Event{Type: thread.LineEvent, Thread: t.ID, ID: n.Span.String(), By: n.By}
	if n.Usage == nil {
		return []Event{line}
	}
	return []Event{line, {Type: thread.UsageEvent, Thread: t.ID, ID: line.ID, Model: n.By, Usage: n.Usage, Purpose: ForLine}}
}

// previewed is how many characters of a result its event shows.
const previewed = 200

// preview gives the first characters of a text on one line, with nothing in it
// that could move a terminal's cursor, turn the direction of text or hide. It
// parts no grapheme, unless that alone is too long.
func preview(text string) string {
	n, end, rest, state := 0, 0, text, -1
	for rest != "" {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if n += utf8.RuneCountInString(cluster); n > previewed {
			break
		}
		end += len(cluster)
	}
	head := text[:end]
	if end == 0 {
		head = string([]rune(text[:min(len(text), utf8.UTFMax*previewed)])[:min(n, previewed)])
	}
	return strings.Map(harmless, head)
}

func harmless(r rune) rune {
	const joiner, nonJoiner = '\u200d', '\u200c' // which shape letters and emoji
	switch {
	case r == '\n' || r == '\r' || r == '\t':
		return ' '
	case r == joiner || r == nonJoiner:
		return r
	case unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp):
		return unicode.ReplacementChar
	}
	return r
}
