package files

import (
	"container/list"
	"crypto/sha256"
	"sync"
)

// remembered is for how many files of all threads it is known what was read; the
// one that was not used for longest is forgotten first.
const remembered = 4096

// sum is the hash of a file's content.
type sum [sha256.Size]byte

type seenKey struct{ thread, path string }

type reading struct {
	key seenKey
	sum sum
}

// seen remembers which content of a file a thread has read.
type seen struct {
	mu     sync.Mutex
	newest *list.List // of reading
	by     map[seenKey]*list.Element
}

func newSeen() *seen {
	return &seen{newest: list.New(), by: map[seenKey]*list.Element{}}
}

func (s *seen) put(k seenKey, content sum) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.by[k]; ok {
		e.Value = reading{k, content}
		s.newest.MoveToFront(e)
		return
	}
	s.by[k] = s.newest.PushFront(reading{k, content})
	if s.newest.Len() > remembered {
		oldest := s.newest.Back()
		delete(s.by, oldest.Value.(reading).key)
		s.newest.Remove(oldest)
	}
}

func (s *seen) get(k seenKey) (sum, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.by[k]
	if !ok {
		return sum{}, false
	}
	s.newest.MoveToFront(e)
	return e.Value.(reading).sum, true
}
