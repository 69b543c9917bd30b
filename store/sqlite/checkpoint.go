package sqlite

import (
	"sync/atomic"

	"github.com/ncruces/go-sqlite3"
)

const (
	checkpointPages = 2_000  // pages by which the write-ahead log grows before they are copied into the file
	mostPages       = 32_000 // pages at which writing waits for it
)

// checkpointer copies the write-ahead log into the file beside the writer, on a
// connection of its own. What it cannot copy stays in the log, whole: nothing is
// lost without it.
type checkpointer struct {
	c    *conn
	wake chan struct{}
	done chan struct{}

	// Used by the writer alone: pages in the log, and how many there were when it
	// was last copied.
	pages, copied int

	failed atomic.Bool // the last copy did not succeed
}

func newCheckpointer(c *conn) *checkpointer {
	k := &checkpointer{c: c, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go k.run()
	return k
}

func (k *checkpointer) run() {
	defer close(k.done)
	for range k.wake {
		_, _, err := k.c.WALCheckpoint("main", sqlite3.CHECKPOINT_PASSIVE)
		k.failed.Store(err != nil)
	}
}

// committed is told by the writer, c, how many pages the log has. A log that
// others' writes keep from being begun anew is copied here, while nobody writes.
func (k *checkpointer) committed(c *conn) {
	if k.pages < k.copied {
		k.copied = 0 // the log was begun anew
	}
	if k.pages < k.copied+checkpointPages {
		return
	}
	k.copied = k.pages
	if k.pages >= mostPages && !k.failed.Load() {
		_, _, err := c.WALCheckpoint("main", sqlite3.CHECKPOINT_PASSIVE)
		k.failed.Store(err != nil)
		return
	}
	select {
	case k.wake <- struct{}{}:
	default: // one is under way, and another will follow it
	}
}

// close ends the goroutine and its connection.
func (k *checkpointer) close() error {
	close(k.wake)
	<-k.done
	return k.c.close()
}
