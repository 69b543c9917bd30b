// Package sqlite keeps threads in one SQLite file, which several processes may
// use at once.
//
// One goroutine writes. It takes all writes that wait, of whatever threads, and
// makes them durable together, in one transaction and with one sync; each still
// succeeds or fails for itself. A few connections read beside it. Nothing is
// analysed while a message is appended: a second goroutine gives the search
// index the words when the writer has been idle for a moment. A line is found by
// reading few pages, which differ little with the length of a thread: the row of a
// message is read only for what lies there, and where messages follow each other
// without other entries between them, the index is read for a few of them alone.
//
//	threads   a row for each: its state, written once for each group of writes
//	entries   the log; the key packs the thread's number and the seq
//	nodes     lines that were built; the key packs their level and where they end,
//	          so that the two halves of a wider one are neighbours. Verbatim and
//	          joined ones lie in their entry's row
//	nodes_1   what a database of an older schema had of them, until it is moved;
//	nodes_2   so it is with those of schemas 2 and 3
//	due       lines that are ready to be built
//	docs, blobs, words (the search index)
//
//	s, err := sqlite.Open(ctx, path, sqlite.Options{})
//	defer s.Close()
//
// Invariants: I1 (journal_mode=WAL, synchronous=FULL: a write is acknowledged
// after its sync), I10 (an append touches the end of the log, and the edge of
// the outline is remembered), I11 ([Store.Check] and [Store.Repair]).
//
// # Errors
//
// A full disk, a disk or file that is read-only, a damaged file, one that is no
// database, one of a newer Skein and one that stays locked are each told in one
// sentence with a way out. Where a COMMIT fails so that nobody knows whether it
// is durable, the error wraps thread.ErrUnknownOutcome and everything that the
// writer remembered is dropped.
package sqlite
