// Package strategy decides what of a thread's past a model is sent, where that is
// not left to the outline; it never touches what is stored.
//
//	messages ─▶ Strategy.Compact ─▶ settle, Validate, smaller? ─▶ Cut, logged ─▶ sent
//	                │                                                │
//	          (Summarizer)                                    Encode │ Restore
//	                                                    ranges of seqs, and new
//	                                                    or edited messages alone
//
// A thread has the outline, or a [Chain] of strategies each of which gets what the
// one before it left. Three come with the package: [SummarizeHistory],
// [TruncateToolResults] and [SlidingWindow]; a strategy of one's own is a name and
// a function. [Step] runs one of them. What it decides is stored as a cut: as
// ranges of the log's seqs, in order, with new and edited messages between them.
// [Restore] lays that out again, after a restart and on another machine, to the
// same bytes.
//
// Thinking of kept messages is not removed here: it is sent only where the prompt
// before it is, by hash, the one it was made with, which a cut changes.
//
// Invariants it serves: I1 (kept content is never copied, the log is never
// touched), I6 (all but summaries and functions of one's own is pure) and I7 (no
// call is parted from its result).
package strategy
