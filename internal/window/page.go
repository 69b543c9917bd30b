package window

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

// cursor is where a page ended, and what it was a page of.
type cursor struct {
	Thread   string `json:"t"`
	Epoch    string `json:"e"`
	Order    Order  `json:"o,omitempty"`
	Inactive bool   `json:"i,omitempty"`
	Before   int64  `json:"b,omitempty"`
	After    int64  `json:"a,omitempty"`
}

func (c cursor) String() string {
	data, err := json.Marshal(c)
	if err != nil {
		return "" // texts and numbers always have JSON
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

// complete gives the query with its defaults and where its cursor stands, or says
// what is wrong.
func (q PageQuery) complete(t *thread.Thread) (PageQuery, error) {
	switch {
	case q.Limit < 0 || q.Limit > MaxLimit:
		return q, invalid(t.ID, "page", fmt.Sprintf("a page cannot have %d messages", q.Limit), fmt.Sprintf("ask for 1 to %d", MaxLimit))
	case q.Order != NewestFirst && q.Order != OldestFirst:
		return q, invalid(t.ID, "page", fmt.Sprintf("there is no order %q", q.Order), `leave it out for the newest first, or write "asc"`)
	case q.Before < 0 || q.After < 0:
		return q, invalid(t.ID, "page", "seqs are not negative", "leave before and after out for no bound")
	}
	if q.Limit == 0 {
		q.Limit = DefaultLimit
	}
	if q.Cursor == "" {
		return q, nil
	}
	var c cursor
	data, err := base64.RawURLEncoding.DecodeString(q.Cursor)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	switch {
	case err != nil || c.Before < 0 || c.After < 0:
		return q, invalid(t.ID, "page", "that is no cursor", "give the next of a page as it is, or start without one")
	case c.Thread != t.ID:
		return q, invalid(t.ID, "page", fmt.Sprintf("the cursor is of the thread %q", c.Thread), "start without one")
	case c.Epoch != t.Epoch:
		return q, invalid(t.ID, "page", "the cursor is of an earlier incarnation of the thread", "start without one")
	case c.Order != q.Order || c.Inactive != q.Inactive:
		return q, invalid(t.ID, "page", "the cursor is of another order or selection", "start without one")
	}
	q.Before, q.After = c.Before, c.After
	return q, nil
}

// ReadPage reads a page of t's history.
func ReadPage(ctx context.Context, st store.Store, t *thread.Thread, q PageQuery) (view.Page, error) {
	q, err := q.complete(t)
	if err != nil {
		return view.Page{}, err
	}
	p := &paging{store: st, t: t, q: q, page: view.Page{Items: []view.Entry{}, Epoch: t.Epoch, Branch: t.Branch}}
	for more := true; more; {
		if more, err = p.read(ctx); err != nil {
			return view.Page{}, err
		}
	}
	p.page.Tag = p.tag()
	return p.page, nil
}

// paging is a page being read. Its query's bounds move as it is.
type paging struct {
	store store.Store
	t     *thread.Thread
	q     PageQuery
	page  view.Page
	bytes int

	// The rewinds after the message that was looked at last, as far as it took to
	// know whether messages that are not active were undone.
	rewinds []rewind
	known   int64 // all with higher seqs are there; 0: none is
}

type rewind struct{ seq, to int64 }

// read adds messages until the page is full. It gives up, and there is more, where
// a long stretch of undone messages is to be passed over.
func (p *paging) read(ctx context.Context) (more bool, err error) {
	q := store.EntriesQuery{Before: p.q.Before, After: p.q.After, Kinds: []thread.Kind{thread.MessageKind}, Newest: p.q.Order == NewestFirst, Inactive: true}
	for e, err := range p.store.Entries(ctx, p.t, q) {
		if err != nil {
			return false, err
		}
		if !e.IsMessage() {
			continue // of an answer that was interrupted
		}
		active := p.t.Active(p.t.OriginAt(e.Seq), e.Branch, e.Index)
		undone, kept := false, int64(0)
		if !active {
			if undone, kept, err = p.undone(ctx, e.Seq); err != nil {
				return false, err
			}
		}
		if undone && !p.q.Inactive {
			if q.Newest {
				p.q.Before = kept + 1
				return true, nil
			}
			continue
		}
		full, err := p.add(&e, undone, !active && !undone)
		if full || err != nil {
			return false, err
		}
	}
	return false, nil
}

// add adds a message, unless the page is full: then it says where the next one
// begins.
func (p *paging) add(e *thread.Entry, undone, past bool) (full bool, err error) {
	item, data, err := view.Project(e)
	if err != nil {
		return false, err
	}
	n := len(p.page.Items)
	if n > 0 && (n >= p.q.Limit || p.bytes+len(data) > view.MaxBytes) {
		c := cursor{Thread: p.t.ID, Epoch: p.t.Epoch, Order: p.q.Order, Inactive: p.q.Inactive, Before: p.q.Before, After: p.q.After}
		if last := p.page.Items[n-1].Seq; p.q.Order == NewestFirst {
			c.Before = last
		} else {
			c.After = last
		}
		p.page.Next = c.String()
		return true, nil
	}
	if !audienceOf(e.Message).has(p.q.Viewer) {
		item = view.Stub(e)
	}
	item.Undone, item.Past = undone, past
	p.page.Items = append(p.page.Items, item)
	p.bytes += len(data)
	return false, nil
}

// undone says whether a message that is not active was undone by a rewind, and
// which is the newest message that all such rewinds have kept. Else it lies before
// a reset.
func (p *paging) undone(ctx context.Context, seq int64) (undone bool, kept int64, err error) {
	if p.known == 0 || seq < p.known {
		q := store.EntriesQuery{After: seq, Before: p.known, Kinds: []thread.Kind{thread.RewindKind}}
		if p.known > 0 {
			q.Before = p.known + 1
		}
		var found []rewind
		for e, err := range p.store.Entries(ctx, p.t, q) {
			if err != nil {
				return false, 0, err
			}
			if e.Rewind != nil {
				found = append(found, rewind{e.Seq, e.Rewind.To})
			}
		}
		p.rewinds, p.known = slices.Concat(found, p.rewinds), seq
	}
	for _, r := range p.rewinds {
		if r.seq > seq && r.to < seq && (!undone || r.to < kept) {
			undone, kept = true, r.to
		}
	}
	return undone, kept, nil
}

// tag tells two versions of the page apart.
func (p *paging) tag() string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%q %q %t", p.q.Viewer, p.page.Next, p.q.Inactive)
	for _, e := range p.page.Items {
		fmt.Fprintf(h, " %d", e.Seq)
	}
	return fmt.Sprintf("%s.%d.%x", p.page.Epoch, p.page.Branch, h.Sum64())
}
