package storetest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

func node(id, n int64, text string) thread.Node {
	return thread.Node{Span: thread.Span{ID: id, N: n}, Text: text, By: thread.ByExtractive, Version: 3}
}

func spansOf(nodes []thread.Node) (out []string) {
	for _, n := range nodes {
		out = append(out, n.Span.String())
	}
	return out
}

func (s *suite) due(id string) (out []string) {
	s.Helper()
	spans, err := s.Due(s.ctx, s.state(id), 100)
	s.must(err)
	for _, x := range spans {
		out = append(out, x.String())
	}
	if n := s.state(id).Backlog; n != int64(len(out)) {
		s.Fatalf("the backlog is %d, but due are %v", n, out)
	}
	return out
}

var lines = []test{
	{"ShortLinesJoinAtOnce", func(s *suite) {
		s.create("a")
		var made []string
		for i := range 4 {
			made = append(made, spansOf(s.append("a", say(fmt.Sprint(i))).Nodes)...)
		}
		if !slices.Equal(made, []string{"0+1", "1+1", "0+2", "2+1", "3+1", "2+2", "0+4"}) {
			s.Fatalf("made %v", made)
		}
		got, err := s.Nodes(s.ctx, s.state("a"), []thread.Span{{ID: 0, N: 4}, {ID: 4, N: 1}, {ID: 2, N: 1}, {ID: 0, N: 3}})
		s.must(err)
		if len(got) != 2 || got[0].Text != "ana: 0\nana: 1\nana: 2\nana: 3" || got[0].By != thread.ByJoined || got[0].Seq != 4 ||
			!got[0].Time.Equal(store.Stamp(s.clock.Now())) || got[1].By != thread.ByVerbatim || got[1].Text != "ana: 2" {
			s.Fatalf("nodes %+v", got)
		}
	}},
	{"ADraftOfManyJoinsLikeOneByOne", func(s *suite) {
		s.create("a")
		s.create("b")
		var all []store.New
		for i := range 13 {
			n := say(fmt.Sprint(i))
			if i%5 == 4 {
				n = long(fmt.Sprint(i))
			}
			all = append(all, n)
			s.append("a", n)
		}
		s.append("b", all...)
		for _, n := range []int64{1, 2, 4, 8} {
			var spans []thread.Span
			for id := int64(0); id+n <= 13; id += n {
				spans = append(spans, thread.Span{ID: id, N: n})
			}
			a, err := s.Nodes(s.ctx, s.state("a"), spans)
			s.must(err)
			b, err := s.Nodes(s.ctx, s.state("b"), spans)
			s.must(err)
			if !slices.Equal(spansOf(a), spansOf(b)) {
				s.Fatalf("one by one %v, together %v", spansOf(a), spansOf(b))
			}
		}
		if a, b := s.due("a"), s.due("b"); !slices.Equal(a, b) {
			s.Fatalf("one by one due %v, together %v", a, b)
		}
	}},
	{"WhatDoesNotFitIsDue", func(s *suite) {
		s.create("a")
		big := strings.Repeat("x", 400)
		s.append("a", say(big), say(big), say("2"), long("3"), say("4"))
		if got := s.due("a"); !slices.Equal(got, []string{"0+2", "3+1"}) {
			s.Fatalf("due %v", got)
		}
		if keys, err := s.DueThreads(s.ctx, 5); err != nil || len(keys) != 1 || keys[0] != (thread.Key{Space: "lab", Root: "a", ID: "a"}) {
			s.Fatalf("threads %v, %v", keys, err)
		}
		first, err := s.Due(s.ctx, s.state("a"), 1)
		s.must(err)
		if len(first) != 1 || first[0].String() != "0+2" {
			s.Fatalf("first due %v", first)
		}
		made, err := s.PutNodes(s.ctx, s.state("a"), []thread.Node{node(3, 1, "three"), node(0, 2, strings.Repeat("y", 510))})
		s.must(err)
		if got := spansOf(made); !slices.Equal(got, []string{"3+1", "2+2", "0+2"}) {
			s.Fatalf("made %v", got)
		}
		if made[0].Seq != 4 || made[0].Time.IsZero() {
			s.Fatalf("made %+v", made[0])
		}
		if got := s.due("a"); !slices.Equal(got, []string{"0+4"}) {
			s.Fatalf("due %v", got)
		}
		_, err = s.PutNodes(s.ctx, s.state("a"), []thread.Node{node(0, 4, "all")})
		s.must(err)
		if got := s.due("a"); got != nil {
			s.Fatalf("due %v", got)
		}
		if keys, err := s.DueThreads(s.ctx, 5); err != nil || len(keys) != 0 {
			s.Fatalf("threads %v, %v", keys, err)
		}
	}},
	{"TheFirstWriteOfANodeWins", func(s *suite) {
		s.create("a")
		s.append("a", long("0"), say("1"))
		n := node(0, 1, "first")
		n.Usage = &thread.Usage{Input: 5, Cost: 0.25}
		_, err := s.PutNodes(s.ctx, s.state("a"), []thread.Node{n})
		s.must(err)
		made, err := s.PutNodes(s.ctx, s.state("a"), []thread.Node{node(0, 1, "second"), node(1, 1, "other")})
		s.must(err)
		if len(made) != 0 {
			s.Fatalf("made %v", made)
		}
		got, err := s.Nodes(s.ctx, s.state("a"), []thread.Span{{ID: 0, N: 1}, {ID: 1, N: 1}})
		s.must(err)
		if got[0].Text != "first" || got[0].Version != 3 || got[0].Usage == nil || *got[0].Usage != *n.Usage || got[1].Text != "ana: 1" {
			s.Fatalf("nodes %+v", got)
		}
	}},
	{"WhatWasMadeOfANodeThatCameTooLateIsNotStored", func(s *suite) {
		s.create("a")
		s.append("a", long("0"), long("1"), long("2"), long("3"))
		full := strings.Repeat("x", 500)
		_, err := s.PutNodes(s.ctx, s.state("a"), []thread.Node{node(0, 1, full+"first")})
		s.must(err)
		made, err := s.PutNodes(s.ctx, s.state("a"), []thread.Node{
			node(0, 1, full+"late"), node(1, 1, full+"1"), node(2, 1, full+"2"), node(3, 1, full+"3"),
			node(0, 2, "of the late one"), node(2, 2, "2 and 3"), node(0, 4, "of that"),
		})
		s.must(err)
		if got := spansOf(made); !slices.Equal(got, []string{"1+1", "2+1", "3+1", "2+2"}) {
			s.Fatalf("made %v", got)
		}
		if got := s.due("a"); !slices.Equal(got, []string{"0+2"}) {
			s.Fatalf("due %v", got)
		}
		made, err = s.PutNodes(s.ctx, s.state("a"), []thread.Node{node(0, 1, full+"first"), node(0, 2, "of the first one"), node(0, 4, "all")})
		s.must(err)
		if got := spansOf(made); !slices.Equal(got, []string{"0+2", "0+4"}) {
			s.Fatalf("made %v of what stands there", got)
		}
	}},
	{"NodesThatCannotBe", func(s *suite) {
		s.create("a")
		s.append("a", long("0"), say("1"), long("2"), say("3"))
		t := s.state("a")
		wrongSeq := node(0, 1, "x")
		wrongSeq.Seq = 2
		for _, n := range []thread.Node{
			node(4, 1, "past the end"), node(0, 3, "no power of two"), node(1, 2, "no multiple"), node(0, 1, ""), node(0, 1, " \n"), node(0, 1, "\xff"),
			node(0, 1, strings.Repeat("x", 513)), node(0, 2, "lacks a child"), wrongSeq, {Span: thread.Span{ID: 0, N: 1}, Text: "by nobody"},
		} {
			_, err := s.PutNodes(s.ctx, t, []thread.Node{node(2, 1, "good"), n})
			s.refused(err, thread.Invalid)
		}
		if got := s.due("a"); !slices.Equal(got, []string{"0+1", "2+1"}) {
			s.Fatalf("half of a refused call was kept: due %v", got)
		}
		_, err := s.PutNodes(s.ctx, &thread.Thread{Key: key("nobody")}, nil)
		s.refused(err, thread.NotFound)
	}},
	{"LinesOfUndoneMessagesAreNotDue", func(s *suite) {
		s.create("a")
		s.append("a", long("0"), say("1"), long("2"), long("3"))
		old := s.state("a")
		s.commit("a", s.rewindTo(old, 1))
		if got := s.due("a"); !slices.Equal(got, []string{"0+1"}) {
			s.Fatalf("due %v", got)
		}
		s.append("a", long("other 2"), say("other 3"))
		// A line built for the old path is kept there, and no more comes of it.
		made, err := s.PutNodes(s.ctx, old, []thread.Node{node(2, 1, "old 2"), node(3, 1, "old 3")})
		s.must(err)
		if got := spansOf(made); !slices.Equal(got, []string{"2+1", "3+1"}) {
			s.Fatalf("made %v", got)
		}
		if got := s.due("a"); !slices.Equal(got, []string{"0+1", "2+1"}) {
			s.Fatalf("due %v", got)
		}
		// One that both paths have goes on on the new one.
		made, err = s.PutNodes(s.ctx, old, []thread.Node{node(0, 1, "zero")})
		s.must(err)
		if got := spansOf(made); !slices.Equal(got, []string{"0+1", "0+2"}) {
			s.Fatalf("made %v", got)
		}
		made, err = s.PutNodes(s.ctx, s.state("a"), []thread.Node{node(2, 1, "new 2")})
		s.must(err)
		if got := spansOf(made); !slices.Equal(got, []string{"2+1", "2+2", "0+4"}) {
			s.Fatalf("made %v", got)
		}
	}},
}

var concurrent = []test{
	{"ManyWritersOfOneThread", func(s *suite) {
		s.create("a")
		s.together(16, func(w int) error {
			for i := range 20 {
				_, err := s.Append(s.ctx, key("a"), draft(keyed(say(fmt.Sprintf("%d of %d", i, w)), fmt.Sprintf("%d.%d", w, i))))
				if err != nil {
					return err
				}
			}
			return nil
		})
		if t := s.state("a"); t.Length != 320 {
			s.Fatalf("%d messages", t.Length)
		}
	}},
	{"AFailingWriteNeverFailsOthers", func(s *suite) {
		s.create("a")
		s.create("b")
		s.append("a", long("0"), long("1"))
		t := s.state("a")
		s.together(16, func(w int) error {
			for i := range 10 {
				switch w % 4 {
				case 0: // fails before it writes
					_, err := s.Commit(s.ctx, key("b"), draft(say("x")), store.Guard{Tip: -1, Fence: 9})
					if thread.CodeOf(err) != thread.Conflict {
						return fmt.Errorf("got %w, want a conflict", err)
					}
				case 1: // fails half-way
					_, err := s.PutNodes(s.ctx, t, []thread.Node{node(0, 1, "zero"), node(0, 2, "no")})
					if thread.CodeOf(err) != thread.Invalid {
						return fmt.Errorf("got %w, want invalid", err)
					}
				default:
					if _, err := s.Append(s.ctx, key("b"), draft(say(fmt.Sprint(w, i)))); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if b := s.state("b"); b.Length != 80 {
			s.Fatalf("%d messages", b.Length)
		}
		if got := s.due("a"); !slices.Equal(got, []string{"0+1", "1+1"}) {
			s.Fatalf("due %v", got)
		}
	}},
	{"ManyThreadsAtOnce", func(s *suite) {
		s.together(8, func(w int) error {
			id := fmt.Sprint("t", w)
			if _, err := s.Create(s.ctx, store.NewThread{Key: key(id)}); err != nil {
				return err
			}
			for i := range 20 {
				n := say(fmt.Sprint(i))
				if i%3 == 0 {
					n = long(fmt.Sprint(i))
				}
				if _, err := s.Append(s.ctx, key(id), draft(n)); err != nil {
					return err
				}
				t, err := s.Thread(s.ctx, "lab", id)
				if err != nil {
					return err
				}
				due, err := s.Due(s.ctx, &t, 1)
				if err != nil {
					return err
				}
				for _, d := range due {
					if _, err := s.PutNodes(s.ctx, &t, []thread.Node{node(d.ID, d.N, "built "+d.String())}); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}},
	{"OneOwnerAtATime", func(s *suite) {
		s.create("a")
		var mu sync.Mutex
		won := 0
		s.together(8, func(w int) error {
			_, err := s.Acquire(s.ctx, key("a"), fmt.Sprint(w), time.Minute)
			if thread.CodeOf(err) == thread.Conflict {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			won++
			return err
		})
		if won != 1 {
			s.Fatalf("%d owners", won)
		}
	}},
}

// together runs f in n goroutines.
func (s *suite) together(n int, f func(w int) error) {
	s.Helper()
	errs := make([]error, n)
	var wg sync.WaitGroup
	for w := range n {
		wg.Go(func() { errs[w] = f(w) })
	}
	wg.Wait()
	for w, err := range errs {
		if err != nil {
			s.Errorf("writer %d: %v", w, err)
		}
	}
}
