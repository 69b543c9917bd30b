package skein_test

import (
	"context"
	"testing"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/store/memory"
	"github.com/skeinhq/skein/thread"
)

// Marks between which nothing can be held are refused wherever they are set.
func TestMarksThatHoldNothingAreRefused(t *testing.T) {
	ctx := context.Background()
	e := engine(t, skein.Config{})
	th := open(t, e, "rope", skein.Settings{})
	for name, c := range map[string]struct{ low, high int }{
		"low above high": {5, 1}, "below nothing": {-1, 4}, "no high": {5, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var s skein.Settings
			s.Tail.Low, s.Tail.High = c.low, c.high
			if err := th.Set(ctx, s); thread.CodeOf(err) != thread.Invalid {
				t.Errorf("as a thread's tail: %v", err)
			}
			s.Tail, s.Outline = s.Outline, s.Tail
			if _, err := e.Create(ctx, "other", "", s); thread.CodeOf(err) != thread.Invalid {
				t.Errorf("as a new thread's outline: %v", err)
			}
			bad, err := skein.Open(ctx, skein.Config{Store: memory.New(memory.Options{}), Agents: []skein.Agent{{Name: "north", Outline: s.Outline}}})
			if err == nil {
				err = bad.Close()
				t.Errorf("as an agent's outline they are taken, %v", err)
			}
		})
	}
}
