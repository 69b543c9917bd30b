package peer

import (
	"context"
	"errors"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/bench/long"
)

type ours struct {
	engine *skein.Engine
	thread *skein.Thread
}

// OpenSkein opens a thread that is there already; long.Make makes one.
func OpenSkein(ctx context.Context, path, id string) (Chat, error) {
	e, err := long.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	t, err := e.Thread(ctx, id)
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return &ours{e, t}, nil
}

func (o *ours) Say(ctx context.Context, text string) error {
	_, err := o.thread.Say(ctx, "ana", text)
	return err
}

func (o *ours) Answer(ctx context.Context, _ string) error { return o.thread.Reply(ctx) }

func (o *ours) Load(ctx context.Context) (int, error) {
	p, err := o.thread.Prompt(ctx, "")
	if err != nil {
		return 0, err
	}
	return len(p.Request.Messages), nil
}

func (o *ours) Close() error { return o.engine.Close() }
