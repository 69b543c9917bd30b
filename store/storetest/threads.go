package storetest

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// closed is a store that was closed and cannot be checked any more.
type closed struct{ store.Store }

func (closed) Check(context.Context) iter.Seq[error] { return func(func(error) bool) {} }

func contextWithCancel(s *suite) (context.Context, context.CancelFunc) {
	return context.WithCancel(s.ctx)
}

func ids(all []thread.Thread) (out []string) {
	for _, t := range all {
		out = append(out, t.ID)
	}
	return out
}

var threads = []test{
	{"MetadataCanBeChanged", func(s *suite) {
		s.create("a")
		for _, meta := range []string{`{"x":1}`, `{"x":2}`, ``} {
			s.must(s.SetMeta(s.ctx, key("a"), []byte(meta)))
			s.append("a", say("hello"))
			if t := s.state("a"); string(t.Meta) != meta {
				s.Fatalf("meta %s, want %s", t.Meta, meta)
			}
		}
		s.refused(s.SetMeta(s.ctx, key("a"), []byte(`{`)), thread.Invalid)
		s.refused(s.SetMeta(s.ctx, key("a"), []byte(`"`+strings.Repeat("x", 64<<10)+`"`)), thread.Invalid)
		s.refused(s.SetMeta(s.ctx, key("b"), []byte(`{}`)), thread.NotFound)
		s.must(s.Delete(s.ctx, key("a")))
		s.refused(s.SetMeta(s.ctx, key("a"), []byte(`{}`)), thread.NotFound)
	}},
	{"CreateMakesAnEmptyThread", func(s *suite) {
		made, err := s.Create(s.ctx, store.NewThread{
			Key: thread.Key{Space: "lab", ID: "a"}, Title: "Plans", Meta: []byte(`{"x":1}`),
			Docs: []thread.Doc{{Name: thread.SettingsDoc, Data: []byte(`{"tail":1}`)}},
		})
		s.must(err)
		now := store.Stamp(s.clock.Now())
		want := thread.Thread{
			Key: thread.Key{Space: "lab", Root: "a", ID: "a"}, Title: "Plans", Meta: []byte(`{"x":1}`), Created: now, Updated: now, Epoch: made.Epoch,
			Segments: []thread.Segment{{Origin: "a"}}, Lineage: []thread.Origin{{Thread: "a"}},
		}
		if d := cmp.Diff(want, made); d != "" || made.Epoch == "" {
			s.Fatalf("made:\n%s", d)
		}
		if d := cmp.Diff(made, *s.state("a")); d != "" {
			s.Fatalf("read:\n%s", d)
		}
		if data, _, err := s.Doc(s.ctx, key("a"), thread.SettingsDoc); err != nil || string(data) != `{"tail":1}` {
			s.Fatalf("settings %s, %v", data, err)
		}
		_, err = s.Thread(s.ctx, "other", "a")
		s.refused(err, thread.NotFound)
		for _, id := range []string{"", strings.Repeat("x", 257), "a\x00b", "\xff"} {
			_, err := s.Create(s.ctx, store.NewThread{Key: thread.Key{ID: id}})
			s.refused(err, thread.Invalid)
		}
		_, err = s.Create(s.ctx, store.NewThread{Key: thread.Key{ID: "d"}, Docs: []thread.Doc{{Name: "x", Data: []byte("{")}}})
		s.refused(err, thread.Invalid)
	}},
	{"AnIDIsTakenOnceInASpace", func(s *suite) {
		s.create("a")
		_, err := s.Create(s.ctx, store.NewThread{Key: key("a")})
		s.refused(err, thread.Conflict)
		_, err = s.Create(s.ctx, store.NewThread{Key: thread.Key{Space: "other", ID: "a"}})
		s.must(err)
		s.must(s.Delete(s.ctx, key("a")))
		_, err = s.Create(s.ctx, store.NewThread{Key: key("a")})
		s.refused(err, thread.Conflict)
	}},
	{"AnotherRootIsAnotherThread", func(s *suite) {
		s.create("a")
		_, err := s.Append(s.ctx, thread.Key{Space: "lab", Root: "b", ID: "a"}, draft(say("x")))
		s.refused(err, thread.NotFound)
		_, err = s.Append(s.ctx, thread.Key{Space: "lab", Root: "a", ID: "a"}, draft(say("x")))
		s.must(err)
	}},
	{"ThreadsAreListedLastUpdatedFirst", func(s *suite) {
		for i := range 5 {
			s.create(fmt.Sprint(i))
			s.clock.Add(time.Second)
		}
		s.append("1", say("x"))
		_, err := s.Create(s.ctx, store.NewThread{Key: thread.Key{Space: "other", ID: "x"}})
		s.must(err)
		s.must(s.Delete(s.ctx, key("3")))
		all, err := s.Threads(s.ctx, store.ThreadsQuery{Space: "lab"})
		s.must(err)
		if got := ids(all); !slices.Equal(got, []string{"1", "4", "2", "0"}) {
			s.Fatalf("listed %v", got)
		}
		var paged []string
		q := store.ThreadsQuery{Space: "lab", Limit: 1}
		for {
			page, err := s.Threads(s.ctx, q)
			s.must(err)
			if len(page) == 0 {
				break
			}
			paged = append(paged, ids(page)...)
			q.Before, q.BeforeID = page[0].Updated, page[0].ID
		}
		if !slices.Equal(paged, ids(all)) {
			s.Fatalf("paged %v", paged)
		}
		hidden, err := s.Threads(s.ctx, store.ThreadsQuery{Space: "lab", Deleted: true})
		s.must(err)
		if got := ids(hidden); !slices.Equal(got, []string{"3"}) {
			s.Fatalf("hidden %v", got)
		}
	}},
	{"ThreadsOfOneMomentAreListedByID", func(s *suite) {
		for _, id := range []string{"b", "c", "a"} {
			s.create(id)
		}
		one, err := s.Threads(s.ctx, store.ThreadsQuery{Space: "lab", Limit: 2})
		s.must(err)
		two, err := s.Threads(s.ctx, store.ThreadsQuery{Space: "lab", Limit: 2, Before: one[1].Updated, BeforeID: one[1].ID})
		s.must(err)
		if got := append(ids(one), ids(two)...); !slices.Equal(got, []string{"c", "b", "a"}) {
			s.Fatalf("listed %v", got)
		}
	}},
	{"ADeletedThreadIsHiddenUntilUndeleted", func(s *suite) {
		s.create("a")
		s.talk("a", 2)
		s.must(s.Delete(s.ctx, key("a")))
		at := s.state("a").Deleted
		if !at.Equal(store.Stamp(s.clock.Now())) {
			s.Fatalf("deleted %v", at)
		}
		s.clock.Add(time.Hour)
		s.must(s.Delete(s.ctx, key("a")))
		if !s.state("a").Deleted.Equal(at) {
			s.Fatal("the second delete moved the time")
		}
		_, err := s.Append(s.ctx, key("a"), draft(say("x")))
		s.refused(err, thread.NotFound)
		_, err = s.Commit(s.ctx, key("a"), draft(say("x")), store.Guard{Tip: 2})
		s.refused(err, thread.NotFound)
		_, err = s.Acquire(s.ctx, key("a"), "p", time.Minute)
		s.refused(err, thread.NotFound)
		_, err = s.Fork(s.ctx, s.state("a"), 0, "f", "")
		s.refused(err, thread.NotFound)
		s.must(s.Undelete(s.ctx, key("a")))
		s.must(s.Undelete(s.ctx, key("a")))
		s.talk("a", 1)
		if n := s.state("a").Length; n != 3 {
			s.Fatalf("%d messages", n)
		}
		s.refused(s.Delete(s.ctx, key("nobody")), thread.NotFound)
		s.refused(s.Undelete(s.ctx, key("nobody")), thread.NotFound)
	}},
	{"PurgeRemovesWhatIsHiddenLongEnough", func(s *suite) {
		s.create("a")
		s.create("b")
		s.append("a", say("x"), long("y"), title("t"))
		s.talk("b", 1)
		_, err := s.PutBlob(s.ctx, key("a"), "x/y", []byte("x"))
		s.must(err)
		s.must(s.PutDocs(s.ctx, key("a"), []thread.Doc{{Name: "x", Data: []byte("1")}}))
		s.must(s.Delete(s.ctx, key("a")))
		if n, err := s.Purge(s.ctx, s.clock.Now()); n != 0 || err != nil {
			s.Fatalf("purged %d too early, %v", n, err)
		}
		s.clock.Add(time.Second)
		if n, err := s.Purge(s.ctx, s.clock.Now()); n != 1 || err != nil {
			s.Fatalf("purged %d, %v", n, err)
		}
		_, err = s.Thread(s.ctx, "lab", "a")
		s.refused(err, thread.NotFound)
		s.refused(s.Undelete(s.ctx, key("a")), thread.NotFound)
		if n := len(s.texts(s.state("b"))); n != 1 {
			s.Fatal("the other thread suffered")
		}
		s.create("a")
		s.talk("a", 1)
		if w := s.state("a"); w.Tip != 1 {
			s.Fatalf("the new thread begins at %d", w.Tip)
		}
		_, _, err = s.Blob(s.ctx, key("a"), store.Hash([]byte("x")))
		s.refused(err, thread.NotFound)
	}},
	{"PurgeKeepsWhatForksReach", func(s *suite) {
		s.create("a")
		s.append("a", say("0"), long("1"), say("2"), say("3"))
		s.append("a", keyed(say("4"), "k"))
		f, err := s.Fork(s.ctx, s.state("a"), 2, "f", "Fork")
		s.must(err)
		s.append("f", say("f3"))
		g, err := s.Fork(s.ctx, s.state("f"), 3, "g", "Fork of a fork")
		s.must(err)
		s.must(s.Delete(s.ctx, key("a")))
		s.must(s.Delete(s.ctx, key("f")))
		s.clock.Add(time.Second)
		if n, err := s.Purge(s.ctx, s.clock.Now()); n != 2 || err != nil {
			s.Fatalf("purged %d, %v", n, err)
		}
		s.check()
		for _, id := range []string{"a", "f"} {
			_, err := s.Thread(s.ctx, "lab", id)
			s.refused(err, thread.NotFound)
			_, err = s.Create(s.ctx, store.NewThread{Key: key(id)})
			s.refused(err, thread.Conflict)
		}
		if got := s.texts(s.state("g")); len(got) != 4 || got[0] != "0" || got[3] != "f3" {
			s.Fatalf("g reads %q", got)
		}
		if n := len(s.entries(s.state("g"), store.EntriesQuery{})); n != 4 {
			s.Fatalf("g sees %d entries", n)
		}
		s.talk("g", 1)
		t := s.state("g")
		if due, err := s.Due(s.ctx, t, 10); err != nil || len(due) != 1 || due[0] != (thread.Span{ID: 1, N: 1}) {
			s.Fatalf("due %v, %v", due, err)
		}
		made, err := s.PutNodes(s.ctx, t, []thread.Node{{Span: thread.Span{ID: 1, N: 1}, Text: "short", By: "test"}})
		s.must(err)
		if len(made) != 4 { // 1, 0+2, 0+4 since 2+2 was joined before
			s.Logf("made %v", made)
		}
		s.check()
		s.must(s.Delete(s.ctx, g.Key))
		s.clock.Add(time.Second)
		if n, err := s.Purge(s.ctx, s.clock.Now()); n != 1 || err != nil {
			s.Fatalf("purged %d, %v", n, err)
		}
		for _, id := range []string{"a", f.ID, g.ID} {
			s.create(id)
		}
	}},
}
