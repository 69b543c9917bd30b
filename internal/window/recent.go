package window

import (
	"math"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

// What a room keeps of the newest messages: their places, and as many of their
// bytes as a window may have.
const (
	keepItems = 2*view.MaxTail + 64
	mostItems = 2 * keepItems
)

// item is one active message, encoded once for all watches.
type item struct {
	seq, prev int64
	end       int64  // bytes of the messages up to and with it, from somewhere on
	size      int64  // of the entry's JSON
	wire      []byte // a comma and the JSON; nil: not held
	stub      []byte // likewise, for those outside the audience
	seen      audience
}

// recent are the newest active messages, by index, from base on. Those from
// whole on, which is never before base, have their bytes.
type recent struct {
	base, whole int64
	items       []item
}

func newItem(e *thread.Entry) (item, error) {
	_, data, err := view.Project(e)
	if err != nil {
		return item{}, err
	}
	it := item{seq: e.Seq, prev: e.Prev, size: int64(len(data)), wire: append([]byte{','}, data...), seen: audienceOf(e.Message)}
	if it.seen.private() {
		stub, err := thread.Encode(view.Stub(e))
		if err != nil {
			return item{}, err
		}
		it.stub = append([]byte{','}, stub...)
	}
	return it, nil
}

func (r *recent) length() int64 { return r.base + int64(len(r.items)) }

func (r *recent) at(index int64) *item { return &r.items[index-r.base] }

// sizes is view.Sizes; what is not there is beyond all bounds.
func (r *recent) sizes(from, to int64) int64 {
	if from >= to {
		return 0
	}
	if from < r.base {
		return math.MaxInt64
	}
	first := r.at(from)
	return r.at(to-1).end - first.end + first.size
}

// add appends the thread's next message.
func (r *recent) add(it item) {
	it.end = it.size
	if n := len(r.items); n > 0 {
		it.end += r.items[n-1].end
	}
	r.items = append(r.items, it)
	if len(r.items) > mostItems {
		gone := len(r.items) - keepItems
		r.items = append([]item(nil), r.items[gone:]...)
		r.base += int64(gone)
		r.whole = max(r.whole, r.base)
	}
	r.shed()
}

// shed lets go of the bytes that no window has.
func (r *recent) shed() {
	for length := r.length(); r.whole < length-1 && r.sizes(r.whole, length) > view.MaxBytes; r.whole++ {
		it := r.at(r.whole)
		it.wire, it.stub = nil, nil
	}
}

// put puts older messages, from index from on, before the others; those that are
// there already get their bytes. What does not reach those that have theirs, since
// others have lost them while it was read, is of no use: it has to be read again.
func (r *recent) put(from int64, older []item) {
	if from+int64(len(older)) < r.whole {
		return
	}
	for i := range older {
		if at := from + int64(i); at >= r.base && at < r.length() {
			it := r.at(at)
			it.wire, it.stub = older[i].wire, older[i].stub
		}
	}
	if from < r.base {
		n := int(r.base - from)
		items := make([]item, 0, n+len(r.items))
		items = append(append(items, older[:n]...), r.items...)
		end := int64(0)
		if len(r.items) > 0 {
			end = r.items[0].end - r.items[0].size
		}
		for i := n - 1; i >= 0; i-- {
			items[i].end = end
			end -= items[i].size
		}
		r.items, r.base = items, from
	}
	r.whole = min(r.whole, from)
}

// cut takes off what is undone.
func (r *recent) cut(length int64) {
	if length <= r.base {
		*r = recent{base: length, whole: length}
		return
	}
	r.items = r.items[: length-r.base : length-r.base]
	r.whole = min(r.whole, length)
}

// enough says whether all that a window of the messages from … on could hold is
// there with its bytes: a window that began before them would have too many.
func (r *recent) enough(from int64) bool {
	return r.whole <= from || r.whole < r.length() && r.sizes(max(r.base, r.whole-1), r.length()) > view.MaxBytes
}
