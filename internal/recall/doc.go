// Package recall is the way back from a small prompt to all that was said: zoom,
// read and search. The model's tools, the terminal's commands and the API's calls
// are this same code; each gives a value for programs whose String is the text
// for the model and for people.
//
//	Zoom(8+4)    the two lines that the line was made from: 8+2 and 10+2
//	Zoom(8+1)    message 8 whole, a page at a time
//	Read(8, 5)   messages 8 to 12 whole, as far as a byte limit allows
//	Search("…")  the messages that hold the words, best first, each as one line
//
// A tool's output that is too long for the log stands there with its head and
// tail; zoom pages through the whole of it.
//
// Any past line opens, whether the prompt shows it or not and whether it is built
// yet or not: below it there are messages in any case.
//
// Everything is seen with somebody's eyes. A message with an audience is
// "(private)" to whoever is not in it, is not found, and does not lift its
// neighbours' rank.
//
// Invariants: I10 (zoom and read cost the same at any length), I3 (whatever the
// prompt leaves out can be opened).
package recall
