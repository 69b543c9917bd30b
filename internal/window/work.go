package window

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

// todo is what has to be read from the store for a room.
type todo int

const (
	lines   todo = 1 << iota // lines were built: there is time
	stale                    // who answers, and how they stand
	gapped                   // a commit was published before an earlier one
	changed                  // there may be commits that nobody publishes here
	reload                   // everything
)

// How long the work waits: for a commit that is published late, between two
// readings, and after one that failed.
const (
	lateBy     = 20 * time.Millisecond
	linesLate  = 500 * time.Millisecond
	readEvery  = 50 * time.Millisecond
	afterError = time.Second
)

// maxReplay is how many missed entries are taken one by one; more, and the thread
// is read anew.
const maxReplay = 1000

func (r *Room) wake(t todo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wakeLocked(t)
}

// wakeLocked has something read, by the one goroutine that a room has while there
// is something to read.
func (r *Room) wakeLocked(t todo) {
	r.todo |= t
	if t != lines {
		select {
		case r.nudge <- struct{}{}:
		default:
		}
	}
	if r.working || !r.opened || r.ended != nil {
		return
	}
	r.working = true
	r.rooms.cfg.Go(r.work)
}

func (r *Room) work(ctx context.Context) {
	defer r.survive()
	failing := false
	for {
		r.mu.Lock()
		t, failed := r.todo, r.failed
		r.todo, r.failed = 0, nil
		if r.working = t != 0 && r.ended == nil && ctx.Err() == nil; !r.working {
			r.mu.Unlock()
			return
		}
		r.mu.Unlock()
		if failed != nil {
			r.rooms.cfg.Report(r.id, failed)
		}
		switch t {
		case gapped:
			pause(ctx, lateBy, nil)
		case lines:
			pause(ctx, linesLate, r.nudge)
		}
		rest := readEvery
		err := r.mind(ctx, t)
		if err != nil && ctx.Err() == nil && !r.over() {
			if !failing {
				r.rooms.cfg.Report(r.id, err)
			}
			rest = afterError
			r.mu.Lock()
			r.todo |= t
			r.mu.Unlock()
		}
		failing = err != nil
		pause(ctx, rest, nil)
	}
}

// pause waits so long, or until it is nudged.
func pause(ctx context.Context, d time.Duration, nudge <-chan struct{}) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-nudge:
	case <-ctx.Done():
	}
}

// mind reads what is to be read.
func (r *Room) mind(ctx context.Context, t todo) error {
	r.reading.Lock()
	defer r.reading.Unlock()
	switch {
	case t&reload != 0:
		return r.load(ctx)
	case t&changed != 0:
		return r.catchUp(ctx)
	case t&gapped != 0:
		r.mu.Lock()
		gap := len(r.pending) > 0
		r.mu.Unlock()
		if gap {
			return r.catchUp(ctx)
		}
	}
	if t&(stale|lines) == 0 {
		return nil
	}
	state, err := r.state(ctx)
	if err != nil {
		return err
	}
	return r.refresh(ctx, &state)
}

// state reads the thread's state. The room of a thread that is gone ends.
func (r *Room) state(ctx context.Context) (thread.Thread, error) {
	t, err := r.rooms.cfg.Store.Thread(ctx, r.rooms.cfg.Space, r.id)
	if err == nil && !t.Deleted.IsZero() {
		err = errDeleted(r.id)
	}
	if thread.CodeOf(err) == thread.NotFound {
		r.end(errDeleted(r.id))
	}
	return t, err
}

func errDeleted(id string) error {
	return &thread.Error{Code: thread.NotFound, Op: "watch", Thread: id, Message: "the thread was deleted"}
}

// open reads the thread for the first watch.
func (r *Room) open(ctx context.Context) error {
	r.reading.Lock()
	defer r.reading.Unlock()
	r.mu.Lock()
	opened := r.opened
	r.mu.Unlock()
	if opened {
		return nil
	}
	return r.load(ctx)
}

// loaded is what is read of a thread.
type loaded struct {
	state              thread.Thread
	head               *view.Head
	inbox              []view.Queued
	usage, lines, live json.RawMessage
	agent              view.Agent
	newest             []thread.Entry // messages, as far as an answer being made may follow them
}

// load reads the thread anew and has all watches begin again: as fresh ones where
// the log is another, or was taken back behind what was seen of it.
func (r *Room) load(ctx context.Context) error {
	seen := r.now()
	l, err := r.read(ctx)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.thread
	another := r.opened && (was.Epoch != l.state.Epoch || l.state.Tip < seen.Tip)
	for w := range r.watches {
		w.again = true
		w.fresh = w.fresh || another
		w.resumes = w.resumes && !another
		if was.Branch != l.state.Branch || was.Length > l.state.Length {
			w.low = 0 // nobody knows what was undone
		}
	}
	r.thread = l.state
	r.recent = recent{base: l.state.Length, whole: l.state.Length}
	r.heads = map[int64]*view.Head{}
	r.hear(l.state.Tip)
	if another { // what follows something that is no longer there
		clear(r.pending)
		if r.answer.turn > l.state.Tip {
			r.answer.drop()
		}
	}
	if was.Tip > l.state.Tip {
		r.todo |= changed // there may be what came while this was read
	}
	if err := r.place(l); err != nil {
		return err
	}
	if err := r.answer.follow(l); err != nil {
		return err
	}
	r.opened = true
	r.commit(thread.Batch{})
	if r.todo != 0 {
		r.wakeLocked(r.todo)
	}
	r.tell()
	return nil
}

// place puts what was read into the documents.
func (r *Room) place(l *loaded) error {
	if _, err := r.docs.set(titleDoc, l.state.Title); err != nil {
		return err
	}
	if err := r.cut(l.head); err != nil {
		return err
	}
	if _, err := r.docs.setInbox(l.inbox); err != nil {
		return err
	}
	if _, err := r.docs.setUsage(l.usage); err != nil {
		return err
	}
	if _, err := r.docs.setLines(l.lines); err != nil {
		return err
	}
	_, err := r.docs.setAgent(l.agent)
	return err
}

// read reads all that does not depend on the thread's length.
func (r *Room) read(ctx context.Context) (*loaded, error) {
	st := r.rooms.cfg.Store
	t, err := r.state(ctx)
	if err != nil {
		return nil, err
	}
	l := &loaded{state: t}
	if t.Cut != 0 {
		e, err := st.Entry(ctx, &t, t.Cut)
		if err != nil {
			return nil, err
		}
		l.head = headOf(&e)
	}
	for _, seq := range t.Inbox {
		e, err := st.Entry(ctx, &t, seq)
		if err != nil {
			return nil, err
		}
		q, err := view.Wait(&e)
		if err != nil {
			return nil, err
		}
		l.inbox = append(l.inbox, q)
	}
	for name, into := range map[string]*json.RawMessage{thread.UsageDoc: &l.usage, thread.LinesDoc: &l.lines, thread.LiveDoc: &l.live} {
		if *into, _, err = st.Doc(ctx, t.Key, name); err != nil {
			return nil, err
		}
	}
	if t.Turn == 0 {
		l.live = nil
	}
	for e, err := range st.Messages(ctx, &t, max(0, t.Length-r.looksBack(&t)), t.Length) {
		if err != nil {
			return nil, err
		}
		l.newest = append(l.newest, e)
	}
	l.agent, err = r.rooms.cfg.Agent(ctx, &t)
	return l, err
}

// looksBack says how many of the newest messages tell of an answer being made:
// its turn's newest answer and the results of that one's calls, or itself, where
// the store shows its commit before it is published.
func (r *Room) looksBack(t *thread.Thread) int64 {
	if t.Turn != 0 {
		return 64
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answer.begun() {
		return 4
	}
	return 0
}

// now is the thread as of the last entry that was taken.
func (r *Room) now() thread.Thread {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.thread
}

// follow has the answer being made go on from the newest messages.
func (a *answer) follow(l *loaded) error {
	if a.turn != 0 && a.turn <= l.state.Tip && a.turn != l.state.Turn {
		a.drop() // of a turn that has ended since
	}
	for i := range l.newest {
		if e := &l.newest[i]; e.ID == a.id {
			a.commit(e)
		}
	}
	if a.id == "" {
		a.seen = audience{}
		for _, e := range l.newest {
			if m := e.Message; m != nil && m.Role == thread.Assistant && m.Turn != 0 && m.Turn == l.state.Turn {
				a.seen = audienceOf(m)
			}
		}
	}
	return a.read(l.live)
}

// catchUp takes what was committed and not published here.
func (r *Room) catchUp(ctx context.Context) error {
	was := r.now() // before the state is read, which can then be older only if the log was taken back
	t, err := r.state(ctx)
	if err != nil {
		return err
	}
	if t.Epoch != was.Epoch || t.Tip < was.Tip || t.Tip-was.Tip > maxReplay {
		return r.load(ctx)
	}
	var entries []thread.Entry
	heads := map[int64]*view.Head{}
	for e, err := range r.rooms.cfg.Store.Entries(ctx, &t, store.EntriesQuery{After: was.Tip, Inactive: true}) {
		if err != nil {
			return err
		}
		entries = append(entries, e)
		if w := e.Rewind; w != nil && w.Cut != 0 {
			c, err := r.rooms.cfg.Store.Entry(ctx, &t, w.Cut)
			if err != nil {
				return err
			}
			heads[w.Cut] = headOf(&c)
		}
	}
	r.missed(&t, entries, heads)
	return r.refresh(ctx, &t)
}

// missed takes entries that were read, after which the thread is as t says, and what
// was published after them.
func (r *Room) missed(t *thread.Thread, entries []thread.Entry, heads map[int64]*view.Head) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.Copy(r.heads, heads)
	next := firstAfter(entries, r.thread.Tip)
	if len(next) > 0 {
		r.take(next, t)
	}
	if r.commit(thread.Batch{}) || len(next) > 0 {
		r.tell()
	}
}

// refresh reads the documents of a thread in that state.
func (r *Room) refresh(ctx context.Context, t *thread.Thread) error {
	st := r.rooms.cfg.Store
	r.mu.Lock()
	usageAt := r.usageAt
	r.mu.Unlock()
	var usage, lines, live json.RawMessage
	for name, into := range map[string]*json.RawMessage{thread.UsageDoc: &usage, thread.LinesDoc: &lines, thread.LiveDoc: &live} {
		var err error
		if *into, _, err = st.Doc(ctx, t.Key, name); err != nil {
			return err
		}
	}
	agent, err := r.rooms.cfg.Agent(ctx, t)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if t.Tip < r.thread.Tip && t.Epoch == r.thread.Epoch {
		agent.Backlog = r.thread.Backlog // what was read is older
	}
	was := r.docs.version
	var all [3]bool
	if r.usageAt == usageAt {
		if all[0], err = r.docs.setUsage(usage); err != nil {
			return err
		}
	}
	if all[1], err = r.docs.setLines(lines); err != nil {
		return err
	}
	if all[2], err = r.docs.setAgent(agent); err != nil {
		return err
	}
	before, grown := r.answer.version, r.answer.text.got+r.answer.thinking.got
	if t.Turn != 0 && t.Turn == r.thread.Turn {
		if err := r.answer.read(live); err != nil {
			return err
		}
	}
	was[backlogDoc], was[usageDoc] = r.docs.version[backlogDoc], r.docs.version[usageDoc]
	switch {
	case was != r.docs.version || r.answer.version != before:
		r.tell()
	case slices.Contains(all[:], true): // lines were built, which is no hurry
		r.tellWithin(linesLate)
	case r.answer.text.got+r.answer.thinking.got != grown:
		r.tick()
	}
	return nil
}
