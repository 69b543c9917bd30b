package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

var writing = []test{
	{"AppendGivesPlaces", func(s *suite) {
		s.create("a")
		for i := range int64(3) {
			w := s.append("a", say("hello"))
			e := w.Entries[0]
			if e.Seq != i+1 || e.Index != i || e.Prev != i || e.Branch != 0 || !w.Fresh {
				s.Fatalf("message %d got seq %d, index %d, prev %d, branch %d", i, e.Seq, e.Index, e.Prev, e.Branch)
			}
			if e.ID == "" || !e.Time.Equal(store.Stamp(s.clock.Now())) || e.Time.Location() != time.UTC {
				s.Fatalf("id %q, time %v", e.ID, e.Time)
			}
			if t := w.Thread; t.Tip != i+1 || t.Fixed != i+1 || t.Last != i+1 || t.Length != i+1 {
				s.Fatalf("state after message %d: %+v", i, t)
			}
		}
	}},
	{"WrittenIsWhatIsRead", func(s *suite) {
		s.create("a")
		n := say("x")
		n.Message.Meta = []byte(`{ "a" : "<b>" }`)
		n.Message.Parts = append(n.Message.Parts, thread.Call("c1", "find", []byte(`{"q": "a b"}`)), thread.Part{Type: thread.ThinkingPart, Text: "…", Signature: "sig\x00é/+="})
		w := s.append("a", n, title("New"))
		if d := cmp.Diff(w.Entries, s.entries(s.state("a"), store.EntriesQuery{})); d != "" {
			s.Fatalf("written and read differ:\n%s", d)
		}
		if d := cmp.Diff(w.Thread, *s.state("a")); d != "" {
			s.Fatalf("states differ:\n%s", d)
		}
		e, err := s.Entry(s.ctx, s.state("a"), 1)
		s.must(err)
		if d := cmp.Diff(w.Entries[0], e); d != "" {
			s.Fatalf("entry 1 differs:\n%s", d)
		}
	}},
	{"WhatTheCallerKeepsIsNotTheLog", func(s *suite) {
		s.create("a")
		n := say("before")
		w := s.append("a", n)
		n.Message.Parts[0].Text = "after"
		w.Entries[0].Message.Parts[0].Text = "after"
		if got := s.texts(s.state("a")); got[0] != "before" {
			s.Fatalf("the log holds %q", got)
		}
	}},
	{"IDAndTimeAreKept", func(s *suite) {
		s.create("a")
		n := say("old")
		n.ID, n.Time = "reserved", time.Date(2020, 1, 2, 3, 4, 5, 678999999, time.FixedZone("x", 3600))
		e := s.append("a", n).Entries[0]
		if e.ID != "reserved" || !e.Time.Equal(time.Date(2020, 1, 2, 2, 4, 5, 678000000, time.UTC)) {
			s.Fatalf("id %q, time %v", e.ID, e.Time)
		}
	}},
	{"TimesNeverGoBack", func(s *suite) {
		s.create("a")
		first := s.append("a", say("one")).Entries[0]
		s.clock.Add(-time.Hour)
		if e := s.append("a", say("two")).Entries[0]; e.Time.Before(first.Time) {
			s.Fatalf("%v comes after %v", e.Time, first.Time)
		}
	}},
	{"ADraftIsAtomic", func(s *suite) {
		s.create("a")
		s.talk("a", 1)
		_, err := s.Commit(s.ctx, key("a"), draft(say("kept?"), cutAt(s.state("a"), 99)), store.Guard{Tip: 1})
		s.refused(err, thread.Invalid)
		if t := s.state("a"); t.Tip != 1 || t.Length != 1 {
			s.Fatalf("half of a draft was kept: %+v", t)
		}
	}},
	{"KindsThatAppendRefuses", func(s *suite) {
		s.create("a")
		for _, n := range []store.New{turn(thread.TurnBegun, 0), reset(), cutAt(s.state("a"), 0)} {
			_, err := s.Append(s.ctx, key("a"), draft(n))
			s.refused(err, thread.Invalid)
		}
		_, err := s.Commit(s.ctx, key("a"), draft(store.New{Entry: thread.Entry{Kind: thread.EraseKind, Erase: &thread.Erase{}}}), store.Guard{})
		s.refused(err, thread.Invalid)
		_, err = s.Append(s.ctx, key("a"), draft(store.New{Entry: thread.Entry{Kind: thread.MessageKind}}))
		s.refused(err, thread.Invalid)
		_, err = s.Append(s.ctx, key("nobody"), draft(say("x")))
		s.refused(err, thread.NotFound)
		tooLong := say("x")
		tooLong.Line = strings.Repeat("x", thread.LineBytes+1)
		_, err = s.Append(s.ctx, key("a"), draft(tooLong))
		s.refused(err, thread.Invalid)
	}},
	{"SameKeySameContentIsWrittenOnce", func(s *suite) {
		s.create("a")
		first := s.append("a", keyed(say("hello"), "k"))
		s.talk("a", 2)
		again := keyed(say("hello"), "k")
		again.Message.Weight = 7 // what the engine adds is not content
		w := s.append("a", again)
		if w.Fresh || w.Entries[0].Seq != 1 || s.state("a").Tip != 3 {
			s.Fatalf("fresh %v, entry %d, tip %d", w.Fresh, w.Entries[0].Seq, s.state("a").Tip)
		}
		if d := cmp.Diff(first.Entries, w.Entries); d != "" {
			s.Fatalf("not the first entry again:\n%s", d)
		}
		_, err := s.Append(s.ctx, key("a"), draft(keyed(say("goodbye"), "k")))
		s.refused(err, thread.Conflict)
		s.create("b")
		if w := s.append("b", keyed(say("goodbye"), "k")); !w.Fresh {
			s.Fatal("another thread's key counted")
		}
	}},
	{"KeysAreCheckedBeforeTips", func(s *suite) {
		s.create("a")
		s.talk("a", 1)
		d := draft(keyed(say("step"), "k1"), turn(thread.TurnBegun, 0))
		_, err := s.Commit(s.ctx, key("a"), d, store.Guard{Tip: 1})
		s.must(err)
		w, err := s.Commit(s.ctx, key("a"), d, store.Guard{Tip: 1})
		s.must(err)
		if w.Fresh || len(w.Entries) != 1 || w.Entries[0].Seq != 2 || s.state("a").Tip != 3 {
			s.Fatalf("the retry wrote: %+v", w)
		}
	}},
	{"AKeyTwiceInADraftIsRefused", func(s *suite) {
		s.create("a")
		_, err := s.Append(s.ctx, key("a"), draft(keyed(say("x"), "k"), keyed(say("x"), "k")))
		s.refused(err, thread.Invalid)
	}},
	{"ADraftWithSomeOfItsKeysWritesTheRest", func(s *suite) {
		s.create("a")
		s.append("a", keyed(say("one"), "1"))
		w := s.append("a", keyed(say("one"), "1"), keyed(say("two"), "2"))
		if !w.Fresh || !slices.Equal(seqs(w.Entries), []int64{1, 2}) {
			s.Fatalf("fresh %v, entries %v", w.Fresh, seqs(w.Entries))
		}
	}},
	{"QueuedWhileATurnIsOpen", func(s *suite) {
		s.create("a")
		q := say("wait")
		q.QueueIfBusy, q.When, q.Key = true, "now", "k"
		if e := s.append("a", say("go")).Entries[0]; e.Kind != thread.MessageKind {
			s.Fatalf("queued while nothing ran: %v", e.Kind)
		}
		begun := s.commit("a", turn(thread.TurnBegun, 0)).Entries[0].Seq
		if t := s.state("a"); t.Turn != begun {
			s.Fatalf("turn %d, want %d", t.Turn, begun)
		}
		e := s.append("a", q).Entries[0]
		if e.Kind != thread.QueuedKind || e.Queued.When != "now" || e.Queued.Message.PlainText() != "wait" || e.Index != thread.NoIndex {
			s.Fatalf("not queued: %+v", e)
		}
		if t := s.state("a"); !slices.Equal(t.Inbox, []int64{e.Seq}) || t.Fixed != begun || t.Tip != e.Seq {
			s.Fatalf("state %+v", t)
		}
		s.commit("a", turn(thread.TurnEnded, begun))
		// Others wait, so the next one queues up behind them.
		q2 := say("me too")
		q2.QueueIfBusy = true
		e2 := s.append("a", q2).Entries[0]
		if e2.Kind != thread.QueuedKind {
			s.Fatalf("overtook the inbox: %+v", e2)
		}
		// A retry is the same, queued or not.
		if w := s.append("a", q); w.Fresh || w.Entries[0].Seq != e.Seq {
			s.Fatalf("the retry wrote %+v", w)
		}
		take := say("wait")
		take.Message.Queued = e.Seq
		w := s.commit("a", take)
		if !slices.Equal(w.Thread.Inbox, []int64{e2.Seq}) || w.Entries[0].Index != 1 {
			s.Fatalf("after taking: inbox %v, %+v", w.Thread.Inbox, w.Entries[0])
		}
		_, err := s.Commit(s.ctx, key("a"), draft(take), store.Guard{Tip: w.Thread.Tip})
		s.refused(err, thread.Conflict)
		take.Message.Queued = e2.Seq
		if w := s.commit("a", take); w.Thread.Inbox != nil {
			s.Fatalf("inbox %v", w.Thread.Inbox)
		}
	}},
	{"OwnTurnIsFilledIn", func(s *suite) {
		s.create("a")
		s.talk("a", 1)
		m := say("step")
		m.Message.Turn = -1
		w := s.commit("a", turn(thread.TurnBegun, -1), m, turn(thread.TurnStarted, -1), turn(thread.TurnEnded, -1))
		for _, e := range s.entries(s.state("a"), store.EntriesQuery{After: 1}) {
			of := int64(0)
			if e.Turn != nil {
				of = e.Turn.Turn
			} else {
				of = e.Message.Turn
			}
			if of != 2 {
				s.Fatalf("entry %d is of turn %d, want 2", e.Seq, of)
			}
		}
		if w.Thread.Turn != 0 {
			s.Fatalf("the turn is still open: %+v", w.Thread)
		}
		_, err := s.Commit(s.ctx, key("a"), draft(m), store.Guard{Tip: w.Thread.Tip})
		s.refused(err, thread.Invalid)
		_, err = s.Commit(s.ctx, key("a"), draft(turn(thread.TurnEnded, 2)), store.Guard{Tip: w.Thread.Tip})
		s.refused(err, thread.Conflict)
		s.commit("a", turn(thread.TurnBegun, 0))
		_, err = s.Commit(s.ctx, key("a"), draft(turn(thread.TurnBegun, 0)), store.Guard{Tip: w.Thread.Tip + 1})
		s.refused(err, thread.Conflict)
	}},
	{"InactiveMessagesHaveNoIndex", func(s *suite) {
		s.create("a")
		s.talk("a", 1)
		n := say("interrupted")
		n.Inactive = true
		w := s.commit("a", n)
		if e := w.Entries[0]; e.Index != thread.NoIndex || e.Prev != 1 || len(w.Nodes) != 0 || w.Thread.Length != 1 || w.Thread.Last != 1 {
			s.Fatalf("%+v\n%+v", e, w.Thread)
		}
		s.talk("a", 1)
		if got := seqs(s.entries(s.state("a"), store.EntriesQuery{})); !slices.Equal(got, []int64{1, 3}) {
			s.Fatalf("active entries %v", got)
		}
		if got := seqs(s.entries(s.state("a"), store.EntriesQuery{Inactive: true})); !slices.Equal(got, []int64{1, 2, 3}) {
			s.Fatalf("all entries %v", got)
		}
	}},
	{"EntriesByQuery", func(s *suite) {
		s.create("a")
		for range 300 {
			s.append("a", say("m"), title("t"))
		}
		t := s.state("a")
		for _, c := range []struct {
			q    store.EntriesQuery
			want []int64
		}{
			{store.EntriesQuery{After: 596}, []int64{597, 598, 599, 600}},
			{store.EntriesQuery{Before: 4}, []int64{1, 2, 3}},
			{store.EntriesQuery{After: 5, Before: 9, Newest: true}, []int64{8, 7, 6}},
			{store.EntriesQuery{Newest: true, Limit: 2}, []int64{600, 599}},
			{store.EntriesQuery{Kinds: []thread.Kind{thread.TitleKind}, After: 590, Limit: 3}, []int64{592, 594, 596}},
			{store.EntriesQuery{After: 600}, nil},
			{store.EntriesQuery{Kinds: []thread.Kind{}}, nil},
		} {
			if got := seqs(s.entries(t, c.q)); !slices.Equal(got, c.want) {
				s.Errorf("%+v gives %v, want %v", c.q, got, c.want)
			}
		}
		if n := len(s.entries(t, store.EntriesQuery{})); n != 600 {
			s.Errorf("%d entries, want 600", n)
		}
		if got := seqs(s.entries(t, store.EntriesQuery{Newest: true})); len(got) != 600 || !slices.IsSortedFunc(got, func(a, b int64) int { return int(b - a) }) {
			s.Errorf("%d entries, newest first", len(got))
		}
		old := *t
		s.talk("a", 1)
		if n := len(s.entries(&old, store.EntriesQuery{})); n != 600 {
			s.Errorf("an older state sees %d entries", n)
		}
		_, err := s.Entry(s.ctx, &old, 601)
		s.refused(err, thread.NotFound)
		_, err = s.Entry(s.ctx, t, 0)
		s.refused(err, thread.NotFound)
	}},
	{"ReadersMayCallTheStore", func(s *suite) {
		s.create("a")
		s.talk("a", 10)
		t := s.state("a")
		for e, err := range s.Messages(s.ctx, t, 0, t.Length) {
			s.must(err)
			for f, err := range s.Entries(s.ctx, t, store.EntriesQuery{}) {
				s.must(err)
				if f.Seq == e.Seq {
					s.append("a", say("beside"))
					break
				}
			}
		}
	}},
	{"DocsAreKeptAndRemoved", func(s *suite) {
		s.create("a")
		w, err := s.Append(s.ctx, key("a"), store.Draft{Entries: []store.New{say("x")}, Docs: []thread.Doc{{Name: "usage", Data: []byte(`{"n":1}`)}}})
		s.must(err)
		if w.Thread.Tip != 1 {
			s.Fatalf("a document moved the tip to %d", w.Thread.Tip)
		}
		s.must(s.PutDocs(s.ctx, key("a"), []thread.Doc{{Name: "usage", Data: []byte(`{"n":2}`)}, {Name: "live", Data: []byte(`"x"`)}}))
		data, ok, err := s.Doc(s.ctx, key("a"), "usage")
		s.must(err)
		if !ok || string(data) != `{"n":2}` {
			s.Fatalf("usage is %s", data)
		}
		s.must(s.PutDocs(s.ctx, key("a"), []thread.Doc{{Name: "live"}}))
		if _, ok, err := s.Doc(s.ctx, key("a"), "live"); ok || err != nil {
			s.Fatalf("live is still there: %v", err)
		}
		s.refused(s.PutDocs(s.ctx, key("a"), []thread.Doc{{Name: "x", Data: []byte(`{`)}}), thread.Invalid)
		s.refused(s.PutDocs(s.ctx, key("nobody"), []thread.Doc{{Name: "x"}}), thread.NotFound)
		_, _, err = s.Doc(s.ctx, key("nobody"), "x")
		s.refused(err, thread.NotFound)
	}},
	{"ADocumentIsSwappedOnlyAsItWasRead", func(s *suite) {
		s.create("a")
		doc := func(data string) thread.Doc { return thread.Doc{Name: "x", Data: []byte(data)} }
		s.refused(s.SwapDoc(s.ctx, key("a"), doc("2"), []byte("1")), thread.Conflict)
		s.must(s.SwapDoc(s.ctx, key("a"), doc("1"), nil))
		s.refused(s.SwapDoc(s.ctx, key("a"), doc("2"), nil), thread.Conflict)
		s.must(s.SwapDoc(s.ctx, key("a"), doc("2"), []byte("1")))
		s.refused(s.SwapDoc(s.ctx, key("a"), doc("3"), []byte("1")), thread.Conflict)
		if data, ok, err := s.Doc(s.ctx, key("a"), "x"); err != nil || !ok || string(data) != "2" {
			s.Fatalf("the document is %s, %v, %v", data, ok, err)
		}
		s.must(s.SwapDoc(s.ctx, key("a"), thread.Doc{Name: "x"}, []byte("2")))
		if _, ok, err := s.Doc(s.ctx, key("a"), "x"); ok || err != nil {
			s.Fatalf("the document is still there: %v", err)
		}
		s.refused(s.SwapDoc(s.ctx, key("a"), doc("{"), nil), thread.Invalid)
		s.refused(s.SwapDoc(s.ctx, key("nobody"), doc("1"), nil), thread.NotFound)
	}},
	{"WritersWhoSwapADocumentLoseNoUpdate", func(s *suite) {
		s.create("a")
		const writers, each = 8, 10
		errs := make(chan error, writers)
		for range writers {
			go func() {
				for range each {
					if err := increment(s, "a"); err != nil {
						errs <- err
						return
					}
				}
				errs <- nil
			}()
		}
		for range writers {
			s.must(<-errs)
		}
		if data, _, err := s.Doc(s.ctx, key("a"), "count"); err != nil || string(data) != fmt.Sprint(writers*each) {
			s.Fatalf("counted %s, want %d; %v", data, writers*each, err)
		}
	}},
	{"BlobsAreKeptOncePerFamily", func(s *suite) {
		s.create("a")
		s.talk("a", 1)
		h, err := s.PutBlob(s.ctx, key("a"), "text/plain", []byte("abc"))
		s.must(err)
		if h != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
			s.Fatalf("hash %s", h)
		}
		_, err = s.PutBlob(s.ctx, key("a"), "text/other", []byte("abc"))
		s.must(err)
		f, err := s.Fork(s.ctx, s.state("a"), 0, "f", "")
		s.must(err)
		typ, data, err := s.Blob(s.ctx, f.Key, h)
		s.must(err)
		if typ != "text/plain" || string(data) != "abc" {
			s.Fatalf("%s %q", typ, data)
		}
		empty, err := s.PutBlob(s.ctx, key("a"), "text/plain", nil)
		s.must(err)
		if _, data, err := s.Blob(s.ctx, key("a"), empty); err != nil || len(data) != 0 {
			s.Fatalf("%q %v", data, err)
		}
		s.create("b")
		_, _, err = s.Blob(s.ctx, key("b"), h)
		s.refused(err, thread.NotFound)
		_, err = s.PutBlob(s.ctx, key("nobody"), "", nil)
		s.refused(err, thread.NotFound)
	}},
	{"AClosedStoreRefuses", func(s *suite) {
		s.create("a")
		t := s.state("a")
		s.check()
		s.must(s.Close())
		s.must(s.Close())
		_, err := s.Append(s.ctx, key("a"), draft(say("x")))
		s.refused(err, thread.Storage)
		_, err = s.Thread(s.ctx, "lab", "a")
		s.refused(err, thread.Storage)
		for _, err := range s.Entries(s.ctx, t, store.EntriesQuery{}) {
			s.refused(err, thread.Storage)
		}
		s.Store = closed{s.Store}
	}},
	{"AnEndedContextStopsACall", func(s *suite) {
		s.create("a")
		ctx, cancel := contextWithCancel(s)
		cancel()
		_, err := s.Append(ctx, key("a"), draft(say("x")))
		s.refused(err, thread.Aborted)
		if !errors.Is(err, ctx.Err()) {
			s.Fatalf("%v does not wrap the cause", err)
		}
		_, err = s.Thread(ctx, "lab", "a")
		s.refused(err, thread.Aborted)
	}},
}

// increment adds one to a counter that others add to.
func increment(s *suite, id string) error {
	for {
		was, _, err := s.Doc(s.ctx, key(id), "count")
		if err != nil {
			return err
		}
		n, _ := strconv.Atoi(string(was)) // 0 where there is none
		err = s.SwapDoc(s.ctx, key(id), thread.Doc{Name: "count", Data: []byte(strconv.Itoa(n + 1))}, was)
		if thread.CodeOf(err) != thread.Conflict {
			return err
		}
	}
}
