package main

import (
	"fmt"
	"sync"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

// warnings are told on standard error as they come, from whatever goroutine; or
// shown by what has the screen.
type warnings struct {
	mu   sync.Mutex // guards the rest
	show func(text string)
	told map[string]bool // what is told once
}

// once says whether it was asked of this before.
func (w *warnings) once(what string) (before bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before = w.told[what]
	if w.told == nil {
		w.told = map[string]bool{}
	}
	w.told[what] = true
	return before
}

// warner hears what threads warn of, and tells it where nothing else does.
func (a *app) warner() skein.Observer {
	return skein.Observer{Event: func(e skein.Event) {
		if e.Type == thread.WarningEvent && !a.warned.shown() && a.flags.Events != "-" {
			a.warn(e.Reason)
		}
	}}
}

// shown says whether the screen shows warnings of threads by itself.
func (w *warnings) shown() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.show != nil
}

// warn tells what was left out, and why. The talk goes on.
func (a *app) warn(text string) {
	a.warned.mu.Lock()
	defer a.warned.mu.Unlock()
	if a.warned.show != nil {
		a.warned.show(text)
		return
	}
	a.printWarning(text)
}

// printWarning needs no result: where standard error cannot be written to there is
// nobody left to tell.
func (a *app) printWarning(text string) {
	_, _ = fmt.Fprintf(a.errs, "skein: %s\n", safe(text))
}

// showWarnings has them shown until the function that it gives is called.
func (a *app) showWarnings(show func(text string)) (end func()) {
	a.warned.mu.Lock()
	defer a.warned.mu.Unlock()
	a.warned.show = show
	return func() {
		a.warned.mu.Lock()
		defer a.warned.mu.Unlock()
		a.warned.show = nil
	}
}
