package main

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/client"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

// told is a source whose updates a test makes.
type told struct {
	ranges  []view.Range
	missing []view.Entry // what a page brings
	fails   error
}

func (s *told) Updates(context.Context) iter.Seq2[client.Update, error] { return nil }
func (s *told) Ranges() []view.Range                                    { return s.ranges }
func (s *told) Forget()                                                 { s.ranges = s.ranges[max(0, len(s.ranges)-1):] }

func (s *told) Holes() (out []view.Hole) {
	for i := 1; i < len(s.ranges); i++ {
		old := s.ranges[i-1].Entries
		out = append(out, view.Hole{After: old[len(old)-1].Seq, Before: s.ranges[i].Entries[0].Seq})
	}
	return out
}

func (s *told) Fetch(_ context.Context, before int64, _ int) (bool, error) {
	if s.fails != nil {
		return false, s.fails
	}
	n := len(s.missing)
	page := s.missing[n-1] // one at a time, the newest first
	s.missing = s.missing[:n-1]
	last := len(s.ranges) - 1
	s.ranges[last].Entries = append([]view.Entry{page}, s.ranges[last].Entries...)
	s.ranges[last].Before = page.Prev
	if n == 1 && last > 0 { // it touches
		s.ranges = []view.Range{{Entries: append(s.ranges[0].Entries, s.ranges[1].Entries...)}}
	}
	return n > 1, nil
}

func said(seq int64, author, text string) view.Entry {
	role := thread.User
	if author == "north" {
		role = thread.Assistant
	}
	return view.Entry{Seq: seq, ID: string(rune('a' + seq)), Message: &thread.Message{Author: author, Role: role, Parts: []thread.Part{thread.Text(text)}}}
}

// teller makes one that prints into a buffer, together with what it says of the link.
func tellerOf(json bool) (*teller, *bytes.Buffer) {
	out := &bytes.Buffer{}
	return newTeller(&app{ctx: context.Background(), out: out, errs: out, flags: &Flags{JSON: json}}), out
}

func (s *told) update(t *testing.T, to *teller, state client.State, v *view.View) {
	t.Helper()
	u := client.Update{State: state}
	if v != nil {
		u.Batch, u.View = &view.Batch{}, *v
	}
	if err := to.update(t.Context(), s, u); err != nil {
		t.Fatal(err)
	}
}

func printed(t *testing.T, out *bytes.Buffer, want string) {
	t.Helper()
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Errorf("(-want +printed):\n%s", d)
	}
	out.Reset()
}

func TestWhatWasMissedIsPrintedInOrder(t *testing.T) {
	to, out := tellerOf(false)
	s := &told{ranges: []view.Range{{Entries: []view.Entry{said(1, "ana", "one")}}}}
	s.update(t, to, client.Live, &view.View{})
	printed(t, out, "skein: live\nana: one\n")

	s.ranges = append(s.ranges, view.Range{Entries: []view.Entry{said(5, "ana", "five")}})
	s.missing = []view.Entry{said(2, "bo", "two"), said(3, "bo", "three"), said(4, "bo", "four")}
	s.fails = errors.New("no answer")
	s.update(t, to, client.Offline, nil)
	s.update(t, to, client.CatchingUp, nil)
	s.update(t, to, client.Offline, nil)
	s.update(t, to, client.Live, &view.View{})
	printed(t, out, "skein: offline\nskein: live\n") // what follows waits

	s.fails = nil
	s.update(t, to, client.Live, &view.View{})
	printed(t, out, "bo: two\nbo: three\nbo: four\nana: five\n")
}

// What came and left the window within one batch is in none of the ranges.
func TestWhatCameAndWentInOneBatchIsPrinted(t *testing.T) {
	for _, begun := range []struct {
		with  []view.Entry
		first string
		rest  int
	}{{nil, "skein: live\n", 0}, {[]view.Entry{said(1, "ana", "one")}, "skein: live\nana: one\n", 1}} {
		to, out := tellerOf(false)
		s := &told{}
		if begun.with != nil {
			s.ranges = []view.Range{{Entries: begun.with}}
		}
		s.update(t, to, client.Live, &view.View{Length: int64(len(begun.with))})
		printed(t, out, begun.first)

		all := []view.Entry{said(1, "ana", "one"), said(2, "bo", "two"), said(3, "bo", "three"), said(4, "bo", "four")}
		for i := range all {
			all[i].Prev = all[i].Seq - 1
		}
		last := said(5, "ana", "five")
		last.Prev = 4
		s.ranges = []view.Range{{Before: 4, Entries: []view.Entry{last}}}
		s.missing = all[begun.rest:]
		s.update(t, to, client.Live, &view.View{Length: 5})
		printed(t, out, []string{"ana: one\n", ""}[begun.rest]+"bo: two\nbo: three\nbo: four\nana: five\n")
	}
}

// barren is a source of which no page brings anything.
type barren struct {
	told
	pages int
}

func (b *barren) Fetch(context.Context, int64, int) (bool, error) {
	b.pages++
	return true, nil
}

// Where what is missing is not to be had, what follows is printed all the same.
func TestWhatIsNotToBeHadHoldsNothingBack(t *testing.T) {
	to, out := tellerOf(false)
	s := &barren{told: told{ranges: []view.Range{{Entries: []view.Entry{said(1, "ana", "one")}}}}}
	s.update(t, to, client.Live, &view.View{Length: 1})
	s.ranges = []view.Range{{Before: 4, Entries: []view.Entry{said(5, "ana", "five")}}}
	if err := to.update(t.Context(), s, client.Update{State: client.Live, Batch: &view.Batch{}, View: view.View{Length: 2}}); err != nil {
		t.Fatal(err)
	}
	printed(t, out, "skein: live\nana: one\nana: five\n")
	if s.pages != 1 {
		t.Errorf("%d pages were fetched", s.pages)
	}
}

func live(id, text string) *view.View {
	return &view.View{Docs: view.Docs{Live: &view.Live{ID: id, Author: "north", Text: text}}}
}

func TestAnAnswerGrowsInPlaceAtATerminal(t *testing.T) {
	to, out := tellerOf(false)
	to.inPlace, to.state = true, client.Live
	s := &told{}
	s.update(t, to, client.Live, live("c", "Hel"))
	printed(t, out, "north: Hel")
	s.update(t, to, client.Live, live("c", "Hello\nyou\x1b[2J"))
	printed(t, out, "lo\nyou<U+001B>[2J")
	s.update(t, to, client.Offline, nil)
	s.update(t, to, client.Live, live("c", "Hello")) // what was saved of it
	printed(t, out, "\nskein: offline\nskein: live\n")
	s.ranges = []view.Range{{Entries: []view.Entry{said(2, "north", "Hello\nyou\x1b[2J all")}}}
	s.update(t, to, client.Live, &view.View{})
	printed(t, out, "north:  all\n")
}

func TestAPipeGetsWholeLines(t *testing.T) {
	to, out := tellerOf(false)
	to.state = client.Live
	s := &told{}
	s.update(t, to, client.Live, live("c", "Hello"))
	printed(t, out, "")
	s.update(t, to, client.Live, live("c", "Hello\nyo"))
	printed(t, out, "north: Hello\n")
	s.update(t, to, client.Live, live("d", "Once")) // another answer in its place
	s.update(t, to, client.Live, live("d", "Twice\n"))
	printed(t, out, "yo\n(that answer was left; it is made again)\nnorth: Once\n(again from the start: it was begun anew)\nnorth: Twice\n")
	s.ranges = []view.Range{{Entries: []view.Entry{said(3, "north", "Twice\ndone")}}}
	s.update(t, to, client.Live, &view.View{})
	printed(t, out, "done\n")
}

func TestWhatIsBesideTheMessagesIsToldOnce(t *testing.T) {
	to, out := tellerOf(false)
	to.state = client.Live
	to.mine["k"] = true
	s := &told{}
	v := &view.View{Thread: view.Thread{Epoch: "one"}}
	s.update(t, to, client.Live, v)
	v.Head = &view.Head{Seq: 9, Number: 1, Strategy: "outline", Boundary: 4}
	v.Docs.Agent.Waiting = []view.Asked{{Call: "call-1", Agent: "north", Question: "write_file: a.txt"}}
	v.Docs.Agent.Turn = 3
	v.Docs.Inbox = []view.Queued{{Seq: 4, Message: said(4, "bo", "by the way").Message}, {Seq: 5, Key: "k", Message: said(5, "ana", "mine").Message}}
	s.update(t, to, client.Live, v)
	s.update(t, to, client.Live, v)
	printed(t, out, "(cut 1, outline: the model gets whole what is from message 4 on)\n(bo, to be heard after this turn: by the way)\n(north asks: write_file: a.txt)\n")

	v.Docs.Agent, v.Docs.Inbox = view.Agent{Error: &thread.Error{Code: thread.Provider, Message: "it is down"}}, nil
	v.Thread.Branch = 1
	s.update(t, to, client.Live, v)
	s.update(t, to, client.Live, v)
	got := out.String()
	for _, want := range []string{"(undone: 0 messages are left)\n", "(call-1 waits no longer)\n", "(the answer failed: ", "it is down"} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%q is not there once:\n%s", want, got)
		}
	}
	out.Reset()
	own := said(7, "ana", "mine")
	own.Key = "k"
	s.ranges = []view.Range{{Entries: []view.Entry{own, {Seq: 8}}}}
	v.Thread.Epoch = "two"
	s.update(t, to, client.Live, v)
	printed(t, out, "(the thread is another one now: it was restored)\n(a message that is not for you)\n")
}

func TestAsJSONItIsAnObjectALine(t *testing.T) {
	to, out := tellerOf(true)
	s := &told{ranges: []view.Range{{Entries: []view.Entry{said(1, "ana", "a\u202eb")}}}}
	s.update(t, to, client.CatchingUp, nil)
	s.update(t, to, client.Live, live("c", "Hello\n"))
	printed(t, out, "{\"state\":\"catching up\"}\n{\"state\":\"live\"}\n"+
		`{"message":{"seq":1,"id":"b","prev":0,"index":0,"message":{"author":"ana","role":"user","parts":[{"type":"text","text":"a\u202eb"}]}}}`+"\n")
}
