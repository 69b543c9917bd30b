// Package window projects threads as windowed views and delivers them.
//
// A Room is one watched thread. It follows the thread's log entry by entry, from
// the batches of commits as they are published and from the store where it has
// missed some, and keeps what its watches share: the newest messages, each
// encoded once; the changes since, in order; the documents and the answer being
// made, each with a version.
//
//	commit ──► Room ── entries, each encoded once ──► Watch: its window, its cursor
//	deltas ──►      ── live, at most every 33 ms  ──► Watch
//
// A Watch is a cursor into that: which message its window starts with, how many
// changes it has delivered, which versions. What it gives is made when its reader
// asks: everything since the last frame, as one batch; readers that have the same
// are given the very same bytes. So a slow reader costs nothing; one that is 100
// changes or 1 MiB behind gets one snapshot instead of them, and hold is the same
// by the reader's wish.
//
//	(*Watch).Next(ctx) (Frame, error)        blocks until there is something
//	(*Watch).Poll() (f Frame, wait, ok, err) does not block; wait: ask again after it
//	(*Watch).Notify(func())                  is called when there is something again
//	(*Watch).Hold(on bool)
//	(*Watch).Close()
//
// Invariants it serves: W1 to W7, and so I2, I9 and I10: nothing is delivered
// before it is committed (the answer being made excepted), and no delivery and no
// snapshot costs more in a longer thread.
package window
