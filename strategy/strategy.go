package strategy

import (
	"context"
	"encoding/json"

	"github.com/skeinhq/skein/thread"
)

// Strategy decides what of the past a model is sent. Compact gets the messages
// as they would be sent and gives those to be sent instead, or none to keep them;
// it may be called from many goroutines and must not change what it is given.
// Messages that stay keep their Seq; a new one has Seq 0. Without a Compact it is
// the outline, which cuts by itself.
type Strategy struct {
	Name    string
	Model   string // that it asks besides the agent's, so that it is known before it is needed; empty: none
	Compact func(ctx context.Context, in Input) (Result, error)

	edits bool // it drops nothing, and may so stand before the outline
}

// Message is one message of what is sent. Its Entry.Message is as it is sent. A
// new one, such as a summary, has Seq 0 and no index. Results says to how many
// characters each of its results is shortened; a strategy that sets it need not
// shorten them itself.
type Message struct {
	thread.Entry
	Results int

	whole  *thread.Message // as the log holds it; nil: as it is sent
	edited bool            // it is sent neither whole nor with shortened results
}

// New makes a message that is not in the log, such as a summary.
func New(m thread.Message) Message {
	return Message{Entry: thread.Say(m)}
}

// Input is what a strategy decides on.
type Input struct {
	Messages []Message // effective ones, oldest first, the newest cut of this chain applied
	Agent    string
	Turn     int64 // seq of the entry that began the running turn; 0: none runs
	Step     int   // of that turn, from 1
	Model    string

	Limit       int    // most tokens of a prompt (window less the answer), in thread.Weight's unit; 0: not known
	Fixed       Weight // of what is sent besides: instructions, tools, contexts
	Overflowing bool   // the provider has found the prompt too large: act whatever the trigger says
	Followed    bool   // another strategy of the chain comes after: what this one cannot reduce is left to it

	// Summarize asks a model for a summary; see [Summarizer].
	Summarize func(ctx context.Context, a Ask) (Summary, error)

	// Noted is what earlier attempts left to remember, a document of the thread; nil
	// at first.
	Noted json.RawMessage
}

// Ask is what a model is asked to summarize, in the order in which it was said.
type Ask struct {
	Model     string    // by its name; empty: the summarizer's own choice
	Earlier   string    // the summary so far, to be folded in
	Messages  []Message // what follows it
	Prompt    string    // what to keep; empty: [Guide]
	MaxTokens int       // of the answer; 0: [DefaultSummaryTokens]
	Most      int       // the summary must weigh less than this, in thread.Weight's unit; 0: whatever it weighs
}

// Summary is what came of it. Usage counts all that was asked for it, also where
// it failed.
type Summary struct {
	Text  string
	Usage thread.Usage
}

// Result is what a strategy wants sent. Without Messages all is kept as it is.
// Reason is for the log; Usage counts also where the strategy fails.
type Result struct {
	Messages []Message
	Reason   string
	Usage    thread.Usage
}

// Outcome is what came of a strategy's step.
type Outcome struct {
	// Cut is to be logged; nil: all is kept as it is. Strategy, Agent, Step,
	// Boundary (the oldest index that is sent), Kept, Gone, Reason, Before, After and
	// Usage are set; Number, Chain, Length, Prev and Skills are the caller's.
	Cut      *thread.Cut
	Messages []Message       // what is sent after it
	Usage    thread.Usage    // what was spent, also where no cut came of it or Step failed
	Noted    json.RawMessage // to be stored where it differs from the input's
	Warning  string          // for people: something failed, and the turn goes on uncompacted
}
