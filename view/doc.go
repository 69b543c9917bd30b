// Package view is what a client holds of a thread: a window of its newest
// active messages, documents that change, and the pages it fetched. It is pure:
// values, the operations that change them, and the replica that a client keeps.
//
// A view is made by a snapshot and kept up by batches of operations:
//
//	{"n": 1, "ops": [["r", view]]}                    replace all: a snapshot
//	{"n": 2, "ops": [["p", ["entries"], 50, 0, [e]],  splice: an append
//	                 ["s", ["length"], 812]]}         set
//	{"n": 3, "ops": [["a", ["docs","live","text"], 14, " you"]]}
//
// The messages of a window are neighbours: each says which came before it
// (prev), so a client can prove that it has no hole. What leaves the window and
// what was fetched stays in a [Replica] as ranges; a hole between two of them is
// one that it can name.
//
// Invariants it serves: W1 to W3 of a view ([View.Check]), W8 (no unmarked hole
// in a replica), and the client's half of W4 (snapshot and batches make the view
// built from scratch).
package view
