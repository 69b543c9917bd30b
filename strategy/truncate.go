package strategy

import (
	"cmp"
	"context"

	"github.com/skeinhq/skein/thread"
)

// The defaults of [Truncate].
const (
	DefaultKeepRecentResults = 4
	DefaultMaxCharacters     = 2_000
	DefaultTruncateBatch     = 8_000
)

// Truncate are the options of [TruncateToolResults]. A zero field stands for its
// default.
type Truncate struct {
	KeepRecent    int // newest messages that carry results and stay whole; default 4, negative: none
	MaxCharacters int // of an older result's text, the marker included; default 2,000, at least 100
	BatchTokens   int // acts only where this much is won; default 8,000, negative: whatever is won
}

func (o Truncate) filled() Truncate {
	o.KeepRecent = max(0, cmp.Or(o.KeepRecent, DefaultKeepRecentResults))
	o.MaxCharacters = max(leastCharacters, cmp.Or(o.MaxCharacters, DefaultMaxCharacters))
	o.BatchTokens = max(1, cmp.Or(o.BatchTokens, DefaultTruncateBatch))
	return o
}

// TruncateToolResults shortens the text of older tool results to head and tail
// around a marker that says how to open the rest:
//
//	[earlier output truncated from 48210 characters; zoom 12 1]
//
// The call, the error flag and files stay, and so do results that the model has
// not answered yet. It acts only where a batch of tokens is won, so the prompt
// changes before its end at most once for each batch, and drops no message, so it
// may stand before the outline.
func TruncateToolResults(o Truncate) Strategy {
	return Strategy{Name: TruncateName, Compact: o.filled().compact, edits: true}
}

func (o Truncate) compact(_ context.Context, in Input) (Result, error) {
	until := o.until(in.Messages)
	out := make([]Message, len(in.Messages))
	copy(out, in.Messages)
	won := 0
	for i := range out[:until] {
		m := &out[i]
		if m.Seq == 0 || m.edited {
			continue
		}
		if m.Results != 0 && m.Results <= o.MaxCharacters {
			continue // it is short enough since an earlier time
		}
		out[i] = m.laid(o.MaxCharacters)
		won += in.Messages[i].tokens() - out[i].tokens()
	}
	if won <= 0 || won < o.BatchTokens && !in.over() {
		return Result{}, nil
	}
	return Result{Messages: out, Reason: in.reason("batch")}, nil
}

// until is where older messages end: at the oldest of the newest that carry
// results, and before those that no agent has answered yet.
func (o Truncate) until(messages []Message) int {
	until, carrying, answered := len(messages), 0, false
	for i := len(messages) - 1; i >= 0; i-- {
		m := messages[i].Message
		if m == nil {
			continue
		}
		answered = answered || m.Role == thread.Assistant
		if len(m.Results()) == 0 {
			continue
		}
		if answered && carrying >= o.KeepRecent {
			break
		}
		carrying++
		until = i
	}
	return until
}

// reason is why a strategy acted, for the log: its own trigger, unless the prompt
// was too large.
func (in *Input) reason(trigger string) string {
	switch {
	case in.Overflowing:
		return "overflow"
	case in.over():
		return "limit"
	}
	return trigger
}
