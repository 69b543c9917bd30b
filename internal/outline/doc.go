// Package outline is the pure heart of the prompt: which lines stand for the
// past, which of them merge and when, where the tail of whole messages starts,
// and where it may be cut. It knows spans and weights only; no text, no store,
// no model.
//
//	messages   0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
//	outline    └─0+4─┘└4+2┘ 6 7 8 9│               boundary = 10
//	tail                           └ 10 … 15 whole
//
// A [Cut] moves the boundary towards the newest message: the messages between
// become lines of one message each, and if the outline then weighs more than
// its HIGH, sibling lines merge until it weighs at most its LOW, all in the same
// step. So the start of the prompt changes once for a whole batch.
//
// The pair to merge is the most due one: due = (B − last) / 2^l, with B the
// boundary, last the index of the pair's last message and l the level of its
// lines. The past therefore grows coarse with age, each level about as many
// lines as the next.
//
// Invariants: I3 and I4 (the outline tiles [0, boundary); levels never rise from
// old to new while no parent was missing), I10 (the work of a cut follows from
// what moves and from the marks, never from the thread's length).
package outline
