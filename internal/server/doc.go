// Package server serves an engine's threads over HTTP: a JSON API, server-sent
// events and a WebSocket that carry windowed views, access tokens, an OpenAPI
// document made from the code, and figures for Prometheus.
//
// The model in ten lines:
//
//   - One table (routes) says for each path which scope it needs. Nothing is
//     reached but through it, and a path without a row cannot be registered.
//   - A request passes, in this order: Host, Origin, the address's rate, who it
//     is, the scope, the thread, the token's rate, the size. Then an operation runs.
//   - Who it is: the holder of a token (header, session cookie, one-use ticket) or,
//     where no token was ever made, whoever sits at the same machine.
//   - What is said has the token's name as its author, and everything is seen with
//     that name's eyes.
//   - Saying answers at once; the turn runs here, and nobody's leaving stops it.
//   - A stream is a watch of the engine and a way to write. Both ways share the
//     encoded operations; a stream that cannot be written to is a watch on hold.
//   - A drain ends streams with a reason, and leaves turns open for the next process.
//
// Invariants it serves: I1 (what was answered 202 is durable), I2 and I9 (streams
// carry what the engine publishes, whole and in order), I12 (turns are run by the
// engine alone).
package server
