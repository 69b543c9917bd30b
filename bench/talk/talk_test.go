package talk_test

import (
	"testing"

	"github.com/skeinhq/skein/bench/talk"
)

func TestTheSameSeedSaysTheSame(t *testing.T) {
	a, b, other := talk.New(7), talk.New(7), talk.New(8)
	same := 0
	for i := range 1000 {
		m := a.Next()
		if n := b.Next(); m != n {
			t.Fatalf("message %d: %q, then %q", i, m.Text, n.Text)
		}
		if m == other.Next() {
			same++
		}
	}
	if same > 10 {
		t.Errorf("another seed gave %d of 1000 messages the same", same)
	}
}

func TestLengthsAreMixed(t *testing.T) {
	talk := talk.New(1)
	const n = 20_000
	short, long, bytes := 0, 0, 0
	for range n {
		m := talk.Next()
		if m.Text == "" {
			t.Fatal("an empty message")
		}
		bytes += len(m.Text)
		if len(m.Text) <= 500 {
			short++
		}
		if len(m.Text) > 2000 {
			long++
		}
	}
	if mean := bytes / n; mean < 250 || mean > 600 {
		t.Errorf("messages have %d bytes on average", mean)
	}
	if short < n/2 || short > n*9/10 {
		t.Errorf("%d of %d messages are short enough to be their own line", short, n)
	}
	if long < n/100 || long > n/10 {
		t.Errorf("%d of %d messages have more than 2,000 bytes", long, n)
	}
	t.Logf("mean %d bytes, %d %% short, %.1f %% long", bytes/n, short*100/n, float64(long)*100/n)
}
