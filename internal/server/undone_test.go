package server_test

import (
	"fmt"
	"slices"
	"testing"
)

// read is a message on a page, and how it is marked.
type read struct {
	Seq     int64
	Message *struct{ Parts []struct{ Text string } }
	Undone  bool
	Past    bool
}

func (s *site) page(query string) (items []read, tag string) {
	s.Helper()
	a := s.do("GET", "/v1/threads/rope/entries?"+query, nil)
	if a.status != 200 {
		s.Fatalf("%s: %d %s", query, a.status, a.body)
	}
	var page struct{ Items []read }
	a.into(s.TB, &page)
	return page.Items, a.header.Get("ETag")
}

func marks(items []read) []string {
	var out []string
	for _, x := range items {
		mark := "active"
		switch {
		case x.Undone:
			mark = "undone"
		case x.Past:
			mark = "past"
		}
		text := "(nothing)"
		if x.Message != nil {
			text = x.Message.Parts[0].Text
		}
		out = append(out, fmt.Sprintf("%s: %s", text, mark))
	}
	return out
}

// What was undone stays readable, and says that it was undone.
func TestPagesShowWhatWasUndoneToWhoAsks(t *testing.T) {
	s := open(t)
	s.create("rope")
	kept := s.say("rope", "the hall is blue")
	for _, text := range []string{"no, red", "no, green"} {
		s.say("rope", text)
	}
	_, whole := s.page("order=asc&inactive=true")
	s.call("POST", "/v1/threads/rope/rewind", map[string]any{"seq": kept.Seq}, 200, nil)
	again := s.say("rope", "it stays blue")

	want := []string{"the hall is blue: active", "it stays blue: active"}
	if items, _ := s.page("order=asc"); !slices.Equal(marks(items), want) {
		t.Errorf("a page: %q, want %q", marks(items), want)
	}
	want = []string{"the hall is blue: active", "no, red: undone", "no, green: undone", "it stays blue: active"}
	items, tag := s.page("order=asc&inactive=true")
	if !slices.Equal(marks(items), want) {
		t.Errorf("with what was undone: %q, want %q", marks(items), want)
	}
	if tag == whole {
		t.Error("the page has the tag that it had before the rewind")
	}
	items, _ = s.page(fmt.Sprintf("order=asc&inactive=true&after=%d&before=%d", kept.Seq, again.Seq))
	if !slices.Equal(marks(items), want[1:3]) {
		t.Errorf("what lies between: %q, want %q", marks(items), want[1:3])
	}
	var one struct{ Undone bool }
	s.get(fmt.Sprintf("/v1/threads/rope/entries/%d", items[0].Seq), &one)
	if !one.Undone {
		t.Error("the entry alone does not say that it was undone")
	}

	s.call("POST", "/v1/threads/rope/reset", nil, 200, nil)
	want = []string{"the hall is blue: past", "no, red: undone", "no, green: undone", "it stays blue: past"}
	if items, _ = s.page("order=asc&inactive=true"); !slices.Equal(marks(items), want) {
		t.Errorf("after a reset: %q, want %q", marks(items), want)
	}
}
