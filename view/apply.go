package view

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Apply changes v by a batch. The first batch must begin with a snapshot; each
// later one must have the number after the one before. It fails with a [Fault],
// and then v is as it was. What v held before, such as its entries, is not
// changed but replaced, so a copy of a View stays what it was.
func Apply(v *View, b Batch) error {
	return apply(v, b, func([]Entry) {}, func(*View) {})
}

// apply tells of what drops take out of the window, and of the view that a
// snapshot is about to replace.
func apply(v *View, b Batch, dropped func([]Entry), replaced func(old *View)) error {
	next := *v
	switch {
	case b.N < 1 || v.N > 0 && b.N != v.N+1:
		return fault(Gap, "batch %d does not follow batch %d", b.N, v.N)
	case v.N == 0 && (len(b.Ops) == 0 || b.Ops[0].Code != ReplaceOp):
		return fault(Gap, "batch %d is no snapshot, and there is nothing yet that it could change", b.N)
	}
	for _, o := range b.Ops {
		var err *Fault
		switch o.Code {
		case ReplaceOp:
			if o.View == nil {
				return fault(BadValue, "a snapshot holds no view")
			}
			replaced(&next)
			next = *o.View
		case SpliceOp:
			err = next.splice(o, dropped)
		case SetOp:
			err = next.set(o.Path, o.Value)
		case DeleteOp:
			err = next.set(o.Path, nil)
		case AppendOp:
			err = next.append(o)
		default:
			err = fault(BadOp, "%q is no operation", o.Code)
		}
		if err != nil {
			return err
		}
	}
	if err := next.Check(); err != nil {
		return err
	}
	next.N = b.N
	*v = next
	return nil
}

func (v *View) splice(o Op, dropped func([]Entry)) *Fault {
	n := len(v.Entries)
	switch {
	case len(o.Path) != 1 || o.Path[0] != "entries":
		return fault(BadPath, "there is no list at %q", o.Path)
	case o.Index < 0 || o.Index > n || o.Remove < 0 || o.Remove > n-o.Index:
		return fault(BadIndex, "the window has %d entries: none can be put at %d in place of %d", n, o.Index, o.Remove)
	case o.Remove == 0 && o.Index == n:
		v.Entries = append(v.Entries, o.Items...)
		return nil
	}
	if o.Index == 0 && o.Remove < n {
		dropped(v.Entries[:o.Remove])
	}
	v.Entries = slices.Concat(v.Entries[:o.Index], o.Items, v.Entries[o.Index+o.Remove:])
	return nil
}

// set decodes a value into the field at path; nil removes what is there. A path
// that this version does not know is passed over, as an unknown field is.
func (v *View) set(path []string, value json.RawMessage) *Fault {
	at, err := v.at(path)
	if err != nil || at == nil {
		return err
	}
	field := reflect.ValueOf(at).Elem()
	next := reflect.New(field.Type())
	if value != nil {
		if err := json.Unmarshal(value, next.Interface()); err != nil {
			return fault(BadValue, "the value at %q: %v", path, err)
		}
	}
	field.Set(next.Elem())
	return nil
}

func (v *View) append(o Op) *Fault {
	at, err := v.at(o.Path)
	if err != nil {
		return err
	}
	text, ok := at.(*string)
	if !ok {
		return fault(BadPath, "there is no text at %q", o.Path)
	}
	if o.Offset != len(*text) {
		return fault(BadOffset, "the text at %q has %d bytes, not %d", o.Path, len(*text), o.Offset)
	}
	*text += o.Text
	return nil
}

// fields says where the fields lie that operations reach.
var fields = map[string]func(*View) any{
	"thread":             func(v *View) any { return &v.Thread },
	"thread/title":       func(v *View) any { return &v.Thread.Title },
	"thread/epoch":       func(v *View) any { return &v.Thread.Epoch },
	"thread/branch":      func(v *View) any { return &v.Thread.Branch },
	"head":               func(v *View) any { return &v.Head },
	"entries":            func(v *View) any { return &v.Entries },
	"from":               func(v *View) any { return &v.From },
	"before":             func(v *View) any { return &v.Before },
	"earlier":            func(v *View) any { return &v.Earlier },
	"length":             func(v *View) any { return &v.Length },
	"fresh":              func(v *View) any { return &v.Fresh },
	"docs":               func(v *View) any { return &v.Docs },
	"docs/live":          func(v *View) any { return &v.Docs.Live },
	"docs/agent":         func(v *View) any { return &v.Docs.Agent },
	"docs/agent/backlog": func(v *View) any { return &v.Docs.Agent.Backlog },
	"docs/inbox":         func(v *View) any { return &v.Docs.Inbox },
	"docs/provider":      func(v *View) any { return &v.Docs.Provider },
	"docs/usage":         func(v *View) any { return &v.Docs.Usage },
}

// liveFields are those of an answer being made.
var liveFields = map[string]func(*Live) any{
	"id":       func(l *Live) any { return &l.ID },
	"author":   func(l *Live) any { return &l.Author },
	"turn":     func(l *Live) any { return &l.Turn },
	"text":     func(l *Live) any { return &l.Text },
	"thinking": func(l *Live) any { return &l.Thinking },
	"tools":    func(l *Live) any { return &l.Tools },
	"retries":  func(l *Live) any { return &l.Retries },
	"retry":    func(l *Live) any { return &l.Retry },
	"compact":  func(l *Live) any { return &l.Compact },
}

// at gives a pointer to the field at path, nil where this version has none.
func (v *View) at(path []string) (any, *Fault) {
	if len(path) > 2 && path[0] == "docs" && path[1] == "live" {
		return v.liveAt(path)
	}
	field, ok := fields[strings.Join(path, "/")]
	if !ok {
		return nil, nil
	}
	return field(v), nil
}

// liveAt is at within the answer being made, a copy of which it makes v's.
func (v *View) liveAt(path []string) (any, *Fault) {
	if v.Docs.Live == nil {
		return nil, fault(BadPath, "there is nothing at %q: no answer is being made", path)
	}
	live := *v.Docs.Live
	v.Docs.Live = &live
	field, ok := liveFields[path[2]]
	switch {
	case !ok:
		return nil, nil
	case len(path) == 3:
		return field(&live), nil
	case path[2] != "tools":
		return nil, fault(BadPath, "there is nothing below %q", path[:3])
	}
	i, err := strconv.Atoi(path[3])
	if err != nil || i < 0 || i >= len(live.Tools) {
		return nil, fault(BadPath, "there is no running tool %q", path[3])
	}
	live.Tools = slices.Clone(live.Tools)
	switch {
	case len(path) == 4:
		return &live.Tools[i], nil
	case len(path) == 5 && path[4] == "output":
		return &live.Tools[i].Output, nil
	}
	return nil, nil
}

// Check says whether v is a view: W1 (seqs ascend and none is below From), W2
// (Before is what the first entry follows, and Earlier says so), neighbours that
// follow each other, and a window that ends where the thread does.
func (v *View) Check() error {
	if v.Earlier != (v.Before != 0) {
		return fault(Broken, "earlier is %t, but before is %d", v.Earlier, v.Before)
	}
	before := v.Before
	for i := range v.Entries {
		e := &v.Entries[i]
		switch {
		case e.Seq < v.From:
			return fault(Broken, "message %d lies before the window, which starts at %d", e.Seq, v.From)
		case e.Prev != before:
			return fault(Broken, "message %d follows %d, but %d comes before it", e.Seq, e.Prev, before)
		case e.Seq <= before:
			return fault(Broken, "message %d comes after %d", e.Seq, before)
		case e.Index != v.Length-int64(len(v.Entries)-i):
			return fault(Broken, "message %d is number %d of a thread of %d, with %d after it", e.Seq, e.Index, v.Length, len(v.Entries)-i-1)
		}
		before = e.Seq
	}
	return nil
}
