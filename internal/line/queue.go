package line

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/skeinhq/skein/thread"
)

const (
	callNodes    = 16       // nodes a model writes in one call
	callBytes    = 48 << 10 // of what they are made from, about
	leavesBefore = 8        // a leaf starts when fewer before it are unbuilt
	batchNodes   = 64       // due nodes the extractive writer takes at once
	maxFailures  = 3        // in a row, then a thread pauses

	// What is said within it after lines were stored is written with one sync.
	linger = 100 * time.Millisecond
)

// queue is the work on one thread's lines. Builder.mu guards its fields.
type queue struct {
	key      thread.Key
	running  bool // it has a worker
	woken    bool // something was committed since the worker last looked
	byRule   bool // no model wrote in the last round
	paused   bool
	failures int // in a row
	err      error
	at       time.Time

	spent map[thread.Span]thread.Usage // on nodes whose calls failed
}

// next is what a worker does after a round.
type next int

const (
	end   next = iota // nothing was due
	later             // all that was due is built
	now               // more is due
)

// work builds until nothing is due, then ends. After a failure it waits, and where
// it has built all that was due.
func (b *Builder) work(q *queue) {
	for b.look(q) {
		then, err := b.round(q)
		if b.ctx.Err() != nil {
			return
		}
		switch {
		case b.note(q, then != end, err):
			wait(b.ctx, b.backoff<<(2*(b.failed(q)-1)))
		case then == later:
			wait(b.ctx, linger)
		}
	}
}

// look says whether the worker goes on; where not, it has ended.
func (b *Builder) look(q *queue) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if q.woken && !q.paused && b.ctx.Err() == nil {
		q.woken = false
		return true
	}
	q.running = false
	if q.err == nil && !q.woken {
		delete(b.queues, q.key)
	}
	return false
}

// note keeps how a round went and says whether to wait before the next.
func (b *Builder) note(q *queue, more bool, err error) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	q.woken = q.woken || more || err != nil
	if err == nil {
		q.failures, q.err, q.at = 0, nil, time.Time{}
		return false
	}
	q.failures++
	q.err, q.at = err, b.now()
	q.paused = q.failures >= maxFailures
	return !q.paused
}

func (b *Builder) failed(q *queue) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return q.failures
}

// wait sleeps, or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// hold takes a slot; release it by receiving. It is false where ctx ended first.
func hold(ctx context.Context, slots chan struct{}) bool {
	select {
	case slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// round builds one batch. What fails badly in it is an error of this thread's lines,
// as others are.
func (b *Builder) round(q *queue) (then next, err error) {
	defer func() {
		if p := recover(); p != nil {
			then, err = end, failedBadly(q.key.ID, p)
		}
		if thread.FaultOf(err) != nil {
			b.report(q.key.ID, err)
		}
	}()
	t, ok, err := b.read(q.key)
	if err != nil || !ok {
		return end, err
	}
	model := b.writes(&t)
	if err := b.ctx.Err(); err != nil {
		return end, err // it may have been asked in vain
	}
	b.mu.Lock()
	q.byRule = !model
	b.mu.Unlock()
	if model {
		if !hold(b.ctx, b.calls) {
			return end, b.ctx.Err()
		}
		defer func() { <-b.calls }()
		return b.modelRound(q, &t)
	}
	if !hold(b.ctx, b.hands) {
		return end, b.ctx.Err()
	}
	defer func() { <-b.hands }()
	return b.ruleRound(b.ctx, &t, batchNodes, func(thread.Span) bool { return true })
}

// read reads the thread's state; ok is false where nothing is to be built.
func (b *Builder) read(key thread.Key) (t thread.Thread, ok bool, err error) {
	if !hold(b.ctx, b.hands) {
		return t, false, b.ctx.Err()
	}
	defer func() { <-b.hands }()
	t, err = b.store.Thread(b.ctx, key.Space, key.ID)
	if thread.CodeOf(err) == thread.NotFound {
		return t, false, nil
	}
	return t, err == nil && t.Deleted.IsZero(), err
}

// modelRound has the model write the next nodes that are ready.
func (b *Builder) modelRound(q *queue, t *thread.Thread) (next, error) {
	due, err := b.store.Due(b.ctx, t, batchNodes)
	if err != nil {
		return end, err
	}
	// After a failure fewer nodes are tried, so that one of them that the provider
	// will not take cannot keep back all others.
	items, err := gather(b.ctx, b.store, t, ready(due, callNodes>>(2*b.failed(q))))
	if err != nil || len(items) == 0 {
		return end, err
	}
	var long []item
	var nodes []thread.Node
	for i := range items {
		if n, ok := items[i].short(); ok {
			nodes = append(nodes, n)
			continue
		}
		long = append(long, items[i])
	}
	if len(long) == 0 {
		return now, b.put(b.ctx, t, nodes)
	}
	long = fitting(long)
	if err := lookBelow(b.ctx, b.store, t, long); err != nil {
		return end, err
	}
	lines, err := before(b.ctx, b.store, t, firstLeaf(long).span)
	if err != nil {
		return end, err
	}
	drafts, failure := b.writer.write(b.ctx, t.ID+"/lines", lines, long)
	for _, d := range drafts {
		if !d.done {
			b.spend(q.key, d.item.span, d.usage)
			continue
		}
		nodes = append(nodes, d.node)
	}
	return now, errors.Join(failure, b.put(b.ctx, t, nodes))
}

// spend remembers what was spent on a node in vain; charge adds it to the nodes
// in the end, whoever writes them.
func (b *Builder) spend(key thread.Key, span thread.Span, u thread.Usage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.queues[key]
	if q == nil || u == (thread.Usage{}) {
		return
	}
	sum := q.spent[span]
	sum.Add(u)
	q.spent[span] = sum
}

func (b *Builder) charge(key thread.Key, nodes []thread.Node) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.queues[key]
	if q == nil {
		return
	}
	for i := range nodes {
		n := &nodes[i]
		sum, ok := q.spent[n.Span]
		if !ok {
			continue
		}
		delete(q.spent, n.Span)
		if n.Usage != nil {
			sum.Add(*n.Usage)
		}
		n.Usage = &sum
	}
}

// ready chooses what can start of what is due: merges, and the leaves that have
// few enough unbuilt ones before them.
func ready(due []thread.Span, limit int) []thread.Span {
	var spans []thread.Span
	leaves := 0
	for _, span := range due {
		if span.N == 1 {
			if leaves++; leaves > leavesBefore {
				continue
			}
		}
		if spans = append(spans, span); len(spans) >= limit {
			break
		}
	}
	return spans
}

// firstLeaf gives the first leaf of the items, else the first item.
func firstLeaf(items []item) *item {
	for i := range items {
		if items[i].isLeaf() {
			return &items[i]
		}
	}
	return &items[0]
}

// fitting gives the first items that fit in one call; always one.
func fitting(items []item) []item {
	size := 0
	for i := range items {
		for _, s := range items[i].sources() {
			size += len(s)
		}
		if size > callBytes && i > 0 {
			return items[:i]
		}
	}
	return items
}

// ruleRound has the extractive writer write the due nodes that are wanted, of so
// many, and those above them that are ready then.
func (b *Builder) ruleRound(ctx context.Context, t *thread.Thread, limit int, wanted func(thread.Span) bool) (next, error) {
	due, err := b.store.Due(ctx, t, limit)
	if err != nil {
		return end, err
	}
	then := later
	if len(due) == limit {
		then = now
	}
	due = slices.DeleteFunc(due, func(s thread.Span) bool { return !wanted(s) })
	items, err := gather(ctx, b.store, t, due)
	if err != nil || len(items) == 0 {
		return end, err
	}
	var nodes []thread.Node
	var failures []error
	for known := (map[thread.Span]thread.Node{}); len(items) > 0; {
		made, err := byRule(ctx, t.ID, items)
		if err := ctx.Err(); err != nil {
			return end, err
		}
		failures = append(failures, err)
		nodes = append(nodes, made...)
		if items, err = above(ctx, b.store, t, made, known); err != nil {
			return end, err
		}
		items = slices.DeleteFunc(items, func(it item) bool { return !wanted(it.span) })
	}
	return then, errors.Join(append(failures, b.put(ctx, t, nodes))...)
}

// failedBadly is the error of a panic.
func failedBadly(id string, p any) error {
	return &thread.Error{Code: thread.Storage, Op: "lines", Thread: id, Message: "the writing of lines failed badly", Hint: "it is tried again with the next message at the latest", Err: thread.Caught(p)}
}

// put stores the nodes and tells of those that are new.
func (b *Builder) put(ctx context.Context, t *thread.Thread, nodes []thread.Node) error {
	if len(nodes) == 0 {
		return nil
	}
	b.charge(t.Key, nodes)
	made, err := b.store.PutNodes(ctx, t, nodes)
	if err != nil {
		for _, n := range nodes {
			if n.Usage != nil {
				b.spend(t.Key, n.Span, *n.Usage)
			}
		}
		return err
	}
	if len(made) > 0 {
		b.published(*t, made)
	}
	return nil
}
