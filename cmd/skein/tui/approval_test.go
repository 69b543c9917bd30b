package tui

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/skeinhq/skein"
	models "github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/echo"
	"github.com/skeinhq/skein/model/scripted"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/store/memory"
	"github.com/skeinhq/skein/strategy"
	"github.com/skeinhq/skein/thread"
	tools "github.com/skeinhq/skein/tool"
)

// office is an engine whose agent follows a script, has to ask before it notes
// something, and can be held at a gate.
type office struct {
	store   store.Store
	script  []string
	entered chan struct{}
	let     chan struct{}
	agent   skein.Agent
}

func newOffice(script ...string) *office {
	return &office{
		store: memory.New(memory.Options{}), script: script, entered: make(chan struct{}, 10), let: make(chan struct{}, 10),
		agent: skein.Agent{Name: "north", Permissions: tools.Permissions{Rules: []tools.Rule{{Decision: tools.Ask, Tools: []string{"note"}, Reason: "notes stay"}}}},
	}
}

type noteInput struct {
	Text string `json:"text,omitempty"`
}

func (o *office) open(t *testing.T) *skein.Engine {
	t.Helper()
	note, err := tools.Make(tools.Tool{Name: "note", Description: "Notes."}, func(_ context.Context, in noteInput) (string, error) {
		return "noted " + in.Text, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	gate, err := tools.Make(tools.Tool{Name: "gate", Description: "Waits."}, func(ctx context.Context, _ noteInput) (string, error) {
		tools.Tell(ctx, "at the \x1b[2Jgate\n")
		o.entered <- struct{}{}
		select {
		case <-o.let:
			return "through", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	model, err := scripted.Read(strings.NewReader(strings.Join(o.script, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	e, err := skein.Open(t.Context(), skein.Config{
		Store: lent{o.store}, Agents: []skein.Agent{o.agent}, Tools: []tools.Tool{note, gate}, Lease: 6 * time.Second,
		Models: func(string) (models.Model, error) {
			if o.script == nil {
				return echo.Model{Pace: 20}, nil
			}
			return model, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// lent is a store that outlives the engines that use it, as a file does.
type lent struct{ store.Store }

func (lent) Close() error { return nil }

// enter sits down in the office.
func (o *office) enter(t *testing.T) *room {
	t.Helper()
	r := &room{engine: o.open(t), store: o.store, came: make(chan any, 1<<16)}
	r.enter(t, t.TempDir())
	return r
}

// elsewhere is the thread as another process has it.
func (o *office) elsewhere(t *testing.T) *skein.Thread {
	t.Helper()
	th, err := o.open(t).OpenThread(t.Context(), "launch", skein.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return th
}

const (
	notes  = `{"calls":[{"id":"n-1","name":"note","input":{"text":"the hall is booked"}}]}`
	gates  = `{"calls":[{"id":"g-1","name":"gate"},{"id":"g-2","name":"gate"}]}`
	oneOff = `{"calls":[{"id":"g-1","name":"gate"}]}`
)

func TestACallIsAllowedAndTheAnswerGoesOn(t *testing.T) {
	r := newOffice(notes, "It is noted.").enter(t)
	r.types("note it").press("enter")
	r.shows("┃ Alt-A decides")
	if text := r.text(); !strings.Contains(text, "1 call waits for a decision") || !strings.Contains(text, "the hall is booked") || !strings.Contains(text, "Why it asks: notes stay") || r.m.notice.bad {
		t.Errorf("shown:\n%s", text)
	}
	r.press("alt+a", "a")
	r.shows("It is noted.")
	r.settled()
	r.shows("allowed by ana\n")
}

func TestAKeyForOneCallDoesNotAllowAnother(t *testing.T) {
	r := newOffice(notes, "never").enter(t)
	r.types("note it").press("enter")
	r.shows("┃ Alt-A decides")
	r.m.transcript.cards[0].sum[0]++ // as that of a call whose id came again
	r.press("alt+a", "a")
	r.shows("that call does not wait any more")
	if asked, err := r.shellThread(t).Pending(t.Context()); err != nil || len(asked) != 1 {
		t.Errorf("%d calls wait, %v", len(asked), err)
	}
}

func TestAPrivateCallIsNotShown(t *testing.T) {
	o := newOffice(notes, "It is noted.")
	th := o.elsewhere(t)
	if _, err := th.Ask(t.Context(), "ben", "note it", skein.Audience("north")); !parked(err) {
		t.Fatalf("it should wait: %v", err)
	}
	r := o.enter(t)
	r.shows("┃ others decide")
	r.press("alt+a", "a")
	if text := r.text(); strings.Contains(text, "the hall is booked") || !strings.Contains(text, "(private)") || len(wanted[decideCall](r.stage)) > 0 {
		t.Errorf("shown:\n%s", text)
	}
}

func TestACallIsDeniedWithAReason(t *testing.T) {
	r := newOffice(notes, "As you wish.").enter(t)
	r.types("note it").press("enter")
	r.shows("1 call waits")
	r.press("alt+a", "d").types("it is a secret").press("enter")
	r.shows("As you wish.")
	r.shows("Denied: it is a secret")
	r.shows("denied by ana: it is a secret")
	r.settled()
}

func TestACallThatIsDecidedElsewhereGoesOn(t *testing.T) {
	o := newOffice(notes, "It is noted.")
	r := o.enter(t)
	r.types("note it").press("enter")
	r.shows("1 call waits")
	if err := o.elsewhere(t).ApproveAlways(t.Context(), "ben", ""); err != nil {
		t.Fatal(err)
	}
	r.shows("It is noted.")
	r.shows("allowed by ben, always in this thread")
	r.settled()
}

func TestAParkedThreadShowsItsCardsOnStart(t *testing.T) {
	o := newOffice(notes, "It is noted.")
	th := o.elsewhere(t)
	if _, err := th.Ask(t.Context(), "ana", "note it"); !parked(err) {
		t.Fatalf("it should wait: %v", err)
	}
	r := o.enter(t)
	r.shows("1 call waits for a decision")
	if text := r.text(); strings.Contains(text, "no answer") || strings.Contains(text, "Enter asks") {
		t.Errorf("shown:\n%s", text)
	}
	r.types("/approve n-1").press("enter")
	r.shows("It is noted.")
	r.settled()
}

func TestWhatIsSaidMeanwhilePassesACallOver(t *testing.T) {
	r := newOffice(notes, "Then I leave it.").enter(t)
	r.types("note it").press("enter")
	r.shows("1 call waits")
	r.types("no, leave it").press("ctrl+s")
	r.shows("Then I leave it.")
	r.settled()
	r.shows("no, leave it")
}

func TestStoppingAParkedTurnEndsIt(t *testing.T) {
	r := newOffice(notes, "Out of turn.").enter(t)
	r.types("note it").press("enter")
	r.shows("1 call waits")
	r.idle()
	r.press("ctrl+c")
	if len(wanted[stopAnswer](r.stage)) > 0 {
		t.Error("Ctrl-C ends a turn that waits")
	}
	r.types("/stop").press("enter")
	r.settled()
	if text := r.text(); strings.Contains(text, "Out of turn.") || strings.Contains(text, "┃") {
		t.Errorf("shown:\n%s", text)
	}
}

func TestAnOpenTurnOfADeadOwnerIsGoneOnWith(t *testing.T) {
	o := newOffice("I am back.")
	th := o.elsewhere(t)
	if _, err := th.Say(t.Context(), "ben", "are you there?"); err != nil {
		t.Fatal(err)
	}
	state, err := th.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lease, err := o.store.Acquire(t.Context(), state.Key, "killed", time.Second)
	if err != nil {
		t.Fatal(err)
	}
	begun := thread.Entry{Kind: thread.TurnKind, Index: thread.NoIndex, Turn: &thread.Turn{State: thread.TurnBegun, Agent: "north"}}
	if _, err := o.store.Commit(t.Context(), state.Key, store.Draft{Entries: []store.New{{Entry: begun}}}, store.Guard{Tip: state.Tip, Fence: lease.Fence}); err != nil {
		t.Fatal(err)
	}
	r := o.enter(t)
	r.shows("I am back.")
	r.settled()
}

func TestSteeringIsHeardByTheTurnThatRuns(t *testing.T) {
	o := newOffice(gates, "Only the first, then.", "Later it is.")
	r := o.enter(t)
	r.types("go through both").press("enter")
	r.shows("gate runs")
	r.shows("│ at the <U+001B>[2Jgate")
	<-o.entered
	r.types("and later?").press("enter")
	r.shows("queued · next")
	r.types("only the first!").press("ctrl+s")
	r.shows("queued · now")
	o.let <- struct{}{}
	r.shows("Later it is.")
	r.settled()
	text := r.text()
	order := []string{"only the first!", "Only the first, then.", "and later?", "Later it is."}
	for i := 1; i < len(order); i++ {
		if strings.Index(text, order[i-1]) > strings.Index(text, order[i]) {
			t.Errorf("%q should stand before %q:\n%s", order[i-1], order[i], text)
		}
	}
	if strings.Contains(text, "queued") {
		t.Errorf("what was taken is still queued:\n%s", text)
	}
}

func TestATurnOfAnotherProcessIsStopped(t *testing.T) {
	o := newOffice(oneOff, "never")
	th := o.elsewhere(t)
	ended := make(chan error, 1)
	go func() {
		_, err := th.Ask(context.WithoutCancel(t.Context()), "ben", "go")
		ended <- err
	}()
	<-o.entered
	r := o.enter(t)
	r.shows("is answering in another process")
	r.press("ctrl+c")
	r.settled()
	if err := <-ended; thread.CodeOf(err) != thread.Aborted {
		t.Errorf("the other's turn ended with %v", err)
	}
}

func TestTheNewestAnswerIsMadeAgain(t *testing.T) {
	r := newOffice("The first try.", "The second try.").enter(t)
	r.types("say it").press("enter")
	r.shows("The first try.")
	r.settled()
	r.types("/retry").press("enter")
	r.shows("The second try.")
	r.settled()
	if text := r.text(); strings.Contains(text, "The first try.") || !strings.Contains(text, "made again") {
		t.Errorf("shown:\n%s", text)
	}
}

func TestCompactingTellsWhatCameOfIt(t *testing.T) {
	o := newOffice("One.", "Two.", "A summary of it all.")
	o.agent.Strategy = strategy.Chain{strategy.SlidingWindow(strategy.Sliding{Tokens: 40, BatchTokens: 30})}
	r := o.enter(t)
	for _, text := range []string{strings.Repeat("the first ", 20), strings.Repeat("the second ", 20)} {
		r.types(text).press("enter")
		r.settled()
	}
	r.shows("── sliding · ")
	r.types("/compact").press("enter")
	r.until("it is told", func() bool { return r.m.busy == "" && strings.Contains(r.m.notice.text, "compact") })
	state, err := r.shellThread(t).State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	each := func() bool { return int64(strings.Count(r.text(), "── sliding · ")) == state.Cuts }
	r.until("each cut is told", each)
	r.enter(t, t.TempDir()) // the log says it too
	r.until("each cut is read", each)
	r.press("ctrl+o")
	r.shows("up to sliding and not to the outline")
}

func TestALimitIsNamedAlsoAfterwards(t *testing.T) {
	o := newOffice(oneOff, oneOff, "never")
	o.agent.Limits.Steps = 1
	o.let <- struct{}{}
	r := o.enter(t)
	r.types("go").press("enter")
	r.shows("── the turn reached its limit of 1 step ")
	r.settled()
	if strings.Count(r.text(), "its limit of") != 1 {
		t.Errorf("told twice:\n%s", r.text())
	}
	r.enter(t, t.TempDir())
	r.shows("── the turn reached its limit of 1 step ")
}
