// Package echo is a model that needs no network: it answers "You said: " and
// the newest user message as it was rendered. It makes every other part of
// Skein work and testable without a key.
package echo

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// Model answers at a pace. The zero value answers at once.
type Model struct {
	Pace float64 // tokens a second; 0: no pace
}

// Stream answers word by word.
func (m Model) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		answer := "You said: " + newest(r)
		for _, word := range strings.SplitAfter(answer, " ") {
			if err := model.Wait(ctx, m.wait(word)); err != nil {
				yield(model.Event{}, err)
				return
			}
			if !yield(model.Event{Type: model.TextDelta, Text: word}, nil) {
				return
			}
		}
		yield(model.Event{
			Type:  model.Done,
			Parts: []thread.Part{thread.Text(answer)},
			Stop:  thread.StopEnd,
			Usage: thread.Usage{Input: int64(r.Weigh()), Output: int64(thread.Weight(answer))},
		}, nil)
	}
}

// wait is how long a word takes at the model's pace.
func (m Model) wait(word string) time.Duration {
	if m.Pace <= 0 {
		return 0
	}
	return time.Duration(float64(thread.Weight(word)) / m.Pace * float64(time.Second))
}

// newest gives the text of the newest user message that is not a context.
func newest(r *model.Request) string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		m := r.Messages[i]
		if m.Role != thread.User {
			continue
		}
		var texts []string
		for _, p := range m.Parts {
			if p.Type == thread.TextPart && !strings.HasPrefix(p.Text, "<context name=") {
				texts = append(texts, p.Text)
			}
		}
		if len(texts) > 0 {
			return strings.Join(texts, "\n")
		}
	}
	return "nothing yet"
}
