package line

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/skeinhq/skein/thread"
)

// fillNodes is how many nodes a fill stores at once.
const fillNodes = 256

// Fill builds by rule, at once and for good, every due node whose last message
// is below upto: after an import, and past HARD, when nobody can wait for a
// model any longer. A model's line that comes later finds its place taken. It
// returns when nothing below upto is due. Errors: storage, or the context's.
func (b *Builder) Fill(ctx context.Context, t *thread.Thread, upto int64) error {
	below := func(span thread.Span) bool { return span.Last() < upto }
	for {
		then, err := b.ruleRound(ctx, t, fillNodes, below)
		if err != nil || then == end {
			return err
		}
	}
}

// byRule writes the nodes. Where ctx ends, and where one fails badly, the rest are
// missing.
func byRule(ctx context.Context, id string, items []item) ([]thread.Node, error) {
	nodes := make([]thread.Node, len(items))
	err := spread(ctx, id, len(items), func(i int) { nodes[i] = items[i].byRule() })
	return slices.DeleteFunc(nodes, func(n thread.Node) bool { return n.Span.N == 0 }), err
}

// spread does n pieces of work on all processors, until ctx ends. A panic ends the
// work of its processor, and is an error of the thread's lines.
func spread(ctx context.Context, id string, n int, work func(i int)) error {
	failures := make([]error, min(runtime.GOMAXPROCS(0), n))
	var next atomic.Int64
	var workers sync.WaitGroup
	for k := range failures {
		workers.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					failures[k] = failedBadly(id, p)
				}
			}()
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				work(i)
			}
		})
	}
	workers.Wait()
	return errors.Join(failures...)
}
