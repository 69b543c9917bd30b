// Package memory keeps threads in memory: for threads without a transcript, and
// as the model that other drivers are compared with.
//
// Entries are kept encoded, as a database keeps them, so that what a caller does
// to a value it was given never shows in the log:
//
//	s := memory.New(memory.Options{})
//	defer s.Close()
//	t, err := s.Create(ctx, store.NewThread{Key: thread.Key{ID: "main"}})
//
// Invariants: those of package store, except that nothing outlives the process.
package memory
