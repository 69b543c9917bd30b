package sqlite

import (
	"context"
	"log/slog"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// moved is how many nodes are moved in one write.
const moved = 512

// mover brings the nodes of a database that was made with schema 1 to where they
// are found with fewer reads. The migration itself would keep everybody waiting
// for that: a million messages have half a gigabyte of them. Until it is done
// they are read from both tables; what is stopped half-way goes on at the next
// opening.
type mover struct {
	s      *Store
	log    *slog.Logger
	cancel context.CancelFunc
	done   chan struct{}
}

// leftToMove says whether there is something to move.
func leftToMove(c *conn) (bool, error) {
	return c.one(`SELECT 1 FROM nodes_1 LIMIT 1`, nil, func(*sqlite3.Stmt) {})
}

func startMover(s *Store, left bool, log *slog.Logger) *mover {
	ctx, cancel := context.WithCancel(context.Background())
	m := &mover{s: s, log: log, cancel: cancel, done: make(chan struct{})}
	if left {
		go m.run(ctx)
	} else {
		close(m.done)
	}
	return m
}

func (m *mover) stop() {
	m.cancel()
	<-m.done
}

func (m *mover) run(ctx context.Context) {
	defer close(m.done)
	for more := true; more; {
		began := time.Now()
		err := m.s.update(ctx, "move", "", func(x *tx) (err error) {
			more, err = moveNodes(x)
			return err
		})
		if err != nil {
			if ctx.Err() == nil {
				m.log.Error("lines cannot be moved to where they are found faster; they are read where they are", "error", err)
			}
			return
		}
		m.s.indexer.breathe(ctx, time.Since(began))
	}
}

const (
	selectMoved = `SELECT thread, seq, level FROM (SELECT thread, seq, level FROM nodes_1 ORDER BY thread, seq, level LIMIT ?)
		ORDER BY thread DESC, seq DESC, level DESC LIMIT 1`
	insertMoved = `INSERT OR IGNORE INTO nodes (at, time, text, writer, version, usage, revision)
		SELECT (n.thread << 37) | (n.seq << 5) | n.level, coalesce(e.time, 0), n.text, n.writer, n.version, n.usage, n.revision
		FROM nodes_1 n LEFT JOIN entries e ON e.at = (n.thread << 32 | n.seq)
		WHERE (n.thread, n.seq, n.level) <= (?, ?, ?) ORDER BY n.thread, n.seq, n.level`
	deleteMoved = `DELETE FROM nodes_1 WHERE (thread, seq, level) <= (?, ?, ?)`
)

// moveNodes moves the first of the nodes that are left, and says whether there
// were any.
func moveNodes(x *tx) (some bool, err error) {
	var thread, seq, level int64
	some, err = x.c.one(selectMoved, []any{moved}, func(s *sqlite3.Stmt) {
		thread, seq, level = s.ColumnInt64(0), s.ColumnInt64(1), s.ColumnInt64(2)
	})
	if err != nil || !some {
		return false, err
	}
	if err := x.exec(insertMoved, thread, seq, level); err != nil {
		return false, err
	}
	return true, x.exec(deleteMoved, thread, seq, level)
}
