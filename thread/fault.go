package thread

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
)

// Fault is a panic that was caught, as the cause of an [Error]. Its words are for
// whoever mends the program: clients are told the error's message alone.
type Fault struct { //nolint:errname // it is a noun of its own, and by the way an error
	Value any
	Stack []byte

	told atomic.Bool
}

// Caught makes a fault of what recover gave, where it was called.
func Caught(value any) *Fault { return &Fault{Value: value, Stack: debug.Stack()} }

// Error gives what was panicked with.
func (f *Fault) Error() string { return fmt.Sprint(f.Value) }

// Told says whether it was called before: a fault that reaches many is logged once.
func (f *Fault) Told() bool { return f.told.Swap(true) }

// FaultOf gives the fault that caused an error, nil where none did.
func FaultOf(err error) *Fault {
	var f *Fault
	if errors.As(err, &f) {
		return f
	}
	return nil
}
