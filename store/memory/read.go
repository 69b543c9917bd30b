package memory

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"sort"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// page is how many entries are read at once, so that a slow reader does not
// keep writers waiting.
const page = 256

// Thread reads a thread's state.
func (s *Store) Thread(ctx context.Context, space, id string) (t thread.Thread, err error) {
	err = s.read(ctx, "thread", func() error {
		l, err := s.find("thread", thread.Key{Space: space, ID: id})
		if err == nil {
			t = l.Thread
		}
		return err
	})
	return t, err
}

// Threads lists a space's threads, the last updated first.
func (s *Store) Threads(ctx context.Context, q store.ThreadsQuery) (out []thread.Thread, err error) {
	err = s.read(ctx, "threads", func() error {
		for _, l := range s.threads {
			if !l.Gone && l.Space == q.Space && q.Deleted == !l.Deleted.IsZero() {
				out = append(out, l.Thread)
			}
		}
		return nil
	})
	later := func(a, b *thread.Thread) bool {
		if !a.Updated.Equal(b.Updated) {
			return a.Updated.After(b.Updated)
		}
		return a.ID > b.ID
	}
	sort.Slice(out, func(i, j int) bool { return later(&out[i], &out[j]) })
	if !q.Before.IsZero() {
		seen := thread.Thread{Key: thread.Key{ID: q.BeforeID}, Updated: store.Stamp(q.Before)}
		out = out[sort.Search(len(out), func(i int) bool { return later(&seen, &out[i]) }):]
	}
	return out[:min(len(out), q.Most())], err
}

// origin gives a thread of t's lineage.
func (s *Store) origin(t *thread.Thread, id string) (*log, error) {
	if l := s.threads[name{t.Space, id}]; l != nil {
		return l, nil
	}
	return nil, store.NoThread("read", id)
}

// Entry reads one entry of t's log.
func (s *Store) Entry(ctx context.Context, t *thread.Thread, seq int64) (e thread.Entry, err error) {
	if seq < 1 || seq > t.Tip {
		return e, store.NoEntry("entry", t.ID, seq)
	}
	err = s.read(ctx, "entry", func() error {
		l, err := s.origin(t, t.OriginAt(seq))
		if err != nil {
			return err
		}
		r := l.record(seq)
		if r == nil {
			return store.NoEntry("entry", t.ID, seq)
		}
		e, err = r.entry()
		return err
	})
	return e, err
}

// Entries reads t's log by seq.
func (s *Store) Entries(ctx context.Context, t *thread.Thread, q store.EntriesQuery) iter.Seq2[thread.Entry, error] {
	return func(yield func(thread.Entry, error) bool) {
		left := q.Limit
		for _, st := range q.Stretches(t) {
			for st.After < st.Upto {
				var got []thread.Entry
				err := s.read(ctx, "entries", func() (err error) {
					got, st, err = s.stretch(t, q, st)
					return err
				})
				if err != nil {
					yield(thread.Entry{}, err)
					return
				}
				for _, e := range got {
					if !yield(e, nil) {
						return
					}
					if left--; left == 0 {
						return
					}
				}
			}
		}
	}
}

// stretch reads a page of a stretch and gives what is left of it.
func (s *Store) stretch(t *thread.Thread, q store.EntriesQuery, st store.Stretch) ([]thread.Entry, store.Stretch, error) {
	l, err := s.origin(t, st.Thread)
	if err != nil {
		return nil, st, err
	}
	var out []thread.Entry
	for n := 0; n < page && st.After < st.Upto; n++ {
		seq := st.After + 1
		if q.Newest {
			seq = st.Upto
			st.Upto--
		} else {
			st.After++
		}
		r := l.record(seq)
		if r == nil || !q.Wants(t, st.Thread, &r.bare) {
			continue
		}
		e, err := r.entry()
		if err != nil {
			return nil, st, err
		}
		out = append(out, e)
	}
	return out, st, nil
}

// Messages reads active messages by index.
func (s *Store) Messages(ctx context.Context, t *thread.Thread, from, to int64) iter.Seq2[thread.Entry, error] {
	return func(yield func(thread.Entry, error) bool) {
		for _, run := range store.Runs(t, from, to) {
			for run.From < run.To {
				var got []thread.Entry
				err := s.read(ctx, "messages", func() (err error) {
					got, err = s.run(t, run)
					return err
				})
				if err != nil {
					yield(thread.Entry{}, err)
					return
				}
				for _, e := range got {
					if !yield(e, nil) {
						return
					}
				}
				run.From += page
			}
		}
	}
}

func (s *Store) run(t *thread.Thread, run store.Run) ([]thread.Entry, error) {
	l, err := s.origin(t, run.Origin)
	if err != nil {
		return nil, err
	}
	var out []thread.Entry
	for i := run.From; i < min(run.From+page, run.To); i++ {
		r := l.record(l.at[leaf{run.Branch, i}])
		if r == nil {
			return nil, &thread.Error{Code: thread.Storage, Op: "messages", Thread: t.ID, Message: fmt.Sprintf("message %d is missing", i)}
		}
		e, err := r.entry()
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// Nodes reads the nodes of those spans.
func (s *Store) Nodes(ctx context.Context, t *thread.Thread, spans []thread.Span) (out []thread.Node, err error) {
	err = s.read(ctx, "nodes", func() error {
		for _, span := range spans {
			if !span.Valid() || span.End() > t.Length {
				continue
			}
			seg, _ := t.SegmentAt(span.Last())
			l, err := s.origin(t, seg.Origin)
			if err != nil {
				return err
			}
			if n, ok := l.node(l.at[leaf{seg.Branch, span.Last()}], span.Level()); ok {
				n.Span = span
				out = append(out, n)
			}
		}
		return nil
	})
	return out, err
}

// Due lists the lines that are due on t's active path.
func (s *Store) Due(ctx context.Context, t *thread.Thread, limit int) (out []thread.Span, err error) {
	err = s.read(ctx, "due", func() error {
		x := &tx{s: s, saved: map[*log]store.Head{}}
		for _, st := range (store.EntriesQuery{}).Stretches(t) {
			l, err := s.origin(t, st.Thread)
			if err != nil {
				return err
			}
			dues, err := x.Dues(&l.Head, st.After, st.Upto)
			if err != nil {
				return err
			}
			for _, p := range dues {
				if len(out) < limit && t.Active(st.Thread, p.Branch, p.Index) {
					out = append(out, p.Span())
				}
			}
		}
		return nil
	})
	return out, err
}

// DueThreads lists the threads that have lines due.
func (s *Store) DueThreads(ctx context.Context, limit int) (out []thread.Key, err error) {
	err = s.read(ctx, "due", func() error {
		var rows []*log
		for _, l := range s.threads {
			if l.Backlog > 0 && !l.Gone && l.Deleted.IsZero() {
				rows = append(rows, l)
			}
		}
		sort.Slice(rows, func(i, j int) bool { return rows[i].Row < rows[j].Row })
		for _, l := range rows[:min(limit, len(rows))] {
			out = append(out, l.Key)
		}
		return nil
	})
	return out, err
}

// Doc reads a document.
func (s *Store) Doc(ctx context.Context, key thread.Key, doc string) (data json.RawMessage, ok bool, err error) {
	err = s.read(ctx, "doc", func() error {
		l, err := s.find("doc", key)
		if err == nil {
			data, ok = l.docs[doc]
			data = slices.Clone(data)
		}
		return err
	})
	return data, ok, err
}

// PutBlob keeps bytes.
func (s *Store) PutBlob(ctx context.Context, key thread.Key, mediaType string, data []byte) (string, error) {
	hash := store.Hash(data)
	return hash, s.onThread(ctx, "blob", key, func(x *tx, h *store.Head) error {
		k := blobKey{h.Space, h.Root, hash}
		if _, ok := s.blobs[k]; !ok {
			s.blobs[k] = blob{mediaType, bytes.Clone(data)}
		}
		return nil
	})
}

// Blob reads bytes.
func (s *Store) Blob(ctx context.Context, key thread.Key, hash string) (mediaType string, data []byte, err error) {
	err = s.read(ctx, "blob", func() error {
		l, err := s.find("blob", key)
		if err != nil {
			return err
		}
		b, ok := s.blobs[blobKey{l.Space, l.Root, hash}]
		if !ok {
			return store.NoBlob("blob", key.ID, hash)
		}
		mediaType, data = b.mediaType, bytes.Clone(b.data)
		return nil
	})
	return mediaType, data, err
}
