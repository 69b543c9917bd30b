package client_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/client"
)

// Under any weather a watch ends as the server has it, and whoever fills the holes
// holds the whole thread.
func TestUnderAnyWeatherAWatchEndsAsTheServerHasIt(t *testing.T) {
	ways(t, func(t *testing.T, s *fake, c *client.Client) {
		for seed := uint64(1); seed <= 3; seed++ {
			r := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a seed makes it happen again
			m := newModel(fmt.Sprintf("t%d", seed))
			s.set(func() { s.models[m.id] = m })
			w := follow(t, c.Watch(m.id, client.WatchOptions{Tail: 1 + r.IntN(5)}))
			var did []string
			for range 60 {
				did = append(did, weather(t, r, s, m, w))
				if r.IntN(2) == 0 {
					time.Sleep(time.Duration(r.IntN(1000)) * time.Microsecond)
				}
			}
			w.Hold(false)
			last := m.say("the end", 0)
			until(t, fmt.Sprintf("the end, seed %d, after %q", seed, did), func() bool {
				v := w.View()
				return w.live() && len(v.Entries) > 0 && v.Entries[len(v.Entries)-1].Seq == last
			})
			for holes := w.Holes(); len(holes) > 0; holes = w.Holes() {
				if _, err := w.Fetch(t.Context(), holes[len(holes)-1].Before, 7); err != nil {
					t.Fatal(err)
				}
			}
			for more := true; more; {
				var err error
				if more, err = w.Earlier(t.Context(), 7); err != nil {
					t.Fatal(err)
				}
			}
			got, want := w.View(), m.view()
			if diff := cmp.Diff([][]int64{seqs(want.Entries)}, held(w.Ranges())); diff != "" {
				t.Errorf("seed %d, after %q: %s", seed, did, diff)
			}
			if got.Docs.Live != nil || got.Length != want.Length || got.Thread != want.Thread {
				t.Errorf("seed %d, after %q: the view is %+v", seed, did, got)
			}
		}
	})
}

func weather(t *testing.T, r *rand.Rand, s *fake, m *model, w *seen) string {
	switch r.IntN(14) {
	case 0:
		s.cut()
		return "cut"
	case 1:
		s.endAll("drain")
		return "end"
	case 2:
		m.rewind(r.IntN(len(m.active) + 1))
		return "rewind"
	case 3:
		m.overflow()
		return "overflow"
	case 4:
		w.Hold(r.IntN(2) == 0)
		return "hold"
	case 5:
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, _ = w.Earlier(ctx, 3) // the line may be cut, or the page stay of before a rewind while the watch is held
		return "earlier"
	case 6, 7, 8:
		m.piece([]string{"a", "é", "👋"}[r.IntN(3)])
		return "piece"
	}
	m.say("hi", int64(r.IntN(3)))
	return "say"
}
