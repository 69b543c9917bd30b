package prompt

import (
	"errors"

	"github.com/skeinhq/skein/thread"
)

// ErrNotKnownYet is wrapped by the answer to Since while too little of the
// thread is known. Whoever asked waits until more is and asks again: no
// half-filled prompt goes out.
var ErrNotKnownYet = errors.New("it is not known yet where the whole messages start")

// Known is what is known of a thread before its messages are loaded.
type Known struct {
	Length int64       // active messages
	Cut    *thread.Cut // the cut in force, nil before the first

	// Seen are the messages [First, Length), oldest first, as far back as the
	// thread has been looked at.
	First int64
	Seen  []Seen

	// Behind says that the thread is longer than its tail should be and cannot be
	// cut yet, since lines are missing: it shows a plain window for now.
	Behind bool
	Low    int // weight of that window
}

// Seen is what Since needs of a message.
type Seen struct {
	Weight int
	Legal  bool // whole messages may start here: no result, not between a call and its result
}

// Since asks the merged plugins where the whole messages start. The error wraps
// [ErrNotKnownYet] where that cannot be said yet.
func Since(k Known, plugins ...Plugin) (int64, error) {
	return Merge(plugins...).Since(k)
}

// sinceCut answers for a thread that may have been cut.
func sinceCut(k Known) (int64, error) {
	switch {
	case k.Cut == nil:
		return sinceStart(k)
	case k.Cut.Kept != nil:
		return k.Cut.Length, nil
	}
	return k.Cut.Boundary, nil
}

// sinceStart answers for a thread that was never cut: everything, once it is
// known from message 0; while it is behind, the newest messages alone.
func sinceStart(k Known) (int64, error) {
	if k.Behind {
		return sinceWindow(k)
	}
	if k.First == 0 && int64(len(k.Seen)) == k.Length {
		return 0, nil
	}
	return 0, notKnown(k)
}

// sinceWindow finds the newest legal start from which the messages weigh at
// least Low.
func sinceWindow(k Known) (int64, error) {
	if k.First+int64(len(k.Seen)) != k.Length {
		return 0, notKnown(k)
	}
	weight := 0
	for i := len(k.Seen) - 1; i >= 0; i-- {
		weight += k.Seen[i].Weight
		if weight >= k.Low && k.Seen[i].Legal {
			return k.First + int64(i), nil
		}
	}
	if k.First > 0 {
		return 0, notKnown(k)
	}
	return 0, nil
}

func notKnown(k Known) error {
	return &thread.Error{Code: thread.Conflict, Op: "prompt", Message: "the thread is still being read", Hint: "ask again when more of it is known", Details: k.First, Err: ErrNotKnownYet}
}
