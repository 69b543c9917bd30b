package server

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/skeinhq/skein"
)

// wake notes that a watch may have something, and has it written.
func (k *socket) wake(w *watching) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if w.queued || w.over || k.ended {
		return
	}
	w.queued = true
	k.ready = append(k.ready, w)
	k.writeSoon()
}

// send has a reply written; done is called when it is, or never will be.
func (k *socket) send(data []byte, done func()) {
	k.queue(reply{data: data, done: done, talk: len(data)})
}

// What of replies may wait for a client that does not read. What operations answer
// is bounded by itself: no more are called while much of it waits.
const (
	mostTalk    = 256 << 10 // bytes of errors, pongs, ends and refusals
	mostReplies = 256       // of any kind
)

// queue has a reply written, or closes the socket where too many wait.
func (k *socket) queue(r reply) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended {
		r.never()
		return
	}
	k.replies = append(k.replies, r)
	k.queued += len(r.data)
	k.talk += r.talk
	if k.talk <= mostTalk && len(k.replies) <= mostReplies {
		k.writeSoon()
		return
	}
	k.server.figures.ended.WithLabelValues(string(stalled)).Inc()
	k.ended, k.ready = true, nil
	for _, r := range k.replies {
		r.never()
	}
	k.replies = nil
	k.work.Go(func() {
		_ = k.conn.Close(websocket.StatusPolicyViolation, string(stalled)) // the reader notices
	})
}

// never says that a reply will not be written.
func (r *reply) never() {
	if r.done != nil {
		r.done()
	}
}

// writeSoon starts the writer, if it does not run. The lock is held.
func (k *socket) writeSoon() {
	if !k.writing {
		k.writing = true
		k.work.Add(1)
		k.server.pump.add(k)
	}
}

// job is one thing to be written: what the wire owes, a reply, or a watch's next
// frame, which may be made already.
type job struct {
	flush bool
	reply *reply
	watch *watching
	frame *skein.Frame
}

// write writes until there is nothing. Each watch has its turn.
func (k *socket) write() {
	for j, ok := k.next(); ok; j, ok = k.next() {
		k.do(j)
	}
}

// do writes, and may wait for the client.
func (k *socket) do(j job) {
	switch {
	case j.reply != nil:
		k.reply(j.reply)
	case j.frame != nil:
		k.check(k.frame(j.watch, *j.frame))
	case j.watch != nil:
		k.deliver(j.watch)
	default:
		k.check(k.out.write(nil))
	}
}

func (k *socket) reply(r *reply) {
	err := k.put(r.data, nil, "")
	if r.done != nil {
		r.done()
	}
	k.check(err)
}

// next gives what is to be written next, or ends the writer.
func (k *socket) next() (j job, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.owing:
		k.owing = false
		return job{flush: true}, true
	case len(k.replies) > 0:
		r := k.replies[0]
		k.replies = k.replies[1:]
		k.queued -= len(r.data)
		k.talk -= r.talk
		return job{reply: &r}, true
	case len(k.ready) > 0 && !k.ended:
		w := k.ready[0]
		k.ready = slices.Delete(k.ready, 0, 1) // few; where one only, its place is used again
		w.queued = false
		return job{watch: w}, true
	}
	k.writing = false
	return j, false
}

// owe has what the wire could not write at once written.
func (k *socket) owe() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.owing = true
	k.writeSoon()
}

// idle says that there is nothing to be written, and ends the writer.
func (k *socket) idle() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.writing = k.owing || len(k.replies) > 0 || len(k.ready) > 0 && !k.ended
	return !k.writing
}

// deliver writes a watch's next frame, if there is one.
func (k *socket) deliver(w *watching) {
	f, wait, ok, err := w.watch.Poll(k.ctx)
	switch {
	case err != nil:
		k.over(w, err)
	case ok:
		k.check(k.frame(w, f))
		k.wake(w)
	case wait > 0:
		k.later(w, wait)
	}
}

// later looks at a watch again after so long.
func (k *socket) later(w *watching, wait time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case w.over || k.ended:
	case w.timer == nil:
		w.timer = time.AfterFunc(wait, func() { k.wake(w) })
	default:
		w.timer.Reset(wait)
	}
}

// over ends a watch whose reader failed, and says why.
func (k *socket) over(w *watching, err error) {
	k.mu.Lock()
	was := w.over
	k.mu.Unlock()
	if was || k.ctx.Err() != nil {
		return // the client asked for it, or hears of it with the others
	}
	why := k.server.reasonOf(k.ctx, err)
	if why == gone {
		why = failed
	}
	k.server.figures.ended.WithLabelValues(string(why)).Inc()
	k.leave(w)
	k.send(ended(w.name, why), nil)
}

// frame writes a frame: {"w": w, "n": n, "ops": [...]}.
func (k *socket) frame(w *watching, f skein.Frame) error {
	k.server.figures.socketFrames.Inc()
	return k.put(appendFrameHead(make([]byte, 0, longestFrameHead), w.name, f.N), f.Parts, "}")
}

// longestFrameHead is room for what a frame has before and after its operations.
const longestFrameHead = 128

func appendFrameHead(b []byte, name string, n int64) []byte {
	b = append(append(b, `{"w":`...), name...)
	b = strconv.AppendInt(append(b, `,"n":`...), n, 10)
	return append(b, `,"ops":`...)
}

// put writes one message of a head, parts and a tail. A long one goes out in
// fragments, so that pings pass between them, and may take as long as it makes
// progress.
func (k *socket) put(head []byte, parts [][]byte, tail string) error {
	size := len(head) + len(tail)
	for _, p := range parts {
		size += len(p)
	}
	k.server.figures.socketBytes.Add(float64(size))
	buf := k.server.pieces.Get().(*[piece]byte)
	defer k.server.pieces.Put(buf)
	if size <= piece-longestHead {
		b := appendHead(buf[:0], text, true, size)
		b = append(b, head...)
		for _, p := range parts {
			b = append(b, p...)
		}
		return k.out.write(append(b, tail...))
	}
	all := make([]io.Reader, 0, len(parts)+2)
	all = append(all, bytes.NewReader(head))
	for _, p := range parts {
		all = append(all, bytes.NewReader(p))
	}
	return k.fragments(io.MultiReader(append(all, strings.NewReader(tail))...), size, buf)
}

// fragments writes a long message.
func (k *socket) fragments(from io.Reader, size int, buf *[piece]byte) error {
	for kind := byte(text); size > 0; kind = continued {
		n := min(size, piece-longestHead)
		size -= n
		b := appendHead(buf[:0], kind, size == 0, n)
		b = b[:len(b)+n]
		if _, err := io.ReadFull(from, b[len(b)-n:]); err != nil {
			return err
		}
		if err := k.out.write(b); err != nil {
			return err
		}
	}
	return nil
}

// check closes the socket where it could not be written to.
func (k *socket) check(err error) {
	if err == nil {
		return
	}
	if err == errStalled { //nolint:errorlint // a cause is never wrapped here
		k.server.figures.ended.WithLabelValues(string(stalled)).Inc()
	}
	k.mu.Lock()
	k.ended = true
	k.ready = nil
	k.mu.Unlock()
	_ = k.conn.CloseNow() // the reader notices; a goodbye has no way to the client
}
