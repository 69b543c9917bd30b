package storetest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/skeinhq/skein/internal/word"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// Compare runs random operations on a store and on the model alike, and fails
// where they differ in what they answer or in what they hold. settle is called
// now and then with the store and a number of some size; it may let the store do
// what it does in the background, or close it and open it again.
func Compare(t *testing.T, open, model func(now func() time.Time) (store.Store, error), settle func(s store.Store, n int) (store.Store, error)) {
	rapid.Check(t, func(r *rapid.T) {
		p := &pair{T: r, ctx: context.Background(), clock: NewClock(), settle: settle}
		var err error
		if p.a, err = open(p.clock.Now); err != nil {
			r.Fatal(err)
		}
		defer func() { p.a.Close() }()
		if p.b, err = model(p.clock.Now); err != nil {
			r.Fatal(err)
		}
		defer p.b.Close()
		p.create()
		p.Repeat(p.actions())
		p.compareAll()
		for name, s := range map[string]store.Store{"the store": p.a, "the model": p.b} {
			for err := range s.Check(p.ctx) {
				r.Errorf("check of %s: %v", name, err)
			}
		}
	})
}

// pair is a store and its model.
type pair struct {
	*rapid.T
	ctx    context.Context
	clock  *Clock
	a, b   store.Store
	settle func(store.Store, int) (store.Store, error)

	ids   []string // of every thread ever made
	stale []thread.Thread
	n     int
}

func (p *pair) actions() map[string]func(*rapid.T) {
	out := map[string]func(*rapid.T){}
	for name, f := range map[string]func(){
		"say": p.say, "say some": p.saySome, "say again": p.say, "turn": p.turn, "take": p.take, "cut": p.cut, "rewind": p.rewind,
		"reset": p.reset, "build": p.build, "build more": p.build, "fork": p.fork, "hide": p.hide, "purge": p.purge, "lease": p.lease,
		"docs": p.docs, "create": p.create, "wait": p.wait, "search": p.search, "commit late": p.late, "blob": p.blob,
	} {
		out[name] = func(r *rapid.T) {
			p.T = r
			f()
		}
	}
	return out
}

// both does the same to store and model, and compares what they answer.
func both[V any](p *pair, what string, f func(s store.Store) (V, error)) (V, error) {
	a, errA := f(p.a)
	b, errB := f(p.b)
	if thread.CodeOf(errA) != thread.CodeOf(errB) || (errA == nil) != (errB == nil) {
		p.Fatalf("%s: the store answers %v, the model %v", what, errA, errB)
	}
	if errA == nil {
		p.same(what, a, b)
	}
	return a, errA
}

func (p *pair) same(what string, a, b any) {
	if d := cmp.Diff(b, a, cmpopts.IgnoreFields(thread.Thread{}, "Epoch", "Indexed"), cmpopts.EquateEmpty()); d != "" {
		p.Fatalf("%s: model (-) and store (+) differ:\n%s", what, d)
	}
}

func (p *pair) id() string { return rapid.SampledFrom(p.ids).Draw(p.T, "thread") }

// state reads a thread, and now and then gives an older state of it.
func (p *pair) state() (*thread.Thread, bool) {
	id := p.id()
	t, err := both(p, "read "+id, func(s store.Store) (thread.Thread, error) { return s.Thread(p.ctx, "lab", id) })
	if err != nil {
		return nil, false
	}
	p.stale = append(p.stale, t)
	return &t, true
}

func (p *pair) text() string {
	p.n++
	words := rapid.SampledFrom([]string{"plan", "studio opens monday", "工作室", "so it goes", "plan plan"}).Draw(p.T, "words")
	text := fmt.Sprintf("%s %d", words, p.n)
	if rapid.IntRange(0, 3).Draw(p.T, "size") == 0 {
		text += strings.Repeat(" padding", rapid.IntRange(1, 80).Draw(p.T, "padding"))
	}
	return text
}

func (p *pair) new() store.New {
	n := say(p.text())
	n.ID = fmt.Sprint("id-", p.n)
	if rapid.Bool().Draw(p.T, "due") {
		n.Line = ""
	}
	n.QueueIfBusy = rapid.Bool().Draw(p.T, "queue if busy")
	if k := rapid.IntRange(0, 12).Draw(p.T, "key"); k < 4 {
		n.Key = fmt.Sprint("key-", k)
		n.Message.Parts = []thread.Part{thread.Text(fmt.Sprint("keyed ", k, rapid.IntRange(0, 5).Draw(p.T, "other content") == 0))}
		n.Line = ""
	}
	return n
}

func (p *pair) write(id string, d store.Draft) {
	_, _ = both(p, "append to "+id, func(s store.Store) (store.Written, error) { return s.Append(p.ctx, key(id), d) })
}

func (p *pair) commit(t *thread.Thread, n ...store.New) {
	for i := range n {
		p.n++
		n[i].ID = fmt.Sprint("id-", p.n)
	}
	g := store.Guard{Tip: t.Tip, Fence: t.Lease.Fence}
	if t.Lease.Owner == "" {
		g.Fence = 0
	}
	_, _ = both(p, "commit to "+t.ID, func(s store.Store) (store.Written, error) { return s.Commit(p.ctx, t.Key, draft(n...), g) })
}

func (p *pair) create() {
	id := fmt.Sprint("t", len(p.ids))
	if len(p.ids) >= 2 {
		return
	}
	p.ids = append(p.ids, id)
	_, _ = both(p, "create", func(s store.Store) (thread.Thread, error) {
		return s.Create(p.ctx, store.NewThread{Key: key(id), Title: "T", Docs: []thread.Doc{{Name: thread.SettingsDoc, Data: []byte(`{"x":1}`)}}})
	})
}

func (p *pair) say() { p.write(p.id(), draft(p.new())) }

func (p *pair) saySome() {
	d := store.Draft{Docs: []thread.Doc{{Name: "usage", Data: []byte(fmt.Sprint(p.n))}}}
	for range rapid.IntRange(0, 5).Draw(p.T, "messages") {
		d.Entries = append(d.Entries, p.new())
	}
	if rapid.Bool().Draw(p.T, "title") {
		n := title(p.text())
		n.ID = fmt.Sprint("id-", p.n)
		d.Entries = append(d.Entries, n)
	}
	p.write(p.id(), d)
}

func (p *pair) turn() {
	t, ok := p.state()
	if !ok {
		return
	}
	step := p.new()
	step.QueueIfBusy, step.Key, step.Message.Turn = false, "", t.Turn
	switch {
	case t.Turn == 0 && rapid.Bool().Draw(p.T, "whole"):
		step.Message.Turn = -1
		p.commit(t, turn(thread.TurnBegun, -1), step, turn(thread.TurnEnded, -1))
	case t.Turn == 0:
		p.commit(t, turn(thread.TurnBegun, 0))
	case rapid.Bool().Draw(p.T, "step"):
		step.Inactive = rapid.IntRange(0, 3).Draw(p.T, "interrupted") == 0
		p.commit(t, step)
	default:
		p.commit(t, turn(thread.TurnEnded, t.Turn))
	}
}

func (p *pair) take() {
	t, ok := p.state()
	if !ok || len(t.Inbox) == 0 {
		return
	}
	n := p.new()
	n.Key, n.QueueIfBusy = "", false
	n.Message.Queued = rapid.SampledFrom(t.Inbox).Draw(p.T, "queued")
	p.commit(t, n)
}

func (p *pair) cut() {
	if t, ok := p.state(); ok {
		p.commit(t, cutAt(t, rapid.Int64Range(0, t.Length).Draw(p.T, "boundary")))
	}
}

func (p *pair) rewind() {
	t, ok := p.state()
	if !ok || t.Length == 0 {
		return
	}
	n, err := rewindOf(p.ctx, p.b, t, rapid.Int64Range(0, t.Length-1).Draw(p.T, "index"))
	if err != nil {
		p.Fatal(err)
	}
	if rapid.Bool().Draw(p.T, "and say") {
		m := p.new()
		m.Key, m.QueueIfBusy = "", false
		p.commit(t, n, m)
		return
	}
	p.commit(t, n)
}

func (p *pair) reset() {
	if t, ok := p.state(); ok && rapid.IntRange(0, 3).Draw(p.T, "really") == 0 {
		p.commit(t, reset())
	}
}

// build stores a line that is due, or some line at all, as of a state that may
// be an old one.
func (p *pair) build() {
	t, ok := p.state()
	if !ok {
		return
	}
	if rapid.IntRange(0, 3).Draw(p.T, "old state") == 0 {
		t = &p.stale[rapid.IntRange(0, len(p.stale)-1).Draw(p.T, "state")]
	}
	due, err := both(p, "due of "+t.ID, func(s store.Store) ([]thread.Span, error) { return s.Due(p.ctx, t, 1000) })
	if err != nil || t.Length == 0 {
		return
	}
	var spans []thread.Span
	for range rapid.IntRange(1, 3).Draw(p.T, "lines") {
		if len(due) > 0 && rapid.IntRange(0, 5).Draw(p.T, "any") > 0 {
			spans = append(spans, rapid.SampledFrom(due).Draw(p.T, "due"))
			continue
		}
		level := rapid.IntRange(0, 3).Draw(p.T, "level")
		spans = append(spans, thread.SpanOf(level, rapid.Int64Range(0, t.Length>>level).Draw(p.T, "number")))
	}
	var nodes []thread.Node
	for _, s := range spans {
		nodes = append(nodes, node(s.ID, s.N, strings.Repeat("l", rapid.IntRange(1, 400).Draw(p.T, "bytes"))))
	}
	_, _ = both(p, "nodes of "+t.ID, func(s store.Store) ([]thread.Node, error) { return s.PutNodes(p.ctx, t, nodes) })
}

func (p *pair) fork() {
	t, ok := p.state()
	if !ok || t.Length == 0 || len(p.ids) >= 6 {
		return
	}
	if rapid.IntRange(0, 5).Draw(p.T, "old state") == 0 {
		if old := &p.stale[rapid.IntRange(0, len(p.stale)-1).Draw(p.T, "state")]; old.Length > 0 {
			t = old
		}
	}
	id := fmt.Sprint("f", len(p.ids))
	at := rapid.Int64Range(0, t.Length-1).Draw(p.T, "index")
	_, err := both(p, "fork of "+t.ID, func(s store.Store) (thread.Thread, error) { return s.Fork(p.ctx, t, at, id, "Fork") })
	if err == nil {
		p.ids = append(p.ids, id)
	}
}

func (p *pair) hide() {
	id := p.id()
	undo := rapid.IntRange(0, 2).Draw(p.T, "undo") > 0
	_, _ = both(p, "hide "+id, func(s store.Store) (struct{}, error) {
		if undo {
			return struct{}{}, s.Undelete(p.ctx, key(id))
		}
		return struct{}{}, s.Delete(p.ctx, key(id))
	})
}

func (p *pair) purge() {
	if rapid.IntRange(0, 3).Draw(p.T, "really") > 0 {
		return
	}
	_, _ = both(p, "purge", func(s store.Store) (int, error) { return s.Purge(p.ctx, p.clock.Now()) })
}

func (p *pair) lease() {
	id, owner := p.id(), rapid.SampledFrom([]string{"p", "q"}).Draw(p.T, "owner")
	l, err := both(p, "acquire "+id, func(s store.Store) (thread.Lease, error) { return s.Acquire(p.ctx, key(id), owner, time.Minute) })
	if err == nil && rapid.IntRange(0, 3).Draw(p.T, "keep") > 0 {
		_, _ = both(p, "release "+id, func(s store.Store) (struct{}, error) {
			return struct{}{}, s.Release(p.ctx, key(id), l.Fence, l.Fence%2 == 0)
		})
	}
}

func (p *pair) docs() {
	id := p.id()
	d := thread.Doc{Name: rapid.SampledFrom([]string{"live", "usage"}).Draw(p.T, "doc")}
	if rapid.Bool().Draw(p.T, "set") {
		d.Data = []byte(fmt.Sprint(p.n))
	}
	put := func(s store.Store) error { return s.PutDocs(p.ctx, key(id), []thread.Doc{d}) }
	if rapid.Bool().Draw(p.T, "swap") {
		put = func(s store.Store) error {
			was, _, err := s.Doc(p.ctx, key(id), "live") // of another document now and then
			if err != nil {
				return err
			}
			return s.SwapDoc(p.ctx, key(id), d, was)
		}
	}
	_, _ = both(p, "docs of "+id, func(s store.Store) (struct{}, error) { return struct{}{}, put(s) })
}

func (p *pair) blob() {
	id := p.id()
	data := []byte(rapid.SampledFrom([]string{"x", "y"}).Draw(p.T, "data"))
	_, _ = both(p, "blob", func(s store.Store) (string, error) { return s.PutBlob(p.ctx, key(id), "x/y", data) })
	id = p.id()
	_, _ = both(p, "read a blob", func(s store.Store) ([]byte, error) {
		_, data, err := s.Blob(p.ctx, key(id), store.Hash(data))
		return data, err
	})
}

func (p *pair) late() {
	if len(p.stale) == 0 {
		return
	}
	p.commit(&p.stale[rapid.IntRange(0, len(p.stale)-1).Draw(p.T, "state")], say("late"))
}

func (p *pair) wait() {
	p.clock.Add(time.Duration(rapid.IntRange(-5, 90).Draw(p.T, "seconds")) * time.Second)
	if rapid.Bool().Draw(p.T, "settle") {
		s, err := p.settle(p.a, rapid.IntRange(0, 9).Draw(p.T, "how"))
		if err != nil {
			p.Fatal(err)
		}
		p.a = s
	}
}

func (p *pair) search() {
	t, ok := p.state()
	if !ok {
		return
	}
	q := store.SearchQuery{
		Words: word.Query(rapid.SampledFrom([]string{"plan", "studio keyed", "工作室 padding", "goes"}).Draw(p.T, "query")),
		Limit: rapid.SampledFrom([]int{0, 3}).Draw(p.T, "limit"), Inactive: rapid.Bool().Draw(p.T, "inactive"),
	}
	_, _ = both(p, "search", func(s store.Store) (store.Found, error) { return s.Search(p.ctx, t, q) })
}

// compareAll compares all that can be read.
func (p *pair) compareAll() {
	for _, deleted := range []bool{false, true} {
		_, _ = both(p, "list", func(s store.Store) ([]thread.Thread, error) {
			return s.Threads(p.ctx, store.ThreadsQuery{Space: "lab", Deleted: deleted})
		})
	}
	_, _ = both(p, "threads with due lines", func(s store.Store) ([]thread.Key, error) { return s.DueThreads(p.ctx, 100) })
	for _, id := range p.ids {
		t, err := both(p, "read "+id, func(s store.Store) (thread.Thread, error) { return s.Thread(p.ctx, "lab", id) })
		if err != nil {
			continue
		}
		p.compare(&t)
	}
	for _, t := range p.stale[max(0, len(p.stale)-3):] {
		// What is gone cannot be read; the answers must be alike all the same.
		_, _ = both(p, "old messages of "+t.ID, func(s store.Store) ([]thread.Entry, error) { return gather(s.Messages(p.ctx, &t, 0, t.Length)) })
	}
}

func (p *pair) compare(t *thread.Thread) {
	for _, q := range []store.EntriesQuery{{}, {Inactive: true}, {Newest: true, Limit: 5}, {Inactive: true, Kinds: []thread.Kind{thread.CutKind, thread.TurnKind}}} {
		_, _ = both(p, "entries of "+t.ID, func(s store.Store) ([]thread.Entry, error) { return gather(s.Entries(p.ctx, t, q)) })
	}
	_, _ = both(p, "messages of "+t.ID, func(s store.Store) ([]thread.Entry, error) { return gather(s.Messages(p.ctx, t, 0, t.Length)) })
	_, _ = both(p, "due of "+t.ID, func(s store.Store) ([]thread.Span, error) { return s.Due(p.ctx, t, 1000) })
	var spans []thread.Span
	for n := int64(1); n <= t.Length; n *= 2 {
		for id := int64(0); id+n <= t.Length; id += n {
			spans = append(spans, thread.Span{ID: id, N: n})
		}
	}
	_, _ = both(p, "nodes of "+t.ID, func(s store.Store) ([]thread.Node, error) { return s.Nodes(p.ctx, t, spans) })
	for _, name := range []string{thread.SettingsDoc, "live", "usage"} {
		_, _ = both(p, "doc of "+t.ID, func(s store.Store) (string, error) {
			data, ok, err := s.Doc(p.ctx, t.Key, name)
			return fmt.Sprint(string(data), ok), err
		})
	}
	for _, inactive := range []bool{false, true} {
		_, _ = both(p, "search in "+t.ID, func(s store.Store) (store.Found, error) {
			return s.Search(p.ctx, t, store.SearchQuery{Words: []string{"plan", "keyed", "studio"}, Inactive: inactive})
		})
	}
}

func gather(all func(func(thread.Entry, error) bool)) (out []thread.Entry, err error) {
	all(func(e thread.Entry, failed error) bool {
		out, err = append(out, e), failed
		return err == nil
	})
	return out, err
}
