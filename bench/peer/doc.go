// Package peer keeps the same conversation in Skein and in two other Go
// libraries that keep conversations in SQLite, so that they can be measured side
// by side.
//
// Every one of them keeps its file in the same way: write-ahead log, and each
// append synced to disk before it returns. The peers run on the cgo driver, the
// faster one for them; Skein runs as it always does, without cgo.
//
//	adk-go       google.golang.org/adk/v2, session/database: AppendEvent, Get
//	langchaingo  github.com/tmc/langchaingo, memory/sqlite3: AddMessage, Messages
//	skein        Thread.Say, Thread.Prompt
//
// Load is what a program must do before it can call the model for the next turn.
// The peers read their messages and leave it to the program to make a prompt of
// them; Skein's load ends with the prompt.
package peer
