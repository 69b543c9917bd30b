package skein_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/echo"
	"github.com/skeinhq/skein/model/scripted"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/store/memory"
	"github.com/skeinhq/skein/store/sqlite"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
	"github.com/skeinhq/skein/transcript"
)

// start is a Monday, so that the prompts of tests are the same every day.
var start = time.Date(2026, time.November, 30, 16, 1, 0, 0, time.UTC)

// ticking is a clock that moves a second at each look.
func ticking() func() time.Time {
	var mu sync.Mutex
	now := start
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Second)
		return now
	}
}

func openSQLite(t *testing.T, path string, now func() time.Time) store.Store {
	t.Helper()
	st, err := sqlite.Open(context.Background(), path, sqlite.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// engine opens an engine that the test closes and checks at its end.
func engine(t *testing.T, cfg skein.Config) *skein.Engine {
	t.Helper()
	if cfg.Store == nil {
		cfg.Store = memory.New(memory.Options{Now: ticking()})
	}
	e, err := skein.Open(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		check(t, e)
		if err := e.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return e
}

func check(t *testing.T, e *skein.Engine) {
	t.Helper()
	for err := range e.Check(context.Background()) {
		t.Errorf("check: %v", err)
	}
}

// script gives a model that plays the replies.
func script(t *testing.T, lines ...string) func(string) (model.Model, error) {
	t.Helper()
	m, err := scripted.Read(strings.NewReader(strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return func(string) (model.Model, error) { return m, nil }
}

func open(t *testing.T, e *skein.Engine, id string, s skein.Settings) *skein.Thread {
	t.Helper()
	th, err := e.OpenThread(context.Background(), id, s)
	if err != nil {
		t.Fatal(err)
	}
	return th
}

func ask(t *testing.T, th *skein.Thread, text string) string {
	t.Helper()
	answer, err := th.Ask(context.Background(), "ana", text)
	if err != nil {
		t.Fatalf("ask %q: %v", text, err)
	}
	return answer
}

func printed(t *testing.T, th *skein.Thread) string {
	t.Helper()
	p, err := th.Prompt(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := p.Print(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// request is the request that would be sent, as bytes.
func request(t *testing.T, th *skein.Thread) string {
	t.Helper()
	p, err := th.Prompt(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(p.Request)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func logged(t *testing.T, th *skein.Thread) string {
	t.Helper()
	var b strings.Builder
	for e, err := range th.Entries(context.Background(), store.EntriesQuery{Inactive: true}) {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%d %s %d", e.Seq, e.Kind, e.Index)
		switch {
		case e.Message != nil:
			fmt.Fprintf(&b, " %s %q", e.Message.Author, skein.Leaf(e.Message))
		case e.Turn != nil:
			fmt.Fprintf(&b, " %s %s %s", e.Turn.State, e.Turn.Call, e.Turn.Reason)
		case e.Queued != nil:
			fmt.Fprintf(&b, " %q", e.Queued.Message.PlainText())
		}
		b.WriteByte('\n')
	}
	return b.String()
}

var launch = []string{
	"Plan the launch for December", "Venue is the old harbour hall", "Budget is 12,400 euros", "Invite the press on the 3rd",
	"Catering: vegetarian only", "Ship on the 12th", "Book the studio", "The price stays at 49",
}

func small() skein.Settings { return skein.Settings{Tail: skein.Marks{Low: 40, High: 80}} }

func TestLaunch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	now := ticking()
	e, err := skein.Open(context.Background(), skein.Config{Store: openSQLite(t, path, now)})
	if err != nil {
		t.Fatal(err)
	}
	th := open(t, e, "launch", small())
	for _, text := range launch {
		if got, want := ask(t, th, text), "You said: ana: "+text; got != want {
			t.Fatalf("answer %q, want %q", got, want)
		}
	}
	o, err := th.Outline(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if o.Messages != 16 || o.Boundary != 10 || len(o.Lines) != 10 || o.Lines[0].Text != "ana → north: Plan the launch for December" {
		t.Fatalf("outline: %+v\n%s", o, logged(t, th))
	}
	text := printed(t, th)
	history := text[strings.Index(text, "── history (cached as it grows)"):]
	if strings.Count(history[:strings.Index(history, "── turn")], "\nuser      ") != 4 || strings.Count(history, "\nassistant ") != 3 {
		t.Fatalf("not one user message and then six whole ones:\n%s", text)
	}
	for _, want := range []string{"\n0+1|ana → north: Plan the launch for December\n", "\nassistant You said: ana: Ship on the 12th\n", "── turn (what's new, then kept in the history)", "\n<context name=\"today\">\nIt is Monday, 30 November 2026, 16:0"} {
		if !strings.Contains(text, want) {
			t.Errorf("the prompt lacks %q:\n%s", want, text)
		}
	}
	before := request(t, th)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	again := engine(t, skein.Config{Store: openSQLite(t, path, now)})
	th, err = again.Thread(context.Background(), "launch")
	if err != nil {
		t.Fatal(err)
	}
	if after := request(t, th); after != before {
		t.Errorf("other bytes after a restart:\n%s\n%s", before, after)
	}
}

// The prompt stays under its marks, the outline is coarse first and fine last,
// and every message is reached from it by at most nine zooms.
func TestALongThreadsPromptStaysSmall(t *testing.T) {
	e := engine(t, skein.Config{})
	th := open(t, e, "long", skein.Settings{Tail: skein.Marks{Low: 40, High: 80}, Outline: skein.Marks{Low: 400, High: 800}})
	ctx := context.Background()
	const most = 800 + 120 // the outline's HIGH and the tail's HARD
	for i := range 200 {
		ask(t, th, fmt.Sprintf("%s, item %d", launch[i%8], i))
		p, err := th.Prompt(ctx, "")
		if err != nil {
			t.Fatal(err)
		}
		fixed := 200 // header
		for _, s := range p.Sections {
			if s.Name == "tools" || s.Name == "instructions" {
				fixed += s.Tokens
			}
		}
		if p.Tokens > fixed+most {
			t.Fatalf("after %d messages the prompt has %d tokens, %d of them fixed", 2*i+2, p.Tokens, fixed)
		}
	}
	o, err := th.Outline(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if o.Messages != 400 || o.Lines[0].N <= o.Lines[len(o.Lines)-1].N {
		t.Fatalf("not coarse first and fine last: %+v", o)
	}
	for i := int64(0); i < o.Boundary; i++ {
		zooms := 1
		for _, l := range o.Lines {
			if i >= l.ID && i < l.ID+l.N {
				for n := l.N; n > 1; n /= 2 {
					if _, err := th.Zoom(ctx, "north", thread.Span{ID: i / n * n, N: n}, 1); err != nil {
						t.Fatalf("zoom %d+%d: %v", i/n*n, n, err)
					}
					zooms++
				}
			}
		}
		if zooms > 9 {
			t.Fatalf("message %d takes %d zooms", i, zooms)
		}
		got, err := th.Zoom(ctx, "north", thread.Span{ID: i, N: 1}, 1)
		if err != nil || !strings.Contains(got.String(), fmt.Sprintf("item %d", i/2)) {
			t.Fatalf("message %d: %v, %v", i, got, err)
		}
	}
}

// The same conversation gives the same bytes from either store.
func TestMemoryAndSQLiteGiveTheSamePrompt(t *testing.T) {
	var requests []string
	for _, st := range []store.Store{memory.New(memory.Options{Now: ticking()}), openSQLite(t, filepath.Join(t.TempDir(), "t.db"), ticking())} {
		e := engine(t, skein.Config{Store: st})
		th := open(t, e, "launch", small())
		for _, text := range launch {
			ask(t, th, text)
		}
		requests = append(requests, request(t, th))
	}
	if requests[0] != requests[1] {
		t.Errorf("memory and SQLite differ:\n%s\n%s", requests[0], requests[1])
	}
}

func TestTheModelReallyZooms(t *testing.T) {
	e := engine(t, skein.Config{Model: "scripted", Models: script(t,
		"Noted.", "Noted.", "Noted.",
		`{"text":"I look.","calls":[{"name":"search","input":{"query":"venue"}},{"name":"zoom","input":{"id":2,"n":1}}]}`,
		`{"calls":[{"name":"zoom","input":{"id":3,"n":2}}]}`,
		"The venue is the old harbour hall.")})
	th := open(t, e, "launch", skein.Settings{Tail: skein.Marks{Low: 10, High: 20}})
	for _, text := range launch[:3] {
		ask(t, th, text)
	}
	if got := ask(t, th, "Where is it?"); got != "The venue is the old harbour hall." {
		t.Fatalf("answer %q\n%s", got, logged(t, th))
	}
	text := logged(t, th)
	for _, want := range []string{"ana → north: Venue is the old harbour hall", `zoom \"zoom → north: opened 2+1\"`} {
		if want = strings.ReplaceAll(want, `\"`, `"`); !strings.Contains(text, want) {
			t.Errorf("the log lacks %s:\n%s", want, text)
		}
	}
	var results []string
	var failed int
	for e, err := range th.Entries(context.Background(), store.EntriesQuery{Inactive: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Message != nil {
			for _, r := range e.Message.Results() {
				results = append(results, r.Parts[0].Text)
				if r.IsError {
					failed++
				}
			}
		}
	}
	if len(results) != 3 || failed != 1 || !strings.Contains(results[1], "Venue is the old harbour hall") || !strings.Contains(results[2], "No line 3+2.") {
		t.Errorf("results %q, %d failed", results, failed)
	}
}

// paused is the echo that pauses after its first piece until it is let go on.
type paused struct {
	echo.Model
	once       sync.Once
	begun, let chan struct{}
}

func (p *paused) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		for e, err := range p.Model.Stream(ctx, r) {
			if !yield(e, err) {
				return
			}
			p.once.Do(func() { close(p.begun) })
			<-p.let
		}
	}
}

func TestWhatIsSaidWhileATurnRunsIsQueuedAndAnsweredNext(t *testing.T) {
	m := paused{begun: make(chan struct{}), let: make(chan struct{})}
	e := engine(t, skein.Config{Models: func(string) (model.Model, error) { return &m, nil }})
	th := open(t, e, "busy", skein.Settings{})
	ctx := context.Background()
	var done sync.WaitGroup
	done.Go(func() { ask(t, th, "the first thing, which takes a while to say again") })
	<-m.begun
	queued, err := th.Say(ctx, "ben", "the second thing")
	if err != nil {
		t.Fatal(err)
	}
	if queued.Kind != thread.QueuedKind {
		t.Errorf("said while a turn runs, it is a %s", queued.Kind)
	}
	close(m.let)
	done.Wait()
	state, err := th.State(ctx)
	if err != nil {
		t.Fatal(err)
	}
	text := logged(t, th)
	if state.Length != 4 || len(state.Inbox) != 0 || !strings.Contains(text, "You said: ben: the second thing") {
		t.Errorf("state %+v\n%s", state, text)
	}
}

func TestStopKeepsThePartialAnswer(t *testing.T) {
	e := engine(t, skein.Config{Models: func(string) (model.Model, error) { return echo.Model{Pace: 10}, nil }})
	th := open(t, e, "stop", skein.Settings{})
	pieces := 0
	for _, err := range th.Stream(context.Background(), "ana", strings.Repeat("many words to say again ", 50)) {
		if err != nil {
			t.Fatal(err)
		}
		if pieces++; pieces == 3 {
			break
		}
	}
	state, err := th.State(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if state.Length != 2 || state.Turn != 0 || state.Lease.Owner != "" {
		t.Fatalf("after a stop: %+v\n%s", state, logged(t, th))
	}
	for e, err := range th.Messages(context.Background(), 1, 2) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Message.Stop != thread.StopAborted || !strings.HasPrefix(e.Message.PlainText(), "You said: ana:") {
			t.Errorf("the partial answer: %+v", e.Message)
		}
	}
	if got := ask(t, th, "again"); got != "You said: ana: again" {
		t.Errorf("after a stop: %q", got)
	}
}

func TestAFailingModelLosesNothing(t *testing.T) {
	e := engine(t, skein.Config{Model: "scripted", Models: script(t,
		`{"text":"half an ans","error":{"code":"provider","message":"the provider is away"}}`)})
	th := open(t, e, "fail", skein.Settings{})
	_, err := th.Ask(context.Background(), "ana", "Are you there?")
	if thread.CodeOf(err) != thread.Provider {
		t.Fatalf("got %v", err)
	}
	state, err := th.State(context.Background())
	if err != nil || state.Length != 1 || state.Turn != 0 {
		t.Fatalf("state %+v, %v\n%s", state, err, logged(t, th))
	}
}

// What came of an answer that failed is kept, but not active.
func TestAnAnswerThatFailsInTheMiddleIsKept(t *testing.T) {
	e := engine(t, skein.Config{Model: "scripted", Models: script(t, `{"text":"half an ans","error":{"code":"provider","message":"gone"}}`)})
	th := open(t, e, "half", skein.Settings{})
	if _, err := th.Ask(context.Background(), "ana", "Go on"); thread.CodeOf(err) != thread.Provider {
		t.Fatal(err)
	}
	if text := logged(t, th); !strings.Contains(text, "-1 north \"north: half an ans\"") {
		t.Errorf("the log lacks it:\n%s", text)
	}
}

// Models use the ids of calls again, in a later turn or step. Each call runs and
// gets its own result.
func TestCallIdsMayComeAgain(t *testing.T) {
	ran := 0
	count := tool.Tool{Name: "count", Schema: json.RawMessage(`{"type":"object"}`), Run: func(context.Context, json.RawMessage) (tool.Output, error) {
		ran++
		return tool.Output{Text: fmt.Sprint("run ", ran)}, nil
	}}
	call := `{"calls":[{"id":"call_0","name":"count"}]}`
	e := engine(t, skein.Config{Model: "scripted", Tools: []tool.Tool{count}, Models: script(t, call, call, "one", call, "two")})
	th := open(t, e, "again", skein.Settings{Tail: skein.Marks{Low: 10, High: 30}})
	ask(t, th, "first")
	ask(t, th, "second")
	if text := logged(t, th); ran != 3 || strings.Count(text, "count → north: run") != 3 {
		t.Errorf("ran %d of 3:\n%s", ran, text)
	}
}

// Whatever a model or a tool does, the turn ends with a typed error or goes on.
func TestModelsThatMisbehave(t *testing.T) {
	cases := map[string]struct {
		events []model.Event
		err    error
		code   thread.Code
	}{
		"an error without a code": {nil, errors.New("boom"), thread.Provider},
		"nothing at all":          {nil, nil, thread.Response},
		"an empty answer":         {[]model.Event{{Type: model.Done}}, nil, thread.Response},
		"a part of no known type": {[]model.Event{{Type: model.Done, Parts: []thread.Part{{Type: "call", Name: "zoom"}}}}, nil, thread.Response},
		"a call without a name":   {[]model.Event{{Type: model.Done, Parts: []thread.Part{thread.Call("x", "", nil)}}}, nil, thread.Response},
		"the same id twice":       {[]model.Event{{Type: model.Done, Parts: []thread.Part{thread.Call("x", "zoom", nil), thread.Call("x", "zoom", nil)}}}, nil, thread.Response},
		"a panic":                 {[]model.Event{{Type: "panic"}}, nil, thread.Provider},
	}
	for about, c := range cases {
		e := engine(t, skein.Config{Models: func(string) (model.Model, error) { return fixed{c.events, c.err}, nil }})
		th := open(t, e, "bad", skein.Settings{})
		_, err := th.Ask(context.Background(), "ana", "Hello")
		if thread.CodeOf(err) != c.code {
			t.Errorf("%s: got %v, want the code %s", about, err, c.code)
		}
		if state, err := th.State(context.Background()); err != nil || state.Turn != 0 || state.Length != 1 {
			t.Errorf("%s: state %+v, %v", about, state, err)
		}
	}
}

// fixed yields the same events, whatever is asked; the event panic panics.
type fixed struct {
	events []model.Event
	err    error
}

func (m fixed) Stream(context.Context, *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		for _, e := range m.events {
			if e.Type == "panic" {
				panic("at the model's")
			}
			if !yield(e, nil) {
				return
			}
		}
		if m.err != nil {
			yield(model.Event{}, m.err)
		}
	}
}

func TestRewindResetAndFork(t *testing.T) {
	e := engine(t, skein.Config{})
	ctx := context.Background()
	th := open(t, e, "origin", small())
	for _, text := range launch {
		ask(t, th, text)
	}
	fork, err := th.Fork(ctx, 5, "fork", "another way")
	if err != nil {
		t.Fatal(err)
	}
	if err := th.Rewind(ctx, 11, "ana"); err != nil {
		t.Fatal(err)
	}
	o, err := th.Outline(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if o.Messages != 12 || o.Boundary != 7 || o.Cut != 2 {
		t.Errorf("after a rewind to 11: %+v", o)
	}
	ask(t, th, "And now something else, quite different from what came before")
	ask(t, th, "And a second thing, at some length, so that there is a cut again")
	if o, err = th.Outline(ctx); err != nil || o.Messages != 16 || o.Cut != 5 {
		t.Errorf("cut numbers repeat: %+v, %v", o, err)
	}
	ask(t, fork, "On my own")
	got, err := fork.Read(ctx, "ana", 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	if text := got.String(); !strings.Contains(text, launch[2]) || strings.Contains(text, launch[3]) || !strings.Contains(text, "On my own") || strings.Contains(text, "something else") {
		t.Errorf("the fork reads:\n%s", text)
	}
	if err := th.Reset(ctx, "ana"); err != nil {
		t.Fatal(err)
	}
	if o, err = th.Outline(ctx); err != nil || o.Messages != 0 || o.Boundary != 0 {
		t.Errorf("after a reset: %+v, %v", o, err)
	}
	if got := ask(t, th, "Afresh"); got != "You said: ana: Afresh" {
		t.Errorf("after a reset: %q", got)
	}
	if err := th.Rewind(ctx, 7, "ana"); thread.CodeOf(err) != thread.NotFound {
		t.Errorf("rewind to what is not active: %v", err)
	}
	if _, err := th.Fork(ctx, 0, "fork", ""); thread.CodeOf(err) != thread.Conflict {
		t.Errorf("fork to an id that is taken: %v", err)
	}
}

// With several agents in a thread one answers at a time: whom a message names
// first, else the thread's. Each reads the others under their names and its own
// words bare.
func TestWhoIsAddressedAnswers(t *testing.T) {
	e := engine(t, skein.Config{Agents: []skein.Agent{{Name: "north", Instructions: "N"}, {Name: "south", Instructions: "S"}}})
	ctx := context.Background()
	th := open(t, e, "two", skein.Settings{})
	ask(t, th, "Hello")
	ask(t, th, "@south what do you say?")
	ask(t, th, "@nobody is an agent")
	var authors []string
	for e, err := range th.Messages(ctx, 0, 10) {
		if err != nil {
			t.Fatal(err)
		}
		authors = append(authors, e.Message.Author)
	}
	if got := strings.Join(authors, " "); got != "ana north ana south ana north" {
		t.Errorf("authors: %s", got)
	}
	p, err := th.Prompt(ctx, "south")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := p.Print(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nuser      north: You said: ana: Hello\n", "\nassistant You said: ana: @south what do you say?\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("south's prompt lacks %q:\n%s", want, b.String())
		}
	}
}

// What only some may see is in nobody else's prompt, line, zoom or search.
func TestAPrivateMessageStaysPrivate(t *testing.T) {
	e := engine(t, skein.Config{})
	ctx := context.Background()
	th := open(t, e, "private", small())
	if _, err := th.Say(ctx, "ben", "The secret is swordfish", skein.Audience("ana")); err != nil {
		t.Fatal(err)
	}
	for _, text := range launch {
		ask(t, th, text)
	}
	if text := printed(t, th); strings.Contains(text, "swordfish") || !strings.Contains(text, "0+1|(private)") {
		t.Errorf("the prompt:\n%s", text)
	}
	for viewer, sees := range map[string]bool{"ana": true, "ben": true, "north": false, "cat": false} {
		z, err := th.Zoom(ctx, viewer, thread.Span{ID: 0, N: 1}, 1)
		if err != nil || strings.Contains(z.String(), "swordfish") != sees {
			t.Errorf("%s zooms: %v, %v", viewer, z, err)
		}
		r, err := th.Search(ctx, viewer, skein.SearchQuery{Text: "swordfish"})
		if err != nil || strings.Contains(r.String(), "swordfish") != sees {
			t.Errorf("%s finds: %v, %v", viewer, r, err)
		}
	}
}

// An answer to what some only may see, and what the agent opened for it, stays
// among those. In an answer for all, the agent's tools open nothing private.
func TestAnswersKeepTheAudience(t *testing.T) {
	zoom := `{"calls":[{"name":"zoom","input":{"id":0,"n":1}}]}`
	e := engine(t, skein.Config{Model: "scripted", Models: script(t, zoom, "It is the swordfish.", zoom, "I may not say.")})
	ctx := context.Background()
	th := open(t, e, "audience", skein.Settings{})
	if _, err := th.Ask(ctx, "ana", "The secret is swordfish", skein.Audience("north")); err != nil {
		t.Fatal(err)
	}
	ask(t, th, "What is the secret?")
	for viewer, want := range map[string]int{"ana": 3, "ben": 0} {
		r, err := th.Read(ctx, viewer, 0, 20)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(r.String(), "swordfish"); got != want {
			t.Errorf("%s reads it %d times, want %d:\n%s", viewer, got, want, r)
		}
	}
}

// Where the agent may not see a message nobody answers it; one that may answers
// in its place. Queued or not, it is in the log.
func TestOnlyWhoSeesAMessageAnswers(t *testing.T) {
	e := engine(t, skein.Config{Agents: []skein.Agent{{Name: "north"}, {Name: "south"}}})
	ctx := context.Background()
	th := open(t, e, "sees", skein.Settings{Agent: "north"})
	ask(t, th, "Hello all")
	for _, c := range []struct {
		audience []string
		answers  string
	}{{[]string{"ben"}, ""}, {[]string{"ben", "south"}, "south"}, {[]string{"north"}, "north"}} {
		before, err := th.State(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := th.Ask(ctx, "ana", "Only for some", skein.Audience(c.audience...)); err != nil {
			t.Errorf("for %v: %v", c.audience, err)
		}
		var authors []string
		for m, err := range th.Messages(ctx, before.Length, 100) {
			if err != nil {
				t.Fatal(err)
			}
			authors = append(authors, m.Message.Author)
		}
		if got, want := strings.Join(authors, " "), strings.TrimSpace("ana "+c.answers); got != want {
			t.Errorf("for %v: %q, want %q", c.audience, got, want)
		}
	}
}

// What a provider says it billed is not believed beyond reason.
func TestUsageBeyondReasonIsBounded(t *testing.T) {
	usage := thread.Usage{Input: -5, Output: 1 << 62, Cost: math.Inf(1)}
	done := model.Event{Type: model.Done, Parts: []thread.Part{thread.Text("yes")}, Stop: thread.StopEnd, Usage: usage}
	e := engine(t, skein.Config{Models: func(string) (model.Model, error) { return fixed{[]model.Event{done}, nil}, nil }})
	th := open(t, e, "usage", skein.Settings{})
	for range 3 {
		ask(t, th, "Hello")
	}
	if u, err := th.Usage(context.Background()); err != nil || u.Turns.Input != 0 || u.Turns.Output <= 0 || u.Turns.Cost != 0 {
		t.Errorf("usage %+v, %v", u.Turns, err)
	}
}

// A real session of 990 messages goes in whole, once, and is cut and found.
func TestARealSessionGoesIn(t *testing.T) {
	f := sample(t, "pi/session-v1.jsonl")
	e := engine(t, skein.Config{Store: openSQLite(t, filepath.Join(t.TempDir(), "t.db"), nil)})
	ctx := context.Background()
	th := open(t, e, "pi", skein.Settings{})
	for i, want := range []int{996, 0} { // 990 and the results of 6 calls that had none
		report, err := th.Import(ctx, f, transcript.Options{Agent: "north"})
		if err != nil {
			t.Fatal(err)
		}
		if report.Kept != 990 || report.Added != want || report.Differs != 0 {
			t.Errorf("import %d: %+v", i, report)
		}
	}
	o, err := th.Outline(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if o.Messages != 996 || o.Boundary < 900 || o.Tail.Weight > 40_000 || o.Backlog != 0 {
		t.Errorf("outline: %d messages, boundary %d, tail %+v, backlog %d", o.Messages, o.Boundary, o.Tail, o.Backlog)
	}
	r, err := th.Search(ctx, "ana", skein.SearchQuery{Text: "tui-renderer.ts"})
	if err != nil || len(r.Hits) == 0 || !strings.Contains(r.String(), "tui-renderer") {
		t.Errorf("search: %v, %v", r, err)
	}
	if got := ask(t, th, "Where were we?"); got != "You said: ana: Where were we?" {
		t.Errorf("going on: %q", got)
	}
}

// Two engines on one file: both say, one at a time answers, nothing is lost.
func TestTwoEnginesOnOneDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	ctx := context.Background()
	var engines []*skein.Engine
	for range 2 {
		engines = append(engines, engine(t, skein.Config{Store: openSQLite(t, path, nil), Models: func(string) (model.Model, error) { return echo.Model{Pace: 2000}, nil }}))
	}
	open(t, engines[0], "both", small())
	var done sync.WaitGroup
	for i, e := range engines {
		done.Go(func() {
			th, err := e.Thread(ctx, "both")
			if err != nil {
				t.Error(err)
				return
			}
			for n := range 8 {
				if _, err := th.Ask(ctx, fmt.Sprintf("user%d", i), fmt.Sprintf("message %d of %d", n, i), skein.Key(fmt.Sprintf("%d-%d", i, n))); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	done.Wait()
	th, err := engines[0].Thread(ctx, "both")
	if err != nil {
		t.Fatal(err)
	}
	said := 0
	for e, err := range th.Messages(ctx, 0, 1000) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Message.Role == thread.User {
			said++
		}
	}
	state, err := th.State(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if said != 16 || len(state.Inbox) != 0 || state.Turn != 0 {
		t.Errorf("%d of 16 messages, state %+v\n%s", said, state, logged(t, th))
	}
}

// Settings that are given at the same time all stay, and threads that are opened
// at the same time are made once.
func TestSettingsGivenAtOnceAllStay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	ctx := context.Background()
	var engines []*skein.Engine
	for range 2 {
		engines = append(engines, engine(t, skein.Config{Store: openSQLite(t, path, nil)}))
	}
	all := []skein.Settings{{Zone: "Europe/Berlin"}, {Agent: "north"}, {Tail: skein.Marks{Low: 1, High: 2}}, {Outline: skein.Marks{Low: 3, High: 4}}, {Model: "echo"}}
	for i := range 10 {
		var done sync.WaitGroup
		for n, s := range all {
			done.Go(func() {
				if _, err := engines[n%2].OpenThread(ctx, fmt.Sprintf("t%d", i), s); err != nil {
					t.Error(err)
				}
			})
		}
		done.Wait()
		th, err := engines[0].Thread(ctx, fmt.Sprintf("t%d", i))
		if err != nil {
			t.Fatal(err)
		}
		got, err := th.Settings(ctx)
		var want skein.Settings
		for _, s := range all {
			want = want.Over(s)
		}
		if err != nil || got != want {
			t.Errorf("settings %+v, %v, want %+v", got, err, want)
		}
	}
}

func TestErrorsOfCallers(t *testing.T) {
	e := engine(t, skein.Config{})
	ctx := context.Background()
	th := open(t, e, "errors", skein.Settings{})
	cases := []struct {
		about string
		code  thread.Code
		do    func() error
	}{
		{"no such thread", thread.NotFound, func() error { _, err := e.Thread(ctx, "nobody"); return err }},
		{"a bad id", thread.Invalid, func() error { _, err := e.OpenThread(ctx, "../x", skein.Settings{}); return err }},
		{"nothing said", thread.Invalid, func() error { _, err := th.Say(ctx, "ana", " \n "); return err }},
		{"a bad author", thread.Invalid, func() error { _, err := th.Say(ctx, "a b", "x"); return err }},
		{"too much said", thread.Invalid, func() error { _, err := th.Say(ctx, "ana", strings.Repeat("x", skein.MaxText+1)); return err }},
		{"a part that nobody can say", thread.Invalid, func() error { _, err := th.Say(ctx, "ana", "x", skein.With(thread.Call("a", "zoom", nil))); return err }},
		{"a blob that is not there", thread.NotFound, func() error {
			_, err := th.Say(ctx, "ana", "x", skein.With(thread.Part{Type: thread.BlobPart, Hash: strings.Repeat("0", 64)}))
			return err
		}},
		{"an unknown agent", thread.Configuration, func() error { _, err := e.OpenThread(ctx, "x", skein.Settings{Agent: "south"}); return err }},
		{"an unknown model", thread.Configuration, func() error { _, err := e.OpenThread(ctx, "x", skein.Settings{Model: "gpt-0"}); return err }},
		{"an unknown strategy", thread.Configuration, func() error { _, err := e.OpenThread(ctx, "x", skein.Settings{Strategy: "forget"}); return err }},
		{"a bad zone", thread.Invalid, func() error { _, err := e.OpenThread(ctx, "x", skein.Settings{Zone: "Mars/Olympus"}); return err }},
		{"no such line", thread.NotFound, func() error { _, err := th.Zoom(ctx, "ana", thread.Span{ID: 0, N: 2}, 1); return err }},
		{"no such message to rewind to", thread.NotFound, func() error { return th.Rewind(ctx, 3, "ana") }},
		{"no store", thread.Configuration, func() error { _, err := skein.Open(ctx, skein.Config{}); return err }},
	}
	for _, c := range cases {
		err := c.do()
		var typed *thread.Error
		if !errors.As(err, &typed) || typed.Code != c.code || typed.Message == "" {
			t.Errorf("%s: got %v, want the code %s", c.about, err, c.code)
		}
	}
}

func TestDeletedThreadsComeBack(t *testing.T) {
	e := engine(t, skein.Config{})
	ctx := context.Background()
	th := open(t, e, "gone", skein.Settings{})
	ask(t, th, "Remember the anchor")
	if err := th.Delete(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Thread(ctx, "gone"); thread.CodeOf(err) != thread.NotFound {
		t.Errorf("a deleted thread opens: %v", err)
	}
	if _, err := e.OpenThread(ctx, "gone", skein.Settings{}); thread.CodeOf(err) != thread.NotFound {
		t.Errorf("a deleted thread opens, or is made again: %v", err)
	}
	if err := e.Undelete(ctx, "gone"); err != nil {
		t.Fatal(err)
	}
	th, err := e.Thread(ctx, "gone")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := th.Search(ctx, "ana", skein.SearchQuery{Text: "anchor"}); err != nil || len(got.Hits) == 0 {
		t.Errorf("after undelete: %+v, %v", got, err)
	}
}

// sample opens a real transcript, or skips where there is none.
func sample(t testing.TB, name string) *os.File {
	t.Helper()
	dir := os.Getenv("SKEIN_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "shared")
	}
	f, err := os.Open(filepath.Join(dir, "samples", name))
	if err != nil {
		if os.Getenv("SKEIN_REQUIRE") == "all" {
			t.Fatalf("the samples must be there: %v", err)
		}
		t.Skipf("no samples (set SKEIN_SHARED): %v", err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}
