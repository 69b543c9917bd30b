// Package line writes the lines of the outline: one for each message, one for
// each pair of neighbouring lines, and keeps the queues of those that are not
// written yet.
//
//	message ── Leaf ── fits in 512 bytes? ── yes ─▶ its own line (Verbatim)
//	                          │ no
//	                          ▼
//	               due in the store ─▶ Builder ─▶ model writer      ─┐
//	                                        └───▶ extractive writer ─┴▶ PutNodes
//
// A pair whose two lines fit together is joined by the store. Everything longer
// is built in the background, leaves as they arrive, parents as they become
// ready. The model writer asks a small model; the extractive writer chooses
// sentences by rule, from its own input and a fixed table alone.
//
// Invariants: I8 (no line holds an anchor that its sources do not, see
// [Unsupported]), I10 (the work for a line is bounded, however long its message
// or its thread), I3 (what is due is built in the end: past HARD and in an
// import the extractive writer fills in, so an outage never blocks a cut).
package line
