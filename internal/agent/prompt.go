package agent

import (
	"time"

	"github.com/skeinhq/skein/internal/prompt"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// Input is all that the prompt of a thread's agent follows from.
type Input struct {
	Thread     *thread.Thread
	Past       Past
	Usage      Usage
	Definition prompt.Definition
	Contexts   []thread.Context // of the turn
	Marks      Marks
	Time       time.Time // of the turn's first entry; between turns of the newest message
	Rules      model.Rules
}

// Prompt builds a prompt. It is pure (I6).
func Prompt(in Input) (*prompt.Prompt, error) {
	past := prompt.Past{
		Thread:   in.Thread.ID,
		Length:   in.Thread.Length,
		Requests: in.Usage.Requests,
		Cut:      in.Past.Cut,
		Outline:  in.Past.Outline,
		Kept:     in.Past.kept(),
		Previous: in.Usage.Last[in.Definition.Agent],
	}
	var err error
	if past.Boundary, err = prompt.Since(known(in)); err != nil {
		return nil, err
	}
	past.Messages = in.Past.Messages[past.Boundary-in.Past.From:]
	return prompt.Build(in.Definition, past, prompt.Turn{Time: in.Time, Contexts: in.Contexts}, in.Rules)
}

// known is what there is to say where the whole messages start.
func known(in Input) prompt.Known {
	tail := tailOf(in.Past)
	k := prompt.Known{
		Length: in.Thread.Length, Cut: in.Past.Cut, First: in.Past.From, Low: in.Marks.Tail.Low,
		Behind: in.Past.Cut == nil && Base(in.Definition.Strategy).Outlined() && tail.Weight() > in.Marks.Tail.Hard,
	}
	if !k.Behind && in.Past.Cut != nil {
		return k
	}
	legal := tail.LegalStarts()
	k.Seen = make([]prompt.Seen, len(tail.Messages))
	for i, m := range tail.Messages {
		k.Seen[i] = prompt.Seen{Weight: m.Weight, Legal: legal[i]}
	}
	return k
}
