// Package client talks to a Skein server: its calls, and watches that follow a
// thread through every lost link.
//
//	c, err := client.New(client.Config{URL: "http://127.0.0.1:8417"})
//	said, err := c.Say(ctx, "launch", client.Message{Text: "Ship on the 12th"})
//	w := c.Watch("launch", client.WatchOptions{Tail: 50})
//	for u, err := range w.Updates(ctx) {
//	        // u.State, u.View, u.Batch
//	}
//
// A watch connects over a WebSocket or, where none comes through, by server-sent
// events; it applies what the server sends to a [view.Replica], comes back with
// jitter after a link was lost, a fault or a pause of the server, and goes on where
// it was. Whoever looks at it sees one of four states: live, catching up, offline,
// gone.
//
// A watch runs in its caller's goroutine: who takes updates slowly is sent less, as
// one snapshot, and holds up nobody. What it starts besides ends before Updates
// returns.
//
// What fails is a [thread.Error] with the server's code; where no answer came at all
// the code is aborted.
//
// Invariants it serves: the client's half of I9 (W4: snapshot and batches make the
// server's view, under lost links; W6: a reconnect costs what was missed; W8: no
// unmarked hole).
package client
