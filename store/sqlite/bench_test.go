package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/skeinhq/skein/internal/word"
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

// lengths are the thread's lengths that a benchmark is run at: the figures must
// be alike. The long one takes some minutes to make, so it is asked for.
func lengths(b *testing.B) []int {
	if os.Getenv("SKEIN_BENCH_LONG") == "" {
		return []int{1_000, 100_000}
	}
	return []int{1_000, 1_000_000}
}

// long opens a database with a thread of n messages, made once for all
// benchmarks of that length.
func long(b *testing.B, n int) (*sqlite.Store, *thread.Thread) {
	b.Helper()
	path := made.path(b, n)
	s := open(b, path, sqlite.Options{})
	return s, state(b, s, "a")
}

// made are the databases of this run.
var made = &databases{}

type databases struct{ dir string }

func (d *databases) path(b *testing.B, n int) string {
	if d.dir == "" {
		dir, err := os.MkdirTemp("", "skein-bench")
		if err != nil {
			b.Fatal(err)
		}
		d.dir = dir
	}
	path := filepath.Join(d.dir, fmt.Sprint(n), "skein.db")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	s, err := sqlite.Open(context.Background(), path, sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	bulk(b, s, create(b, s, "a"), n)
	if err := s.IndexNow(context.Background()); err != nil {
		b.Fatal(err)
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

func BenchmarkAppendByLength(b *testing.B) {
	for _, n := range lengths(b) {
		b.Run(fmt.Sprintf("messages=%d", n), func(b *testing.B) {
			s, t := long(b, n)
			i := 0
			for b.Loop() {
				if _, err := s.Append(context.Background(), t.Key, store.Draft{Entries: []store.New{said(i)}}); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}

func BenchmarkNodes100(b *testing.B) {
	for _, n := range lengths(b) {
		b.Run(fmt.Sprintf("messages=%d", n), func(b *testing.B) {
			s, t := long(b, n)
			var spans []thread.Span
			for i := range int64(100) {
				spans = append(spans, thread.Span{ID: (i * t.Length / 100) &^ 1, N: 1 + i%2})
			}
			for b.Loop() {
				if _, err := s.Nodes(context.Background(), t, spans); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkTail200(b *testing.B) {
	for _, n := range lengths(b) {
		b.Run(fmt.Sprintf("messages=%d", n), func(b *testing.B) {
			s, t := long(b, n)
			for b.Loop() {
				for _, err := range s.Messages(context.Background(), t, t.Length-200, t.Length) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

func BenchmarkThread(b *testing.B) {
	for _, n := range lengths(b) {
		b.Run(fmt.Sprintf("messages=%d", n), func(b *testing.B) {
			s, _ := long(b, n)
			for b.Loop() {
				if _, err := s.Thread(context.Background(), "", "a"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSearch(b *testing.B) {
	for _, n := range lengths(b) {
		for _, query := range []string{"17", "studio"} {
			b.Run(fmt.Sprintf("messages=%d/word=%s", n, query), func(b *testing.B) {
				s, t := long(b, n)
				for b.Loop() {
					if _, err := s.Search(context.Background(), t, store.SearchQuery{Words: word.Query(query)}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	s, _ := long(b, lengths(b)[1])
	for b.Loop() {
		clean(b, s)
	}
}

func BenchmarkBulk(b *testing.B) {
	s := open(b, fresh(b), sqlite.Options{})
	key := create(b, s, "a")
	for b.Loop() {
		bulk(b, s, key, 1000)
	}
	b.ReportMetric(float64(b.N)*1000/b.Elapsed().Seconds(), "messages/s")
}
