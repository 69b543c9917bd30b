package agent

import (
	"context"
	"errors"
	"unicode/utf8"

	"github.com/skeinhq/skein/internal/outline"
	"github.com/skeinhq/skein/internal/prompt"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/strategy"
	"github.com/skeinhq/skein/thread"
)

// reasonOverflow is what a cut says that was made since the provider refused.
const reasonOverflow = "overflow"

// Shrink lets the thread's strategies act, one after the other, where there is
// reason to: at the moments Overflowing and Asking there always is.
func (t *Turn) Shrink(ctx context.Context, moment Moment) error {
	chain := t.Chain
	if len(chain) == 0 {
		chain = strategy.Chain{strategy.Outline()}
	}
	for i, s := range chain {
		var err error
		if s.Compact == nil {
			_, err = t.Log.Cut(ctx, t.Marks, moment)
		} else {
			err = t.compact(ctx, s, moment, i < len(chain)-1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// compact lets one strategy act on what is sent, and logs what it has left.
func (t *Turn) compact(ctx context.Context, s strategy.Strategy, moment Moment, followed bool) error {
	past, err := t.Log.past(ctx)
	if err != nil {
		return err
	}
	in := strategy.Input{
		Messages: past.sent(), Agent: t.Agent.Name, Turn: t.begun.Seq, Step: t.took.steps + 1, Model: t.Name,
		Limit: t.Rules.Room(), Fixed: t.fixed(past), Overflowing: moment.forced(), Followed: followed,
		Summarize: strategy.Summarizer{Models: t.Models, Model: t.Name}.Summarize,
	}
	in.Noted, _, err = t.Log.Store.Doc(ctx, t.Log.Thread.Key, thread.NotedDoc)
	if err != nil {
		return err
	}
	from := t.Log.Thread
	out, err := step(ctx, s, in)
	t.took.usage.Add(out.Usage)
	if err != nil {
		return errors.Join(err, t.spent(ctx, out))
	}
	if out.Warning != "" {
		t.tell(thread.Event{Type: thread.WarningEvent, Strategy: s.Name, Reason: out.Warning})
	}
	if out.Cut == nil {
		return t.spent(ctx, out)
	}
	if moment == Asking || moment == Overflowing && out.Cut.Reason == "" {
		out.Cut.Reason = reasons[moment]
	}
	t.complete(out.Cut, past, out.Messages)
	docs, err := t.noted(ctx, out)
	if err != nil {
		return err
	}
	return t.Log.commitCut(ctx, *out.Cut, docs, from)
}

// step runs a strategy. One that panics has failed, and takes nothing else down.
func step(ctx context.Context, s strategy.Strategy, in strategy.Input) (out strategy.Outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &thread.Error{Code: thread.Configuration, Op: "compact", Message: "the context strategy " + s.Name + " failed badly", Err: thread.Caught(p)}
		}
	}()
	return strategy.Step(ctx, s, in)
}

// sent gives what is sent after the lines, as strategies see it.
func (p Past) sent() []strategy.Message {
	out := make([]strategy.Message, 0, len(p.Kept)+len(p.Messages))
	out = append(out, p.Kept...)
	for _, e := range p.Messages {
		out = append(out, strategy.Message{Entry: e})
	}
	return out
}

// fixed weighs what is sent besides the messages.
func (t *Turn) fixed(past Past) strategy.Weight {
	var w strategy.Weight
	add := func(s string) {
		w.Tokens += thread.Weight(s)
		w.Characters += utf8.RuneCountInString(s)
	}
	add(t.Definition.Instructions)
	for _, x := range t.Definition.Tools {
		add(x.Name + x.Description + string(x.Schema))
	}
	for _, c := range t.Definition.Contexts {
		add(c.String())
	}
	for _, n := range past.Outline {
		w.Tokens += prompt.LineWeight(n)
		w.Characters += utf8.RuneCountInString(n.Text)
	}
	return w
}

// complete says of a cut what the strategy does not know.
func (t *Turn) complete(c *thread.Cut, past Past, left []strategy.Message) {
	c.Chain, c.Length = string(t.Log.Base), t.Log.Thread.Length
	c.Before.Outline = 0
	open := past.every()
	if t.Log.Base.Outlined() {
		if past.Cut != nil {
			c.Outline, c.Merging, c.Skills = past.Cut.Outline, past.Cut.Merging, past.Cut.Skills
		}
		c.Boundary = past.Boundary()
		old := outline.Outline{}
		for _, n := range past.Outline {
			old.Lines = append(old.Lines, outline.Line{Span: n.Span, Weight: prompt.LineWeight(n)})
		}
		c.Before.Outline, c.After.Outline = old.Weight(), old.Weight()
	}
	entries := make([]thread.Entry, len(left))
	for i := range left {
		entries[i] = left[i].Entry
	}
	shown := union(loadedIn(entries), c.Skills)
	c.Locked = without(union(past.locked(), without(open, shown)), shown)
}

// noted gives the documents that go with a cut: what the strategy wants to
// remember, and what it spent.
func (t *Turn) noted(ctx context.Context, out strategy.Outcome) ([]thread.Doc, error) {
	docs := []thread.Doc{{Name: thread.NotedDoc, Data: out.Noted}}
	if out.Usage == (thread.Usage{}) {
		return docs, nil
	}
	var usage Usage
	if err := ReadDoc(ctx, t.Log.Store, t.Log.Thread.Key, thread.UsageDoc, &usage); err != nil {
		return nil, err
	}
	usage.count(&usage.Summary, t.Agent.Name, out.Usage)
	d, err := doc(thread.UsageDoc, usage)
	return append(docs, d), err
}

// spent keeps what a strategy remembers and spent where no cut came of it. It
// outlives the context that stopped the strategy.
func (t *Turn) spent(ctx context.Context, out strategy.Outcome) error {
	ctx = context.WithoutCancel(ctx)
	was, _, err := t.Log.Store.Doc(ctx, t.Log.Thread.Key, thread.NotedDoc)
	if err != nil {
		return err
	}
	if out.Usage == (thread.Usage{}) && string(was) == string(out.Noted) {
		return nil
	}
	docs, err := t.noted(ctx, out)
	if err != nil {
		return err
	}
	return t.Log.Store.PutDocs(ctx, t.Log.Thread.Key, docs)
}

// commitCut logs what a strategy has left of the thread as it was. What was said
// meanwhile stays as it is. Where another cut has come first, the one that stands
// for more of the log wins; where the thread was rewound, this one is dropped.
func (l *Log) commitCut(ctx context.Context, c thread.Cut, docs []thread.Doc, from thread.Thread) error {
	return l.Anew(ctx, func() error {
		if l.Thread.Epoch != from.Epoch || l.Thread.Branch != from.Branch {
			return nil
		}
		if l.Thread.Cut != from.Cut {
			other, err := l.Base.cut(ctx, l.Store, &l.Thread)
			if err != nil || other != nil && !strategy.Further(&c, other) {
				return err
			}
		}
		c.Number, c.Prev = l.Thread.Cuts+1, l.Thread.Cut
		_, err := l.Commit(ctx, []store.New{{Entry: thread.Entry{Kind: thread.CutKind, Index: thread.NoIndex, Cut: &c}}}, docs...)
		return err
	})
}
