package sqlite

import (
	"bytes"
	"container/list"
	"slices"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// cached is how many threads' states the writer remembers. With the newest
// lines of each, a thread takes some kilobytes.
const cached = 512

// cache holds the threads that were written last, and which of them must be
// written back. The writer's goroutine alone uses it.
type cache struct {
	byName map[name]*kept
	order  list.List // of *kept, the one used last in front
	dirty  []*kept
}

type name struct{ space, id string }

// kept is a thread as the rules change it, and its rarely changed columns as the
// database has them.
type kept struct {
	*store.Head
	place    *list.Element
	touched  bool
	removed  bool
	segments []thread.Segment
	title    string
	meta     []byte
	hidden   int64
	shared   int64
	epoch    string
	gone     bool
	tip      int64
	branch   int64
}

func newCache() *cache { return &cache{byName: map[name]*kept{}} }

func (c *cache) get(space, id string) *store.Head {
	k := c.byName[name{space, id}]
	if k == nil {
		return nil
	}
	c.order.MoveToFront(k.place)
	return k.Head
}

// put remembers a thread as it stands in the database.
func (c *cache) put(h *store.Head) *store.Head {
	k := &kept{Head: h}
	k.note()
	k.place = c.order.PushFront(k)
	c.byName[name{h.Space, h.ID}] = k
	return h
}

func (c *cache) touch(h *store.Head) {
	if k := c.byName[name{h.Space, h.ID}]; k != nil && !k.touched {
		k.touched = true
		c.dirty = append(c.dirty, k)
	}
}

func (c *cache) remove(h *store.Head) {
	n := name{h.Space, h.ID}
	if k := c.byName[n]; k != nil {
		k.removed = true
		c.order.Remove(k.place)
		delete(c.byName, n)
	}
}

// settle is called once the touched threads are durable, and forgets those that
// were not used for long.
func (c *cache) settle() {
	for _, k := range c.dirty {
		k.touched = false
		k.note()
	}
	c.dirty = c.dirty[:0]
	for c.order.Len() > cached {
		c.remove(c.order.Back().Value.(*kept).Head)
	}
}

// drop forgets everything.
func (c *cache) drop() { *c = *newCache() }

func (k *kept) note() {
	k.segments, k.title, k.meta, k.hidden, k.shared, k.epoch, k.gone, k.tip, k.branch = k.Segments, k.Title, k.Meta, millis(k.Deleted), k.Shared, k.Epoch, k.Gone, k.Tip, k.Branch
}

// cold says whether a rarely changed column must be written.
func (k *kept) cold() bool {
	return k.title != k.Title || k.hidden != millis(k.Deleted) || k.shared != k.Shared || k.epoch != k.Epoch || k.gone != k.Gone ||
		k.branch != k.Branch || !slices.Equal(k.segments, k.Segments) || !bytes.Equal(k.meta, k.Meta)
}
