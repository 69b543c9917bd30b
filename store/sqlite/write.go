package sqlite

import (
	"context"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// Create makes an empty thread.
func (s *Store) Create(ctx context.Context, n store.NewThread) (t thread.Thread, err error) {
	err = s.update(ctx, "create", n.ID, func(x *tx) error {
		h, err := store.Create(x, n, store.NewEpoch(), s.now())
		if err == nil {
			t = h.Thread
		}
		return err
	})
	return t, err
}

// swept is how many entries are removed at once, so that a purge does not keep
// other writes waiting.
const swept = 1000

// mergedPages is how much of the search index is merged at once, likewise.
const mergedPages = 500

// Purge removes what was hidden before the given time and no fork reaches. Where
// it is stopped half-way the next one goes on.
func (s *Store) Purge(ctx context.Context, before time.Time) (n int, err error) {
	var gone []name
	err = s.update(ctx, "purge", "", func(x *tx) error {
		n, gone, err = s.bury(x, before)
		return err
	})
	if err != nil {
		return 0, err
	}
	for _, root := range gone {
		for more := true; more; {
			err := s.update(ctx, "purge", root.id, func(x *tx) error {
				more, err = store.Sweep(x, root.space, root.id, swept)
				return err
			})
			if err != nil {
				return n, err
			}
		}
	}
	if len(gone) > 0 {
		err = s.mergeWords(ctx)
	}
	return n, err
}

// mergeWords rewrites the search index bit by bit until nothing of the removed
// messages is left in it.
func (s *Store) mergeWords(ctx context.Context) error {
	pages := -mergedPages // less than none: begin with all there is
	for more := true; more; pages = mergedPages {
		err := s.update(ctx, "purge", "", func(x *tx) error {
			before := x.c.TotalChanges()
			if err := x.exec(`INSERT INTO words (words, rank) VALUES ('merge', ?)`, pages); err != nil {
				return err
			}
			more = x.c.TotalChanges()-before >= 2 // the command itself counts for one
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// bury makes hidden threads gone and gives the families in which some are.
func (s *Store) bury(x *tx, before time.Time) (n int, roots []name, err error) {
	var due []name
	err = x.c.query(`SELECT space, id FROM threads WHERE deleted > 0 AND deleted < ? AND gone = 0`, []any{store.Stamp(before)}, func(r *sqlite3.Stmt) error {
		due = append(due, name{r.ColumnText(0), r.ColumnText(1)})
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	for _, d := range due {
		h, err := x.Head(d.space, d.id)
		if err != nil {
			return 0, nil, err
		}
		if err := store.Bury(x, h); err != nil {
			return 0, nil, err
		}
		if err := x.exec(`DELETE FROM docs WHERE thread = ?`, h.Row); err != nil {
			return 0, nil, err
		}
		roots = append(roots, name{h.Space, h.Root})
	}
	err = x.c.query(`SELECT DISTINCT space, root FROM threads WHERE gone = 1`, nil, func(r *sqlite3.Stmt) error {
		roots = append(roots, name{r.ColumnText(0), r.ColumnText(1)})
		return nil
	})
	return len(due), roots, err
}

// Changed gives a value that grows when another process has written.
func (s *Store) Changed(ctx context.Context) (v int64, err error) {
	if s.writer == nil {
		return s.changedReadOnly(ctx)
	}
	err = s.update(ctx, "changed", "", func(x *tx) error {
		v = s.writer.version
		return nil
	})
	return v, err
}
