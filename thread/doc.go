// Package thread holds the nouns of Skein as plain values: entries and the
// messages, cuts and turns they record, the nodes of the outline, the state of
// a thread, batches, weights and the one error type.
//
// A thread is one conversation. Its log is a dense sequence of immutable
// entries, numbered by seq from 1. Some entries are messages; the active ones
// (not undone by a rewind, and after the last reset) carry an index 0, 1, 2…,
// which is the leaf number of the outline's binary tree:
//
//	seq    1     2        3     4      5     6
//	kind   turn  message  cut   turn   message  message
//	index        0                     1     2
//
// A node of level l and number i stands for the 2^l messages from i·2^l on and
// is written id+n: 8+4 is level 2, number 2. As the model reads it, a node is a
// line: id+n|text.
//
// The package imports nothing of Skein's and performs no input or output.
//
// Invariants it serves: I1 (entries are values that nobody changes once they
// have a seq) and I10 (a [Thread] value is all that a writer or a reader needs
// of a thread, whatever its length).
package thread
