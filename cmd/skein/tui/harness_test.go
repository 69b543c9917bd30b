package tui

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

// compaction is a summary that stands for messages.
func compaction() thread.Entry {
	return thread.Entry{Seq: 40, Kind: thread.CutKind, Cut: &thread.Cut{
		Strategy: "summarize", Gone: []thread.Range{{First: 2, Last: 30}}, Before: thread.CutWeight{Tail: 101_200, Messages: 24}, After: thread.CutWeight{Tail: 4_100},
		Kept: []thread.Kept{
			{Message: &thread.Message{Role: thread.User, Author: "north", Parts: []thread.Part{thread.Text("Summary of the earlier conversation:\nthe hall is booked for the 12th\x1b[2J")}}},
			{First: 31, Last: 39},
		},
	}}
}

func happens(e thread.Entry) happened {
	ev, _ := eventOf(&e, "ana")
	return happened{sitting: 1, events: []event{ev}}
}

func ended(reason thread.Stop, err *thread.Error) thread.Entry {
	return thread.Entry{Seq: 41, Kind: thread.TurnKind, Turn: &thread.Turn{State: thread.TurnEnded, Reason: reason, Error: err}}
}

func runsShell(s *stage) *stage {
	s.opens(numbered(user("Test it."), calling(thread.Call("c", "shell", json.RawMessage(`{"command":"make test"}`))))...)
	s.m.now = func() time.Time { return noon.Add(75 * time.Second) }
	return s.give(answering{sitting: 1, on: true}, happened{sitting: 1, events: []event{{begun: &printed{call: "c", name: "shell", at: noon}}}})
}

func prints(text string) happened {
	return happened{sitting: 1, events: []event{{printed: &printed{call: "c", name: "shell", at: noon, text: text}}}}
}

func TestHarnessScreens(t *testing.T) {
	cases := []struct {
		name          string
		width, height int
		run           func(*stage)
	}{
		{"cut-summary", 80, 16, func(s *stage) { s.opens(plan()[:3]...).give(happens(compaction())) }},
		{"cut-summary-open", 80, 20, func(s *stage) { s.opens(plan()[:3]...).give(happens(compaction())).press("ctrl+x") }},
		{"cut-narrow", 32, 16, func(s *stage) { s.opens(plan()[:1]...).give(happens(compaction())) }},
		{"cut-outline", 80, 12, func(s *stage) {
			s.opens(plan()[:1]...).give(happens(thread.Entry{Seq: 40, Kind: thread.CutKind, Cut: &thread.Cut{
				Strategy: "outline", Boundary: 120, Outline: make([]thread.Span, 14), Before: thread.CutWeight{Outline: 900, Tail: 40_100}, After: thread.CutWeight{Outline: 1400, Tail: 19_800},
			}}))
		}},
		{"running", 80, 20, func(s *stage) {
			runsShell(s).give(prints("ok a\nok b\nok c\nok d\nok e\nok f\n"), prints("10 %\r50 %\r100 %\x1b[2J\x1b]0;x\a"))
		}},
		{"running-narrow", 30, 20, func(s *stage) {
			runsShell(s).give(prints("a line that is longer than this screen is wide\n┃ forged"))
		}},
		{"limit", 80, 12, func(s *stage) {
			s.opens(plan()[:1]...).give(happens(ended(thread.StopLimit, &thread.Error{Code: thread.Limit, Message: "the turn reached its limit of 2 steps"})))
		}},
		{"warned", 80, 12, func(s *stage) {
			w := happened{sitting: 1, events: []event{{warning: "AGENTS.md could not be read"}}}
			s.opens(plan()[:1]...).give(w, w)
		}},
		{"denied", 60, 16, func(s *stage) {
			s.opens(numbered(user("Drop it."), calling(thread.Call("c", "drop", json.RawMessage(`{}`))),
				tool("drop", "Denied: nothing is dropped here before the 12th of December, when the copies are made", true))...)
		}},
		{"queued-both", 80, 20, func(s *stage) {
			s.opens(plan()[:1]...).give(answering{sitting: 1, on: true}).types("only the first!").press("ctrl+s").types("and then?").press("enter")
			s.give(said{sitting: 1, key: "key-1", seq: 9, queued: true}, said{sitting: 1, key: "key-2", seq: 10, queued: true})
		}},
		{"elsewhere", 80, 12, func(s *stage) {
			s.opens(plan()[:1]...).give(statusRead{sitting: 1, status: status{agent: "north", model: "echo", cached: -1, open: true, held: true, tip: 5, length: 1}})
		}},
		{"outline-other", 60, 12, func(s *stage) {
			s.opens(plan()...).press("ctrl+o").give(outlineRead{sitting: 1, strategy: "truncate,summarize", outline: skein.Outline{Messages: 6, Tail: skein.Tail{High: 40000}}})
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := play(t, c.width, c.height)
			c.run(s)
			golden(t, c.name, s.text())
		})
	}
}

func TestWhatACallPrintsIsBounded(t *testing.T) {
	p := &pump{more: make(chan struct{}, 1)}
	s := runsShell(play(t, 80, 24))
	for range 300 {
		for range 20 {
			p.take(&thread.Batch{Events: []thread.Event{{Type: thread.OutputEvent, CallID: "c", Name: "shell", Text: strings.Repeat("x", 999) + "\n"}}}, nil, "ana")
		}
		if len(p.events) != 1 || len(p.events[0].printed.text) > maxPrinted {
			t.Fatalf("a frame holds %d events", len(p.events))
		}
		s.give(happened{sitting: 1, events: p.events})
		p.events = nil
	}
	if n := len(s.m.transcript.running[0].printed); n > maxPrinted {
		t.Errorf("%d bytes are held", n)
	}
	if rows := strings.Count(s.text(), "│ x"); rows == 0 || rows > printedRows {
		t.Errorf("%d rows are shown", rows)
	}
}

func TestACallThatRanSaysHowLong(t *testing.T) {
	s := runsShell(play(t, 80, 24)).give(prints("ok\n"))
	m := tool("shell", "ok", false)
	m.index, m.id, m.time = 2, "id-2", noon.Add(75*time.Second)
	s.give(happened{sitting: 1, tip: 9, length: 3, events: []event{{message: &m}}})
	if text := s.text(); !strings.Contains(text, "← shell  2 B, 1 min 15 s  ok") || strings.Contains(text, "runs") {
		t.Errorf("shown:\n%s", text)
	}
}

func TestSteeringAndFollowingUpAreTwoKeys(t *testing.T) {
	s := play(t, 80, 24).opens(plan()[:1]...).give(answering{sitting: 1, on: true})
	s.effects = nil
	s.types("now").press("ctrl+s").types("then").press("enter").types("/steer now too").press("enter").types("too").press("alt+s")
	var got []string
	for _, e := range wanted[sayText](s) {
		got = append(got, e.text+"/"+e.when)
	}
	if want := "now/now then/ now too/now too/now"; strings.Join(got, " ") != want {
		t.Errorf("said %q, want %q", strings.Join(got, " "), want)
	}
}

func TestWhatIsQueuedGoesOnceItIsTaken(t *testing.T) {
	s := play(t, 80, 24).opens(plan()[:1]...)
	st := s.m.status
	st.open, st.held, st.queued = true, true, []*waiting{{seq: 8, author: "ben", text: "wait for me", when: thread.WhenNow}}
	if text := s.give(statusRead{sitting: 1, status: st}).text(); !strings.Contains(text, "ben  queued · now\n  wait for me") {
		t.Errorf("what another process queued is not shown:\n%s", text)
	}
	st.queued, st.tip = nil, 9
	if text := s.give(statusRead{sitting: 1, status: st}).text(); strings.Contains(text, "queued") {
		t.Errorf("it is taken, and still shown:\n%s", text)
	}
}

func TestCtrlCStopsAlsoWhatAnotherProcessRuns(t *testing.T) {
	held := func(s *stage) {
		s.give(statusRead{sitting: 1, status: status{open: true, held: true, tip: 5, length: 1}})
	}
	cases := []struct {
		name  string
		begin func(*stage)
		stops int
	}{
		{"nothing runs", func(*stage) {}, 0},
		{"it runs here", func(s *stage) { s.give(answering{sitting: 1, on: true}) }, 1},
		{"it runs elsewhere", held, 1},
		{"it waits for a decision", func(s *stage) { s.waits(edits()) }, 0},
	}
	for _, c := range cases {
		s := play(t, 80, 24).opens(plan()[:1]...)
		c.begin(s)
		s.effects = nil
		if got := len(wanted[stopAnswer](s.press("ctrl+c"))); got != c.stops {
			t.Errorf("%s: Ctrl-C stops %d times, want %d", c.name, got, c.stops)
		}
	}
}

// TestAParkedTurnIsNobodysWhateverWasReadBefore: from the moment that the turn is
// known to wait Ctrl-C leaves it open, also where a status that was read while it ran
// comes late.
func TestAParkedTurnIsNobodysWhateverWasReadBefore(t *testing.T) {
	read := func(n int64, held bool) statusRead {
		return statusRead{sitting: 1, status: status{read: n, open: true, held: held, tip: 5, length: 1, asked: []*card{cardOf(edits(), nil)}}}
	}
	s := play(t, 80, 24).opens(plan()[:1]...).give(answering{sitting: 1, on: true}, read(1, true))
	cases := []struct {
		name  string
		comes any
		stops int
	}{
		{"it runs", read(2, true), 1},
		{"it waits", answering{sitting: 1, parked: true, fresh: 5}, 0},
		{"read before that", read(4, true), 0},
		{"read since", read(6, false), 0},
		{"read before and come after", read(5, true), 0},
		{"another process goes on", read(7, true), 1},
	}
	for _, c := range cases {
		s.give(c.comes)
		s.m.leaving, s.effects = false, nil
		if got := len(wanted[stopAnswer](s.press("ctrl+c"))); got != c.stops {
			t.Errorf("%s: Ctrl-C stops %d times, want %d", c.name, got, c.stops)
		}
	}
}

// TestWhatStandsBelowAMessageThatIsOnlyCountedComesWithIt: a status may count messages
// whose commits are told of later, in whatever way they come.
func TestWhatStandsBelowAMessageThatIsOnlyCountedComesWithIt(t *testing.T) {
	all := plan()[:5]
	for i := range all {
		all[i].seq = int64(10 * i)
	}
	cut := compaction()
	cut.Seq = 35 // between the fourth and the fifth
	tells := func(from int) (out happened) {
		out = happened{sitting: 1, tip: 50, length: 5}
		for i := range all[from:] {
			m := all[from+i]
			out.events = append(out.events, event{message: &m})
		}
		return out
	}
	ways := map[string][]any{
		"by events":          {happens(cut), tells(3)},
		"in order":           {tells(3), happens(cut)},
		"in a page":          {happens(cut), pageRead{sitting: 1, from: 3, messages: all[3:]}},
		"in a page before":   {pageRead{sitting: 1, from: 3, messages: all[3:]}, happens(cut)},
		"in pieces":          {happened{sitting: 1, events: tells(3).events[:1]}, happens(cut), tells(4)},
		"told of more often": {happens(cut), happens(cut), tells(3), happens(cut)},
	}
	for name, comes := range ways {
		s := play(t, 80, 60).opens(all[:3]...)
		s.give(statusRead{sitting: 1, status: status{cached: -1, tip: 50, length: 5, newest: 4}})
		for _, msg := range comes {
			if p, ok := msg.(pageRead); ok {
				p.age = s.m.transcript.age
				msg = p
			}
			s.give(msg)
		}
		var got []string
		for _, d := range s.m.transcript.held {
			got = append(got, fmt.Sprint(len(d.below)))
		}
		if want := "0 0 0 1 0"; strings.Join(got, " ") != want {
			t.Errorf("%s: below the messages stand %s asides, want %s", name, strings.Join(got, " "), want)
		}
	}
}

func TestRetryKnowsWhatItCanDo(t *testing.T) {
	cases := []struct {
		name  string
		begin func(*stage)
		asks  int
	}{
		{"answered", func(*stage) {}, 1},
		{"running", func(s *stage) { s.give(answering{sitting: 1, on: true}) }, 0},
		{"waiting for a decision", func(s *stage) { s.waits(edits()) }, 0},
	}
	for _, c := range cases {
		s := play(t, 80, 24).opens(plan()...)
		c.begin(s)
		s.effects = nil
		if got := len(wanted[answerAgain](s.types("/retry").press("enter"))); got != c.asks {
			t.Errorf("%s: /retry asks %d times, want %d:\n%s", c.name, got, c.asks, s.text())
		}
	}
}

func TestAPasteIsNeverACardsKey(t *testing.T) {
	s := parkedAt(play(t, 80, 24), edits()).press("alt+a")
	s.effects = nil
	s.give(tea.PasteMsg{Content: "a"}).press("a")
	if got := approvals(s); len(got) > 0 || s.m.editor.text() != "aa" {
		t.Errorf("%+v decided, %q typed", got, s.m.editor.text())
	}
}

// TestWhatStandsBetweenMessagesIsWhereItBelongs reads a log with a cut that was
// undone, one that was not, and a decision.
func TestWhatStandsBetweenMessagesIsWhereItBelongs(t *testing.T) {
	messages := numbered(user("one"), calling(thread.Call("c", "shell", json.RawMessage(`{}`))), tool("shell", "ok", false), user("two"))
	for i, seq := range []int64{2, 4, 8, 20} {
		messages[i].seq = seq
	}
	cut := func(seq int64, name string) thread.Entry {
		return thread.Entry{Seq: seq, Kind: thread.CutKind, Cut: &thread.Cut{Strategy: name, Boundary: 1}}
	}
	below(messages, []thread.Entry{
		{Seq: 5, Kind: thread.ApprovalKind, Approval: &thread.Approval{Call: "c", State: thread.ApprovalAsked}},
		{Seq: 6, Kind: thread.ApprovalKind, Approval: &thread.Approval{Call: "c", State: thread.ApprovalAllowed, By: "ben"}},
		{Seq: 7, Kind: thread.ApprovalKind, Approval: &thread.Approval{Call: "c", State: thread.ApprovalDenied, By: "eve"}},
		{Seq: 7, Kind: thread.TurnKind, Time: noon.Add(time.Minute), Turn: &thread.Turn{State: thread.TurnStarted, Call: "c"}},
		cut(9, "kept"), cut(12, "undone"), {Seq: 14, Kind: thread.RewindKind, Rewind: &thread.Rewind{To: 10}}, ended(thread.StopEnd, nil), cut(41, "last"),
	}, "ana")
	var got []string
	for _, m := range messages {
		for _, a := range m.below {
			got = append(got, strings.Fields(a.text)[0])
		}
		got = append(got, "|")
	}
	if want := "| | kept | last |"; strings.Join(got, " ") != want {
		t.Errorf("below the messages stand %q, want %q", strings.Join(got, " "), want)
	}
	if note := messages[2].parts[0].note; note != "1 min 0 s" { // said a minute after the call began
		t.Errorf("the result says that it took %q", note)
	}
	if note := messages[1].parts[0].note; note != "allowed by ben" {
		t.Errorf("the call says %q", note)
	}
}
