package recall

import (
	"container/heap"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// How much counts for a message's rank.
const (
	userWeight     = 2   // of a score where the user said it
	neighbourShare = 0.3 // of the score of the message before and after
)

// ranking gives the best messages first. Whether the viewer may see a message is
// known only once it is read, and few of the matches are ever read: a place is
// ranked by all scores first, and when it comes to the front it is looked at, and
// ranked again without what the viewer may not see. That can only lower it, so
// whatever is at the front a second time is the best.
type ranking struct {
	book   *book
	own    map[int64]float64 // the scores of active messages, by index
	places places
}

// place is a message that may be a hit.
type place struct {
	index int64 // NoIndex: undone
	seq   int64
	score float64
	entry *thread.Entry // set once it was looked at
}

func newRanking(b *book, matches []store.Match) *ranking {
	r := &ranking{book: b, own: make(map[int64]float64, len(matches))}
	for _, m := range matches {
		score := m.Score
		if m.Role == thread.User {
			score *= userWeight
		}
		if m.Index == thread.NoIndex {
			r.places = append(r.places, &place{index: m.Index, seq: m.Seq, score: score})
			continue
		}
		r.own[m.Index] = score
	}
	seen := make(map[int64]bool, 3*len(r.own))
	for id := range r.own {
		for i := max(id-1, 0); i <= min(id+1, b.thread.Length-1); i++ {
			if !seen[i] {
				seen[i] = true
				r.places = append(r.places, &place{index: i, score: r.score(i)})
			}
		}
	}
	heap.Init(&r.places)
	return r
}

// score is the rank of an active message.
func (r *ranking) score(id int64) float64 {
	return r.own[id] + neighbourShare*(r.own[id-1]+r.own[id+1])
}

// best gives the n best messages that the viewer may see.
func (r *ranking) best(n int) ([]*place, error) {
	var out []*place
	for len(out) < n && r.places.Len() > 0 {
		p := heap.Pop(&r.places).(*place)
		if p.entry != nil {
			out = append(out, p)
			continue
		}
		ok, err := r.look(p)
		if err != nil {
			return nil, err
		}
		if ok {
			heap.Push(&r.places, p)
		}
	}
	return out, nil
}

// look reads the message and its neighbours and ranks it by what the viewer may
// see; ok is false where nothing is left to find it by.
func (r *ranking) look(p *place) (ok bool, err error) {
	if p.index == thread.NoIndex {
		p.entry, err = r.book.bySeq(p.seq)
		return err == nil && r.book.sees(p.entry), err
	}
	for i := max(p.index-1, 0); i <= min(p.index+1, r.book.thread.Length-1); i++ {
		e, err := r.book.message(i)
		if err != nil {
			return false, err
		}
		if !r.book.sees(e) {
			delete(r.own, i)
		}
		if i == p.index {
			p.entry = e
		}
	}
	p.score = r.score(p.index)
	return p.score > 0 && r.book.sees(p.entry) && says(p.entry.Message), nil
}

// says is false for a message that has nothing but calls of the history tools or
// their results: it cannot answer, only repeat.
func says(m *thread.Message) bool {
	for _, p := range m.Parts {
		if p.Type != thread.ThinkingPart && !m.Derived(p) {
			return true
		}
	}
	return false
}

// places is a heap with the best at its front. Among equals the newest is the
// best.
type places []*place

func (p places) Len() int      { return len(p) }
func (p places) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p places) Less(i, j int) bool {
	a, b := p[i], p[j]
	switch {
	case a.score != b.score:
		return a.score > b.score
	case a.index != b.index:
		return a.index > b.index
	}
	return a.seq > b.seq
}
func (p *places) Push(x any) { *p = append(*p, x.(*place)) }
func (p *places) Pop() any {
	old := *p
	last := old[len(old)-1]
	*p = old[:len(old)-1]
	return last
}
