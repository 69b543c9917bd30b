package window

import (
	"context"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

// Room is a watched thread: what its watches share.
type Room struct {
	rooms *Rooms
	id    string
	users int // guarded by rooms.mu

	reading sync.Mutex // held by who reads the store into the room; taken before mu

	mu        sync.Mutex // guards the rest
	opened    bool
	thread    thread.Thread // as of the last entry that was taken
	recent    recent
	docs      docs
	heads     map[int64]*view.Head // cuts that a rewind may bring back, by seq
	answer    *answer
	pending   map[int64]thread.Batch // commits that came before an earlier one, by their first seq
	watches   map[*Watch]struct{}
	last      step
	version   int64 // changes with everything that a watch may show
	commits   int64 // batches taken
	usageAt   int64 // changes when a commit brings a usage document
	ticked    time.Time
	timer     *time.Timer // runs while text waits for its time
	gathering *time.Timer // runs while something different is not told yet
	due       time.Time   // when that is
	todo      todo
	working   bool
	nudge     chan struct{} // has room for one: what is to be read cannot wait
	failed    error         // what could not be taken, not reported yet
	ended     error
}

// What a room remembers of what cannot be used yet.
const (
	maxPending = 256
	maxHeads   = 64
)

// publish takes what was committed, and pieces of an answer.
func (r *Room) publish(b thread.Batch) {
	defer r.survive()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended != nil {
		return
	}
	if e := b.Thread.Epoch; r.opened && e != "" && e != r.thread.Epoch {
		r.wakeLocked(reload) // another log has taken this one's place: its entries do not follow
		return
	}
	more := r.answer.take(&b)
	switch {
	case len(b.Entries) > 0:
		more = r.commit(b) || more
	case len(b.Nodes) > 0:
		r.wakeLocked(lines)
	}
	if more {
		r.tellSoon()
		return
	}
	r.tick()
}

// commit takes the entries of a batch where they follow what was taken before;
// else it keeps them until they do, or the store is read.
func (r *Room) commit(b thread.Batch) (taken bool) {
	if first := firstAfter(b.Entries, r.thread.Tip); len(first) > 0 {
		r.pending[first[0].Seq] = b
	} else if !r.opened && len(b.Entries) > 0 {
		r.pending[b.Entries[0].Seq] = b
	}
	if !r.opened {
		return false
	}
	taken = r.known(b.Entries)
	for {
		next, ok := r.pending[r.thread.Tip+1]
		if !ok || !r.canTake(next.Entries) {
			break
		}
		delete(r.pending, r.thread.Tip+1)
		r.take(firstAfter(next.Entries, r.thread.Tip), &next.Thread)
		r.takeDocs(next.Docs)
		taken = true
	}
	for seq := range r.pending {
		if seq <= r.thread.Tip {
			delete(r.pending, seq)
		}
	}
	switch {
	case len(r.pending) > maxPending:
		r.hear(math.MaxInt64)
		clear(r.pending)
		r.wakeLocked(changed)
	case len(r.pending) > 0:
		r.wakeLocked(gapped)
	}
	return taken
}

// known has the answer being made hear of a commit that the store had shown
// before it was published, and says whether that was news.
func (r *Room) known(entries []thread.Entry) bool {
	was := r.answer.version
	for i := range entries {
		if e := &entries[i]; e.Seq <= r.thread.Tip && (e.Message != nil || e.Turn != nil) {
			r.answer.commit(e)
		}
	}
	return r.answer.version != was
}

// hear has the answer being made hear of commits up to a seq that came too early
// to be taken, and that will not be: what they bring is no longer being made.
func (r *Room) hear(tip int64) {
	for _, seq := range slices.Sorted(maps.Keys(r.pending)) {
		for _, e := range r.pending[seq].Entries {
			if e.Seq <= tip {
				r.answer.commit(&e)
			}
		}
	}
}

// firstAfter gives the entries after a seq: a commit that was in part a repeated
// one holds older ones too.
func firstAfter(entries []thread.Entry, tip int64) []thread.Entry {
	if i := slices.IndexFunc(entries, func(e thread.Entry) bool { return e.Seq <= tip }); i < 0 {
		return entries
	}
	return slices.DeleteFunc(slices.Clone(entries), func(e thread.Entry) bool { return e.Seq <= tip })
}

// canTake says whether nothing has to be read for entries: a rewind may bring back
// a cut that the room does not know.
func (r *Room) canTake(entries []thread.Entry) bool {
	for i := range entries {
		if w := entries[i].Rewind; w != nil && w.Cut != 0 && r.heads[w.Cut] == nil {
			return false
		}
	}
	return true
}

// take takes entries that follow, after which the thread is as t says.
func (r *Room) take(entries []thread.Entry, t *thread.Thread) {
	for i := range entries {
		e := &entries[i]
		if e.Seq != r.thread.Tip+1 {
			r.wakeLocked(changed)
			return
		}
		if err := r.apply(e); err != nil {
			r.fail(err)
			return
		}
		r.thread.Tip = e.Seq
	}
	r.commits++
	if t.Tip != r.thread.Tip || t.Length != r.recent.length() {
		r.wakeLocked(reload) // the batch is not what it says
		return
	}
	r.thread = *t
	a := r.docs.agent
	a.Backlog = t.Backlog
	if _, err := r.docs.setAgent(a); err != nil {
		r.fail(err)
	}
}

// apply does what an entry does to the view.
func (r *Room) apply(e *thread.Entry) error {
	r.answer.commit(e)
	switch e.Kind {
	case thread.MessageKind:
		return r.said(e)
	case thread.QueuedKind:
		return r.docs.queue(e)
	case thread.CutKind:
		r.wakeLocked(stale)
		return r.cut(headOf(e))
	case thread.RewindKind:
		r.wakeLocked(stale)
		r.undo(e.Rewind.Index+1, r.thread.Branch+1)
		return r.cut(r.heads[e.Rewind.Cut])
	case thread.ResetKind:
		r.wakeLocked(stale)
		r.undo(0, r.thread.Branch+1)
		return r.cut(nil)
	case thread.TitleKind:
		if e.Title == nil {
			return nil
		}
		r.thread.Title = e.Title.Title
		_, err := r.docs.set(titleDoc, e.Title.Title)
		return err
	case thread.EraseKind:
		r.wakeLocked(reload)
	default:
		r.wakeLocked(stale)
	}
	return nil
}

func (r *Room) said(e *thread.Entry) error {
	if m := e.Message; m != nil {
		if m.Queued != 0 {
			if err := r.docs.placed(m.Queued); err != nil {
				return err
			}
		}
		if m.Role != thread.User || r.docs.agent.Turn != 0 {
			r.wakeLocked(stale)
		}
	}
	if !e.IsMessage() {
		return nil
	}
	it, err := newItem(e)
	if err != nil {
		return err
	}
	r.recent.add(it)
	r.thread.Length, r.thread.Last = e.Index+1, e.Seq
	return nil
}

// undo takes messages off the end, for all watches.
func (r *Room) undo(length, branch int64) {
	r.recent.cut(length)
	r.thread.Length, r.thread.Branch = length, branch
	for w := range r.watches {
		w.low = min(w.low, length)
	}
}

// fail has the thread read anew, since something could not be taken, and the
// error reported by who reads it: here locks are held that others' may be, too.
func (r *Room) fail(err error) {
	r.failed = err
	r.wakeLocked(reload)
}

// cut sets the cut in force.
func (r *Room) cut(h *view.Head) error {
	if h == nil {
		_, err := r.docs.set(headDoc, nil)
		return err
	}
	if len(r.heads) >= maxHeads {
		clear(r.heads)
	}
	r.heads[h.Seq] = h
	_, err := r.docs.set(headDoc, h)
	return err
}

// takeDocs takes the documents that a commit has written.
func (r *Room) takeDocs(all []thread.Doc) {
	for _, d := range all {
		if d.Name != thread.UsageDoc {
			continue
		}
		r.usageAt++
		if _, err := r.docs.setUsage(d.Data); err != nil {
			r.fail(err)
		}
	}
}

// tellSoon is tell, but where that was less than Config.Gather ago: then what is
// different waits so long for what comes next.
func (r *Room) tellSoon() {
	if !r.opened || time.Since(r.ticked) >= r.rooms.cfg.Gather {
		r.tell()
		return
	}
	r.tellWithin(r.rooms.cfg.Gather)
}

// tellWithin has what is different told with what comes next, and after so long
// where nothing does.
func (r *Room) tellWithin(d time.Duration) {
	due := time.Now().Add(d)
	if r.ended != nil || r.gathering != nil && !due.Before(r.due) {
		return
	}
	if r.gathering != nil {
		r.gathering.Stop()
	}
	r.due = due
	r.gathering = time.AfterFunc(d, r.gathered)
}

// gathered runs for a moment at most, and does nothing once the room is closed.
func (r *Room) gathered() {
	defer r.survive()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gathering != nil {
		r.tell()
	}
}

// tell wakes those who wait: something is different.
func (r *Room) tell() {
	r.ticked = time.Now()
	if r.gathering != nil {
		r.gathering.Stop()
		r.gathering = nil
	}
	r.answer.show()
	if r.opened {
		if _, err := r.docs.set(branchDoc, r.thread.Branch); err != nil {
			r.fail(err)
		}
	}
	r.version++
	for w := range r.watches {
		w.wake()
	}
}

// tick lets watches have the text that has come, at most once in
// DefaultInterval. The timer's function runs for a moment at most, and does
// nothing once the room is closed.
func (r *Room) tick() {
	if r.timer != nil {
		return
	}
	rest := DefaultInterval - time.Since(r.ticked)
	if rest <= 0 {
		r.flow()
		return
	}
	r.timer = time.AfterFunc(rest, func() {
		defer r.survive()
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.timer != nil {
			r.timer = nil
			r.flow()
		}
	})
}

func (r *Room) flow() {
	if !r.answer.show() {
		return
	}
	r.ticked = time.Now()
	r.version++
	for w := range r.watches {
		w.wake()
	}
}

// end ends all watches.
func (r *Room) end(reason error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended != nil {
		return
	}
	r.ended = reason
	r.stopTimers()
	for w := range r.watches {
		w.wake()
	}
}

// survive is deferred around all that runs for a room: where that panics the room
// ends, with all its watches, and the next watch has a new one. What was committed
// stands.
func (r *Room) survive() {
	if p := recover(); p != nil {
		_ = r.broke(p)
	}
}

// broke ends the room for a panic, and gives its reason. It is reported beside
// whoever holds locks here.
func (r *Room) broke(p any) error {
	err := errBroken(r.id, p)
	r.end(err)
	r.rooms.cfg.Go(func(context.Context) { r.rooms.cfg.Report(r.id, err) })
	return err
}

func errBroken(id string, p any) error {
	return &thread.Error{Code: thread.Storage, Op: "watch", Thread: id, Message: "the view of the thread failed badly", Hint: "watch the thread again", Err: thread.Caught(p)}
}

// close ends the room, and gives what it knows of an answer being made, which from
// then on is another's: what still reads the store for the room must not touch it.
func (r *Room) close() *answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended == nil {
		r.ended = errLeft()
	}
	r.stopTimers()
	if thread.FaultOf(r.ended) != nil {
		return &answer{} // nothing in it can be relied on
	}
	r.hear(math.MaxInt64)
	a := r.answer
	r.answer = &answer{}
	return a
}

func (r *Room) stopTimers() {
	for _, t := range []**time.Timer{&r.timer, &r.gathering} {
		if *t != nil {
			(*t).Stop()
			*t = nil
		}
	}
}

// over says whether nobody can watch here any more.
func (r *Room) over() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended != nil
}

// fill reads older messages until all that a window from index from on could
// hold is there.
func (r *Room) fill(ctx context.Context, from int64) error {
	r.reading.Lock()
	defer r.reading.Unlock()
	for {
		t, start, to := r.missing(from)
		if start >= to {
			return nil
		}
		var items []item
		for e, err := range r.rooms.cfg.Store.Messages(ctx, &t, start, to) {
			if err != nil {
				return err
			}
			it, err := newItem(&e)
			if err != nil {
				return err
			}
			items = append(items, it)
		}
		if int64(len(items)) != to-start {
			r.wake(changed)
			return &thread.Error{Code: thread.Storage, Op: "watch", Thread: r.id, Message: "the store has fewer messages than the thread had", Hint: "watch it again"}
		}
		r.fit(&t, start, items)
	}
}

// missing says which messages of the thread, as it is, fill reads next: those from
// start up to to. There are none where it has read enough.
func (r *Room) missing(from int64) (t thread.Thread, start, to int64) {
	const chunk = 64
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended != nil || r.recent.enough(from) {
		return r.thread, 0, 0
	}
	to = min(r.recent.whole, r.thread.Length)
	return r.thread, max(from, to-chunk), to
}

// fit puts messages where they belong, unless the thread that they were read of
// has undone some since.
func (r *Room) fit(t *thread.Thread, start int64, items []item) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.thread.Epoch == t.Epoch && r.thread.Branch == t.Branch {
		r.recent.put(start, items)
	}
}
