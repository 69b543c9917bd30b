package long_test

import (
	"path/filepath"
	"testing"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/bench/long"
	"github.com/skeinhq/skein/thread"
)

func TestLongThreadsDifferInTheirLengthAlone(t *testing.T) {
	var first *skein.Outline
	for _, n := range []int64{100, 1000} {
		e, err := long.Open(t.Context(), filepath.Join(t.TempDir(), "long.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		th, err := long.Make(t.Context(), e, long.ID(n), n, long.Seed, long.Small())
		if err != nil {
			t.Fatal(err)
		}
		o, err := th.Outline(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d messages: tail %d from %d, %d lines of %d, backlog %d", o.Messages, o.Tail.Weight, o.Tail.From, len(o.Lines), long.Weight(o), o.Backlog)
		if o.Messages != n || o.Backlog != 0 {
			t.Errorf("%d messages, %d lines due; want %d and none", o.Messages, o.Backlog, n)
		}
		low := long.Small().Outline.Low
		if w := long.Weight(o); w > low || w < low-2*thread.LineBytes/4 {
			t.Errorf("%d messages: the outline weighs %d, want just below %d", n, w, low)
		}
		if first == nil {
			first = &o
		}
		if o.Tail.Weight != first.Tail.Weight || n-o.Tail.From != first.Messages-first.Tail.From {
			t.Errorf("%d messages: the tail is of %d messages and weighs %d; at %d messages of %d and %d",
				n, n-o.Tail.From, o.Tail.Weight, first.Messages, first.Messages-first.Tail.From, first.Tail.Weight)
		}
		for err := range e.Check(t.Context()) {
			t.Error(err)
		}
	}
}
