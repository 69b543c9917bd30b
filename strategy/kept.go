package strategy

import (
	"fmt"

	"github.com/skeinhq/skein/thread"
)

// Encode gives what a cut stores of the messages that are sent after it: ranges
// of seqs for those that the log holds, and bodies for new and edited ones
// alone. What is kept is never copied.
func Encode(messages []Message) []thread.Kept {
	var out []thread.Kept
	var last *Message // of the range that is open
	for i := range messages {
		m := &messages[i]
		switch {
		case m.Seq == 0 || m.edited:
			out = append(out, thread.Kept{First: m.Seq, Message: m.Message})
			last = nil
			continue
		case last != nil && m.Index == last.Index+1 && m.Results == last.Results:
			out[len(out)-1].Last = m.Seq
		default:
			out = append(out, thread.Kept{First: m.Seq, Last: m.Seq, Results: m.Results})
		}
		last = m
	}
	return out
}

// Restore lays out what a cut keeps: entries gives the active messages with
// those seqs, oldest first. It fails with storage where one is missing.
func Restore(kept []thread.Kept, entries func(first, last int64) ([]thread.Entry, error)) ([]Message, error) {
	var out []Message
	for _, k := range kept {
		if k.First == 0 {
			if k.Message == nil {
				return nil, lost("a cut keeps a message without saying which")
			}
			out = append(out, New(*k.Message))
			continue
		}
		last := k.Last
		if k.Message != nil {
			last = k.First
		}
		found, err := entries(k.First, last)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 || found[0].Seq != k.First || found[len(found)-1].Seq != last {
			return nil, lost(fmt.Sprintf("a cut keeps the messages from %d to %d, which the log does not have", k.First, last))
		}
		for _, e := range found {
			m := Message{Entry: e}
			if k.Message != nil {
				m.whole, m.edited = e.Message, true
				m.Message = k.Message
			} else if k.Results != 0 {
				m = m.laid(k.Results)
			}
			out = append(out, m)
		}
	}
	return out, nil
}

func lost(what string) error {
	return &thread.Error{Code: thread.Storage, Op: "prompt", Message: what}
}

// gone names the messages of the log that left or changed, as ranges of those
// that stood next to each other.
func gone(before, after []Message) []thread.Range {
	stays := map[int64]*thread.Message{}
	for i := range after {
		stays[after[i].Seq] = after[i].Message
	}
	var out []thread.Range
	var last *Message
	for i := range before {
		m := &before[i]
		if now, ok := stays[m.Seq]; m.Seq == 0 || ok && same(now, m.Message) {
			last = nil
			continue
		}
		if last != nil && m.Index == last.Index+1 {
			out[len(out)-1].Last = m.Seq
		} else {
			out = append(out, thread.Range{First: m.Seq, Last: m.Seq})
		}
		last = m
	}
	return out
}

// Further says whether cut a stands for more of the log than b. Of two that race
// the furthest wins; of two that reach as far, the one that is logged already.
func Further(a, b *thread.Cut) bool {
	if x, y := reach(a), reach(b); x != y {
		return x > y
	}
	if a.Boundary != b.Boundary {
		return a.Boundary > b.Boundary
	}
	return a.Length > b.Length
}

// reach is the seq of the newest message that a cut stands for.
func reach(c *thread.Cut) int64 {
	var seq int64
	for _, r := range c.Gone {
		seq = max(seq, r.Last)
	}
	return seq
}
