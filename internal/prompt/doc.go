// Package prompt makes what a model is sent: a pure function from an agent's
// definition and what the log and the outline hold of the past.
//
//	Since       where whole messages start; asked before they are loaded
//	Build       definition + past + turn + rules → Prompt
//	Validate    is the request valid for the model's provider?
//	Print       the prompt for people; as JSON for programs
//
// A prompt has five sections, what changes least first:
//
//	tools · instructions · contexts · history · turn
//
// The history is the messages whole, or, after a cut, one user message with the
// older part's lines and then the tail whole. The turn is what is told now, at
// the very end: it is stored with the reply (Told, as the reply's Contexts) and
// stands before that reply from then on. Stamp is stored with the reply too (as
// its Request): it proves from which prompt the reply was made, so that its
// thinking may be sent again and the ledger needs nothing else.
//
//	p, err := prompt.Build(def, past, turn, rules)
//	…
//	reply.Contexts, reply.Request = p.Told, &p.Stamp
//
// Whatever the log holds, the request is valid: results stand beside their
// calls in the calls' order, a call without a result gets one that says so, a
// result without its call is a note, ids are unique, no empty text goes out. One
// thing is left to the caller: a prompt whose history ends with the agent's own
// reply is valid as the start of the next one, but there is nothing in it to
// answer, and it is not sent before somebody has spoken.
//
// [Plugin] is the way to change any of it.
//
// Invariants: I3 (every message is whole, under a line or aged out), I5 (between
// cuts a prompt starts with the one before; steps of the age's edge and images
// turned into references excepted, which the ledger names), I6 (nothing but the
// input counts), I7 (valid for its provider), I10 (the work follows from the
// tail and the outline, never from the thread's length).
package prompt
