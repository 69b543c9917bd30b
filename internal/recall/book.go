package recall

import (
	"context"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// book is a thread as one search reads it: every message once. Its life is that
// of the search, so it may hold its context.
type book struct {
	ctx     context.Context
	store   store.Store
	thread  *thread.Thread
	viewer  string
	entries map[int64]*thread.Entry // by index
}

// message reads an active message, and those next to it, which are asked for
// soon.
func (b *book) message(id int64) (*thread.Entry, error) {
	if e, ok := b.entries[id]; ok {
		return e, nil
	}
	for e, err := range b.store.Messages(b.ctx, b.thread, max(id-1, 0), min(id+2, b.thread.Length)) {
		if err != nil {
			return nil, err
		}
		if b.entries[e.Index] == nil {
			b.entries[e.Index] = &e
		}
	}
	if e, ok := b.entries[id]; ok {
		return e, nil
	}
	return nil, noMessage(b.thread, "search", id)
}

// bySeq reads any message.
func (b *book) bySeq(seq int64) (*thread.Entry, error) {
	e, err := b.store.Entry(b.ctx, b.thread, seq)
	if err != nil {
		return nil, err
	}
	return &e, nil
}

// sees says whether the viewer may read the message. An erased one has nothing to
// be found by.
func (b *book) sees(e *thread.Entry) bool {
	return e.Message != nil && e.Message.VisibleTo(b.viewer)
}

// around sets the lines next to the hits, each message shown once: hits are not
// repeated, and a better hit's neighbours come first.
func (b *book) around(hits []Hit, before, after int) error {
	shown := map[int64]bool{}
	for _, h := range hits {
		shown[h.ID] = true
	}
	var spans []thread.Span
	take := func(from, to int64) {
		for i := max(from, 0); i < min(to, b.thread.Length); i++ {
			if !shown[i] {
				shown[i] = true
				spans = append(spans, thread.Span{ID: i, N: 1})
			}
		}
	}
	counts := make([][2]int, len(hits)) // of each hit's spans, before and after
	for i, h := range hits {
		if h.ID == thread.NoIndex {
			continue
		}
		n := len(spans)
		take(h.ID-int64(before), h.ID)
		counts[i][0] = len(spans) - n
		n = len(spans)
		take(h.ID+1, h.ID+1+int64(after))
		counts[i][1] = len(spans) - n
	}
	if len(spans) == 0 {
		return nil
	}
	lines, err := linesOf(b.ctx, b.store, b.thread, spans)
	if err != nil {
		return err
	}
	for i := range hits {
		hits[i].Before, lines = lines[:counts[i][0]:counts[i][0]], lines[counts[i][0]:]
		hits[i].After, lines = lines[:counts[i][1]:counts[i][1]], lines[counts[i][1]:]
	}
	return nil
}
