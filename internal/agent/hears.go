package agent

import (
	"context"
	"slices"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// heard is what a turn answers, as the log has it: a strategy may have left
// nothing of it in what is sent.
type heard struct {
	asker    string   // who spoke last
	audience []string // who may see the answer; nil: everybody
}

// to is whom the answer is for.
func (h heard) to() []string {
	if h.asker == "" {
		return nil
	}
	return []string{h.asker}
}

// hear notes a message that the turn answers. Where one was said to some only, the
// answer is for those, its author and the agent.
func (t *Turn) hear(m *thread.Message) {
	t.heard.asker = m.Author
	if len(m.Audience) == 0 {
		return
	}
	names := append(append(t.heard.audience, m.Author, t.Agent.Name), m.Audience...)
	slices.Sort(names)
	t.heard.audience = slices.Compact(names)
}

// listen reads what the turn answers: what users said since the newest answer that
// another turn ended with.
func (t *Turn) listen(ctx context.Context) error {
	t.heard = heard{}
	var said []*thread.Message
	for end := t.Log.Thread.Length; end > 0; end -= lookBack {
		part, last, err := t.users(ctx, max(0, end-lookBack), end)
		if err != nil {
			return err
		}
		said = append(part, said...)
		if last {
			break
		}
	}
	for _, m := range said {
		t.hear(m)
	}
	return nil
}

// users gives what users said in the messages [from, to) since the newest answer
// that another turn ended with; last says that there is one.
func (t *Turn) users(ctx context.Context, from, to int64) (said []*thread.Message, last bool, err error) {
	for e, err := range t.Log.Store.Messages(ctx, &t.Log.Thread, from, to) {
		if err != nil {
			return nil, false, err
		}
		switch m := e.Message; {
		case m == nil:
		case m.Role == thread.User && m.VisibleTo(t.Agent.Name):
			said = append(said, m)
		case m.Role == thread.Assistant && m.Turn != t.begun.Seq && len(m.Calls()) == 0:
			said, last = nil, true
		}
	}
	return said, last, nil
}

// stopped says whether the thread's newest turn was stopped.
func (l *Log) stopped(ctx context.Context) (bool, error) {
	q := store.EntriesQuery{Kinds: []thread.Kind{thread.TurnKind}, Newest: true, Limit: 1}
	for e, err := range l.Store.Entries(ctx, &l.Thread, q) {
		if err != nil {
			return false, err
		}
		return e.Turn != nil && e.Turn.State == thread.TurnEnded && e.Turn.Reason == thread.StopAborted, nil
	}
	return false, nil
}
