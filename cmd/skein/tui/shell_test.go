package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/skeinhq/skein"
	models "github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/echo"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/store/memory"
	"github.com/skeinhq/skein/thread"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// room is a whole sitting without a terminal: a model and a shell on an engine.
type room struct {
	*stage
	engine *skein.Engine
	store  store.Store
	shell  *shell
	came   chan any
}

// sit opens a thread in an engine of its own, whose echo keeps a pace.
func sit(t *testing.T, pace float64) *room {
	t.Helper()
	r := &room{store: memory.New(memory.Options{}), came: make(chan any, 1<<16)}
	var err error
	r.engine, err = skein.Open(t.Context(), skein.Config{
		Store: r.store, Models: func(string) (models.Model, error) { return echo.Model{Pace: pace}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.engine.Close(); err != nil {
			t.Error(err)
		}
	})
	r.enter(t, t.TempDir())
	return r
}

// enter begins anew in the same engine, as after a crash.
func (r *room) enter(t *testing.T, drafts string) {
	t.Helper()
	r.leave()
	for len(r.came) > 0 {
		<-r.came
	}
	cfg := Config{
		Engine: r.engine, Me: "ana", Model: "echo", Drafts: drafts, Commands: testCommands, Zone: time.UTC,
		Run: func(_ context.Context, t *skein.Thread, text string, out io.Writer) (Outcome, error) {
			_, err := fmt.Fprintf(out, "%s in %s", text, t.ID())
			return Outcome{Thread: t, Left: text == "/exit"}, err
		},
	}
	r.stage = play(t, 80, 24)
	r.shell = newShell(t.Context(), cfg, func(msg any) { r.came <- msg })
	t.Cleanup(r.leave)
	r.shell.do(openThread{"launch"})
	r.until("the thread is open", func() bool { return r.m.ready })
}

// leave ends what enter began.
func (r *room) leave() {
	if r.shell == nil {
		return
	}
	if err := r.shell.close(); err != nil {
		r.t.Error(err)
	}
	r.shell = nil
}

// until brings messages and carries effects out until done.
func (r *room) until(what string, done func() bool) {
	r.t.Helper()
	patience := time.NewTimer(2 * time.Minute)
	defer patience.Stop()
	for {
		for _, e := range r.effects {
			r.shell.do(e)
		}
		r.effects = nil
		if done() {
			return
		}
		select {
		case msg := <-r.came:
			r.give(msg)
		case <-patience.C:
			r.t.Fatalf("waited in vain until %s; the screen:\n%s", what, r.text())
		}
	}
}

func (r *room) shows(text string) {
	r.t.Helper()
	r.until(fmt.Sprintf("%q is shown", text), func() bool { return strings.Contains(r.text(), text) })
}

// idle brings messages until nothing is being said or answered in the thread, and all
// that came of it has been brought: that nobody answers at a moment may also be that
// nobody answers yet.
func (r *room) idle() {
	r.t.Helper()
	r.until("nobody answers", func() bool {
		r.shell.mu.Lock()
		in := r.shell.now
		r.shell.mu.Unlock()
		in.mu.Lock()
		busy := in.saying || in.running && in.wake == nil
		in.mu.Unlock()
		return !busy && len(r.came) == 0 && !r.m.answering && len(r.m.saying) == 0 &&
			r.m.status.read >= r.m.fresh && r.m.transcript.atEnd()
	})
}

// settled is idle where in the end nothing waits either.
func (r *room) settled() {
	r.t.Helper()
	r.idle()
	r.until("all is settled", func() bool {
		return !r.m.status.open && len(r.m.transcript.waiting)+len(r.m.transcript.cards) == 0
	})
}

func TestSayingIsAnswered(t *testing.T) {
	r := sit(t, 0)
	r.types("hello **world**").press("enter")
	r.shows("You said: ana: hello world")
	r.settled()
	if r.m.status.prompt == 0 {
		t.Error("the status line does not say how large the prompt was")
	}
	if n := r.m.transcript.length; n != 2 {
		t.Errorf("the thread has %d messages", n)
	}
}

func TestWhoIsNamedAndIsNoAgentIsToldOnce(t *testing.T) {
	const remark = `there is no agent named "nobody"; north answers`
	r := sit(t, 0)
	r.types("@nobody hello").press("enter")
	r.shows(remark)
	r.shows("You said: ana: @nobody hello")
	r.settled()
	r.types("@nobody again").press("enter")
	r.shows("You said: ana: @nobody again")
	r.settled()
	if strings.Contains(r.text(), remark) {
		t.Errorf("it is told twice:\n%s", r.text())
	}
}

func TestAnAnswerIsStoppedAndAskedForAgain(t *testing.T) {
	r := sit(t, 5)
	r.types(strings.Repeat("word ", 400)).press("enter")
	r.shows("You said")
	r.press("ctrl+c")
	r.settled()
	if !strings.Contains(r.text(), "stopped") {
		t.Errorf("not told:\n%s", r.text())
	}
}

func TestWhatIsSaidWhileAnAnswerComesWaits(t *testing.T) {
	o := newOffice(oneOff, "Through.", "You too.")
	r := o.enter(t)
	r.types("go through").press("enter")
	r.shows("gate runs")
	<-o.entered
	r.types("me too").press("enter")
	r.shows("queued")
	o.let <- struct{}{}
	r.shows("You too.")
	r.settled()
}

func TestWhatAnotherSaysIsSeen(t *testing.T) {
	r := sit(t, 0)
	other, err := r.engine.Thread(t.Context(), "launch")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Say(t.Context(), "bob", "knock knock"); err != nil {
		t.Fatal(err)
	}
	r.shows("knock knock")
}

func TestThreadsAreSwitched(t *testing.T) {
	r := sit(t, 0)
	r.types("half a thought")
	r.press("ctrl+t").types("diary").press("enter")
	r.until("diary is open", func() bool { return r.m.id == "diary" && r.m.ready })
	if got := r.m.editor.text(); got != "" {
		t.Errorf("%q came along", got)
	}
	r.press("ctrl+t")
	r.shows("launch")
	r.types("launch").press("enter")
	r.until("launch is open", func() bool { return r.m.id == "launch" })
	if got := r.m.editor.text(); got != "half a thought" {
		t.Errorf("typed is %q", got)
	}
}

func TestTheOutlineAndASearchLeadToMessages(t *testing.T) {
	r := sit(t, 0)
	if err := r.shellThread(t).Set(t.Context(), skein.Settings{Tail: skein.Marks{Low: 20, High: 40}}); err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		text := fmt.Sprintf("fact %d is that the harbour is open", i)
		r.types(text).press("enter")
		r.shows("You said: ana: " + text)
		r.settled()
	}
	r.until("there are lines", func() bool {
		state, err := r.shellThread(t).State(t.Context())
		return err == nil && state.Cuts > 0 && state.Backlog == 0
	})
	r.press("ctrl+o")
	r.shows("0+")
	r.press("ctrl+home")
	for r.m.panel != nil { // down to the first message
		r.press("right")
		r.until("it is open", func() bool { return r.m.panel.(*tree).visible()[r.m.panel.(*tree).at].open })
		if r.m.panel.(*tree).visible()[r.m.panel.(*tree).at].span.N == 1 {
			r.shows("fact 0 is that")
			r.press("enter")
			break
		}
		r.press("down")
	}
	if r.m.panel != nil || r.m.transcript.marked != 0 {
		t.Errorf("the outline leads to message %d", r.m.transcript.marked)
	}
	r.press("ctrl+f").types("fact 5").press("enter")
	r.shows("ana → north: fact 5")
	r.press("enter")
	if d := r.m.transcript.at(r.m.transcript.marked); d == nil || !strings.Contains(plainText(&d.message), "fact 5") {
		t.Errorf("the search leads to message %d", r.m.transcript.marked)
	}
}

func (r *room) shellThread(t *testing.T) *skein.Thread {
	t.Helper()
	th, err := r.engine.Thread(t.Context(), "launch")
	if err != nil {
		t.Fatal(err)
	}
	return th
}

func TestCommandsRun(t *testing.T) {
	r := sit(t, 0)
	r.types("/usage").press("enter")
	r.shows("/usage in launch")
	r.press("esc").types("/exit").press("enter")
	r.until("it leaves", func() bool { return r.m.gone })
}

func TestADraftIsThereAfterACrash(t *testing.T) {
	r := sit(t, 0)
	r.types("half a 世界 thought").press("alt+enter").types("and more")
	r.until("it is handed over", func() bool { return true })
	dir := r.crashed(t)
	r.enter(t, dir)
	if got := r.m.editor.text(); got != "half a 世界 thought\nand more" {
		t.Errorf("typed is %q", got)
	}
	r.press("enter")
	r.shows("You said")
	r.settled()
	r.enter(t, dir)
	if got := r.m.editor.text(); got != "" {
		t.Errorf("what was said is typed again: %q", got)
	}
}

// crashed gives a folder with the drafts as a crash would leave them, once what is
// typed is among them.
func (r *room) crashed(t *testing.T) string {
	t.Helper()
	for range 600 {
		d, err := (&drafts{dir: r.shell.drafts.dir}).read("launch")
		if err == nil && d.Text == r.m.editor.text() {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(r.shell.drafts.dir)); err != nil {
				t.Fatal(err)
			}
			return dir
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("no draft was written")
	return ""
}

// TestWhatMayHaveArrivedIsNotSaidTwice writes the draft that a crash between the
// commit and the answer to it leaves.
func TestWhatMayHaveArrivedIsNotSaidTwice(t *testing.T) {
	r := sit(t, 0)
	th := r.shellThread(t)
	if _, err := th.Say(t.Context(), "ana", "arrived", skein.Key("k1")); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	d := newDrafts(dir)
	d.keep(draft{Thread: "launch", Saying: []draftSaying{{"k1", "arrived"}, {"k2", "lost"}}, Text: "typed"})
	if err := d.close(); err != nil {
		t.Fatal(err)
	}
	r.enter(t, dir)
	if got := r.m.editor.text(); got != "lost\n\ntyped" {
		t.Errorf("typed is %q", got)
	}
	if !r.m.pending {
		t.Error("it is not seen that the newest message waits for an answer")
	}
}

func TestAFailingModelIsToldAndAskedAgain(t *testing.T) {
	broken := true
	e, err := skein.Open(t.Context(), skein.Config{
		Store: memory.New(memory.Options{}),
		Models: func(string) (models.Model, error) {
			if broken {
				return nil, &thread.Error{Code: thread.Configuration, Op: "model", Message: "the key is wrong", Hint: "set another"}
			}
			return echo.Model{}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	r := &room{engine: e, came: make(chan any, 1<<16)}
	r.enter(t, t.TempDir())
	r.types("hello").press("enter")
	r.shows("the key is wrong")
	r.settled()
	broken = false
	r.types("/retry").press("enter")
	r.shows("You said: ana: hello")
	r.settled()
}

// TestRunEndsWhereItIsLeft runs all of it on a terminal that is none.
func TestRunEndsWhereItIsLeft(t *testing.T) {
	e, err := skein.Open(t.Context(), skein.Config{Store: memory.New(memory.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	in, keys := io.Pipe()
	defer func() { _ = errors.Join(keys.Close(), e.Close()) }()
	var typing sync.WaitGroup
	typing.Go(func() { _, _ = io.WriteString(keys, "\x03\x03") }) // Ctrl-C twice
	if err := Run(t.Context(), Config{Engine: e, Thread: "launch", Me: "ana", Drafts: t.TempDir(), In: in, Out: io.Discard, Env: []string{"TERM=xterm-256color"}}); err != nil {
		t.Error(err)
	}
	typing.Wait()
}
