// Package process runs one program to its end, and nothing of it stays: it has a
// session and a process group of its own, no input, a time, and an output that
// is bounded while it comes in.
//
//	Command ── start ──► its group ── exit, time over, or ctx ended ──► the group is killed
//	                        │
//	                        └ pipe ─► clean ─► head … tail   (Ended.Output)
//	                                     └───► live batches  (Command.Live)
//
// [Run] gives what a program prints as text for people and models: stdout and
// stderr in the order in which they came, valid UTF-8, without terminal escapes,
// the head and the tail of what is too long. [Ask] gives the bytes of stdout, for
// questions whose answer a program reads.
//
// What holds for both: when the program ends, or must end, its whole group is
// killed, so that nothing which it left in the background goes on. A process that
// made itself a session of its own is no longer of the group and is not killed;
// if it still holds the pipe, nobody waits for it longer than half a second. The
// work keeps at most Command.Keep bytes of output in memory, however much is
// printed. No goroutine outlives the call.
package process
