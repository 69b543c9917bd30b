package sqlite

import (
	"context"

	"github.com/skeinhq/skein/store"
)

// Repair rebuilds all that is derived: the state of every thread, the lines that
// are due, the times of nodes, SQLite's indexes and the search index. The logs and
// the texts of nodes stay as they are; what contradicts itself in them is for [Store.Check] to tell.
func (s *Store) Repair(ctx context.Context) error {
	var families [][]*store.Head
	err := s.update(ctx, "repair", "", func(x *tx) error {
		for _, sql := range []string{
			`REINDEX`,
			`UPDATE nodes SET time = e.time FROM entries e WHERE e.at = ` + messageOfNode + ` AND nodes.time <> e.time`,
		} {
			if err := x.exec(sql); err != nil {
				return err
			}
		}
		all, err := heads(x.c)
		families = store.Families(all)
		return err
	})
	if err != nil {
		return err
	}
	s.places.forget() // what was found by a damaged index
	for _, f := range families {
		err := s.update(ctx, "repair", f[0].ID, func(x *tx) error { return repairFamily(ctx, x, f[0].Space, f[0].Root) })
		if err != nil {
			return err
		}
	}
	if err := s.update(ctx, "repair", "", clearWords); err != nil {
		return err
	}
	return s.IndexNow(ctx)
}

// clearWords empties the search index and notes that nothing is indexed, in one
// transaction: an indexer, in this process or another, comes before or after it
// and finds either the index or the notes as they belong together.
func clearWords(x *tx) error {
	all, err := heads(x.c)
	if err != nil {
		return err
	}
	for _, known := range all {
		h, err := x.Head(known.Space, known.ID)
		if err != nil {
			return err
		}
		h.Indexed = h.FirstOwn()
		x.Touch(h)
	}
	return x.exec(`INSERT INTO words (words) VALUES ('delete-all')`)
}

// repairFamily sets what the family's threads say of themselves to what their
// logs say.
func repairFamily(ctx context.Context, x *tx, space, root string) error {
	family, err := x.Family(space, root)
	if err != nil {
		return err
	}
	derived, err := store.Derive(ctx, evidence{x.c}, family, func(error) {})
	if err != nil {
		return err
	}
	for _, d := range derived {
		h := d.Head
		indexed := min(h.Indexed, d.Tip)
		h.Thread = d.Thread
		h.Indexed = indexed
		h.Forget()
		x.Touch(h)
		if err := x.exec(`DELETE FROM due WHERE thread = ?`, h.Row); err != nil {
			return err
		}
		for _, p := range d.Dues {
			if _, err := x.PutDue(p); err != nil {
				return err
			}
		}
	}
	return nil
}
