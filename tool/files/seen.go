package files

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"sync"

	"github.com/skeinhq/skein/tool"
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

// of gives what a thread has read, the newest first, but not more than so much.
func (s *seen) of(thread string, most int) []noted {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []noted
	for e := s.newest.Front(); e != nil && len(out) < most; e = e.Next() {
		if r := e.Value.(reading); r.key.thread == thread {
			out = append(out, noted{r.key.path, hex.EncodeToString(r.sum[:])})
		}
	}
	return out
}

// noted is a file that a thread has read, as its notes have it.
type noted struct {
	Path string `json:"path"`
	Sum  string `json:"sha256"`
}

// notes is the name of the document in which a thread's readings are kept beyond
// the process's life, and inNotes the most that it holds.
const (
	notes   = "files"
	inNotes = 128
)

// reads remembers what the caller's thread has read of a file, here and in its
// notes.
func (w *Workspace) reads(ctx context.Context, p string, content sum) {
	w.seen.put(key(ctx, p), content)
	keep := tool.CallerOf(ctx).Notes.Keep
	if keep == nil {
		return
	}
	data, err := json.Marshal(w.seen.of(tool.CallerOf(ctx).Thread, inNotes))
	if err != nil {
		panic("files: texts cannot be written as JSON: " + err.Error())
	}
	keep(ctx, notes, data)
}

// hasRead gives what the caller's thread has read of a file, in this process or,
// by its notes, in one before.
func (w *Workspace) hasRead(ctx context.Context, p string) (sum, bool) {
	if content, ok := w.seen.get(key(ctx, p)); ok {
		return content, true
	}
	caller := tool.CallerOf(ctx)
	if caller.Notes.Read == nil {
		return sum{}, false
	}
	var kept []noted
	if err := json.Unmarshal(caller.Notes.Read(ctx, notes), &kept); err != nil {
		return sum{}, false // there are none, or none that can be read: it is read again
	}
	for _, n := range slices.Backward(kept) {
		k := seenKey{caller.Thread, n.Path}
		if _, newer := w.seen.get(k); newer {
			continue
		}
		var content sum
		if read, err := hex.Decode(content[:], []byte(n.Sum)); err == nil && read == len(content) {
			w.seen.put(k, content)
		}
	}
	return w.seen.get(key(ctx, p))
}
