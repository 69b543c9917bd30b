package client_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

// model is a thread and its watches as a server has them, small enough to be seen to
// be right: every view is made from scratch.
type model struct {
	mu     sync.Mutex
	id     string
	epoch  string
	branch int64
	tip    int64
	active []view.Entry
	live   *view.Live
	seats  map[*seat]bool
}

func newModel(id string) *model {
	return &model{id: id, epoch: "e1", branch: 1, seats: map[*seat]bool{}}
}

// seat is one watch. Its window is counted from the thread's end.
type seat struct {
	model  *model
	tail   int
	n      int64
	count  int // messages of the window
	from   int64
	fresh  bool
	held   bool
	stale  bool // something was not sent while it was held
	batchs func(view.Batch)
}

func (m *model) last() int64 {
	if len(m.active) == 0 {
		return 0
	}
	return m.active[len(m.active)-1].Seq
}

// say appends a message after gap entries of other kinds.
func (m *model) say(text string, gap int64) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tip += gap + 1
	e := view.Entry{
		Seq: m.tip, ID: fmt.Sprintf("%s-%d", m.epoch, m.tip), Prev: m.last(), Index: int64(len(m.active)),
		Message: &thread.Message{Author: "ana", Role: thread.User, Parts: []thread.Part{thread.Text(text)}},
	}
	m.active = append(m.active, e)
	cleared := m.live != nil
	m.live = nil
	for s := range m.seats {
		s.appended(e, cleared)
	}
	return e.Seq
}

// piece goes on with the answer being made.
func (m *model) piece(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.live == nil {
		m.live = &view.Live{ID: "live", Author: "north", Turn: m.tip, Text: text, Tools: []view.Running{}}
		for s := range m.seats {
			s.put(view.Set(encoded(m.live), "docs", "live"))
		}
		return
	}
	live := *m.live
	m.live = &live
	offset := len(live.Text)
	m.live.Text += text
	for s := range m.seats {
		s.put(view.Append(offset, text, "docs", "live", "text"))
	}
}

// rewind keeps the first messages.
func (m *model) rewind(keep int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	undone := len(m.active) - keep
	m.tip++
	m.branch = m.tip
	m.active = slices.Clone(m.active[:keep])
	m.live = nil
	for s := range m.seats {
		s.cut(undone)
	}
}

// restore goes back to an older copy of the database: the log is another one.
func (m *model) restore(keep int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.epoch += "'"
	m.active = slices.Clone(m.active[:keep])
	m.tip = m.last()
	m.live = nil
	for s := range m.seats {
		s.fresh = true
		s.snapshot(min(s.tail, len(m.active)), 0)
	}
}

// page is the one before a seq, newest first.
func (m *model) page(before int64, limit int) view.Page {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := view.Page{Items: []view.Entry{}, Epoch: m.epoch, Branch: m.branch}
	for _, e := range slices.Backward(m.active) {
		if e.Seq < before && len(p.Items) < limit {
			p.Items = append(p.Items, e)
		}
	}
	return p
}

func (m *model) watch(tail int, from int64, epoch string, put func(view.Batch)) *seat {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &seat{model: m, tail: tail, batchs: put}
	m.seats[s] = true
	missed := 0
	for _, e := range m.active {
		if e.Seq >= from {
			missed++
		}
	}
	switch {
	case from == 0:
		s.snapshot(min(tail, len(m.active)), 0)
	case epoch != "" && epoch != m.epoch || from > m.tip+1:
		s.fresh = true
		s.snapshot(min(tail, len(m.active)), 0)
	case missed >= 2*tail:
		s.snapshot(tail, 0)
	default:
		s.snapshot(missed, from)
	}
	return s
}

func (m *model) leave(s *seat) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.seats, s)
}

// overflow has every watch lose what is undelivered.
func (m *model) overflow() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for s := range m.seats {
		s.snapshot(min(s.tail, len(m.active)), 0)
	}
}

func (m *model) view() view.View {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &seat{model: m, count: len(m.active), from: 1}
	return s.view()
}

func (s *seat) view() view.View {
	m := s.model
	start := len(m.active) - s.count
	v := view.View{
		Thread: view.Thread{ID: m.id, Epoch: m.epoch, Branch: m.branch}, Entries: append([]view.Entry{}, m.active[start:]...),
		From: s.from, Length: int64(len(m.active)), Fresh: s.fresh,
		Docs: view.Docs{Live: m.live, Inbox: []view.Queued{}, Provider: map[string]view.Cached{}},
	}
	if start > 0 {
		v.Before = m.active[start-1].Seq
		v.Earlier = true
	}
	return v
}

func (s *seat) snapshot(count int, from int64) {
	s.count, s.from = count, from
	if m := s.model; from == 0 {
		s.from = m.tip + 1
		if count > 0 {
			s.from = m.active[len(m.active)-count].Seq
		}
	}
	v := s.view()
	s.put(view.Replace(&v))
}

func (s *seat) appended(e view.Entry, cleared bool) {
	ops := []view.Op{view.Splice(s.count, 0, e)}
	if s.count++; s.count >= 2*s.tail {
		ops = append(ops, view.Splice(0, s.count-s.tail))
		s.count = s.tail
		v := s.view()
		s.from = v.Entries[0].Seq
		ops = append(ops, view.Set(encoded(s.from), "from"), view.Set(encoded(v.Before), "before"), view.Set(encoded(v.Earlier), "earlier"))
	}
	ops = append(ops, view.Set(encoded(len(s.model.active)), "length"))
	if cleared {
		ops = append(ops, view.Set(encoded(nil), "docs", "live"))
	}
	s.put(ops...)
}

func (s *seat) cut(undone int) {
	m := s.model
	if undone >= s.count {
		s.snapshot(min(s.tail, len(m.active)), 0)
		return
	}
	s.count -= undone
	s.put(view.Splice(s.count, undone), view.Set(encoded(len(m.active)), "length"),
		view.Set(encoded(m.branch), "thread", "branch"), view.Set(encoded(nil), "docs", "live"))
}

func (s *seat) put(ops ...view.Op) {
	if s.held {
		s.stale = true
		return
	}
	s.n++
	s.batchs(view.Batch{N: s.n, Ops: ops})
}

func (m *model) hold(s *seat, on bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s.held = on
	if !on && s.stale {
		s.stale = false
		s.snapshot(min(s.tail, len(m.active)), 0)
	}
}

func encoded(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

func seqs(entries []view.Entry) []int64 {
	out := []int64{}
	for _, e := range entries {
		out = append(out, e.Seq)
	}
	return out
}

func held(ranges []view.Range) [][]int64 {
	out := [][]int64{}
	for _, r := range ranges {
		out = append(out, seqs(r.Entries))
	}
	return out
}
