package recall_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/skeinhq/skein/internal/recall"
	"github.com/skeinhq/skein/thread"
)

func TestReadGivesMessagesWhole(t *testing.T) {
	k := inMemory(t).put(user("ana", "one\ntwo"), secret(agent("psst"), "bo"), agent("three"))
	r, err := recall.Read(t.Context(), k.st, &k.th, "ana", 0, 9)
	if err != nil {
		t.Fatal(err)
	}
	want := "0+1|ana → north\none\ntwo\n\n1+1|(private)\n\n2+1|north\nthree"
	if got := r.String(); got != want || r.Next != 0 {
		t.Errorf("got %q, next %d\nwant %q", got, r.Next, want)
	}
}

func TestReadOutOfRange(t *testing.T) {
	k := inMemory(t).put(user("ana", "one"))
	for _, c := range []struct {
		id, count int64
		code      thread.Code
		want      string
	}{
		{1, 1, thread.NotFound, "No message 1. (the thread has 0 to 0)"},
		{-1, 1, thread.NotFound, "No message -1. (the thread has 0 to 0)"},
		{0, 0, thread.Invalid, "A count of 0 reads nothing. (count is 1 or more)"},
	} {
		_, err := recall.Read(t.Context(), k.st, &k.th, "ana", c.id, c.count)
		if thread.CodeOf(err) != c.code || err.Error() != c.want {
			t.Errorf("read(%d, %d) gives %v", c.id, c.count, err)
		}
	}
}

func TestReadSaysWhereToGoOn(t *testing.T) {
	k := inMemory(t).put(user("ana", strings.Repeat("a", 15<<10)), user("ana", strings.Repeat("b", 15<<10)), user("ana", strings.Repeat("c", 15<<10)), user("ana", strings.Repeat("d", 40<<10)), user("ana", "e"))
	for _, c := range []struct {
		id, count int64
		shown     int
		ends      string
	}{
		{0, 2, 2, "b"},
		{0, 5, 2, "\n\n(go on from message 2)"},
		{2, 3, 1, "\n\n(go on from message 3)"},
		{3, 2, 1, "\n(page 1 of 3; zoom 3 1 opens the others)\n\n(go on from message 4)"},
		{3, 1, 1, "\n(page 1 of 3; zoom 3 1 opens the others)"},
		{4, 9, 1, "e"},
	} {
		r, err := recall.Read(t.Context(), k.st, &k.th, "ana", c.id, c.count)
		if err != nil {
			t.Fatal(err)
		}
		text := r.String()
		if len(r.Messages) != c.shown || !strings.HasSuffix(text, c.ends) {
			t.Errorf("read(%d, %d) shows %d messages and ends …%q", c.id, c.count, len(r.Messages), text[len(text)-80:])
		}
	}
}

// TestReadingOnShowsEveryMessageOnce, and no reading is much over its limit.
func TestReadingOnShowsEveryMessageOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		k := inMemory(t)
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, 40_000), 1, 20).Draw(rt, "sizes") {
			k.put(user("ana", strings.Repeat("x", n)))
		}
		next := int64(0)
		for from := int64(0); ; {
			r, err := recall.Read(t.Context(), k.st, &k.th, "ana", from, k.th.Length-from)
			if err != nil {
				rt.Fatal(err)
			}
			if n := len(r.String()); n > recall.ReadBytes+1000 {
				rt.Fatalf("a reading of %d bytes", n)
			}
			for _, m := range r.Messages {
				if m.ID != next {
					rt.Fatalf("message %d where %d is due", m.ID, next)
				}
				next++
			}
			if r.Next == 0 {
				break
			}
			from = r.Next
		}
		if next != k.th.Length {
			rt.Fatalf("%d messages of %d", next, k.th.Length)
		}
	})
}
