package view

import "sort"

// Window is which of a thread's active messages a watch shows: those with
// indexes First <= i < End, where End is the thread's length. It grows at its
// end, and its oldest leave in one splice, so that no index moves on an append.
type Window struct {
	Tail       int
	First, End int64
}

// Sizes gives the bytes of the messages with indexes from … to, exclusive.
type Sizes func(from, to int64) int64

// Newest is the window of the newest messages: as many of the last tail as have
// MaxBytes together, one at least.
func Newest(tail int, length int64, sizes Sizes) Window {
	w := Window{Tail: tail, First: max(0, length-int64(tail)), End: length}
	if n := int(w.Len()) - 1; n > 0 {
		w.First += int64(sort.Search(n, func(i int) bool { return sizes(w.First+int64(i), length) <= MaxBytes }))
	}
	return w
}

// Missed is the window of what a client has missed, the messages from index
// first on. Where that is 2·tail or more, or more than MaxBytes, it is the newest
// instead, and all is false.
func Missed(tail int, first, length int64, sizes Sizes) (w Window, all bool) {
	if length-first >= 2*int64(tail) || sizes(first, length) > MaxBytes {
		return Newest(tail, length, sizes), false
	}
	return Window{Tail: tail, First: first, End: length}, true
}

// Len is how many messages the window has.
func (w *Window) Len() int64 { return w.End - w.First }

// Append takes a new message into the window and gives how many of the oldest
// leave it, in one splice: Tail of them where it then holds 2·Tail, and the
// oldest half of its bytes where it has more than MaxBytes.
func (w *Window) Append(sizes Sizes) (leave int64) {
	w.End++
	if w.Len() >= 2*int64(w.Tail) {
		leave = int64(w.Tail)
	}
	if sizes(w.First+leave, w.End) > MaxBytes {
		half := sizes(w.First, w.End) / 2
		n := sort.Search(int(w.Len()-1), func(i int) bool { return sizes(w.First, w.First+int64(i)) >= half })
		leave = max(leave, int64(n))
	}
	w.First += leave
	return leave
}

// Rewind takes the undone messages off the window's end, so that the thread has
// length messages, and gives how many those are. It is not ok where messages
// before the window are undone too: then a new snapshot is due.
func (w *Window) Rewind(length int64) (undone int64, ok bool) {
	if length < w.First {
		return 0, false
	}
	undone = w.End - length
	w.End = length
	return undone, true
}
