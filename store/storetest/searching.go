package storetest

import (
	"fmt"
	"slices"

	"github.com/skeinhq/skein/internal/word"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// find gives the seqs found, the best first, ties the newest first.
func (s *suite) find(id string, q store.SearchQuery, query string) []int64 {
	s.Helper()
	q.Words = word.Query(query)
	f, err := s.Search(s.ctx, s.state(id), q)
	s.must(err)
	slices.SortStableFunc(f.Matches, func(a, b store.Match) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return int(b.Seq - a.Seq)
	})
	var out []int64
	for _, m := range f.Matches {
		out = append(out, m.Seq)
		if m.Score <= 0 {
			s.Fatalf("match %+v", m)
		}
	}
	return out
}

var searching = []test{
	{"SearchFindsAnyOfTheWords", func(s *suite) {
		s.create("a")
		s.append("a", say("The studio opens on Monday"), say("Nothing of note"), title("studio"), say("studio, studio! And Monday again"), say("We shipped it"))
		if got := s.find("a", store.SearchQuery{}, "studio"); !slices.Equal(got, []int64{4, 1}) {
			s.Fatalf("found %v", got)
		}
		if got := s.find("a", store.SearchQuery{}, "shipping mondays"); len(got) != 3 {
			s.Fatalf("found %v", got)
		}
		if got := s.find("a", store.SearchQuery{}, "absent"); got != nil {
			s.Fatalf("found %v", got)
		}
		if f, err := s.Search(s.ctx, s.state("a"), store.SearchQuery{}); err != nil || f.Matches != nil {
			s.Fatalf("no words find %v, %v", f, err)
		}
		if f, err := s.Search(s.ctx, s.state("a"), store.SearchQuery{Words: []string{`"x" OR`, "a*", ""}}); err != nil || f.Matches != nil {
			s.Fatalf("odd words find %v, %v", f, err)
		}
	}},
	{"SearchFindsChineseJapaneseKorean", func(s *suite) {
		s.create("a")
		s.append("a", say("我们星期一在工作室见面"), say("スタジオは月曜日に開きます"), say("스튜디오는 월요일에 문을 엽니다"))
		for i, q := range []string{"工作室", "月曜日", "월요일"} {
			if got := s.find("a", store.SearchQuery{}, q); !slices.Contains(got, int64(i+1)) {
				s.Fatalf("%s finds %v", q, got)
			}
		}
	}},
	{"MatchesSayWhoAndWhere", func(s *suite) {
		s.create("a")
		n := say("the plan")
		n.Message.Author, n.Message.Role = "north", thread.Assistant
		s.append("a", say("x"), n)
		f, err := s.Search(s.ctx, s.state("a"), store.SearchQuery{Words: word.Query("plan")})
		s.must(err)
		if m := f.Matches; len(m) != 1 || m[0].Seq != 2 || m[0].Index != 1 || m[0].Role != thread.Assistant || m[0].Author != "north" {
			s.Fatalf("%+v", m)
		}
	}},
	{"SearchIsOfTheActivePathAndItsOrigins", func(s *suite) {
		s.create("a")
		s.append("a", say("plan zero"), say("plan one"), say("plan two"))
		_, err := s.Fork(s.ctx, s.state("a"), 1, "f", "")
		s.must(err)
		s.append("f", say("plan of the fork"))
		s.commit("a", s.rewindTo(s.state("a"), 0))
		s.append("a", say("plan again"))
		sorted := func(v []int64) []int64 { slices.Sort(v); return v }
		if got := sorted(s.find("a", store.SearchQuery{}, "plan")); !slices.Equal(got, []int64{1, 5}) {
			s.Fatalf("a finds %v", got)
		}
		if got := sorted(s.find("a", store.SearchQuery{Inactive: true}, "plan")); !slices.Equal(got, []int64{1, 2, 3, 5}) {
			s.Fatalf("a finds %v with the inactive", got)
		}
		if got := sorted(s.find("f", store.SearchQuery{}, "plan")); !slices.Equal(got, []int64{1, 2, 3}) {
			s.Fatalf("f finds %v", got)
		}
	}},
	{"TheNewestAreRanked", func(s *suite) {
		s.create("a")
		for i := range 12 {
			s.append("a", say(fmt.Sprint("plan ", i)))
		}
		f, err := s.Search(s.ctx, s.state("a"), store.SearchQuery{Words: word.Query("plan"), Limit: 5})
		s.must(err)
		if !f.Capped || len(f.Matches) != 5 || f.Matches[4].Seq != 8 {
			s.Fatalf("%+v", f)
		}
		f, err = s.Search(s.ctx, s.state("a"), store.SearchQuery{Words: word.Query("plan"), Limit: 12})
		s.must(err)
		if f.Capped || len(f.Matches) != 12 {
			s.Fatalf("%+v", f)
		}
	}},
	{"ScoresAreThoseOfBM25", func(s *suite) {
		s.create("a")
		for _, text := range []string{"alpha beta", "alpha alpha gamma delta", "beta", "omega", "sigma", "kappa"} {
			s.append("a", say(text))
		}
		f, err := s.Search(s.ctx, s.state("a"), store.SearchQuery{Words: word.Query("alpha")})
		s.must(err)
		// Two of six messages hold it; two and four terms, three in the mean:
		// idf = ln(4.5/2.5); tf·2.2/(tf + 1.2·(0.25 + 0.75·length/3)).
		want := map[int64]float64{1: 0.58779 * 2.2 / 1.9, 2: 0.58779 * 4.4 / 3.5}
		for _, m := range f.Matches {
			if d := m.Score - want[m.Seq]; d < -1e-4 || d > 1e-4 {
				s.Errorf("entry %d scores %v, want %v (terms of the message count its words alone)", m.Seq, m.Score, want[m.Seq])
			}
		}
		if len(f.Matches) != 2 {
			s.Fatalf("%+v", f)
		}
	}},
}
