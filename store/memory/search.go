package memory

import (
	"context"

	"github.com/skeinhq/skein/internal/word"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// Search finds the messages that hold any of the words by reading all of them.
func (s *Store) Search(ctx context.Context, t *thread.Thread, q store.SearchQuery) (store.Found, error) {
	words := q.Terms()
	var found []store.Tally
	if len(words) == 0 {
		return store.Found{}, s.read(ctx, "search", func() error { return nil })
	}
	all := store.EntriesQuery{Newest: true, Inactive: q.Inactive, Kinds: []thread.Kind{thread.MessageKind}}
	for e, err := range s.Entries(ctx, t, all) {
		if err != nil {
			return store.Found{}, err
		}
		terms := word.Message(e.Message)
		counts, ok := store.Count(words, terms)
		if !ok {
			continue
		}
		index := int64(thread.NoIndex)
		if t.Active(t.OriginAt(e.Seq), e.Branch, e.Index) {
			index = e.Index
		}
		found = append(found, store.Tally{
			Seq: e.Seq, Index: index, Role: e.Message.Role, Author: e.Message.Author, Counts: counts, Length: len(terms),
		})
		if len(found) > q.Most() {
			break
		}
	}
	return store.Rank(t, q, found), nil
}
