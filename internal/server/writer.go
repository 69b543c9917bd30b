package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
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
		k.work.Go(k.write)
	}
}

// write writes replies and frames until there are none. Each watch has its turn.
func (k *socket) write() {
	for {
		r, w := k.next()
		switch {
		case r != nil:
			err := k.put(bytes.NewReader(r.data), len(r.data))
			if r.done != nil {
				r.done()
			}
			k.check(err)
		case w != nil:
			k.deliver(w)
		default:
			return
		}
	}
}

// next gives what is to be written next; nothing ends the writer.
func (k *socket) next() (*reply, *watching) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.replies) > 0 {
		r := k.replies[0]
		k.replies = k.replies[1:]
		k.queued -= len(r.data)
		k.talk -= r.talk
		return &r, nil
	}
	if len(k.ready) > 0 && !k.ended {
		w := k.ready[0]
		k.ready = k.ready[1:]
		w.queued = false
		return nil, w
	}
	k.writing = false
	return nil, nil
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
	head := fmt.Sprintf(`{"w":%s,"n":%d,"ops":`, w.name, f.N)
	parts := make([]io.Reader, 0, len(f.Parts)+2)
	parts = append(parts, strings.NewReader(head))
	size := len(head) + 1
	for _, p := range f.Parts {
		parts = append(parts, bytes.NewReader(p))
		size += len(p)
	}
	parts = append(parts, strings.NewReader("}"))
	k.server.figures.frames.WithLabelValues("websocket").Inc()
	return k.put(io.MultiReader(parts...), size)
}

// put writes one message of that size. A long one goes out in fragments, so that
// pings pass between them, and may take as long as it makes progress.
func (k *socket) put(from io.Reader, size int) error {
	buf := k.server.pieces.Get().(*[piece]byte)
	defer k.server.pieces.Put(buf)
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	patience := time.AfterFunc(k.server.cfg.Limits.Stall, func() { cancel(errStalled) })
	defer patience.Stop()
	k.server.figures.bytes.WithLabelValues("websocket").Add(float64(size))
	if size <= piece {
		n, err := io.ReadFull(from, buf[:size])
		if err == nil {
			err = k.conn.Write(ctx, websocket.MessageText, buf[:n])
		}
		return stallOr(ctx, err)
	}
	out, err := k.conn.Writer(ctx, websocket.MessageText)
	if err != nil {
		return stallOr(ctx, err)
	}
	for {
		n, end := io.ReadFull(from, buf[:])
		if n > 0 {
			if _, err := out.Write(buf[:n]); err != nil {
				return stallOr(ctx, err)
			}
			patience.Reset(k.server.cfg.Limits.Stall)
		}
		if end != nil {
			return stallOr(ctx, out.Close())
		}
	}
}

func stallOr(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
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
	_ = k.conn.Close(websocket.StatusPolicyViolation, string(stalled)) // the reader notices
}
