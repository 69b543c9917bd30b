package sqlite

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/skeinhq/skein/internal/word"
	"github.com/skeinhq/skein/thread"
)

const (
	idle    = 200 * time.Millisecond // how long the writer rests before messages are indexed
	mostLag = 256                    // entries of a thread that may wait for it
	batch   = 256                    // entries indexed in one write
	breath  = 9                      // after a batch, rest this many times as long if others write
)

// indexer gives the search index the words of messages, some time after they
// were said. Its goroutine analyses them; the writer only stores the terms.
type indexer struct {
	s      *Store
	log    *slog.Logger
	cancel context.CancelFunc
	wake   chan struct{}
	done   chan struct{}

	mu    sync.Mutex
	lag   map[name]int64 // entries that are not indexed yet
	far   bool           // some thread has more than mostLag of them
	wrote time.Time      // when the writer was last busy
}

func newIndexer(s *Store, log *slog.Logger) *indexer {
	return &indexer{s: s, log: log, wake: make(chan struct{}, 1), done: make(chan struct{}), lag: map[name]int64{}}
}

func (x *indexer) start() {
	ctx, cancel := context.WithCancel(context.Background())
	x.cancel = cancel
	go x.run(ctx)
}

func (x *indexer) stop() {
	x.cancel()
	<-x.done
}

// note is told of the threads that were written.
func (x *indexer) note(dirty []*kept) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, k := range dirty {
		if k.tip != k.Tip { // not the indexer's own write
			x.wrote = time.Now()
		}
		n := name{k.Space, k.ID}
		if lag := k.Tip - k.Indexed; lag > 0 && !k.Gone && !k.removed {
			x.lag[n] = lag
			x.far = x.far || lag > mostLag
		} else {
			delete(x.lag, n)
		}
	}
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

func (x *indexer) run(ctx context.Context) {
	defer close(x.done)
	if err := x.remember(ctx); err != nil && ctx.Err() == nil {
		x.log.Error("what is not indexed yet cannot be listed", "error", err)
	}
	for {
		if !x.rest(ctx) {
			return
		}
		for _, n := range x.ready() {
			if err := x.index(ctx, n, x.breathe); err != nil {
				if ctx.Err() != nil {
					return
				}
				x.log.Error("messages cannot be indexed; searching reads them instead", "thread", n.id, "error", err)
			}
		}
	}
}

// breathe leaves the processors to those who write, unless nobody does.
func (x *indexer) breathe(ctx context.Context, worked time.Duration) {
	if !x.busy() {
		return
	}
	select {
	case <-time.After(min(breath*worked, time.Second)):
	case <-ctx.Done():
	}
}

// busy says whether anybody but the indexer writes.
func (x *indexer) busy() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return time.Since(x.wrote) < idle
}

// rest waits until a thread lags far behind, or the writer has been idle while
// some lag. It says whether to go on.
func (x *indexer) rest(ctx context.Context) bool {
	for {
		x.mu.Lock()
		far, any, quiet := x.far, len(x.lag) > 0, time.Since(x.wrote)
		x.mu.Unlock()
		if far || any && quiet >= idle {
			return ctx.Err() == nil
		}
		var after <-chan time.Time
		if any {
			after = time.After(idle - quiet)
		}
		select {
		case <-x.wake:
		case <-after:
		case <-ctx.Done():
			return false
		}
	}
}

// ready takes the threads to be indexed now.
func (x *indexer) ready() (out []name) {
	x.mu.Lock()
	defer x.mu.Unlock()
	quiet := time.Since(x.wrote) >= idle
	for n, lag := range x.lag {
		if quiet || lag > mostLag {
			out = append(out, n)
			delete(x.lag, n)
		}
	}
	x.far = false
	return out
}

// remember lists what a process before this one has left.
func (x *indexer) remember(ctx context.Context) error {
	found := map[name]int64{}
	err := x.s.readers.with(ctx, "index", func(c *conn) error {
		return c.query(`SELECT space, id, tip - indexed FROM threads WHERE tip > indexed AND gone = 0`, nil, func(r *sqlite3.Stmt) error {
			found[name{r.ColumnText(0), r.ColumnText(1)}] = r.ColumnInt64(2)
			return nil
		})
	})
	x.mu.Lock()
	defer x.mu.Unlock()
	for n, lag := range found {
		if _, ok := x.lag[n]; !ok {
			x.lag[n] = lag
			x.far = x.far || lag > mostLag
		}
	}
	return err
}

// IndexNow gives the search index all that it lacks, and returns when that is
// durable.
func (s *Store) IndexNow(ctx context.Context) error {
	if s.writer == nil {
		return errReadOnly("index")
	}
	if err := s.indexer.remember(ctx); err != nil {
		return err
	}
	s.indexer.mu.Lock()
	var all []name
	for n := range s.indexer.lag {
		all = append(all, n)
	}
	s.indexer.mu.Unlock()
	for _, n := range all {
		if err := s.indexer.index(ctx, n, func(context.Context, time.Duration) {}); err != nil {
			return err
		}
	}
	return nil
}

// index brings a thread's part of the search index up to its tip, and rests
// after each batch.
func (x *indexer) index(ctx context.Context, n name, rest func(ctx context.Context, worked time.Duration)) error {
	for more := true; more; {
		began := time.Now()
		b, err := x.read(ctx, n)
		if err != nil || b == nil {
			return err
		}
		if err := x.s.update(ctx, "index", n.id, func(t *tx) error { return b.store(t, n) }); err != nil {
			return err
		}
		more = b.upto < b.tip || !b.stored // somebody else has, but maybe less
		if more {
			rest(ctx, time.Since(began))
		}
	}
	return nil
}

// analysed is the terms of a stretch of a thread's own entries.
type analysed struct {
	row, from, upto, tip int64
	ats                  []int64
	terms                []string
	stored               bool
}

// read analyses the next messages; nil means that there are none.
func (x *indexer) read(ctx context.Context, n name) (b *analysed, err error) {
	err = x.s.readers.snapshot(ctx, "index", func(c *conn) error {
		h, err := readHead(c, "index", thread.Key{Space: n.space, ID: n.id})
		if thread.CodeOf(err) == thread.NotFound || err == nil && h.Indexed >= h.Tip {
			return nil
		}
		if err != nil {
			return err
		}
		b = &analysed{row: h.Row, from: h.Indexed, upto: min(h.Tip, h.Indexed+batch), tip: h.Tip}
		return eachMessage(c, b.row, b.from, b.upto, func(e *thread.Entry, at int64) error {
			if terms := word.Message(e.Message); len(terms) > 0 {
				b.ats = append(b.ats, at)
				b.terms = append(b.terms, strings.Join(terms, " "))
			}
			return nil
		})
	})
	return b, err
}

// eachMessage reads a thread's own messages after < seq <= upto, newest first.
func eachMessage(c *conn, row, after, upto int64, f func(e *thread.Entry, at int64) error) error {
	return c.query(`SELECT `+entryColumns+` FROM entries WHERE at > ? AND at <= ? AND kind = 'message' AND body IS NOT NULL ORDER BY at DESC`,
		[]any{packed(row, after), packed(row, upto)}, func(r *sqlite3.Stmt) error {
			e, err := scanEntry(r)
			if err != nil {
				return err
			}
			return f(&e, r.ColumnInt64(0))
		})
}

// store writes the terms, unless another process was faster.
func (b *analysed) store(x *tx, n name) error {
	h, err := x.Head(n.space, n.id)
	if err != nil || h == nil || h.Gone || h.Row != b.row || h.Indexed != b.from {
		return err
	}
	for i := len(b.ats) - 1; i >= 0; i-- {
		if err := x.exec(`INSERT INTO words (rowid, terms) VALUES (?,?)`, b.ats[i], b.terms[i]); err != nil {
			return err
		}
	}
	h.Indexed = b.upto
	b.stored = true
	x.Touch(h)
	return nil
}
