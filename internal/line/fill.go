package line

import (
	"context"
	"runtime"
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

// byRule writes the nodes on all processors. Where ctx ends the rest are empty.
func byRule(ctx context.Context, items []item) []thread.Node {
	nodes := make([]thread.Node, len(items))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(items)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(items) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				nodes[i] = items[i].byRule()
			}
		})
	}
	workers.Wait()
	return nodes
}
