package skein

import (
	"context"

	"github.com/skeinhq/skein/internal/agent"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// committed publishes a commit, which is durable by now, and wakes the builder
// of lines.
func (e *Engine) committed(w store.Written, docs []thread.Doc) {
	if !w.Fresh {
		return
	}
	e.hub.publish(thread.Batch{Thread: w.Thread, Entries: w.Entries, Nodes: w.Nodes, Docs: docs})
	e.mindLines(&w.Thread)
}

// mindLines has the lines built that are due in a thread of that state.
func (e *Engine) mindLines(t *thread.Thread) {
	if t.Backlog > 0 && !e.cfg.ReadOnly {
		e.lines.Wake(t.Key)
	}
}

// linesBuilt publishes lines, and cuts where a line that came had held a cut
// back.
func (e *Engine) linesBuilt(t thread.Thread, nodes []thread.Node) {
	e.hub.publish(thread.Batch{Thread: t, Nodes: nodes})
	if err := e.countLines(t.Key, nodes); err != nil {
		e.report(t.ID, err)
	}
	e.hub.rooms.Stale(t.ID)
	e.mu.Lock()
	waits := e.held[t.ID]
	delete(e.held, t.ID)
	e.mu.Unlock()
	if waits && t.Space == e.cfg.Space {
		e.tidy(e.handle(t.ID))
	}
}

// countLines adds what a model took for lines to the thread's count, with its
// price where the rule table has one.
func (e *Engine) countLines(key thread.Key, nodes []thread.Node) error {
	var took thread.Usage
	for _, n := range nodes {
		if n.Usage == nil {
			continue
		}
		u := *n.Usage
		if rules, err := e.cfg.Rules.Rules(n.By); err == nil && u.Cost == 0 {
			u.Cost = rules.Cost(u)
		}
		took.Add(u)
	}
	if took == (thread.Usage{}) {
		return nil
	}
	return change(e.ctx, e.store, key, thread.LinesDoc, func(sum thread.Usage) thread.Usage {
		sum.Add(took)
		return sum
	})
}

// report tells the thread's watchers what failed beside the turns.
func (e *Engine) report(id string, err error) {
	e.hub.publish(thread.Batch{
		Thread: thread.Thread{Key: thread.Key{Space: e.cfg.Space, ID: id}},
		Live:   &thread.Live{Type: "error", Text: err.Error()},
	})
}

// cut moves the boundary after a turn, or after an import, where the tail is
// over HIGH.
func (e *Engine) cut(ctx context.Context, log *agent.Log, m agent.Marks) error {
	if !log.Base.Outlined() {
		return nil // other strategies act before a request
	}
	for {
		before := log.Thread.Cut
		held, err := log.Cut(ctx, m, agent.BetweenTurns)
		if err != nil {
			return err
		}
		if held {
			e.mu.Lock()
			e.held[log.Thread.ID] = true
			e.mu.Unlock()
		}
		if log.Thread.Cut == before || held {
			return nil
		}
	}
}

// mindTail has a thread cut where much has been said without a turn that would
// have done it.
func (e *Engine) mindTail(t *Thread, w *store.Written) {
	if w.Thread.Turn != 0 || !w.Fresh || w.Entries[0].Message == nil {
		return
	}
	if t.unanswered.Add(int64(w.Entries[0].Message.Weight)) > int64(agent.DefaultTail.High) {
		t.unanswered.Store(0)
		e.tidy(t)
	}
}

// tidy cuts a thread beside everything else, if nobody owns its turn: whoever
// does will cut it.
func (e *Engine) tidy(t *Thread) {
	e.goOn(func(ctx context.Context) {
		err := t.own(ctx, refuse, func(ctx context.Context, log *agent.Log) error {
			c, err := e.castOf(ctx, log.Thread.Key)
			if err != nil {
				return err
			}
			return e.cut(ctx, log, c.marks)
		})
		if err != nil && thread.CodeOf(err) != thread.Conflict && ctx.Err() == nil {
			e.report(t.id, err)
		}
	})
}

// castOf is who would answer in a thread, by its settings.
func (e *Engine) castOf(ctx context.Context, key thread.Key) (cast, error) {
	var s Settings
	if err := agent.ReadDoc(ctx, e.store, key, thread.SettingsDoc, &s); err != nil {
		return cast{}, err
	}
	return e.cast(ctx, eyes{}, s, nil)
}
