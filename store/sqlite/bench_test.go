package sqlite_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/store/sqlite"
	"github.com/skeinhq/skein/thread"
)

// said is a message like those of a chat: some are short, some are not.
func said(i int) store.New {
	text := fmt.Sprintf("message %d says that the studio opens at %d and that nothing else has changed since", i, i%24)
	if i%4 == 3 {
		text += strings.Repeat(" and then some more of the same", 8)
	}
	n := store.New{Entry: thread.Say(thread.Message{Author: "ana", Role: thread.User, Parts: []thread.Part{thread.Text(text)}, Weight: len(text) / 4})}
	if line := "ana: " + text; len(line) <= thread.LineBytes {
		n.Line = line
	}
	return n
}

func create(b testing.TB, s store.Store, id string) thread.Key {
	b.Helper()
	t, err := s.Create(context.Background(), store.NewThread{Key: thread.Key{ID: id}})
	if err != nil {
		b.Fatal(err)
	}
	return t.Key
}

func BenchmarkAppendAlone(b *testing.B) {
	s := open(b, fresh(b), sqlite.Options{})
	key := create(b, s, "a")
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if _, err := s.Append(context.Background(), key, store.Draft{Entries: []store.New{said(i)}}); err != nil {
			b.Fatal(err)
		}
		i++
	}
	rate(b)
}

func BenchmarkAppendTogether(b *testing.B) {
	for _, threads := range []int{1, 64} {
		b.Run(fmt.Sprintf("writers=64/threads=%d", threads), func(b *testing.B) {
			s := open(b, fresh(b), sqlite.Options{})
			var keys []thread.Key
			for i := range threads {
				keys = append(keys, create(b, s, fmt.Sprint(i)))
			}
			var writer atomic.Int64
			b.ReportAllocs()
			b.SetParallelism(32) // two processors make 64 goroutines
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				key := keys[int(writer.Add(1))%threads]
				for i := 0; pb.Next(); i++ {
					if _, err := s.Append(context.Background(), key, store.Draft{Entries: []store.New{said(i)}}); err != nil {
						b.Fatal(err)
					}
				}
			})
			rate(b)
		})
	}
}

func rate(b *testing.B) {
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
}
