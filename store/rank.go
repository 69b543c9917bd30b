package store

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skeinhq/skein/thread"
)

// The constants of BM25 and the most matches that are ranked by default.
const (
	bm25K1    = 1.2
	bm25B     = 0.75
	leastIDF  = 1e-6
	mostFound = 10_000
)

// Tally is what a message that matches holds of the words searched for.
type Tally struct {
	Seq    int64
	Index  int64 // NoIndex where it is not active
	Role   thread.Role
	Author string
	Counts []int // of each word
	Length int   // all terms of the message
}

// Terms are the words as an index holds them: ASCII in lower case, each once.
// Words that no message can hold, because they are not of letters and digits,
// are left out.
func (q SearchQuery) Terms() []string {
	var out []string
	for _, w := range q.Words {
		if w = LowerASCII(w); w != "" && !strings.ContainsFunc(w, parts) && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// parts says whether a character parts words for the index.
func parts(r rune) bool {
	return r < utf8.RuneSelf && (r < '0' || r > '9') && (r < 'a' || r > 'z') || r == utf8.RuneError
}

// Most is how many matches are ranked.
func (q SearchQuery) Most() int {
	if q.Limit <= 0 {
		return mostFound
	}
	return q.Limit
}

// LowerASCII folds the letters A to Z alone, as the index does.
func LowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// Count tallies the terms of a message; ok is false where none of the words is
// among them.
func Count(words, terms []string) (counts []int, ok bool) {
	counts = make([]int, len(words))
	for _, t := range terms {
		if i := slices.Index(words, LowerASCII(t)); i >= 0 {
			counts[i]++
			ok = true
		}
	}
	return counts, ok
}

// Rank scores what was found, newest first, by BM25 in the form that FTS5 has
// (k1 1.2, b 0.75, idf never below 10⁻⁶), turned so that a higher score is
// better. Its figures are those of the part of the thread that was searched,
// which is all of it, or where the search was capped, what is not older than the
// oldest match: the number of its messages, how many of them hold each word, and
// the mean length of those that hold any. So the scores depend on the thread
// alone, not on other threads of the store, nor on how much of it is indexed.
func Rank(t *thread.Thread, q SearchQuery, found []Tally) Found {
	f := Found{Capped: len(found) > q.Most()}
	if f.Capped {
		found = found[:q.Most()]
	}
	if len(found) == 0 {
		return f
	}
	idf, mean := figures(searched(t, q, found, f.Capped), found)
	f.Matches = make([]Match, len(found))
	for i, m := range found {
		score := 0.0
		for w, n := range m.Counts {
			if n == 0 {
				continue
			}
			tf := float64(n)
			score += idf[w] * tf * (bm25K1 + 1) / (tf + bm25K1*(1-bm25B+bm25B*float64(m.Length)/mean))
		}
		f.Matches[i] = Match{Seq: m.Seq, Index: m.Index, Role: m.Role, Author: m.Author, Score: score}
	}
	return f
}

// searched counts the messages, or with the inactive ones the entries, among
// which the matches were found.
func searched(t *thread.Thread, q SearchQuery, found []Tally, capped bool) float64 {
	all, first := t.Length, found[len(found)-1].Index
	if q.Inactive {
		all, first = t.Tip, found[len(found)-1].Seq-1
	}
	if capped {
		return float64(all - first)
	}
	return float64(all)
}

func figures(all float64, found []Tally) (idf []float64, mean float64) {
	idf = make([]float64, len(found[0].Counts))
	for _, m := range found {
		mean += float64(m.Length)
		for w, n := range m.Counts {
			if n > 0 {
				idf[w]++
			}
		}
	}
	for w, df := range idf {
		idf[w] = max(math.Log((all-df+0.5)/(df+0.5)), leastIDF)
	}
	return idf, mean / float64(len(found))
}
