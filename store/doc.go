// Package store says what a store of threads must do. The drivers are in its
// sub-packages: sqlite for real use, memory as the model and for threads
// without a transcript; storetest is the one suite that all of them pass.
//
// A store keeps, for each thread, its log (entries), the nodes of its outline,
// a few documents, blobs, a search index and a list of the lines that are due.
// It gives seqs and indexes, so it alone decides what a message's place is:
//
//	Append: say something; no tip, no lease, never conflicts with a turn
//	Commit: a turn's step, a cut, a rewind; names its tip and fence
//
// Invariants: I1 (what a write acknowledged is durable and stays), I10 (a write
// costs the same at any length), I11 ([Store.Check] finds what is not as it
// should be), I12 (a late owner is refused by its fence).
//
// # Reading
//
// Readers pass a [thread.Thread], the state as of some moment, and see the log
// as of then: entries are immutable, so no lock is needed. Nodes may appear
// later than the state that a reader holds; they never change.
//
// # Errors
//
// Every error is a *thread.Error. Codes: not-found, conflict, invalid, limit,
// permission (the store is read-only), storage, and aborted or timeout where the
// context ended before anything was done. A write whose outcome is unknown wraps
// thread.ErrUnknownOutcome.
//
// # Drivers
//
// The rules of writing are here, once, over the few things that a driver's
// transaction must be able to do ([Tx]): what an entry does to its thread
// (rules.go), what a line makes of itself above it (grow.go), forks and what a
// purge may remove (fork.go), leases, and the scores of a search (rank.go).
// [Derive] rebuilds the same state from the log by other means, so that [Audit]
// can tell where a store is wrong.
package store
