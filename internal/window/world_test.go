package window_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"github.com/skeinhq/skein/internal/window"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/store/memory"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

// fataler is a testing.T or a rapid.T.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
}

// shared is a store that other processes write to as well.
type shared struct {
	store.Store
	changes atomic.Int64
	epoch   atomic.Pointer[string]
}

func (s *shared) Changed(context.Context) (int64, error) { return s.changes.Load(), nil }

func (s *shared) Thread(ctx context.Context, space, id string) (thread.Thread, error) {
	t, err := s.Store.Thread(ctx, space, id)
	if e := s.epoch.Load(); e != nil {
		t.Epoch = *e
	}
	return t, err
}

// world is a thread that is written to, as an engine does it, and viewed.
type world struct {
	t     fataler
	store *shared
	key   thread.Key

	rooms *window.Rooms
	stop  context.CancelFunc
	work  *sync.WaitGroup

	late   []thread.Batch // committed and not published yet
	answer *view.Live     // being made by this process
	usage  int64
	said   int
	gather time.Duration
}

func newWorld(t fataler) *world {
	w := &world{t: t, store: &shared{Store: memory.New(memory.Options{})}}
	state, err := w.store.Create(ctx, store.NewThread{Key: thread.Key{ID: "launch"}, Title: "Launch"})
	w.must(err)
	w.key = state.Key
	w.start()
	return w
}

var ctx = context.Background()

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("%v", err)
	}
}

// start opens the rooms of a process.
func (w *world) start() {
	c, stop := context.WithCancel(ctx)
	work := &sync.WaitGroup{}
	w.stop, w.work = stop, work
	w.rooms = window.New(window.Config{
		Store:  w.store,
		Gather: w.gather,
		Agent:  func(_ context.Context, t *thread.Thread) (view.Agent, error) { return agentOf(t), nil },
		Go:     func(f func(context.Context)) { work.Go(func() { f(c) }) },
		Report: func(id string, err error) { panic(fmt.Sprintf("%s: %v", id, err)) },
	})
}

func agentOf(t *thread.Thread) view.Agent {
	return view.Agent{Name: "north", Model: "echo", Tools: []string{"zoom"}, Skills: []string{}, Waiting: []view.Asked{}, Turn: t.Turn, Backlog: t.Backlog}
}

// end closes the rooms: a process that ends.
func (w *world) end() {
	w.rooms.Close(&thread.Error{Code: thread.Aborted, Message: "the engine was closed"})
	w.stop()
	w.work.Wait()
}

func (w *world) state() thread.Thread {
	w.t.Helper()
	s, err := w.store.Thread(ctx, "", w.key.ID)
	w.must(err)
	return s
}

// how a commit comes to the rooms.
type way int

const (
	atOnce way = iota
	later      // after others, perhaps
	never      // another process made it
)

func (w *world) publish(how way, wr store.Written, docs ...thread.Doc) {
	b := thread.Batch{Thread: wr.Thread, Entries: wr.Entries, Nodes: wr.Nodes, Docs: docs}
	if e := w.store.epoch.Load(); e != nil {
		b.Thread.Epoch = *e
	}
	switch how {
	case atOnce:
		w.rooms.Publish(b)
	case later:
		w.late = append(w.late, b)
	case never:
		w.store.changes.Add(1)
	}
}

// say says something; it is queued while a turn runs.
func (w *world) say(how way, m thread.Message) store.Written {
	w.t.Helper()
	wr, err := w.store.Append(ctx, w.key, store.Draft{Entries: []store.New{{Entry: thread.Say(m), QueueIfBusy: true}}})
	w.must(err)
	w.publish(how, wr)
	return wr
}

func (w *world) text(text string) thread.Message {
	w.said++
	return thread.Message{Author: "ana", Role: thread.User, Parts: []thread.Part{thread.Text(fmt.Sprintf("%d %s", w.said, text))}}
}

func (w *world) commit(how way, docs []thread.Doc, entries ...store.New) store.Written {
	w.t.Helper()
	wr, err := w.store.Commit(ctx, w.key, store.Draft{Entries: entries, Docs: docs}, store.Guard{Tip: w.state().Tip})
	w.must(err)
	w.publish(how, wr, docs...)
	return wr
}

func event(k thread.Kind, e thread.Entry) store.New {
	e.Kind, e.Index = k, thread.NoIndex
	return store.New{Entry: e}
}

// begin opens a turn, which takes what is queued.
func (w *world) begin(how way) {
	s := w.state()
	var entries []store.New
	for _, seq := range s.Inbox {
		e, err := w.store.Entry(ctx, &s, seq)
		w.must(err)
		m := *e.Queued.Message
		m.Queued = seq
		entries = append(entries, store.New{Entry: thread.Say(m)})
	}
	w.commit(how, nil, append(entries, event(thread.TurnKind, thread.Entry{Turn: &thread.Turn{State: thread.TurnBegun, Agent: "north"}}))...)
}

// piece makes a piece of an answer.
func (w *world) piece(kind, text string, audience ...string) {
	s := w.state()
	if w.answer == nil || w.answer.ID == "" {
		id := uuid.NewString()
		if w.answer == nil {
			w.answer = &view.Live{Tools: []view.Running{}}
		}
		w.answer.ID, w.answer.Author, w.answer.Turn = id, "north", s.Turn
	}
	l := thread.Live{ID: w.answer.ID, Author: "north", Type: kind, Text: text, Audience: audience}
	switch kind {
	case "text":
		l.Offset = len(w.answer.Text)
		w.answer.Text += text
	case "thinking":
		l.Offset = len(w.answer.Thinking)
		w.answer.Thinking += text
	case "retry":
		w.answer.Text, w.answer.Thinking, w.answer.Retry = "", "", text
		w.answer.Retries++
	}
	w.rooms.Publish(thread.Batch{Thread: s, Live: &l})
}

// finish commits the answer that was made; with it ends the turn, if it should.
func (w *world) finish(ends bool) {
	s := w.state()
	m := thread.Message{Author: "north", Role: thread.Assistant, Turn: s.Turn, Parts: []thread.Part{thread.Text(w.answer.Text + ".")}, Usage: &thread.Usage{Output: 7}}
	e := thread.Say(m)
	e.ID = w.answer.ID
	entries := []store.New{{Entry: e}}
	w.usage += 7
	docs := []thread.Doc{{Name: thread.UsageDoc, Data: fmt.Appendf(nil, `{"requests":%d,"turns":{"output":%d}}`, w.usage/7, w.usage)}}
	if ends {
		entries = append(entries, w.ended(&s))
	}
	w.answer = nil
	w.commit(atOnce, docs, entries...)
}

func (w *world) ended(s *thread.Thread) store.New {
	return event(thread.TurnKind, thread.Entry{Turn: &thread.Turn{State: thread.TurnEnded, Turn: s.Turn, Agent: "north", Reason: thread.StopEnd}})
}

// undo commits a rewind or a reset, and ends the open turn.
func (w *world) undo(how way, e store.New) {
	s := w.state()
	var entries []store.New
	if s.Turn != 0 {
		entries = append(entries, w.ended(&s))
	}
	w.answer = nil
	w.commit(how, nil, append(entries, e)...)
}

func (w *world) rewind(how way, index int64) {
	s := w.state()
	at := w.active()[index]
	cut := s.Cut
	for cut > at.Seq {
		e, err := w.store.Entry(ctx, &s, cut)
		w.must(err)
		cut = e.Cut.Prev
	}
	w.undo(how, event(thread.RewindKind, thread.Entry{Rewind: &thread.Rewind{To: at.Seq, Index: index, Cut: cut, Undid: s.Length - 1 - index}}))
}

func (w *world) reset(how way) {
	w.undo(how, event(thread.ResetKind, thread.Entry{Reset: &thread.Reset{Undid: w.state().Length}}))
}

func (w *world) cut(how way, boundary int64) {
	s := w.state()
	w.commit(how, nil, event(thread.CutKind, thread.Entry{Cut: &thread.Cut{Number: s.Cuts + 1, Strategy: "outline", Boundary: boundary, Prev: s.Cut, Reason: "test"}}))
}

// active gives the active messages as a view shows them.
func (w *world) active() []view.Entry {
	s := w.state()
	var out []view.Entry
	for e, err := range w.store.Messages(ctx, &s, 0, s.Length) {
		w.must(err)
		v, _, err := view.Project(&e)
		w.must(err)
		out = append(out, v)
	}
	return out
}

// scratch builds, from the store, the view of a window that starts at a seq.
func (w *world) scratch(from int64, viewer string) view.View {
	s := w.state()
	v := view.View{Thread: view.Thread{ID: s.ID, Title: s.Title, Epoch: s.Epoch, Branch: s.Branch}, From: from, Length: s.Length, Entries: []view.Entry{}}
	for _, e := range w.active() {
		if e.Seq < from {
			v.Before, v.Earlier = e.Seq, true
			continue
		}
		v.Entries = append(v.Entries, stubFor(e, viewer))
	}
	if s.Cut != 0 {
		e, err := w.store.Entry(ctx, &s, s.Cut)
		w.must(err)
		v.Head = &view.Head{Seq: e.Seq, Number: e.Cut.Number, Strategy: e.Cut.Strategy, Boundary: e.Cut.Boundary}
	}
	v.Docs = view.Docs{Agent: agentOf(&s), Live: w.answer, Inbox: []view.Queued{}, Provider: map[string]view.Cached{}}
	for _, seq := range s.Inbox {
		e, err := w.store.Entry(ctx, &s, seq)
		w.must(err)
		q, err := view.Wait(&e)
		w.must(err)
		if m := e.Queued.Message; viewer != "" && !m.VisibleTo(viewer) {
			q = view.Queued{Seq: seq, ID: e.ID}
		}
		v.Docs.Inbox = append(v.Docs.Inbox, q)
	}
	v.Docs.Usage = view.Usage{Requests: w.usage / 7, Turns: thread.Usage{Output: w.usage}, Tokens: w.usage}
	return v
}

func stubFor(e view.Entry, viewer string) view.Entry {
	if viewer != "" && e.Message != nil && !e.Message.VisibleTo(viewer) {
		return view.Entry{Seq: e.Seq, ID: e.ID, Prev: e.Prev, Index: e.Index}
	}
	return e
}

// client is one who views: a watch while the link is up, and a replica.
type client struct {
	world   *world
	name    string
	options window.Options
	watch   *window.Watch
	replica view.Replica
	cursor  int64
	frames  int
	holds   bool
	idle    bool        // there was nothing after what was read
	called  atomic.Bool // there is something since
	bytes   int
}

func (w *world) client(name string, o window.Options) *client {
	c := &client{world: w, name: name, options: o}
	c.connect()
	return c
}

// connect watches, from where the replica has got to.
func (c *client) connect() {
	c.world.t.Helper()
	o := c.options
	o.From, o.Epoch = c.replica.Resume()
	w, err := c.world.rooms.Watch(ctx, c.world.key.ID, o)
	c.world.must(err)
	c.watch, c.holds, c.idle = w, false, false
	w.Notify(func() { c.called.Store(true) })
}

// lose loses the link, and with it a frame that was on its way.
func (c *client) lose() {
	if c.watch != nil {
		_, _, _, err := c.watch.Poll(ctx)
		if thread.CodeOf(err) != thread.Aborted {
			c.world.must(err)
		}
		c.watch.Close()
		c.watch = nil
	}
}

// read takes one frame, if there is one: in one of two ways.
func (c *client) read() (got bool) {
	c.world.t.Helper()
	untold := c.idle && !c.called.Swap(false)
	f, ready := c.watch.Take()
	if ready == window.Slow {
		var wait time.Duration
		var ok bool
		var err error
		f, wait, ok, err = c.watch.Poll(ctx)
		c.world.must(err)
		if wait > 0 {
			c.idle = false
			time.Sleep(wait)
			return c.read()
		}
		ready = window.More
		if !ok {
			ready = window.Nothing
		}
	}
	c.idle = ready == window.Nothing || ready == window.Last
	if ready == window.Nothing {
		return false
	}
	if untold && !c.called.Load() { // nor in between
		c.world.t.Fatalf("%s: nobody was told of frame %d: %s", c.name, f.N, show(f))
	}
	c.take(f)
	return true
}

func (c *client) take(f window.Frame) {
	c.world.t.Helper()
	b, err := f.Batch()
	if err != nil {
		c.world.t.Fatalf("%s: frame %d is no batch: %v", c.name, f.N, err)
	}
	old := c.replica.View()
	if err := c.replica.Applied(b); err != nil {
		c.world.t.Fatalf("%s: batch %d: %v\n%s\nhad %d entries", c.name, b.N, err, show(f), len(old.Entries))
	}
	c.frames++
	c.bytes += f.Size()
	if f.Seq != 0 {
		c.cursor = f.Seq
	}
	v := c.replica.View()
	if n := c.options.Tail; len(v.Entries) >= 2*n && len(v.Entries) > 1 {
		c.world.t.Fatalf("%s: the window has %d messages after a batch, its tail is %d", c.name, len(v.Entries), n)
	}
	size := 0
	for _, e := range v.Entries {
		data, err := thread.Encode(e)
		c.world.must(err)
		size += len(data)
	}
	if size > view.MaxBytes && len(v.Entries) > 1 {
		c.world.t.Fatalf("%s: the window has %d bytes", c.name, size)
	}
}

func show(f window.Frame) string {
	var b strings.Builder
	for _, p := range f.Parts {
		b.Write(p)
	}
	if b.Len() > 4000 {
		return b.String()[:4000] + "…"
	}
	return b.String()
}

// drain reads all that there is.
func (c *client) drain() {
	c.world.t.Helper()
	for c.read() {
		continue
	}
}

// fetch reads a page before a seq.
func (c *client) fetch(before int64, limit int) {
	c.world.t.Helper()
	s := c.world.state()
	p, err := window.ReadPage(ctx, c.world.store, &s, window.PageQuery{Before: before, Limit: limit, Viewer: c.options.Viewer})
	c.world.must(err)
	if err := c.replica.Fetched(p); err != nil {
		v := c.replica.View()
		if p.Branch == v.Thread.Branch && p.Epoch == v.Thread.Epoch {
			c.world.t.Fatalf("%s: page: %v", c.name, err)
		}
	}
}

// check compares what the client holds with what the store says.
func (c *client) check() {
	t := c.world.t
	t.Helper()
	got := c.replica.View()
	want := c.world.scratch(got.From, c.options.Viewer)
	got.N, got.Fresh = 0, false
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s (tail %d) after %d frames (-store +client):\n%s", c.name, c.options.Tail, c.frames, diff)
	}
	active := c.world.active()
	at := func(seq int64) int {
		return slices.IndexFunc(active, func(e view.Entry) bool { return e.Seq == seq })
	}
	var last *view.Entry
	holes := c.replica.Holes()
	for _, r := range c.replica.Ranges() {
		for _, e := range r.Entries {
			i := at(e.Seq)
			if i < 0 {
				t.Fatalf("%s holds message %d, which is not active", c.name, e.Seq)
			}
			if diff := cmp.Diff(stubFor(active[i], c.options.Viewer), e); diff != "" {
				t.Fatalf("%s, message %d (-store +client):\n%s", c.name, e.Seq, diff)
			}
			if last != nil && last.Seq != e.Prev && !slices.Contains(holes, view.Hole{After: last.Seq, Before: e.Seq}) {
				t.Fatalf("%s has an unmarked hole between %d and %d: %v", c.name, last.Seq, e.Seq, holes)
			}
			last = &e
		}
	}
}

// settle lets everything that is under way come to its end.
func (w *world) settle() {
	for _, b := range w.late {
		w.rooms.Publish(b)
	}
	w.late = nil
	time.Sleep(2 * time.Second)
}

func errorCode(t *testing.T, err error, code thread.Code) {
	t.Helper()
	if thread.CodeOf(err) != code {
		t.Fatalf("%v, not %s", err, code)
	}
}
