package storetest

import (
	"slices"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

var undoing = []test{
	{"RewindKeepsTheMessageItNames", func(s *suite) {
		s.create("a")
		s.talk("a", 3)
		s.commit("a", cutAt(s.state("a"), 2))
		s.talk("a", 1)
		s.commit("a", cutAt(s.state("a"), 3))
		s.talk("a", 2)
		before := s.state("a")
		s.commit("a", s.rewindTo(before, 3))
		t := s.state("a")
		if t.Length != 4 || t.Last != s.message(before, 3).Seq || t.Branch != 1 || t.Cut != 4 || t.Cuts != 2 || t.Fixed != t.Tip {
			s.Fatalf("state %+v", t)
		}
		w := s.append("a", say("new 4"))
		if e := w.Entries[0]; e.Index != 4 || e.Prev != t.Last || e.Branch != 1 {
			s.Fatalf("goes on with %+v", e)
		}
		if got := s.texts(s.state("a")); !slices.Equal(got, []string{"message 0 of a", "message 1 of a", "message 2 of a", "message 0 of a", "new 4"}) {
			s.Fatalf("reads %q", got)
		}
		if got := s.texts(before); len(got) != 6 {
			s.Fatalf("the older state reads %q", got)
		}
		s.commit("a", cutAt(s.state("a"), 3))
		if t := s.state("a"); t.Cuts != 3 {
			s.Fatalf("cut numbers repeat: %+v", t)
		}
		active := seqs(s.entries(s.state("a"), store.EntriesQuery{Kinds: []thread.Kind{thread.MessageKind}}))
		all := seqs(s.entries(s.state("a"), store.EntriesQuery{Kinds: []thread.Kind{thread.MessageKind}, Inactive: true}))
		if !slices.Equal(active, []int64{1, 2, 3, 5, 10}) || !slices.Equal(all, []int64{1, 2, 3, 5, 7, 8, 10}) {
			s.Fatalf("active %v, all %v", active, all)
		}
		s.commit("a", s.rewindTo(s.state("a"), 0))
		s.talk("a", 2)
		if t := s.state("a"); t.Length != 3 || t.Cut != 0 || t.Cuts != 3 {
			s.Fatalf("state %+v", t)
		}
	}},
	{"ARewindThatIsNotSoIsRefused", func(s *suite) {
		s.create("a")
		s.talk("a", 3)
		s.commit("a", cutAt(s.state("a"), 2))
		s.talk("a", 1)
		t := s.state("a")
		for _, r := range []thread.Rewind{{To: 1, Index: 1}, {To: 4, Index: 3}, {To: 5, Index: 3, Cut: 0}, {To: 9, Index: 9}, {To: 1, Index: -1}, {To: 3, Index: 2, Cut: 4}} {
			_, err := s.Commit(s.ctx, key("a"), draft(store.New{Entry: thread.Entry{Kind: thread.RewindKind, Rewind: &r}}), store.Guard{Tip: t.Tip})
			s.refused(err, thread.Invalid)
		}
		_, err := s.Commit(s.ctx, key("a"), draft(say("x"), s.rewindTo(t, 0)), store.Guard{Tip: t.Tip})
		s.refused(err, thread.Invalid)
		_, err = s.Commit(s.ctx, key("a"), draft(s.rewindTo(t, 0)), store.Guard{Tip: 3})
		s.refused(err, thread.Conflict)
	}},
	{"ARewindAndWhatFollowsGoTogether", func(s *suite) {
		s.create("a")
		s.talk("a", 4)
		w := s.commit("a", s.rewindTo(s.state("a"), 1), say("other 2"), long("other 3"))
		if w.Thread.Length != 4 || len(w.Nodes) != 1 {
			s.Fatalf("%+v\n%+v", w.Thread, w.Nodes)
		}
	}},
	{"ResetEmptiesTheActiveRange", func(s *suite) {
		s.create("a")
		s.talk("a", 3)
		s.commit("a", cutAt(s.state("a"), 2))
		w := s.commit("a", reset())
		if t := w.Thread; t.Length != 0 || t.Last != 0 || t.Cut != 0 || t.Cuts != 1 || t.Tip != 5 {
			s.Fatalf("state %+v", t)
		}
		s.talk("a", 2)
		if e := s.message(s.state("a"), 0); e.Prev != 0 || e.Branch != 1 || e.Seq != 6 {
			s.Fatalf("begins with %+v", e)
		}
		s.commit("a", reset())
		s.commit("a", reset())
		if t := s.state("a"); len(t.Segments) != 1 || t.Branch != 3 {
			s.Fatalf("segments %v", t.Segments)
		}
	}},
	{"CutsMustFollowFromTheLog", func(s *suite) {
		s.create("a")
		s.talk("a", 3)
		t := s.state("a")
		for _, c := range []thread.Cut{{Number: 2}, {Number: 1, Prev: 1}, {Number: 1, Boundary: 4}, {Number: 1, Boundary: -1}} {
			_, err := s.Commit(s.ctx, key("a"), draft(store.New{Entry: thread.Entry{Kind: thread.CutKind, Cut: &c}}), store.Guard{Tip: t.Tip})
			s.refused(err, thread.Invalid)
		}
	}},
}

var forks = []test{
	{"AForkSeesThePastAndNothingOfTheFuture", func(s *suite) {
		s.create("a")
		s.must(s.PutDocs(s.ctx, key("a"), []thread.Doc{{Name: thread.SettingsDoc, Data: []byte(`{"x":1}`)}, {Name: "usage", Data: []byte("1")}}))
		s.talk("a", 3)
		s.commit("a", cutAt(s.state("a"), 2))
		s.append("a", say("last seen"), say("unseen"))
		s.commit("a", cutAt(s.state("a"), 3))
		f, err := s.Fork(s.ctx, s.state("a"), 3, "f", "Fork")
		s.must(err)
		if f.Root != "a" || f.Title != "Fork" || f.Tip != 5 || f.Length != 4 || f.Last != 5 || f.Cut != 4 || f.Cuts != 1 || f.Epoch == s.state("a").Epoch {
			s.Fatalf("fork %+v", f)
		}
		if data, _, err := s.Doc(s.ctx, f.Key, thread.SettingsDoc); err != nil || string(data) != `{"x":1}` {
			s.Fatalf("settings %s, %v", data, err)
		}
		if _, ok, err := s.Doc(s.ctx, f.Key, "usage"); ok || err != nil {
			s.Fatalf("usage was copied, %v", err)
		}
		s.talk("a", 2)
		w := s.append("f", say("own"))
		if e := w.Entries[0]; e.Seq != 6 || e.Index != 4 || e.Prev != 5 {
			s.Fatalf("goes on with %+v", e)
		}
		want := []string{"message 0 of a", "message 1 of a", "message 2 of a", "last seen", "own"}
		if got := s.texts(s.state("f")); !slices.Equal(got, want) {
			s.Fatalf("reads %q", got)
		}
		if got := seqs(s.entries(s.state("f"), store.EntriesQuery{Newest: true})); !slices.Equal(got, []int64{6, 5, 4, 3, 2, 1}) {
			s.Fatalf("entries %v", got)
		}
		if got := seqs(s.entries(s.state("f"), store.EntriesQuery{After: 3})); !slices.Equal(got, []int64{4, 5, 6}) {
			s.Fatalf("entries %v", got)
		}
		if n := len(s.texts(s.state("a"))); n != 7 {
			s.Fatalf("the origin has %d messages", n)
		}
	}},
	{"ForksOfForks", func(s *suite) {
		s.create("a")
		s.talk("a", 4)
		_, err := s.Fork(s.ctx, s.state("a"), 2, "b", "")
		s.must(err)
		s.talk("b", 3)
		_, err = s.Fork(s.ctx, s.state("b"), 4, "c", "")
		s.must(err)
		s.talk("c", 2)
		_, err = s.Fork(s.ctx, s.state("c"), 1, "d", "")
		s.must(err)
		s.talk("d", 1)
		want := []string{"message 0 of a", "message 1 of a", "message 2 of a", "message 0 of b", "message 1 of b", "message 0 of c", "message 1 of c"}
		if got := s.texts(s.state("c")); !slices.Equal(got, want) {
			s.Fatalf("c reads %q", got)
		}
		if got := s.texts(s.state("d")); !slices.Equal(got, []string{"message 0 of a", "message 1 of a", "message 0 of d"}) {
			s.Fatalf("d reads %q", got)
		}
		if l := s.state("d").Lineage; len(l) != 2 || l[0].Upto != 2 {
			s.Fatalf("d's lineage %+v", l)
		}
		// Back into an origin's part, and on from there.
		s.commit("c", s.rewindTo(s.state("c"), 0))
		s.talk("c", 1)
		if got := s.texts(s.state("c")); !slices.Equal(got, []string{"message 0 of a", "message 0 of c"}) {
			s.Fatalf("c reads %q", got)
		}
		_, err = s.Fork(s.ctx, s.state("c"), 0, "e", "")
		s.must(err)
		s.talk("e", 1)
		s.commit("b", reset())
		s.talk("b", 1)
	}},
	{"AForkThatCannotBe", func(s *suite) {
		s.create("a")
		s.talk("a", 2)
		t := s.state("a")
		for _, i := range []int64{-1, 2} {
			_, err := s.Fork(s.ctx, t, i, "f", "")
			s.refused(err, thread.NotFound)
		}
		_, err := s.Fork(s.ctx, t, 0, "a", "")
		s.refused(err, thread.Conflict)
		_, err = s.Fork(s.ctx, t, 0, "", "")
		s.refused(err, thread.Invalid)
		s.commit("a", s.rewindTo(t, 0))
		s.talk("a", 1)
		_, err = s.Fork(s.ctx, t, 1, "f", "")
		s.refused(err, thread.Conflict)
		_, err = s.Fork(s.ctx, t, 0, "f", "")
		s.must(err)
	}},
	{"KeysOfThePastCountInAFork", func(s *suite) {
		s.create("a")
		s.append("a", keyed(say("seen"), "1"), say("x"), keyed(say("unseen"), "2"))
		_, err := s.Fork(s.ctx, s.state("a"), 1, "f", "")
		s.must(err)
		if w := s.append("f", keyed(say("seen"), "1")); w.Fresh || w.Entries[0].Seq != 1 {
			s.Fatalf("%+v", w)
		}
		_, err = s.Append(s.ctx, key("f"), draft(keyed(say("other"), "1")))
		s.refused(err, thread.Conflict)
		if w := s.append("f", keyed(say("another"), "2")); !w.Fresh || w.Entries[0].Seq != 3 {
			s.Fatalf("%+v", w)
		}
	}},
	{"AnOpenTurnStaysWithItsThread", func(s *suite) {
		s.create("a")
		s.talk("a", 1)
		s.commit("a", turn(thread.TurnBegun, 0), say("step"))
		q := say("wait")
		q.QueueIfBusy = true
		s.append("a", q)
		f, err := s.Fork(s.ctx, s.state("a"), 1, "f", "")
		s.must(err)
		if f.Turn != 0 || f.Inbox != nil {
			s.Fatalf("fork %+v", f)
		}
		s.talk("f", 1)
	}},
	{"LinesOfThePastAreSharedByForks", func(s *suite) {
		s.create("a")
		s.append("a", say("0"), long("1"), say("2"), say("3"))
		f, err := s.Fork(s.ctx, s.state("a"), 3, "f", "")
		s.must(err)
		if f.Backlog != 1 {
			s.Fatalf("backlog %d", f.Backlog)
		}
		s.append("f", say("4"), say("5"), say("6"), say("7"))
		s.append("a", say("4a"), long("5a"))
		// The fork builds what its origin lacks; both go on from it.
		made, err := s.PutNodes(s.ctx, s.state("f"), []thread.Node{{Span: thread.Span{ID: 1, N: 1}, Text: "one", By: "test"}})
		s.must(err)
		var spans []string
		for _, n := range made {
			spans = append(spans, n.Span.String())
		}
		if !slices.Equal(spans, []string{"1+1", "0+2", "0+4", "0+8"}) {
			s.Fatalf("made %v", spans)
		}
		for id, want := range map[string]int{"f": 4, "a": 2} {
			t := s.state(id)
			got, err := s.Nodes(s.ctx, t, []thread.Span{{ID: 0, N: 4}, {ID: 1, N: 1}, {ID: 0, N: 8}, {ID: 5, N: 1}})
			s.must(err)
			if len(got) != want {
				s.Fatalf("%s sees %d nodes, want %d: %+v", id, len(got), want, got)
			}
		}
		if a, f := s.state("a").Backlog, s.state("f").Backlog; a != 1 || f != 0 {
			s.Fatalf("backlogs %d and %d", a, f)
		}
	}},
	{"LinesStayDueForAForkWhenUndone", func(s *suite) {
		s.create("a")
		s.append("a", say("0"), long("1"), long("2"))
		_, err := s.Fork(s.ctx, s.state("a"), 1, "f", "")
		s.must(err)
		s.commit("a", reset())
		if due, err := s.Due(s.ctx, s.state("a"), 10); len(due) != 0 || err != nil {
			s.Fatalf("a has due %v, %v", due, err)
		}
		if due, err := s.Due(s.ctx, s.state("f"), 10); len(due) != 1 || err != nil {
			s.Fatalf("f has due %v, %v", due, err)
		}
		if keys, err := s.DueThreads(s.ctx, 10); len(keys) != 1 || keys[0].ID != "f" || err != nil {
			s.Fatalf("threads with due lines: %v, %v", keys, err)
		}
	}},
}
