package recall

import (
	"context"
	"fmt"
	"strings"

	"github.com/skeinhq/skein/internal/word"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// The bounds of a search.
const (
	defaultHits = 10
	maxHits     = 100
	maxAround   = 20
)

// Query is what to search for. The zero values of its numbers are the defaults.
type Query struct {
	Text          string `json:"query"`
	Limit         int    `json:"limit,omitempty"` // hits; 10, at most 100
	Before, After int    `json:"-"`               // lines to show before and after each hit; at most 20
	Inactive      bool   `json:"-"`               // also find messages that were undone
}

// Results are the hits, the best first. A message is shown once, be it as a hit
// or as another one's neighbour.
type Results struct {
	Words  []string `json:"words"` // what was looked for, as terms
	Hits   []Hit    `json:"hits"`
	Capped int      `json:"capped,omitempty"` // only so many of the newest matches were ranked; 0: all
}

// Hit is one message that was found, as one line.
type Hit struct {
	ID    int64        `json:"id"` // thread.NoIndex for one that was undone
	Seq   int64        `json:"seq"`
	Text  string       `json:"text"`  // the part of it that holds the words, after who said it
	Marks []word.Range `json:"marks"` // where in Text they stand, in bytes
	Score float64      `json:"score"`

	Before []Line `json:"before,omitempty"`
	After  []Line `json:"after,omitempty"`
}

// Search finds the messages that hold the query's words. A message's rank is its
// own score by BM25, twice that where the user said it, and a share of its two
// neighbours', as an answer often has none of its question's words.
//
// Errors: invalid (no words, or a number out of range), storage.
func Search(ctx context.Context, st store.Store, t *thread.Thread, viewer string, q Query) (Results, error) {
	if q.Limit == 0 {
		q.Limit = defaultHits
	}
	words := word.Query(q.Text)
	if err := q.check(t, words); err != nil {
		return Results{}, err
	}
	found, err := st.Search(ctx, t, store.SearchQuery{Words: words, Inactive: q.Inactive})
	if err != nil {
		return Results{}, err
	}
	r := Results{Words: words, Hits: []Hit{}}
	if found.Capped {
		r.Capped = len(found.Matches)
	}
	book := &book{ctx: ctx, store: st, thread: t, viewer: viewer, entries: map[int64]*thread.Entry{}}
	ranked, err := newRanking(book, found.Matches).best(q.Limit)
	if err != nil {
		return Results{}, err
	}
	for _, p := range ranked {
		text, marks := snippet(p.entry.Message, words)
		r.Hits = append(r.Hits, Hit{ID: p.index, Seq: p.entry.Seq, Text: text, Marks: marks, Score: p.score})
	}
	return r, book.around(r.Hits, q.Before, q.After)
}

func (q Query) check(t *thread.Thread, words []string) error {
	bad := func(message, hint string) error {
		return &thread.Error{Code: thread.Invalid, Op: "search", Thread: t.ID, Message: message, Hint: hint}
	}
	switch {
	case len(words) == 0:
		return bad("The query has no words.", "write words that were said")
	case q.Limit < 0 || q.Limit > maxHits:
		return bad(fmt.Sprintf("A limit of %d is out of range.", q.Limit), fmt.Sprintf("1 to %d", maxHits))
	case q.Before < 0 || q.Before > maxAround || q.After < 0 || q.After > maxAround:
		return bad(fmt.Sprintf("%d lines before and %d after are out of range.", q.Before, q.After), fmt.Sprintf("0 to %d each", maxAround))
	}
	return nil
}

// String is a line a hit, with its neighbours' lines in their order where they
// were asked for.
func (r Results) String() string {
	if len(r.Hits) == 0 {
		return "Nothing found."
	}
	var groups []string
	between := "\n"
	for _, h := range r.Hits {
		var lines []string
		for _, l := range h.Before {
			lines = append(lines, l.String())
		}
		lines = append(lines, h.String())
		for _, l := range h.After {
			lines = append(lines, l.String())
		}
		if len(lines) > 1 {
			between = "\n\n"
		}
		groups = append(groups, strings.Join(lines, "\n"))
	}
	text := strings.Join(groups, between)
	if r.Capped > 0 {
		text += fmt.Sprintf("\n(only the newest %d matches were ranked)", r.Capped)
	}
	return text
}

// String is the hit as a line: id+1|text. One that was found for its neighbour's
// words says so. A message that was undone has no id and is named by its seq.
func (h Hit) String() string {
	if h.ID == thread.NoIndex {
		return fmt.Sprintf("undone (seq %d)|%s", h.Seq, h.Text)
	}
	text := thread.Span{ID: h.ID, N: 1}.String() + "|" + h.Text
	if len(h.Marks) == 0 {
		text += " (beside a hit)"
	}
	return text
}
