package skein

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/skeinhq/skein/thread"
)

// Observer is told of what happens in an engine's threads: see [EventsOf] for
// what each type of event comes from. It is called for one event after the
// other, in their order, in a goroutine of its own. It must not change what an
// event holds.
//
// Nothing waits for an observer and nothing depends on it. One that is too slow
// misses events: up to 4,096 wait for it, of at most 64 MiB, then the newest are
// dropped until a quarter of that is free, and an event of type warning says how
// many were. One that panics is told of the next event all the same; the first
// time the thread's watchers hear of it. Close of the engine waits at most five
// seconds for observers, so Event must not call it.
type Observer struct {
	Event func(Event)

	// Verbose asks for model-request and model-response too, which hold whole
	// prompts and answers.
	Verbose bool
}

// What may wait for one observer, and how long Close waits for it.
const (
	maxWaiting      = 4096
	maxWaitingBytes = 64 << 20
	drainFor        = 5 * time.Second
)

func checkObservers(all []Observer) error {
	if i := slices.IndexFunc(all, func(o Observer) bool { return o.Event == nil }); i >= 0 {
		return &thread.Error{Code: thread.Configuration, Op: "open", Message: fmt.Sprintf("observer %d has no function to tell", i), Hint: "set Observer.Event"}
	}
	return nil
}

// observers are all observers of an engine, and what has to be remembered of
// earlier batches to tell events whole.
type observers struct {
	now   func() time.Time
	all   []*observer
	known map[string]*known // by thread id; guarded by the hub
}

func newObservers(all []Observer, now func() time.Time) *observers {
	o := &observers{now: now, known: map[string]*known{}}
	for _, x := range all {
		o.all = append(o.all, newObserver(x))
	}
	return o
}

// start starts a goroutine for each observer; drain waits for them.
func (o *observers) start(failed func(thread string, err error)) {
	for _, x := range o.all {
		go x.run(failed)
	}
}

// tell queues a batch's events. The hub calls it for one batch after the other.
func (o *observers) tell(b thread.Batch) {
	if len(o.all) == 0 {
		return
	}
	k := o.of(b.Thread.ID)
	k.note(b.Entries)
	for _, e := range EventsOf(b) {
		if e.Thread == "" {
			e.Thread = b.Thread.ID
		}
		if e.Time.IsZero() {
			e.Time = o.now().UTC()
		}
		k.complete(&e, b.Entries)
		for _, x := range o.all {
			x.put(e)
		}
	}
	k.noteCut(b.Entries)
}

// maxKnown is of how many threads something is remembered.
const maxKnown = 256

func (o *observers) of(id string) *known {
	k, ok := o.known[id]
	if !ok {
		if len(o.known) >= maxKnown {
			clear(o.known)
		}
		k = &known{}
		o.known[id] = k
	}
	return k
}

// drain lets observers hear what waits for them, and leaves those behind that
// take longer.
func (o *observers) drain(atMost time.Duration) {
	for _, x := range o.all {
		x.end()
	}
	ctx, cancel := context.WithTimeout(context.Background(), atMost)
	defer cancel()
	for _, x := range o.all {
		select {
		case <-x.ended:
		case <-ctx.Done():
			x.forget()
		}
	}
}

// known is what is remembered of a thread: of its running turn, and of its
// newest cut.
type known struct {
	turn  int64
	agent string
	step  int
	calls []thread.Part // of the newest answer

	cut    int64 // its seq
	newest *thread.Cut
}

// note remembers what the entries tell of the turn. Where another turn begins,
// what was known is of no use.
func (k *known) note(entries []thread.Entry) {
	for _, e := range entries {
		switch {
		case e.Message != nil && e.Message.Role == thread.Assistant && e.Message.Turn != 0:
			k.enter(e.Message.Turn, e.Message.Author)
			k.calls = e.Message.Calls()
		case e.Turn != nil && e.Turn.State == thread.TurnBegun:
			k.enter(e.Seq, e.Turn.Agent)
		}
	}
}

func (k *known) enter(turn int64, agent string) {
	if turn != k.turn {
		k.turn, k.step, k.calls = turn, 0, nil
	}
	k.agent = agent
}

// complete adds to an event what its batch does not say.
func (k *known) complete(e *Event, entries []thread.Entry) {
	if e.Turn != 0 && e.Turn == k.turn {
		if e.Type == thread.StepEvent {
			k.step = e.Step
		}
		if e.Agent == "" {
			e.Agent = k.agent
		}
		if e.Step == 0 {
			e.Step = k.step
		}
	}
	switch e.Type {
	case thread.AskedEvent, thread.DecidedEvent:
		if i := slices.IndexFunc(k.calls, func(c thread.Part) bool { return c.ID == e.CallID }); i >= 0 {
			e.Name, e.Input = k.calls[i].Name, k.calls[i].Input
		}
	case thread.CutEvent, thread.CompactionEvent:
		i := slices.IndexFunc(entries, func(x thread.Entry) bool { return x.Seq == e.Seq && x.Cut != nil })
		if i >= 0 {
			k.compare(e, entries[i].Cut)
		}
	}
}

// compare tells what a cut did to the one before it, if that is known.
func (k *known) compare(e *Event, c *thread.Cut) {
	if k.newest == nil || k.cut != c.Prev {
		return
	}
	if len(c.Gone) == 0 {
		e.Messages = int(max(0, c.Boundary-k.newest.Boundary))
	}
	if e.Type == thread.CutEvent {
		e.Merged = left(k.newest.Outline, c.Outline)
	}
}

func (k *known) noteCut(entries []thread.Entry) {
	for _, e := range entries {
		if e.Cut != nil {
			k.cut, k.newest = e.Seq, e.Cut
		}
	}
}

// left counts the lines of the outline before that are not in the one after.
func left(before, after []thread.Span) int {
	still := map[thread.Span]bool{}
	for _, s := range after {
		still[s] = true
	}
	n := 0
	for _, s := range before {
		if !still[s] {
			n++
		}
	}
	return n
}

// observer is one observer with what waits for it.
type observer struct {
	Observer
	ended chan struct{} // closed when its goroutine is done

	mu       sync.Mutex // guards the rest
	more     *sync.Cond
	waiting  []Event
	bytes    int   // of what waits, about
	dropped  int   // since there was room
	last     Event // the newest that was dropped
	closed   bool  // nothing more comes
	deserted bool  // nobody waits for it any more
}

func newObserver(x Observer) *observer {
	o := &observer{Observer: x, ended: make(chan struct{})}
	o.more = sync.NewCond(&o.mu)
	return o
}

func (o *observer) put(e Event) {
	if !o.Verbose && verbose(e.Type) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	if o.dropped > 0 || len(o.waiting) >= maxWaiting || len(o.waiting) > 0 && o.bytes+weigh(&e) > maxWaitingBytes {
		o.dropped++
		o.last = Event{Thread: e.Thread, Time: e.Time}
		return
	}
	o.queue(e)
}

func verbose(t thread.EventType) bool {
	return t == thread.RequestEvent || t == thread.ResponseEvent
}

func (o *observer) queue(e Event) {
	o.waiting = append(o.waiting, e)
	o.bytes += weigh(&e)
	o.more.Signal()
}

// weigh is about how many bytes an event keeps in memory beside itself.
func weigh(e *Event) int {
	n := len(e.Request) + len(e.Input) + len(e.Text)
	for i := range e.Parts {
		n += len(e.Parts[i].Text) + len(e.Parts[i].Input)
	}
	return n
}

// take waits for the next event. ok is false where none will come.
func (o *observer) take() (e Event, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.waiting) == 0 && !o.closed {
		o.more.Wait()
	}
	if len(o.waiting) == 0 || o.deserted {
		return Event{}, false
	}
	e = o.waiting[0]
	o.waiting[0] = Event{}
	o.waiting = o.waiting[1:]
	o.bytes -= weigh(&e)
	if o.dropped > 0 && len(o.waiting) <= maxWaiting*3/4 && o.bytes <= maxWaitingBytes*3/4 {
		missed := o.last
		missed.Type = thread.WarningEvent
		missed.Reason = fmt.Sprintf("%d events were dropped here: the observer is too slow", o.dropped)
		o.dropped = 0
		o.queue(missed)
	}
	return e, true
}

// run tells the observer what waits until there will be no more.
func (o *observer) run(failed func(thread string, err error)) {
	defer close(o.ended)
	told := false
	for {
		e, ok := o.take()
		if !ok {
			return
		}
		if err := o.hear(e); err != nil && !told {
			told = true
			failed(e.Thread, err)
		}
	}
}

func (o *observer) hear(e Event) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("an observer of events failed badly: %v", p)
		}
	}()
	o.Event(e)
	return nil
}

// end says that nothing more comes.
func (o *observer) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.more.Signal()
}

// forget drops what waits, so that the goroutine ends with the event it is at.
func (o *observer) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.deserted, o.waiting = true, nil
}
