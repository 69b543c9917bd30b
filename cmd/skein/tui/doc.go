// Package tui is the full-screen chat of one thread: what was said, what is
// being answered, what is typed, and the way back to everything.
//
// It is two halves. The model is pure: a state, and update, which takes one
// message (a key, a piece of an answer, something read) and gives the effects
// that it wants. It knows no engine, no clock and no terminal, so its screens
// are tested as golden files. The shell owns every goroutine: it carries effects
// out on the engine, and brings what comes back as messages.
//
//	keys, sizes, pastes ──► model ──► screen
//	      engine ──► shell ──► │ ▲
//	                 shell ◄── effects
//
// What holds:
//
//   - Typing and drawing never wait for the engine or for a stream: pieces of an
//     answer are gathered and brought at most thirty times a second, the first
//     one at once.
//   - Only windows of messages are read and held, whatever the thread's length
//     (I10); opening a thread reads the newest window alone.
//   - A finished message is rendered once for a width, and an answer that grows
//     only from its last paragraph on.
//   - What others wrote is data: nothing of it reaches the terminal as a control
//     character.
//   - A call that waits for a decision is a card. Its bar stands in the gutter,
//     where no text of a message reaches, and it takes two keys to decide: one that
//     no typing gives, and one that only the card hears. It is decided about the
//     call that was looked at, not about a later one with its id.
//   - What another process does is seen within a second or so, and an open turn
//     that nobody runs is gone on with: a parked one once all is decided, a dead
//     owner's at once.
//   - What is typed lies in a file beside the database until it is said.
package tui
