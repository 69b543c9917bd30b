package server

import (
	"testing"
	"time"

	"github.com/skeinhq/skein/thread"
)

func FuzzListCursor(f *testing.F) {
	f.Add(cursorAfter(thread.Thread{Key: thread.Key{ID: "rope"}, Updated: time.UnixMilli(1)}))
	f.Add("")
	f.Add("MSBhIGI")
	f.Add("!!")
	f.Fuzz(func(t *testing.T, c string) {
		th, err := readCursor(c)
		if err != nil {
			if thread.CodeOf(err) != thread.Invalid {
				t.Fatalf("%q: %v", c, err)
			}
			return
		}
		if again, err := readCursor(cursorAfter(th)); c != "" && (err != nil || again.ID != th.ID || !again.Updated.Equal(th.Updated)) {
			t.Fatalf("%q is %+v, and then %+v, %v", c, th, again, err)
		}
	})
}

func FuzzLastEventID(f *testing.F) {
	for _, id := range []string{"e.1", "", "e", "e.-1", "e.9223372036854775807", ".5", "a.b.c"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		if c := (Cursor{Tail: 5}).after(id); c.From < 1 || c.Tail != 5 {
			t.Fatalf("%q begins at %d", id, c.From)
		}
	})
}
