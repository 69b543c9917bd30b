package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

// audience is who is told of events besides the talk itself.
type audience struct {
	observers []skein.Observer
	close     func() // once the engine is closed
}

// audience opens what was asked for: a file of events, traces. What fails later
// changes no command's outcome: the first failure of each is told.
func (a *app) audience() (audience, error) {
	out := audience{close: func() {}}
	lines, err := a.eventLines()
	if err != nil {
		return out, err
	}
	if lines != nil {
		out.observers = append(out.observers, skein.Observer{Event: lines.write, Verbose: a.flags.EventsVerbose})
		out.close = lines.close
	}
	spans, err := a.traces()
	if err != nil {
		out.close()
		return out, err
	}
	if spans != nil {
		out.observers = append(out.observers, spans.observer)
		first := out.close
		out.close = func() { first(); spans.close() }
	}
	return out, nil
}

// flushFor is how long a command waits at its end for its traces to be sent.
const flushFor = 5 * time.Second

// eventLines writes events as JSON, one object a line, each as it happens.
type eventLines struct {
	out  io.WriteCloser
	told trouble
}

// eventLines opens the file of --events; nil where none was asked for.
func (a *app) eventLines() (*eventLines, error) {
	l := &eventLines{told: trouble{app: a, what: "events are not written any more"}}
	switch path := a.flags.Events; path {
	case "":
		return nil, nil
	case "-":
		l.out = keptOpen{a.errs}
	default:
		if info, err := os.Stat(path); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
			return nil, &thread.Error{Code: thread.Configuration, Op: "events", Message: "events are not written to a pipe, which waits for its reader", Hint: "--events FILE names a file, - stands for standard error"}
		}
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, &thread.Error{Code: thread.Configuration, Op: "events", Message: "the file of events cannot be opened", Hint: "--events FILE names another, - stands for standard error", Err: err}
		}
		l.out = f
	}
	return l, nil
}

// eventsOnScreen says whether events are written to a terminal, which leaves the
// talk no whole screen.
func (a *app) eventsOnScreen() bool { return a.flags.Events == "-" && isTerminal(a.errs) }

// keptOpen is a stream that others go on using.
type keptOpen struct{ io.Writer }

func (keptOpen) Close() error { return nil }

// write writes a line whole. After a line that could not be written there are no
// more: what follows a gap would look complete.
func (l *eventLines) write(e skein.Event) {
	if l.told.happened() {
		return
	}
	data, err := thread.Encode(e)
	if err == nil {
		_, err = io.WriteString(l.out, safeJSON(string(data))+"\n")
	}
	l.told.note(err)
}

func (l *eventLines) close() {
	l.told.note(l.out.Close())
	l.told.end()
}

// trouble tells of the first of the errors that it notes: at once, or, where
// that could be in the way of what a person sees, at the end.
type trouble struct {
	*app
	what string

	mu    sync.Mutex // guards the rest
	first error
	told  bool
}

func (t *trouble) note(err error) {
	if err == nil || errors.Is(err, context.Canceled) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.first == nil {
		t.first = err
	}
	if !isTerminal(t.errs) {
		t.tell()
	}
}

func (t *trouble) happened() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.first != nil
}

func (t *trouble) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tell()
}

func (t *trouble) tell() {
	if t.first == nil || t.told {
		return
	}
	t.told = true
	// Where standard error cannot be written to there is nobody left to tell.
	_, _ = fmt.Fprintf(t.errs, "skein: %s: %s\n", t.what, safe(oneLine(t.first)))
}
