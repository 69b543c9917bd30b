package window_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skeinhq/skein/internal/window"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/store/sqlite"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

func still(st store.Store) *window.Rooms {
	return window.New(window.Config{
		Store:  st,
		Agent:  func(_ context.Context, t *thread.Thread) (view.Agent, error) { return agentOf(t), nil },
		Go:     func(func(context.Context)) {},
		Report: func(string, error) {},
	})
}

// One entry of 300 bytes of text is committed and taken by 1,000 watches. The
// figures are of one watch.
func BenchmarkDeliver(b *testing.B) {
	const watches = 1000
	w := newWorld(benching{b})
	defer w.end()
	var all []*window.Watch
	take := func(wa *window.Watch) {
		if _, _, ok, err := wa.Poll(ctx); err != nil || !ok {
			b.Fatalf("no frame: %v", err)
		}
	}
	for range watches {
		wa, err := w.rooms.Watch(ctx, "launch", window.Options{})
		if err != nil {
			b.Fatal(err)
		}
		defer wa.Close()
		take(wa)
		all = append(all, wa)
	}
	text := strings.Repeat("a word ", 43)
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		if n%watches == 0 {
			b.StopTimer()
			m := thread.Message{Author: "ana", Role: thread.User, Parts: []thread.Part{thread.Text(text)}}
			wr, err := w.store.Append(ctx, w.key, store.Draft{Entries: []store.New{{Entry: thread.Say(m)}}})
			if err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			w.rooms.Publish(thread.Batch{Thread: wr.Thread, Entries: wr.Entries})
		}
		take(all[n%watches])
	}
}

// benching lets a benchmark make a world.
type benching struct{ *testing.B }

// A window of 50 is opened on threads of different lengths, by the first who
// views them and by one of many.
func BenchmarkOpen(b *testing.B) {
	for _, length := range []int{1_000, 100_000} {
		path := filepath.Join(b.TempDir(), "a.db")
		st, err := sqlite.Open(ctx, path, sqlite.Options{})
		if err != nil {
			b.Fatal(err)
		}
		state, err := st.Create(ctx, store.NewThread{Key: thread.Key{ID: "launch"}})
		if err != nil {
			b.Fatal(err)
		}
		for i := 0; i < length; i += 1000 {
			var d store.Draft
			for j := range 1000 {
				d.Entries = append(d.Entries, store.New{Entry: thread.Say(thread.Message{Author: "ana", Role: thread.User, Parts: []thread.Part{thread.Text(fmt.Sprint(i+j, strings.Repeat(" word", 60)))}})})
			}
			if _, err := st.Append(ctx, state.Key, d); err != nil {
				b.Fatal(err)
			}
		}
		if err := errors.Join(st.IndexNow(ctx), st.Close()); err != nil {
			b.Fatal(err)
		}
		if st, err = sqlite.Open(ctx, path, sqlite.Options{}); err != nil {
			b.Fatal(err)
		}
		rooms := still(st)
		open := func(b *testing.B, o window.Options) {
			wa, err := rooms.Watch(ctx, "launch", o)
			if err != nil {
				b.Fatal(err)
			}
			if _, _, ok, err := wa.Poll(ctx); err != nil || !ok {
				b.Fatalf("no frame: %v", err)
			}
			wa.Close()
		}
		b.Run(fmt.Sprintf("first/messages=%d", length), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				open(b, window.Options{})
			}
		})
		b.Run(fmt.Sprintf("another/messages=%d", length), func(b *testing.B) {
			stays, err := rooms.Watch(ctx, "launch", window.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer stays.Close()
			b.ReportAllocs()
			for b.Loop() {
				open(b, window.Options{})
			}
		})
		b.Run(fmt.Sprintf("five missed/messages=%d", length), func(b *testing.B) {
			stays, err := rooms.Watch(ctx, "launch", window.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer stays.Close()
			b.ReportAllocs()
			for b.Loop() {
				open(b, window.Options{From: int64(length - 4)})
			}
		})
		if err := st.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
