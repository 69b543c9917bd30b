package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/skeinhq/skein/thread"
)

// TestTheAnswerIsAskedForOnceTheTurnIsFree enters while a process that was killed
// still owns the turn.
func TestTheAnswerIsAskedForOnceTheTurnIsFree(t *testing.T) {
	r := sit(t, 0)
	th := r.shellThread(t)
	if _, err := th.Say(t.Context(), "ana", "are you there?"); err != nil {
		t.Fatal(err)
	}
	state, err := th.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.store.Acquire(t.Context(), state.Key, "killed", 2*time.Second); err != nil {
		t.Fatal(err)
	}
	r.enter(t, t.TempDir())
	r.shows("Enter asks for the answer again")
	r.press("enter")
	r.shows("You said: ana: are you there?")
	r.settled()
	if r.m.pending {
		t.Errorf("an answered message waits:\n%s", r.text())
	}
}

func TestAStrayEnterAsksNothingOfAnImportedThread(t *testing.T) {
	r := sit(t, 0)
	if _, err := r.shellThread(t).Say(t.Context(), "somebody", "a long past"); err != nil {
		t.Fatal(err)
	}
	r.enter(t, t.TempDir())
	r.shows("/retry asks for an answer")
	if got := len(wanted[answerNow](r.press("enter"))); got > 0 {
		t.Fatalf("Enter asks for an answer:\n%s", r.text())
	}
	r.shows("/retry asks for an answer")
	r.types("/retry").press("enter")
	r.shows("You said: somebody: a long past")
	r.settled()
}

func TestAnAnswerStoppedBeforeItsFirstWordIsAskedForAgain(t *testing.T) {
	s := play(t, 80, 20).opens(plan()[:1]...).give(answering{sitting: 1, on: true}).press("ctrl+c")
	s.give(answering{sitting: 1, stopped: true}, statusRead{sitting: 1, status: status{waits: true, mine: true, tip: 1, length: 1}})
	if !strings.Contains(s.text(), "Enter asks for the answer again") {
		t.Errorf("not told:\n%s", s.text())
	}
	if s.press("enter"); len(wanted[answerNow](s)) != 1 {
		t.Error("Enter does not ask")
	}
}

func TestTheHintStandsBesideTheFirstNotice(t *testing.T) {
	s := play(t, 80, 20)
	s.m.greeting = "echo answers: set ANTHROPIC_API_KEY"
	s.give(opened{sitting: 1, id: "launch", length: 1, status: status{waits: true, mine: true, tip: 1, length: 1},
		page: pageRead{sitting: 1, messages: numbered(from(thread.Message{Author: "ana", Role: thread.User, Parts: []thread.Part{thread.Text("hi")}}))}})
	for _, want := range []string{"echo answers", "Enter asks for the answer again"} {
		if !strings.Contains(s.text(), want) {
			t.Errorf("%q is not shown:\n%s", want, s.text())
		}
	}
}

func TestALongNoticeOnATinyScreenFits(t *testing.T) {
	play(t, 10, 6).opens().press("alt+enter", "ctrl+c").text()
}
