package memory

import (
	"context"
	"fmt"
	"iter"
	"sort"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// Check streams every violation that it finds. Nothing is written meanwhile.
func (s *Store) Check(ctx context.Context) iter.Seq[error] {
	return func(yield func(error) bool) {
		for _, err := range s.check(ctx) {
			if !yield(err) {
				return
			}
		}
	}
}

func (s *Store) check(ctx context.Context) (flaws []error) {
	tell := func(err error) { flaws = append(flaws, err) }
	err := s.read(ctx, "check", func() error {
		var all []*store.Head
		for _, l := range s.threads {
			all = append(all, &l.Head)
		}
		sort.Slice(all, func(i, j int) bool { return all[i].Row < all[j].Row })
		for _, family := range store.Families(all) {
			if err := store.Audit(ctx, evidence{s}, family, tell); err != nil {
				return err
			}
		}
		for k, b := range s.blobs {
			if store.Hash(b.data) != k.hash {
				tell(&thread.Error{Code: thread.Storage, Op: "check", Message: fmt.Sprintf("the blob %s has other bytes", k.hash)})
			}
		}
		return nil
	})
	if err != nil {
		tell(err)
	}
	return flaws
}

// evidence is the store while it is read.
type evidence struct{ s *Store }

func (v evidence) log(h *store.Head) *log { return v.s.threads[name{h.Space, h.ID}] }

func (v evidence) Log(_ context.Context, h *store.Head) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		for _, r := range v.log(h).entries {
			e, err := r.entry()
			if !yield(store.Record{Entry: e, Sum: r.sum, Lines: r.lines}, err) {
				return
			}
		}
	}
}

func (v evidence) Nodes(_ context.Context, h *store.Head) iter.Seq2[store.NodeRecord, error] {
	var all []store.NodeRecord
	for k, n := range v.log(h).nodes {
		all = append(all, store.NodeRecord{Seq: k.seq, Level: k.level, Text: n.Text, By: n.By})
	}
	sort.Slice(all, func(i, j int) bool {
		if all[i].Seq != all[j].Seq {
			return all[i].Seq < all[j].Seq
		}
		return all[i].Level < all[j].Level
	})
	return func(yield func(store.NodeRecord, error) bool) {
		for _, n := range all {
			if !yield(n, nil) {
				return
			}
		}
	}
}

func (v evidence) Text(_ context.Context, h *store.Head, seq int64, level int) (string, bool, error) {
	n, ok := v.log(h).node(seq, level)
	return n.Text, ok, nil
}

func (v evidence) Dues(_ context.Context, h *store.Head) ([]store.Place, error) {
	x := &tx{s: v.s}
	return x.Dues(h, 0, h.Tip)
}
