package main

import (
	"fmt"
	"sync"
)

// warnings are told on standard error as they come, from whatever goroutine; or
// kept while something else has the screen.
type warnings struct {
	mu   sync.Mutex // guards the rest
	hold bool
	kept []string
}

// warn tells what was left out, and why. The talk goes on.
func (a *app) warn(text string) {
	a.warned.mu.Lock()
	defer a.warned.mu.Unlock()
	if a.warned.hold {
		a.warned.kept = append(a.warned.kept, text)
		return
	}
	a.printWarning(text)
}

// printWarning needs no result: where standard error cannot be written to there is
// nobody left to tell.
func (a *app) printWarning(text string) {
	_, _ = fmt.Fprintf(a.errs, "skein: %s\n", safe(text))
}

// holdWarnings keeps them until the function that it gives is called.
func (a *app) holdWarnings() (tell func()) {
	a.warned.mu.Lock()
	defer a.warned.mu.Unlock()
	a.warned.hold = true
	return func() {
		a.warned.mu.Lock()
		defer a.warned.mu.Unlock()
		a.warned.hold = false
		for _, text := range a.warned.kept {
			a.printWarning(text)
		}
		a.warned.kept = nil
	}
}
