package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/skeinhq/skein/thread"
)

// due derives, for every thread of the family, where its active messages lie,
// which of their lines are due, and the backlog.
func (r *replay) due() {
	seen := map[spot]Place{}
	for _, d := range r.out {
		if d.Head.Gone {
			continue
		}
		path := r.path(d)
		d.Segments = segments(d, path)
		for _, p := range r.ready(path) {
			seen[spot{p.Head.Row, p.Seq, p.Level}] = p
			d.Backlog++
		}
	}
	for _, p := range seen {
		for _, d := range r.out {
			if d.Head == p.Head {
				d.Dues = append(d.Dues, p)
			}
		}
	}
	for _, d := range r.out {
		slices.SortFunc(d.Dues, comparePlaces)
	}
}

func comparePlaces(a, b Place) int {
	return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Level, b.Level))
}

// path is where a thread's active messages lie, found by going back from the
// newest.
func (r *replay) path(d *Derived) []Place {
	path := make([]Place, d.Length)
	for i, seq := d.Length-1, d.Last; i >= 0; i-- {
		h, m := r.message(&d.Thread, seq)
		if m == nil || m.index != i {
			r.flaw(d.Head, "active message %d is missing", i)
			return path[i+1:]
		}
		path[i] = Place{Head: h, Branch: m.branch, Index: i, Seq: m.seq}
		seq = m.prev
	}
	return path
}

// segments sums up a path.
func segments(d *Derived, path []Place) []thread.Segment {
	var out []thread.Segment
	for _, p := range path {
		if n := len(out); n == 0 || out[n-1].Origin != p.Head.ID || out[n-1].Branch != p.Branch {
			out = append(out, thread.Segment{First: p.Index, Origin: p.Head.ID, Branch: p.Branch})
		}
	}
	if n := len(out); n == 0 || out[n-1].Origin != d.ID || out[n-1].Branch != d.Branch {
		out = append(out, thread.Segment{First: d.Length, Origin: d.ID, Branch: d.Branch})
	}
	return out
}

// ready lists the nodes that can be built and are not: leaves, and parents of
// two that are.
func (r *replay) ready(path []Place) (out []Place) {
	if len(path) == 0 {
		return nil
	}
	first := path[0].Index // not 0 where the path is broken
	built := make([]bool, len(path))
	for i, p := range path {
		built[i] = r.nodes[spot{p.Head.Row, p.Seq, 0}]
		if !built[i] {
			out = append(out, p)
		}
	}
	for level := 1; first == 0 && 1<<level <= len(path); level++ {
		next := make([]bool, len(path)>>level)
		for k := range next {
			p := path[(k+1)<<level-1]
			p.Level = level
			next[k] = r.nodes[spot{p.Head.Row, p.Seq, level}]
			if !next[k] && built[2*k] && built[2*k+1] {
				out = append(out, p)
			}
		}
		built = next
	}
	return out
}

// Families groups threads, each family's oldest first.
func Families(all []*Head) [][]*Head {
	at := map[thread.Key]int{}
	var out [][]*Head
	for _, h := range all {
		k := thread.Key{Space: h.Space, Root: h.Root}
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], h)
	}
	return out
}

// Audit compares what a family's threads say of themselves with what their logs
// and nodes say. flaw is told of every difference.
func Audit(ctx context.Context, ev Evidence, family []*Head, flaw func(error)) error {
	derived, err := Derive(ctx, ev, family, flaw)
	if err != nil {
		return err
	}
	for _, d := range derived {
		tell := func(format string, args ...any) {
			flaw(fail(thread.Storage, "check", d.ID, "run skein doctor --repair", "thread %s: %s", d.ID, fmt.Sprintf(format, args...)))
		}
		if err := d.compare(ctx, ev, tell); err != nil {
			return err
		}
	}
	return nil
}

func (d *Derived) compare(ctx context.Context, ev Evidence, tell func(string, ...any)) error {
	h := d.Head
	if h.Tip != d.Tip {
		tell("its tip is %d, but its log ends at %d", h.Tip, d.Tip)
	}
	dues, err := ev.Dues(ctx, h)
	if err != nil {
		return err
	}
	slices.SortFunc(dues, comparePlaces)
	if !slices.EqualFunc(dues, d.Dues, func(a, b Place) bool {
		return a.Seq == b.Seq && a.Level == b.Level && a.Branch == b.Branch && a.Index == b.Index
	}) {
		tell("%s lines are due, but %s should be", places(dues), places(d.Dues))
	}
	if h.Gone {
		return nil
	}
	for _, f := range []struct {
		name      string
		has, want int64
	}{
		{"fixed", h.Fixed, d.Fixed}, {"last message", h.Last, d.Last}, {"length", h.Length, d.Length}, {"branch", h.Branch, d.Branch},
		{"cut", h.Cut, d.Cut}, {"number of cuts", h.Cuts, d.Cuts}, {"open turn", h.Turn, d.Turn}, {"backlog", h.Backlog, d.Backlog},
	} {
		if f.has != f.want {
			tell("its %s is %d, but should be %d", f.name, f.has, f.want)
		}
	}
	switch {
	case h.Title != d.Title:
		tell("its title is %q, but should be %q", h.Title, d.Title)
	case !slices.Equal(h.Inbox, d.Inbox):
		tell("its inbox is %v, but should be %v", h.Inbox, d.Inbox)
	case !slices.Equal(h.Segments, d.Segments):
		tell("its segments are %v, but should be %v", h.Segments, d.Segments)
	case h.Indexed > h.Tip:
		tell("it is indexed up to entry %d, past its tip", h.Indexed)
	case h.Epoch == "":
		tell("it has no epoch")
	}
	return nil
}

// places shows the first few of a list.
func places(all []Place) string {
	out := fmt.Sprint(len(all))
	for i, p := range all {
		if i == 4 {
			return out + " …"
		}
		out += fmt.Sprintf(" %s@%d", p.Span(), p.Seq)
	}
	return out
}
