package sqlite

import (
	"slices"
	"sort"
	"sync"

	"github.com/ncruces/go-sqlite3"
)

// places remembers where messages lie in the log. The index that says so has a
// page for some two hundred messages: of a long thread, nearly every line that is
// opened would need one that nobody has read yet.
//
// What it remembers holds for ever, whoever writes and whatever is undone: a
// message never moves, a thread's number is never given to another one, and on one
// branch the seqs grow with the indexes. Hence, where two messages are as far apart
// by seq as by index, the ones between lie without a gap, and the place of each is
// known though none was looked up. Where the other entries of turns lie between the
// messages, nothing is remembered, and each is looked up.
type places struct {
	mu   sync.Mutex
	on   map[branch]*known
	size int // branches, and runs of all
}

// branch is a branch of a thread of that number.
type branch struct{ row, branch int64 }

// known is what is known of a branch.
type known struct {
	runs []placed // by index, of several messages each
	luck int      // falls where messages were looked up in vain, so that few more are
	rest int      // how many more times nothing is looked up
}

// placed is messages without a gap: the indexes first to last lie at seqs that are
// higher by shift.
type placed struct{ first, last, shift int64 }

const (
	mostRuns   = 1 << 13 // of a branch
	mostPlaced = 1 << 16 // of all: a megabyte and a half
	blockSize  = 1 << 8  // messages, by index, of which the first and the last are looked up
	mostLuck   = 8
	mostRest   = 32
)

func newPlaces() *places { return &places{on: map[branch]*known{}} }

// forget forgets all.
func (p *places) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.on, p.size = map[branch]*known{}, 0
}

// find gives the seq of a message, and how many from it on lie without a gap; none
// where it is not known.
func (p *places) find(b branch, index int64) (seq, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := p.on[b]
	if k == nil {
		return 0, 0
	}
	i := after(k.runs, index) - 1
	if i < 0 || k.runs[i].last < index {
		return 0, 0
	}
	return index + k.runs[i].shift, k.runs[i].last - index + 1
}

// after gives the first run that begins after an index.
func after(runs []placed, index int64) int {
	return sort.Search(len(runs), func(i int) bool { return runs[i].first > index })
}

// worth says whether to look messages of that branch up for what lies between.
func (p *places) worth(b branch) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := p.on[b]
	if k == nil || k.luck > 0 {
		return true
	}
	if k.rest > 0 {
		k.rest--
		return false
	}
	k.rest = mostRest
	return true
}

// note remembers that two messages, looked up, are as far apart by seq as by
// index; none where first is last.
func (p *places) note(b branch, first, last, shift int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := p.on[b]
	if k == nil {
		k = &known{luck: mostLuck}
		p.on[b] = k
		p.size++
	}
	before := len(k.runs)
	if first == last {
		k.luck = max(k.luck-1, 0)
	} else {
		k.luck = min(k.luck+1, mostLuck)
		k.add(placed{first, last, shift})
	}
	p.size += len(k.runs) - before
	p.bound(b)
}

// bound forgets other branches than b where too much is remembered.
func (p *places) bound(b branch) {
	for other, k := range p.on {
		if p.size <= mostPlaced {
			return
		}
		if other != b {
			p.size -= 1 + len(k.runs)
			delete(p.on, other)
		}
	}
}

// add puts a run in its place, and makes one of all that it touches or that have
// no gap to it.
func (k *known) add(r placed) {
	i := after(k.runs, r.first)
	if i > 0 && k.runs[i-1].shift == r.shift {
		i--
		r.first = k.runs[i].first
	}
	end := i
	for end < len(k.runs) && k.runs[end].shift == r.shift {
		r.last = max(r.last, k.runs[end].last)
		end++
	}
	k.runs = slices.Replace(k.runs, i, end, r)
	if len(k.runs) > mostRuns {
		k.runs = widest(k.runs)
	}
}

// widest keeps the widest half of the runs, at most.
func widest(runs []placed) []placed {
	widths := make([]int64, len(runs))
	for i, r := range runs {
		widths[i] = r.last - r.first
	}
	slices.Sort(widths)
	least := widths[len(widths)/2]
	return slices.DeleteFunc(runs, func(r placed) bool { return r.last-r.first <= least })
}

const selectPlaces = `SELECT idx, at FROM entries WHERE thread = ?1 AND branch = ?2 AND idx IN (?3, ?4)`

// learn looks up what lies around a message that was found by the index: the
// first and the last message of its block are on the same page of it, or on the
// next.
func (p *places) learn(c *conn, b branch, index, seq int64) error {
	if !p.worth(b) {
		return nil
	}
	first, last, shift := index, index, seq-index
	from := index &^ (blockSize - 1)
	err := c.query(selectPlaces, []any{b.row, b.branch, from, from + blockSize - 1}, func(r *sqlite3.Stmt) error {
		if i := r.ColumnInt64(0); seqOf(r.ColumnInt64(1)) == i+shift {
			first, last = min(first, i), max(last, i)
		}
		return nil
	})
	if err != nil {
		return err
	}
	p.note(b, first, last, shift)
	return nil
}
