// Package live measures how threads are served to those who watch them: Skein's
// server beside centrifuge, over WebSocket.
//
// Three processes take part, all of them the command live: a server of each kind,
// which writes at a fixed rate when it is told to, and the load, which holds the
// clients and takes the times. Both servers carry the same payload, the JSON of an
// entry; Skein commits it to disk first.
//
//	load ── commands, a line each ──► server (skein or centrifuge)
//	load ◄── frames, over sockets ─── server
//
// A text begins with the moment it was due, so a client that reads it knows how
// long it was on its way: all of it is one machine's clock. Processor time and
// memory are the server's, as the system counts them; what its sockets hold in the
// kernel, the server asks of each of them.
package live
