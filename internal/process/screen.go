package process

import (
	"fmt"
	"time"
	"unicode/utf8"
)

// batch is how long live output is gathered before it is told, and burst the
// most bytes of it that one batch tells.
const (
	batch = 100 * time.Millisecond
	burst = 16 << 10
)

// screen is the sink of what a program prints for people.
type screen struct {
	clean cleaner
	kept  kept
	live  live
	buf   []byte
}

func newScreen(keep int, hear func(string)) *screen {
	return &screen{kept: kept{most: keep / 2}, live: live{hear: hear}}
}

func (s *screen) take(p []byte) {
	s.buf = s.clean.text(s.buf[:0], p)
	s.kept.write(s.buf)
	s.live.write(s.buf)
}

func (s *screen) due() time.Time { return s.live.until }

func (s *screen) flush() { s.live.flush() }

func (s *screen) end() {
	s.buf = s.clean.rest(s.buf[:0])
	s.kept.write(s.buf)
	s.live.write(s.buf)
	s.live.flush()
}

// live tells output in batches. Of what comes faster than people read, a batch
// tells the end.
type live struct {
	hear    func(string)
	pending []byte
	skipped int64
	until   time.Time // when pending is told; zero: nothing is pending
}

func (l *live) write(p []byte) {
	if l.hear == nil || len(p) == 0 {
		return
	}
	if l.until.IsZero() {
		l.until = time.Now().Add(batch)
	}
	l.pending = append(l.pending, p...)
	if over := len(l.pending) - burst; over > 0 {
		for over < len(l.pending) && !utf8.RuneStart(l.pending[over]) {
			over++
		}
		l.skipped += int64(over)
		l.pending = append(l.pending[:0], l.pending[over:]...)
	}
	if !time.Now().Before(l.until) {
		l.flush()
	}
}

func (l *live) flush() {
	if len(l.pending) > 0 {
		text := string(l.pending)
		if l.skipped > 0 {
			text = fmt.Sprintf("[… %d bytes not shown …]\n", l.skipped) + text
		}
		l.hear(text)
	}
	l.pending, l.skipped, l.until = l.pending[:0], 0, time.Time{}
}

// raw is the sink of an answer that a program reads.
type raw struct {
	most  int
	bytes []byte
	over  bool
}

func (r *raw) take(p []byte) {
	if room := r.most - len(r.bytes); len(p) > room {
		p, r.over = p[:room], true
	}
	r.bytes = append(r.bytes, p...)
}

func (r *raw) due() time.Time { return time.Time{} }
func (r *raw) flush()         {}
func (r *raw) end()           {}
