package memory

import (
	"encoding/json"
	"slices"
	"sort"
	"time"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// log is a thread and all that it holds itself.
type log struct {
	store.Head
	first   int64 // seq of entries[0]
	entries []record
	keys    map[string]int64
	at      map[leaf]int64
	nodes   map[spot]thread.Node
	dues    map[spot]leaf
	docs    map[string]json.RawMessage
}

// record is an entry as it is kept.
type record struct {
	bare  thread.Entry
	body  []byte
	sum   []byte
	lines []string // see store.Placed.Lines
}

// leaf is where an indexed message lies, spot where a node does.
type leaf struct{ branch, index int64 }

type spot struct {
	seq   int64
	level int
}

func (r *record) entry() (thread.Entry, error) {
	e := r.bare
	if err := e.DecodeBody(r.body); err != nil {
		return e, &thread.Error{Code: thread.Storage, Op: "read", Message: "an entry cannot be read", Err: err}
	}
	return e, nil
}

func (l *log) record(seq int64) *record {
	if i := seq - l.first; i >= 0 && i < int64(len(l.entries)) {
		return &l.entries[i]
	}
	return nil
}

func (l *log) node(seq int64, level int) (thread.Node, bool) {
	if n, ok := l.nodes[spot{seq, level}]; ok {
		return n, true
	}
	r := l.record(seq)
	if r == nil || level >= len(r.lines) {
		return thread.Node{}, false
	}
	n := thread.Node{Seq: seq, Text: r.lines[level], By: thread.ByVerbatim, Time: r.bare.Time}
	if level > 0 {
		n.By = thread.ByJoined
	}
	return n, true
}

// tx is a transaction: what it changes is undone, last first, where it fails.
type tx struct {
	s     *Store
	saved map[*log]store.Head
	undo  []func()
}

var _ store.Tx = (*tx)(nil)

// lend hands a thread to the rules, which change it in place.
func (x *tx) lend(l *log) *store.Head {
	if _, ok := x.saved[l]; !ok {
		x.saved[l] = l.Head
	}
	return &l.Head
}

func (x *tx) rollback() {
	for _, f := range slices.Backward(x.undo) {
		f()
	}
	for l, h := range x.saved {
		l.Head = h
		l.Head.Forget()
	}
}

func (x *tx) log(h *store.Head) *log { return x.s.threads[name{h.Space, h.ID}] }

func (x *tx) Head(space, id string) (*store.Head, error) {
	if l := x.s.threads[name{space, id}]; l != nil {
		return x.lend(l), nil
	}
	return nil, nil
}

func (x *tx) Family(space, root string) ([]*store.Head, error) {
	var out []*store.Head
	for _, l := range x.s.threads {
		if l.Space == space && l.Root == root {
			out = append(out, x.lend(l))
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Row < out[j].Row })
	return out, nil
}

func (x *tx) Insert(h *store.Head) error {
	x.s.rows++
	h.Row = x.s.rows
	h.Meta = slices.Clone(h.Meta)
	k := name{h.Space, h.ID}
	x.s.threads[k] = &log{
		Head: *h, first: h.Tip + 1,
		keys: map[string]int64{}, at: map[leaf]int64{}, nodes: map[spot]thread.Node{}, dues: map[spot]leaf{},
		docs: map[string]json.RawMessage{},
	}
	x.undo = append(x.undo, func() { delete(x.s.threads, k) })
	return nil
}

func (x *tx) Touch(*store.Head) {}

func (x *tx) Trim(h *store.Head, upto int64, _ int) (int64, error) {
	l := x.log(h)
	for _, r := range l.entries[max(0, upto+1-l.first):] {
		delete(l.keys, r.bare.Key)
		delete(l.at, leaf{r.bare.Branch, r.bare.Index})
	}
	l.entries = l.entries[:max(0, upto+1-l.first)]
	for k := range l.nodes {
		if k.seq > upto {
			delete(l.nodes, k)
		}
	}
	for k := range l.dues {
		if k.seq > upto {
			delete(l.dues, k)
		}
	}
	clear(l.docs)
	return upto, nil
}

func (x *tx) Remove(h *store.Head, last bool) error {
	delete(x.s.threads, name{h.Space, h.ID})
	if last {
		for k := range x.s.blobs {
			if k.space == h.Space && k.root == h.Root {
				delete(x.s.blobs, k)
			}
		}
	}
	return nil
}

func (x *tx) Keyed(h *store.Head, key string) (*thread.Entry, []byte, error) {
	l := x.log(h)
	seq, ok := l.keys[key]
	if !ok {
		return nil, nil, nil
	}
	r := l.record(seq)
	e, err := r.entry()
	return &e, r.sum, err
}

func (x *tx) Entry(h *store.Head, seq int64) (*thread.Entry, error) {
	r := x.log(h).record(seq)
	if r == nil {
		return nil, store.NoEntry("read", h.ID, seq)
	}
	e, err := r.entry()
	return &e, err
}

func (x *tx) At(h *store.Head, branch, index int64) (int64, time.Time, error) {
	l := x.log(h)
	seq := l.at[leaf{branch, index}]
	if seq == 0 {
		return 0, time.Time{}, nil
	}
	return seq, l.record(seq).bare.Time, nil
}

func (x *tx) Node(h *store.Head, seq int64, level int) (string, bool, error) {
	n, ok := x.log(h).node(seq, level)
	return n.Text, ok, nil
}

func (x *tx) LastCut(h *store.Head, upto int64) (*thread.Entry, error) {
	l := x.log(h)
	for _, r := range slices.Backward(l.entries) {
		if r.bare.Kind == thread.CutKind && r.bare.Seq <= upto {
			e, err := r.entry()
			return &e, err
		}
	}
	return nil, nil
}

func (x *tx) Dues(h *store.Head, after, upto int64) ([]store.Place, error) {
	var out []store.Place
	for k, v := range x.log(h).dues {
		if after < k.seq && k.seq <= upto {
			out = append(out, store.Place{Head: h, Branch: v.branch, Index: v.index, Seq: k.seq, Level: k.level})
		}
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Seq != out[j].Seq {
			return out[i].Seq < out[j].Seq
		}
		return out[i].Level < out[j].Level
	})
	return out, nil
}

func (x *tx) PutEntry(h *store.Head, p *store.Placed) error {
	l := x.log(h)
	e := store.Bare(p.Entry)
	l.entries = append(l.entries, record{bare: e, body: p.Body, sum: p.Sum, lines: p.Lines})
	if e.Key != "" {
		l.keys[e.Key] = e.Seq
	}
	at := leaf{e.Branch, e.Index}
	if p.Index {
		l.at[at] = e.Seq
	}
	x.undo = append(x.undo, func() {
		l.entries = l.entries[:len(l.entries)-1]
		delete(l.keys, e.Key)
		if p.Index {
			delete(l.at, at)
		}
	})
	return nil
}

func (x *tx) PutNode(p store.Place, n thread.Node) error {
	l, k := x.log(p.Head), spot{p.Seq, p.Level}
	l.nodes[k] = n
	x.undo = append(x.undo, func() { delete(l.nodes, k) })
	return nil
}

func (x *tx) PutDue(p store.Place) (bool, error) {
	l, k := x.log(p.Head), spot{p.Seq, p.Level}
	if _, ok := l.dues[k]; ok {
		return false, nil
	}
	l.dues[k] = leaf{p.Branch, p.Index}
	x.undo = append(x.undo, func() { delete(l.dues, k) })
	return true, nil
}

func (x *tx) DropDue(p store.Place) (bool, error) {
	l, k := x.log(p.Head), spot{p.Seq, p.Level}
	v, ok := l.dues[k]
	delete(l.dues, k)
	if ok {
		x.undo = append(x.undo, func() { l.dues[k] = v })
	}
	return ok, nil
}

func (x *tx) PutDoc(h *store.Head, d thread.Doc) error {
	l := x.log(h)
	was, ok := l.docs[d.Name]
	if len(d.Data) == 0 {
		delete(l.docs, d.Name)
	} else {
		l.docs[d.Name] = slices.Clone(d.Data)
	}
	x.undo = append(x.undo, func() {
		delete(l.docs, d.Name)
		if ok {
			l.docs[d.Name] = was
		}
	})
	return nil
}

func (x *tx) Doc(h *store.Head, name string) (json.RawMessage, error) {
	return x.log(h).docs[name], nil
}
