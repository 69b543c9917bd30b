package recall

import (
	"context"
	"fmt"
	"strings"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// ReadBytes is about how many bytes one reading gives.
const ReadBytes = 32 << 10

// Reading is messages whole, one after another.
type Reading struct {
	Messages []Page `json:"messages"`

	// Next is the first message asked for that found no room, 0 where all did. A
	// message that is longer than a page stands alone, with its first page.
	Next int64 `json:"next,omitempty"`
}

// Read opens count messages from message id on, each whole, until [ReadBytes] are
// full. It stops at the thread's end.
//
// Errors: invalid (count below 1), not-found (no message id), storage.
func Read(ctx context.Context, st store.Store, t *thread.Thread, viewer string, id, count int64) (Reading, error) {
	if count < 1 {
		return Reading{}, &thread.Error{Code: thread.Invalid, Op: "read", Thread: t.ID, Message: fmt.Sprintf("A count of %d reads nothing.", count), Hint: "count is 1 or more"}
	}
	if id < 0 || id >= t.Length {
		return Reading{}, noMessage(t, "read", id)
	}
	end := id + min(count, t.Length-id)
	r := Reading{}
	room := ReadBytes
	for e, err := range st.Messages(ctx, t, id, end) {
		if err != nil {
			return Reading{}, err
		}
		text := Text(&e, viewer)
		all := pages(text)
		if len(r.Messages) > 0 && (len(text) > room || len(all) > 1) {
			r.Next = e.Index
			return r, nil
		}
		r.Messages = append(r.Messages, pageOf(&e, viewer, all, 1))
		room -= len(all[0])
		if len(all) > 1 && e.Index+1 < end {
			r.Next = e.Index + 1
		}
		if len(all) > 1 {
			return r, nil
		}
	}
	return r, nil
}

// extent says which messages there are.
func extent(t *thread.Thread) string {
	if t.Length == 0 {
		return "the thread is empty"
	}
	return fmt.Sprintf("the thread has 0 to %d", t.Length-1)
}

// String is each message under the name of its line, and where to go on.
func (r Reading) String() string {
	var b strings.Builder
	for i, m := range r.Messages {
		if i > 0 {
			b.WriteString("\n\n")
		}
		fmt.Fprintf(&b, "%d+1|%s", m.ID, m.Text)
		if m.Pages > 1 {
			fmt.Fprintf(&b, "\n(page 1 of %d; zoom %d 1 opens the others)", m.Pages, m.ID)
		}
	}
	if r.Next > 0 {
		fmt.Fprintf(&b, "\n\n(go on from message %d)", r.Next)
	}
	return b.String()
}
