// Package storetest is the one suite that every store passes. A driver's test
// calls Run with a function that opens an empty store:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T, now func() time.Time) store.Store {
//			return memory.New(memory.Options{Now: now})
//		})
//	}
//
// Every test ends with Check. Compare runs random operations on a store and on a
// model alike, and compares what they answer and hold.
//
// It checks invariants I1 (what was written is there, and the same), I11 (Check
// is clean after every test) and I12 (fences), and every error of package store.
package storetest
