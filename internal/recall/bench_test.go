package recall_test

import (
	"fmt"
	"testing"

	"github.com/skeinhq/skein/internal/recall"
	"github.com/skeinhq/skein/thread"
)

// grown makes a thread of n messages on disk. Twenty of them, whatever n is, hold
// the words that are looked for.
func grown(b *testing.B, n int) *talk {
	k := begin(b, onDisk(b))
	for from := 0; from < n; from += 1000 {
		var batch []thread.Message
		for i := from; i < min(from+1000, n); i++ {
			text := fmt.Sprintf("message %d speaks of this and that at some length, as people do", i)
			if i%(n/20) == 0 {
				text += ", and of the violet door"
			}
			batch = append(batch, user("ana", text))
		}
		k.put(batch...)
	}
	return k
}

func BenchmarkZoom(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		k := grown(b, n)
		for name, s := range map[string]thread.Span{"lines": span(64, 32), "message": span(77, 1)} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := recall.Zoom(b.Context(), k.st, &k.th, "north", s, 1); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		k := grown(b, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := recall.Search(b.Context(), k.st, &k.th, "north", recall.Query{Text: "violet door", Before: 1, After: 1}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
