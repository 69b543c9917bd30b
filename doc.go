// Package skein is an engine for conversations that never end. It keeps one
// durable, append-only log per thread and derives from it what stays small
// whatever the thread's length: the prompt, and the way back to every word.
//
//	st, err := sqlite.Open(ctx, "skein.db", sqlite.Options{})
//	e, err := skein.Open(ctx, skein.Config{Store: st})
//	t, err := e.OpenThread(ctx, "launch", skein.Settings{})
//	answer, err := t.Ask(ctx, "ana", "Plan the launch for December")
//	p, err := t.Prompt(ctx, "")   // what the model would be sent next
//
// The model in ten lines:
//
//   - A thread's log is a sequence of entries; some are messages, with an index.
//   - Every span of 2^l messages can have a line: a summary of at most 512 bytes.
//   - The prompt is an outline (lines, coarse for the old and fine for the new)
//     and then the tail: the newest messages, whole.
//   - Between cuts the prompt only grows at its end, so a provider's cache holds.
//   - A cut moves the oldest messages of the tail under lines, in one batch.
//   - zoom opens any line again, down to the message itself; read and search
//     reach everything ever said.
//   - Saying never conflicts: while a turn runs, what is said is queued.
//   - One owner at a time writes a thread's turn, by a lease with a fence; a dead
//     owner's turn is repaired in writing and gone on with.
//
// An [Engine] owns every goroutine and waits for them in Close. Several
// processes may work on one SQLite file.
//
// Invariants I1 to I12 are listed in docs/design.md; the packages that keep them
// cite them by number.
//
// Errors are *thread.Error: compare thread.CodeOf(err).
package skein
