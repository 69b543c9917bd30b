package line

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// Defaults of [Config].
const (
	DefaultConcurrency = 8
	DefaultBackoff     = 2 * time.Second
)

// Config says how lines are built. Store is needed, all else has a default.
type Config struct {
	Store store.Store

	// Model writes the lines of the threads for which Writes says so; nil Writes
	// means all, nil Model none. ModelName is what the provider calls it and whom
	// the lines are by.
	Model     model.Model
	ModelName string
	Guide     string                     // what it is told to keep; default Guide
	Price     func(thread.Usage) float64 // dollars, where the provider names none; default none
	Writes    func(t *thread.Thread) bool

	Concurrency int              // model calls at once over all threads, default 8
	Backoff     time.Duration    // the wait after a first failure, default 2 s; four times as long after each more
	Now         func() time.Time // default time.Now

	// Published hears of nodes after they are durable, from several goroutines; t
	// is as it was read before they were built. It must not wait for the builder.
	Published func(t thread.Thread, nodes []thread.Node)

	// Report hears of what failed badly. Other failures stand in [Status] alone.
	Report func(thread string, err error)
}

// Builder writes the lines that are due, in the background. It never scans a
// tree: what is ready is listed by the store. Each thread has at most one worker,
// which ends when nothing more is due.
type Builder struct {
	store     store.Store
	writer    modelWriter
	writes    func(t *thread.Thread) bool
	backoff   time.Duration
	now       func() time.Time
	published func(t thread.Thread, nodes []thread.Node)
	report    func(thread string, err error)

	ctx    context.Context // of all workers; ends at Close
	cancel context.CancelFunc
	calls  chan struct{} // a slot for each model call at once
	hands  chan struct{} // a slot for each worker that reads and chooses at once

	mu      sync.Mutex
	closed  bool
	queues  map[thread.Key]*queue
	workers sync.WaitGroup // added to under mu, while not closed
}

// NewBuilder makes a builder whose work ends with ctx or at Close. The caller
// must close it.
func NewBuilder(ctx context.Context, c Config) *Builder {
	b := &Builder{
		store:     c.Store,
		writer:    modelWriter{model: c.Model, name: c.ModelName, guide: orGuide(c.Guide), own: ownSentences(orGuide(c.Guide)), price: c.Price},
		writes:    c.Writes,
		backoff:   c.Backoff,
		now:       c.Now,
		published: c.Published,
		report:    c.Report,
		calls:     make(chan struct{}, orDefault(c.Concurrency, DefaultConcurrency)),
		hands:     make(chan struct{}, max(2, runtime.GOMAXPROCS(0))),
		queues:    map[thread.Key]*queue{},
	}
	b.backoff = orDefault(b.backoff, DefaultBackoff)
	if b.now == nil {
		b.now = time.Now
	}
	if b.published == nil {
		b.published = func(thread.Thread, []thread.Node) {}
	}
	if b.report == nil {
		b.report = func(string, error) {}
	}
	switch {
	case c.Model == nil:
		b.writes = func(*thread.Thread) bool { return false }
	case b.writes == nil:
		b.writes = func(*thread.Thread) bool { return true }
	}
	b.ctx, b.cancel = context.WithCancel(ctx)
	return b
}

func orGuide(guide string) string {
	if strings.TrimSpace(guide) == "" {
		return Guide
	}
	return strings.TrimSpace(guide)
}

func orDefault[T int | time.Duration](v, def T) T {
	if v <= 0 {
		return def
	}
	return v
}

// Wake builds what is due in the thread, after a commit. It returns at once. A
// thread that paused after failures goes on; one that waits out a failure goes
// on when that wait is over. After Close it does nothing.
func (b *Builder) Wake(key thread.Key) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	q := b.queues[key]
	if q == nil {
		q = &queue{key: key, spent: map[thread.Span]thread.Usage{}}
		b.queues[key] = q
	}
	q.woken = true
	if q.paused {
		q.paused, q.failures = false, 0
	}
	if !q.running {
		q.running = true
		b.workers.Go(func() { b.work(q) })
	}
}

// resumeThreads is how many threads a restart wakes at most.
const resumeThreads = 100_000

// Resume wakes every thread of the store that has lines due. Errors: storage.
func (b *Builder) Resume(ctx context.Context) error {
	keys, err := b.store.DueThreads(ctx, resumeThreads)
	if err != nil {
		return err
	}
	for _, key := range keys {
		b.Wake(key)
	}
	return nil
}

// Status is how far a thread's lines are.
type Status struct {
	Backlog int64     // lines that are due and not built
	Paused  bool      // it failed three times in a row and waits for the next message
	Err     error     // the last failure, nil after a success
	At      time.Time // when that was
}

// Status reads how far the thread's lines are. Errors: not-found, storage.
func (b *Builder) Status(ctx context.Context, key thread.Key) (Status, error) {
	t, err := b.store.Thread(ctx, key.Space, key.ID)
	if err != nil {
		return Status{}, err
	}
	s := Status{Backlog: t.Backlog}
	b.mu.Lock()
	defer b.mu.Unlock()
	if q := b.queues[key]; q != nil {
		s.Paused, s.Err, s.At = q.paused, q.err, q.at
	}
	return s, nil
}

// Close stops all work and waits until it has stopped. What waited to be written by
// rule, with what might have come next, is written; it takes at most half a second.
// All else that was not written is due still.
func (b *Builder) Close() {
	b.mu.Lock()
	was := b.closed
	b.closed = true
	b.mu.Unlock()
	b.cancel()
	b.workers.Wait()
	if was {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.ctx), mostLast)
	defer cancel()
	for _, q := range b.left() {
		if err := b.last(ctx, q.key); err != nil {
			b.note(q, true, err)
		}
	}
}

// left are the threads of which lines wait that no model writes.
func (b *Builder) left() (all []*queue) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, q := range b.queues {
		if q.byRule {
			all = append(all, q)
		}
	}
	return all
}

// mostLast is how long Close writes lines.
const mostLast = 500 * time.Millisecond

// last writes a batch of a thread's lines by rule.
func (b *Builder) last(ctx context.Context, key thread.Key) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = failedBadly(key.ID, p)
			b.report(key.ID, err)
		}
	}()
	t, err := b.store.Thread(ctx, key.Space, key.ID)
	if err != nil || !t.Deleted.IsZero() {
		return err
	}
	_, err = b.ruleRound(ctx, &t, batchNodes, func(thread.Span) bool { return true })
	return err
}
