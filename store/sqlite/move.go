package sqlite

import (
	"context"
	"log/slog"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// moved is how many nodes are moved in one write.
const moved = 512

// mover brings the nodes of a database that was made with an older schema to where
// they are found with fewer reads. The migration itself would keep everybody waiting
// for that: a million messages have half a gigabyte of them. Until it is done
// what is not found is looked for in the older tables; what is stopped half-way goes
// on at the next opening.
type mover struct {
	s      *Store
	log    *slog.Logger
	cancel context.CancelFunc
	done   chan struct{}
}

// leftToMove says whether there is something to move.
func leftToMove(c *conn) (bool, error) {
	return c.one(`SELECT 1 FROM (SELECT 1 FROM nodes_1 UNION ALL SELECT 1 FROM nodes_2) LIMIT 1`, nil, func(*sqlite3.Stmt) {})
}

func startMover(s *Store, log *slog.Logger) *mover {
	ctx, cancel := context.WithCancel(context.Background())
	m := &mover{s: s, log: log, cancel: cancel, done: make(chan struct{})}
	if s.unmoved.Load() {
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
	m.s.unmoved.Store(false)
}

// older is a table in which an older schema kept nodes: the key of the last of the
// first few, and how all up to it are moved.
type older struct{ last, insert, remove string }

var olders = []older{
	{
		`SELECT thread, seq, level FROM (SELECT thread, seq, level FROM nodes_1 ORDER BY thread, seq, level LIMIT ?)
		ORDER BY thread DESC, seq DESC, level DESC LIMIT 1`,
		`INSERT OR IGNORE INTO nodes (place, time, text, writer, version, usage, revision)
		SELECT (n.thread << 37) | (n.level << 32) | n.seq, coalesce(e.time, 0), n.text, n.writer, n.version, n.usage, n.revision
		FROM nodes_1 n LEFT JOIN entries e ON e.at = (n.thread << 32 | n.seq)
		WHERE (n.thread, n.seq, n.level) <= (?, ?, ?) ORDER BY n.thread, n.seq, n.level`,
		`DELETE FROM nodes_1 WHERE (thread, seq, level) <= (?, ?, ?)`,
	},
	{
		`SELECT at >> 37, (at >> 5) & 4294967295, at & 31 FROM (SELECT at FROM nodes_2 ORDER BY at LIMIT ?) ORDER BY at DESC LIMIT 1`,
		`INSERT OR IGNORE INTO nodes (place, time, text, writer, version, usage, revision)
		SELECT ((at >> 37) << 37) | ((at & 31) << 32) | ((at >> 5) & 4294967295), time, text, writer, version, usage, revision
		FROM nodes_2 WHERE at <= ((?1 << 37) | (?2 << 5) | ?3) ORDER BY at`,
		`DELETE FROM nodes_2 WHERE at <= ((?1 << 37) | (?2 << 5) | ?3)`,
	},
}

// moveNodes moves the first of the nodes that are left, and says whether there
// were any.
func moveNodes(x *tx) (some bool, err error) {
	for _, o := range olders {
		var thread, seq, level int64
		some, err = x.c.one(o.last, []any{moved}, func(s *sqlite3.Stmt) {
			thread, seq, level = s.ColumnInt64(0), s.ColumnInt64(1), s.ColumnInt64(2)
		})
		if err != nil {
			return false, err
		}
		if !some {
			continue
		}
		if err := x.exec(o.insert, thread, seq, level); err != nil {
			return false, err
		}
		return true, x.exec(o.remove, thread, seq, level)
	}
	return false, nil
}

// selectUnmoved finds a node that was not moved yet.
const selectUnmoved = `SELECT text, writer, version, usage FROM nodes_2 WHERE at = ((?1 << 37) | (?2 << 5) | ?3)
	UNION ALL SELECT text, writer, version, usage FROM nodes_1 WHERE thread = ?1 AND seq = ?2 AND level = ?3`
