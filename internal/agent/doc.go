// Package agent says what an agent is (also from its Markdown file) and how its
// turn runs: one model call after another until the model calls no more tools.
//
// The owner of a thread's turn works on a [Log]: the thread's state, its fence
// and the one way to commit. All else is made from the log:
//
//	Repair     what a dead owner left is closed, once, in writing
//	Begin      the turn's first entry; what was queued becomes messages
//	step       cut where it must, build the prompt, call the model, commit its
//	           message before its tools run, commit each result
//	End        the turn's last entry, then the cut
//
// A process may die between any two of these: the next owner finds the open
// turn and goes on. Calls that are not read-only are marked as started before
// they run; a started call whose result is missing is never run again.
//
// Invariants: I1, I2 (nothing is said to have happened before it is durable),
// I7 (a prompt is checked before it is sent), I12 (every commit names the
// fence).
package agent
