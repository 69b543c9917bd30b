package skein_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/guide"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/store/memory"
	"github.com/skeinhq/skein/strategy"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

// writes is a tool that changes something, and counts how often it did.
func writes(t *testing.T, name string, ran *atomic.Int64) tool.Tool {
	t.Helper()
	made, err := tool.Make(tool.Tool{Name: name, Description: "Writes."}, func(context.Context, struct {
		Path string `json:"path"`
	}) (string, error) {
		return fmt.Sprintf("written, %d times by now", ran.Add(1)), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// asking is an agent that has to ask before it writes.
func asking() skein.Agent {
	return skein.Agent{Name: "north", Permissions: tool.Permissions{Rules: []tool.Rule{
		{Decision: tool.Ask, Tools: []string{"write"}, Reason: "it changes a file"},
		{Decision: tool.Deny, Tools: []string{"drop"}, Reason: "nothing is dropped here"},
	}}}
}

func calls(names ...string) string {
	var out []string
	for i, n := range names {
		out = append(out, fmt.Sprintf(`{"id":"%s-%d","name":%q,"input":{"path":"p%d"}}`, n, i, n, i))
	}
	return `{"calls":[` + strings.Join(out, ",") + `]}`
}

// waits says what the turn waits for.
func waits(t *testing.T, err error) []string {
	t.Helper()
	var e *thread.Error
	if !errors.As(err, &e) || e.Code != thread.Permission {
		t.Fatalf("the turn should wait for an approval: %v", err)
	}
	w, ok := e.Details.(skein.Waiting)
	if !ok {
		t.Fatalf("the error's details are %T", e.Details)
	}
	var ids []string
	for _, a := range w.Asked {
		ids = append(ids, a.Call)
	}
	return ids
}

// results gives each call's result text, by the call's id, in the order of the
// log.
func results(t *testing.T, th *skein.Thread) (texts map[string]string, order []string) {
	t.Helper()
	texts = map[string]string{}
	for e, err := range th.Messages(context.Background(), 0, 1000) {
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range e.Message.Results() {
			texts[r.Call] = r.Parts[0].Text
			order = append(order, r.Call)
		}
	}
	return texts, order
}

func TestACallWaitsForAnApprovalAcrossProcesses(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "t.db")
	var ran atomic.Int64
	cfg := skein.Config{
		Agents: []skein.Agent{asking()}, Tools: []tool.Tool{writes(t, "write", &ran)}, Model: "scripted",
		Models: script(t, calls("write"), "done", calls("write"), "done again", calls("write"), "and again"),
	}
	one, two := cfg, cfg
	one.Store, two.Store = openSQLite(t, path, nil), openSQLite(t, path, nil)
	first := engine(t, one)
	th := open(t, first, "main", skein.Settings{})
	_, err := th.Ask(ctx, "ana", "write it")
	if ids := waits(t, err); len(ids) != 1 || ids[0] != "write-0" {
		t.Fatalf("asked about %v", ids)
	}
	state, err := th.State(ctx)
	if err != nil || !state.Parked || state.Turn == 0 || state.Lease.Owner != "" {
		t.Fatalf("the turn should be parked and owned by nobody: %+v, %v", state, err)
	}
	if ran.Load() != 0 {
		t.Fatal("it ran before anybody allowed it")
	}
	waits(t, th.Reply(ctx)) // to try again asks nothing twice

	// What is said meanwhile is queued.
	if e, err := th.Say(ctx, "ana", "hurry"); err != nil || e.Kind != thread.QueuedKind {
		t.Fatalf("%s, %v", e.Kind, err)
	}

	other := open(t, engine(t, two), "main", skein.Settings{})
	asked, err := other.Pending(ctx)
	if err != nil || len(asked) != 1 || asked[0].Tool != "write" || asked[0].Reason != "it changes a file" || !strings.Contains(asked[0].Question, "p0") {
		t.Fatalf("pending: %+v, %v", asked, err)
	}
	if err := other.Approve(ctx, "ben", "no-such"); thread.CodeOf(err) != thread.NotFound {
		t.Fatalf("approving what does not wait: %v", err)
	}
	decided := make(chan error, 1)
	go func() { decided <- th.AwaitDecision(ctx) }()
	if err := other.Approve(ctx, "ben", ""); err != nil {
		t.Fatal(err)
	}
	if err := <-decided; err != nil {
		t.Fatal(err)
	}
	if err := other.Deny(ctx, "ben", "write-0", "too late"); thread.CodeOf(err) != thread.NotFound {
		t.Fatalf("deciding twice: %v", err)
	}
	err = th.Reply(ctx) // runs it; then answers "hurry", whose turn asks again
	waits(t, err)
	if ran.Load() != 1 {
		t.Fatalf("it ran %d times", ran.Load())
	}
	if err := th.ApproveAlways(ctx, "ana", ""); err != nil {
		t.Fatal(err)
	}
	if err := th.Reply(ctx); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, th, "once more"); got != "and again" || ran.Load() != 3 {
		t.Fatalf("allowed for the thread, it asked again: %q, ran %d times", got, ran.Load())
	}
	if a, err := other.Allowed(ctx); err != nil || len(a) != 1 || a[0].Tool != "write" {
		t.Fatalf("allowed %v, %v", a, err)
	}
	if err := other.AskAgain(ctx, "write", ""); err != nil {
		t.Fatal(err)
	}
	if a, err := th.Allowed(ctx); err != nil || len(a) != 0 || thread.CodeOf(th.AskAgain(ctx, "write", "")) != thread.NotFound {
		t.Fatalf("taken back, but allowed %v, %v", a, err)
	}
}

func TestADeniedCallIsToldTheModel(t *testing.T) {
	ctx := context.Background()
	var ran atomic.Int64
	e := engine(t, skein.Config{
		Agents: []skein.Agent{asking()}, Model: "scripted",
		Tools:  []tool.Tool{writes(t, "write", &ran), writes(t, "drop", &ran), writes(t, "free", &ran)},
		Models: script(t, calls("drop", "write", "free"), "I see"),
	})
	th := open(t, e, "main", skein.Settings{})
	_, err := th.Ask(ctx, "ana", "go")
	waits(t, err)
	if err := th.Deny(ctx, "ana", "", "not today"); err != nil {
		t.Fatal(err)
	}
	if err := th.Reply(ctx); err != nil {
		t.Fatal(err)
	}
	texts, order := results(t, th)
	if texts["drop-0"] != "Denied: nothing is dropped here" || texts["write-1"] != "Denied: not today" || !strings.Contains(texts["free-2"], "written") || ran.Load() != 1 {
		t.Errorf("results %v, ran %d times", texts, ran.Load())
	}
	if strings.Join(order, " ") != "drop-0 write-1 free-2" {
		t.Errorf("order %v", order)
	}
}

func TestTheHistoryToolsAreAllowedUnlessARuleNamesThem(t *testing.T) {
	zoom := `{"calls":[{"id":"z","name":"zoom","input":{"id":0,"n":1}}]}`
	deny := tool.Permissions{Default: tool.Deny}
	for about, p := range map[string]tool.Permissions{"the default": deny, "a rule": {Default: tool.Deny, Rules: []tool.Rule{{Decision: tool.Deny, Tools: []string{"zoom"}}}}} {
		e := engine(t, skein.Config{Agents: []skein.Agent{{Name: "north", Permissions: p}}, Model: "scripted", Models: script(t, zoom, "done")})
		th := open(t, e, "main", skein.Settings{})
		ask(t, th, "hello")
		texts, _ := results(t, th)
		if denied := strings.HasPrefix(texts["z"], "Denied"); denied != (about == "a rule") {
			t.Errorf("by %s: %q", about, texts["z"])
		}
	}
}

func TestAParkedTurnCanBeStopped(t *testing.T) {
	ctx := context.Background()
	var ran atomic.Int64
	e := engine(t, skein.Config{Agents: []skein.Agent{asking()}, Tools: []tool.Tool{writes(t, "write", &ran)}, Model: "scripted", Models: script(t, calls("write"), "well then")})
	th := open(t, e, "main", skein.Settings{})
	_, err := th.Ask(ctx, "ana", "go")
	waits(t, err)
	if err := th.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if asked, err := th.Pending(ctx); err != nil || len(asked) != 0 {
		t.Fatalf("still pending: %v, %v", asked, err)
	}
	if got := ask(t, th, "something else"); got != "well then" || ran.Load() != 0 {
		t.Errorf("%q, ran %d times", got, ran.Load())
	}
}

// gate is a tool that is held until it is let go.
func gate(t *testing.T, entered chan<- struct{}, let <-chan struct{}) tool.Tool {
	t.Helper()
	made, err := tool.Make(tool.Tool{Name: "gate", Description: "Waits."}, func(ctx context.Context, _ struct {
		Path string `json:"path,omitempty"`
	}) (string, error) {
		entered <- struct{}{}
		select {
		case <-let:
			return "through", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestSteeringIsHeardBetweenCalls(t *testing.T) {
	ctx := context.Background()
	entered, let := make(chan struct{}), make(chan struct{})
	e := engine(t, skein.Config{Tools: []tool.Tool{gate(t, entered, let)}, Model: "scripted", Models: script(t, calls("gate", "gate"), "as you say", "later")})
	th := open(t, e, "main", skein.Settings{})
	done := make(chan error, 1)
	go func() {
		_, err := th.Ask(ctx, "ana", "go through both")
		done <- err
	}()
	<-entered
	for _, say := range []struct {
		text    string
		options []skein.SayOption
	}{{"and then?", nil}, {"only the first!", []skein.SayOption{skein.Now()}}} {
		if _, err := th.Say(ctx, "ana", say.text, say.options...); err != nil {
			t.Fatal(err)
		}
	}
	close(let)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	log := logged(t, th)
	texts, _ := results(t, th)
	if texts["gate-0"] != "through" || !strings.Contains(texts["gate-1"], "not run") {
		t.Errorf("results %v", texts)
	}
	steer, answer, follow := strings.Index(log, `"ana → north: only the first!"`), strings.Index(log, "as you say"), strings.LastIndex(log, `"ana → north: and then?"`)
	if !(0 < steer && steer < answer && answer < follow) {
		t.Errorf("the steering should stand before the answer, and the follow-up after it:\n%s", log)
	}
}

func TestALimitEndsTheTurnInWriting(t *testing.T) {
	ctx := context.Background()
	billed := `{"calls":[{"name":"gate","input":{}}],"usage":{"input":600,"output":10,"cost":0.3}}`
	entered, let := make(chan struct{}, 100), make(chan struct{})
	close(let)
	for name, limits := range map[string]skein.Limits{
		"steps": {Steps: 2}, "calls": {Calls: 1}, "tokens": {Tokens: 700}, "cost": {Cost: 0.5},
	} {
		e := engine(t, skein.Config{
			Agents: []skein.Agent{{Name: "north", Limits: limits}}, Tools: []tool.Tool{gate(t, entered, let)}, Model: "scripted",
			Models: script(t, billed, billed, billed, billed, "never"),
		})
		th := open(t, e, "main", skein.Settings{})
		_, err := th.Ask(ctx, "ana", "go")
		var typed *thread.Error
		if !errors.As(err, &typed) || typed.Code != thread.Limit || !strings.Contains(typed.Message, "limit") {
			t.Fatalf("%s: %v", name, err)
		}
		ended := lastTurn(t, th)
		if ended.Reason != thread.StopLimit || ended.Error == nil || ended.Usage == nil {
			t.Errorf("%s: the turn's end says %+v", name, ended)
		}
	}
}

func lastTurn(t *testing.T, th *skein.Thread) thread.Turn {
	t.Helper()
	for e, err := range th.Entries(context.Background(), store.EntriesQuery{Kinds: []thread.Kind{thread.TurnKind}, Newest: true}) {
		if err != nil {
			t.Fatal(err)
		}
		return *e.Turn
	}
	t.Fatal("there is no turn in the log")
	return thread.Turn{}
}

func TestATurnsTimeRunsOut(t *testing.T) {
	entered := make(chan struct{}, 1)
	e := engine(t, skein.Config{
		Agents: []skein.Agent{{Name: "north", Limits: skein.Limits{Time: 50 * time.Millisecond}}},
		Tools:  []tool.Tool{gate(t, entered, nil)}, Model: "scripted", Models: script(t, calls("gate")),
		Store: openSQLite(t, filepath.Join(t.TempDir(), "t.db"), nil),
	})
	th := open(t, e, "main", skein.Settings{})
	if _, err := th.Ask(context.Background(), "ana", "go"); thread.CodeOf(err) != thread.Limit {
		t.Fatalf("got %v", err)
	}
	if ended := lastTurn(t, th); ended.Reason != thread.StopLimit {
		t.Errorf("the turn's end says %+v", ended)
	}
}

func TestATurnInAnotherProcessIsStopped(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "t.db")
	entered := make(chan struct{}, 1)
	cfg := skein.Config{Tools: []tool.Tool{gate(t, entered, nil)}, Model: "scripted", Models: script(t, calls("gate")), Lease: 3 * time.Second}
	one, two := cfg, cfg
	one.Store, two.Store = openSQLite(t, path, nil), openSQLite(t, path, nil)
	th := open(t, engine(t, one), "main", skein.Settings{})
	done := make(chan error, 1)
	go func() {
		_, err := th.Ask(ctx, "ana", "go")
		done <- err
	}()
	<-entered
	if err := open(t, engine(t, two), "main", skein.Settings{}).Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-done; thread.CodeOf(err) != thread.Aborted {
		t.Fatalf("got %v", err)
	}
	if ended := lastTurn(t, th); ended.Reason != thread.StopAborted {
		t.Errorf("the turn's end says %+v", ended)
	}
}

func TestAnAnswerIsMadeAgain(t *testing.T) {
	e := engine(t, skein.Config{Model: "scripted", Models: script(t, "first", "second", "better")})
	th := open(t, e, "main", skein.Settings{})
	ask(t, th, "one")
	ask(t, th, "two")
	if err := th.Regenerate(context.Background(), "ana"); err != nil {
		t.Fatal(err)
	}
	log := logged(t, th)
	if !strings.Contains(log, "better") || strings.Count(log, "ana → north: two") != 1 {
		t.Errorf("the log:\n%s", log)
	}
	if r := request(t, th); strings.Contains(r, "second") || !strings.Contains(r, "better") {
		t.Errorf("the prompt: %s", r)
	}
}

// reviewer is a skill with the git tool.
func reviewer(t *testing.T) guide.Skills {
	t.Helper()
	git, err := tool.Make(tool.Tool{Name: "git", ReadOnly: true, Description: "Shows a repository."}, func(context.Context, struct{}) (string, error) { return "clean", nil })
	if err != nil {
		t.Fatal(err)
	}
	return guide.Skills{{Name: "review", Description: "looks at changes", Instructions: guide.Text("Read the diff first."), Tools: []tool.Tool{git}}}
}

const load = `{"calls":[{"name":"load_skill","input":{"name":"review"}}]}`

func TestASkillIsLockedUntilItIsLoaded(t *testing.T) {
	both := `{"calls":[{"id":"l","name":"load_skill","input":{"name":"review"}},{"id":"g","name":"git","input":{}}]}`
	git := func(id string) string { return `{"calls":[{"id":"` + id + `","name":"git","input":{}}]}` }
	e := engine(t, skein.Config{Skills: reviewer(t), Model: "scripted", Models: script(t, git("a"), both, git("b"), "done")})
	th := open(t, e, "main", skein.Settings{})
	if r := request(t, th); !strings.Contains(r, "- review: looks at changes") || !strings.Contains(r, `"name":"git"`) {
		t.Errorf("the prompt names no skill, or not its tool: %s", r)
	}
	ask(t, th, "review it")
	texts, _ := results(t, th)
	const locked = "Load the review skill with load_skill before using git"
	if texts["a"] != locked || texts["g"] != locked || texts["b"] != "clean" || !strings.Contains(texts["l"], "Read the diff first.") {
		t.Errorf("results %v", texts)
	}
}

// long fills a thread's tail.
func long(n int) string { return strings.Repeat("and another matter that has to be looked into, ", n) }

func TestWithTheOutlineASkillStaysOpen(t *testing.T) {
	for _, forget := range []bool{false, true} {
		e := engine(t, skein.Config{
			Agents: []skein.Agent{{Name: "north", ForgetSkills: forget, Tail: skein.Marks{Low: 40, High: 80}}}, Skills: reviewer(t), Model: "scripted",
			Models: script(t, load, "loaded", "well", "well", `{"calls":[{"id":"late","name":"git","input":{}}]}`, "done"),
		})
		th := open(t, e, "main", skein.Settings{})
		ask(t, th, "load it")
		ask(t, th, long(10))
		ask(t, th, long(10))
		r := request(t, th)
		told := strings.Contains(r, `<context name=\"skill review\">`) || strings.Contains(r, `context name=\"skill review\"`)
		if told == forget {
			t.Errorf("forgets: %v, but the instructions are told: %v: %s", forget, told, r)
		}
		if locked := strings.Contains(r, "locked again: review"); locked != forget {
			t.Errorf("forgets: %v, but it says that the skill is locked: %v", forget, locked)
		}
		ask(t, th, "use it")
		texts, _ := results(t, th)
		if clean := texts["late"] == "clean"; clean == forget {
			t.Errorf("forgets: %v, and the call gave %q", forget, texts["late"])
		}
	}
}

func TestACompactionLocksASkillAgain(t *testing.T) {
	ctx := context.Background()
	e := engine(t, skein.Config{
		Agents: []skein.Agent{{Name: "north", Strategy: strategy.Chain{strategy.SlidingWindow(strategy.Sliding{Tokens: 300, BatchTokens: 100})}}},
		Skills: reviewer(t), Model: "scripted",
		Models: script(t, load, "loaded", "well", "well", `{"calls":[{"id":"late","name":"git","input":{}}]}`, load, `{"calls":[{"id":"again","name":"git","input":{}}]}`, "done"),
	})
	th := open(t, e, "main", skein.Settings{})
	ask(t, th, "load it")
	ask(t, th, long(15))
	ask(t, th, long(15))
	ask(t, th, "use it")
	texts, _ := results(t, th)
	if !strings.HasPrefix(texts["late"], "Load the review skill") || texts["again"] != "clean" {
		t.Errorf("results %v", texts)
	}
	told := false
	for e, err := range th.Messages(ctx, 0, 100) {
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range e.Message.Contexts {
			told = told || c.Name == "skills" && strings.Contains(c.Text, "review")
		}
	}
	if !told {
		t.Errorf("nobody said that the skill is locked again:\n%s", logged(t, th))
	}
}

func TestWithoutATranscriptNothingIsLeft(t *testing.T) {
	ctx := context.Background()
	e, err := skein.Open(ctx, skein.Config{WithoutTranscript: true})
	if err != nil {
		t.Fatal(err)
	}
	th := open(t, e, "once", skein.Settings{})
	ask(t, th, "hello")
	if _, err := e.Thread(ctx, "another"); thread.CodeOf(err) != thread.Configuration || !strings.Contains(err.Error(), "no transcript") {
		t.Errorf("going on with a thread: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestALongOutputIsKeptWholeBesideItsResult(t *testing.T) {
	ctx := context.Background()
	text := strings.Repeat("0123456789\n", 30_000)
	big := tool.Tool{Name: "big", Schema: json.RawMessage(`{"type":"object"}`), ReadOnly: true, Run: func(context.Context, json.RawMessage) (tool.Output, error) {
		return tool.Output{Text: text}, nil
	}}
	e := engine(t, skein.Config{Tools: []tool.Tool{big}, Model: "scripted", Models: script(t, calls("big"), "seen")})
	th := open(t, e, "main", skein.Settings{})
	ask(t, th, "print it")
	var whole strings.Builder
	for page := 1; ; page++ {
		z, err := th.Zoom(ctx, "ana", thread.Span{ID: 2, N: 1}, page)
		if err != nil {
			t.Fatal(err)
		}
		whole.WriteString(z.Message.Text)
		if page == z.Message.Pages {
			break
		}
	}
	if !strings.Contains(whole.String(), text) {
		t.Errorf("the pages hold %d bytes, not the whole output of %d", whole.Len(), len(text))
	}
}

func TestObserversHearWhatATurnDoes(t *testing.T) {
	var mu sync.Mutex
	var heard []string
	e, err := skein.Open(context.Background(), skein.Config{
		Store: memory.New(memory.Options{}), Skills: reviewer(t), Model: "scripted", Models: script(t, load, `{"calls":[{"id":"g","name":"git","input":{}}]}`, "done"),
		Observers: []skein.Observer{{Event: func(ev thread.Event) {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, strings.TrimSpace(string(ev.Type)+" "+ev.Name+strings.Join(ev.Names, ",")))
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ask(t, open(t, e, "main", skein.Settings{}), "review it")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	want := []string{"conversation", "instructions-loaded", "step", "tool load_skill", "tool-result load_skill", "skills-loaded review", "step", "tool git", "tool-result git", "step", "text", "finished"}
	at := 0
	for _, h := range heard {
		if at < len(want) && h == want[at] {
			at++
		}
	}
	if at < len(want) {
		t.Errorf("%q is missing, in this order, from %q", want[at], heard)
	}
}

func TestAStoppedTurnIsNotGoneOnWithByItself(t *testing.T) {
	ctx := context.Background()
	entered := make(chan struct{}, 1)
	e := engine(t, skein.Config{Tools: []tool.Tool{gate(t, entered, nil)}, Model: "scripted", Models: script(t, calls("gate"), "not asked for")})
	th := open(t, e, "main", skein.Settings{})
	done := make(chan error, 1)
	go func() {
		_, err := th.Ask(ctx, "ana", "go")
		done <- err
	}()
	<-entered
	if err := th.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-done; thread.CodeOf(err) != thread.Aborted {
		t.Fatalf("got %v", err)
	}
	if err := th.Reply(ctx); err != nil {
		t.Fatal(err)
	}
	if log := logged(t, th); strings.Contains(log, "not asked for") {
		t.Errorf("the stopped turn went on:\n%s", log)
	}
	if got := ask(t, th, "and now"); got != "not asked for" {
		t.Errorf("%q", got)
	}
}

// two agents: north has to ask and may not drop, south may do all.
func northAndSouth() []skein.Agent {
	south := skein.Agent{Name: "south"}
	return []skein.Agent{asking(), south}
}

func TestAnOpenTurnIsItsAgentsWhateverIsSaidMeanwhile(t *testing.T) {
	ctx := context.Background()
	var wrote, dropped atomic.Int64
	for about, meanwhile := range map[string]func(*skein.Thread) error{
		"a queued message for another agent": func(th *skein.Thread) error {
			_, err := th.Say(ctx, "ana", "@south what do you think?")
			return err
		},
		"another agent set for the thread": func(th *skein.Thread) error { return th.Set(ctx, skein.Settings{Agent: "south"}) },
	} {
		wrote.Store(0)
		dropped.Store(0)
		e := engine(t, skein.Config{
			Agents: northAndSouth(), Tools: []tool.Tool{writes(t, "write", &wrote), writes(t, "drop", &dropped)}, Model: "scripted",
			Models: script(t, calls("write", "drop"), "then not", "I think so"),
		})
		th := open(t, e, "main", skein.Settings{Agent: "north"})
		_, err := th.Ask(ctx, "ana", "go")
		waits(t, err)
		if err := meanwhile(th); err != nil {
			t.Fatal(err)
		}
		waits(t, th.Reply(ctx))
		if err := th.Deny(ctx, "ana", "", "no writing"); err != nil {
			t.Fatal(err)
		}
		if err := th.Reply(ctx); err != nil {
			t.Fatal(err)
		}
		if wrote.Load()+dropped.Load() != 0 {
			t.Errorf("%s: what was denied and what is forbidden ran %d and %d times", about, wrote.Load(), dropped.Load())
		}
	}
}

func TestADenialHoldsWhereAnotherCallIsAllowedForTheThread(t *testing.T) {
	ctx := context.Background()
	var ran atomic.Int64
	e := engine(t, skein.Config{Agents: []skein.Agent{asking()}, Tools: []tool.Tool{writes(t, "write", &ran)}, Model: "scripted", Models: script(t, calls("write", "write"), "done")})
	th := open(t, e, "main", skein.Settings{})
	_, err := th.Ask(ctx, "ana", "go")
	waits(t, err)
	if err := errors.Join(th.Deny(ctx, "ana", "write-1", "never p1"), th.ApproveAlways(ctx, "ana", "write-0"), th.Reply(ctx)); err != nil {
		t.Fatal(err)
	}
	if texts, _ := results(t, th); texts["write-1"] != "Denied: never p1" || ran.Load() != 1 {
		t.Errorf("results %v, ran %d times", texts, ran.Load())
	}
}

func TestADecisionIsOfTheQuestionThatWasLookedAt(t *testing.T) {
	ctx := context.Background()
	again := `{"calls":[{"id":"call_0","name":"write","input":{"path":"p"}}]}`
	var ran atomic.Int64
	e := engine(t, skein.Config{Agents: []skein.Agent{asking()}, Tools: []tool.Tool{writes(t, "write", &ran)}, Model: "scripted", Models: script(t, again, again, "done")})
	th := open(t, e, "main", skein.Settings{})
	_, err := th.Ask(ctx, "ana", "go")
	waits(t, err)
	looked, err := th.Pending(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := th.Deny(ctx, "ben", "call_0", "no"); err != nil {
		t.Fatal(err)
	}
	waits(t, th.Reply(ctx))
	if err := th.Approve(ctx, "ana", looked[0].ID); thread.CodeOf(err) != thread.NotFound || ran.Load() != 0 {
		t.Errorf("a question that waits no longer was answered: %v, ran %d times", err, ran.Load())
	}
}

func TestOfTwoDecisionsAtOnceOneCounts(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "t.db")
	var ran atomic.Int64
	cfg := skein.Config{Agents: []skein.Agent{asking()}, Tools: []tool.Tool{writes(t, "write", &ran)}, Model: "scripted", Models: script(t, calls("write"), "done")}
	one, two := cfg, cfg
	one.Store, two.Store = openSQLite(t, path, nil), openSQLite(t, path, nil)
	first, second := engine(t, one), engine(t, two)
	for round := range 8 {
		ran.Store(0)
		id := fmt.Sprintf("t%d", round)
		a := open(t, first, id, skein.Settings{})
		_, err := a.Ask(ctx, "ana", "go")
		waits(t, err)
		b := open(t, second, id, skein.Settings{})
		outcomes := make(chan error, 2)
		go func() { outcomes <- a.Approve(ctx, "ana", "") }()
		go func() { outcomes <- b.Deny(ctx, "ben", "", "no") }()
		err1, err2 := <-outcomes, <-outcomes
		if (err1 == nil) == (err2 == nil) {
			t.Fatalf("two decisions gave %v and %v", err1, err2)
		}
		if err := a.Reply(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTimeThatATurnWaitsDoesNotCount(t *testing.T) {
	ctx := context.Background()
	var hours atomic.Int64
	clock := func() time.Time { return start.Add(time.Duration(hours.Load()) * time.Hour) }
	hour := func() { hours.Add(1) }
	for about, wait := range map[string]func(*skein.Thread) error{
		"decided at once, gone on with an hour later": func(th *skein.Thread) error {
			defer hour()
			return errors.Join(th.Approve(ctx, "ana", "write-0"), th.Approve(ctx, "ana", "write-1"))
		},
		"one decided at once, the other an hour later": func(th *skein.Thread) error {
			err := th.Approve(ctx, "ana", "write-0")
			hour()
			return errors.Join(err, th.Approve(ctx, "ana", "write-1"))
		},
		"nothing decided, but steered an hour later": func(th *skein.Thread) error {
			hour()
			_, err := th.Say(ctx, "ana", "never mind", skein.Now())
			return err
		},
	} {
		var ran atomic.Int64
		a := asking()
		a.Limits.Time = 20 * time.Minute
		e := engine(t, skein.Config{
			Store: memory.New(memory.Options{Now: clock}), Now: clock,
			Agents: []skein.Agent{a}, Tools: []tool.Tool{writes(t, "write", &ran)}, Model: "scripted", Models: script(t, calls("write", "write"), "done"),
		})
		th := open(t, e, "main", skein.Settings{})
		_, err := th.Ask(ctx, "ana", "go")
		waits(t, err)
		if err := errors.Join(wait(th), th.Reply(ctx)); err != nil {
			t.Errorf("%s: %v", about, err)
		}
	}
}

func TestACallThatWasAskedAboutIsNotLockedAfterwards(t *testing.T) {
	ctx := context.Background()
	var ran atomic.Int64
	a := asking()
	skill := guide.Skills{{Name: "review", Description: "d", Instructions: guide.Text("i"), Tools: []tool.Tool{writes(t, "write", &ran)}}}
	e := engine(t, skein.Config{Agents: []skein.Agent{a}, Skills: skill, Strategies: strategies(), Model: "scripted", Models: script(t, load, calls("write"), "done")})
	th := open(t, e, "main", skein.Settings{Strategy: "sliding"})
	_, err := th.Ask(ctx, "ana", "go")
	waits(t, err)
	if err := th.Compact(ctx); err != nil && thread.CodeOf(err) != thread.Limit {
		t.Fatal(err)
	}
	if state, err := th.State(ctx); err != nil || !state.Parked {
		t.Errorf("after a compaction the turn is not parked any more: %v", err)
	}
	if err := errors.Join(th.Approve(ctx, "ana", ""), th.Reply(ctx)); err != nil {
		t.Fatal(err)
	}
	if ran.Load() != 1 {
		texts, _ := results(t, th)
		t.Errorf("it ran %d times: %v", ran.Load(), texts)
	}
}

func TestAStrategyThatNamesNoModelOfOursIsRefusedAtOnce(t *testing.T) {
	a := skein.Agent{Name: "north", Strategy: strategy.Chain{strategy.SummarizeHistory(strategy.Summarize{Model: "nosuch"})}}
	e := engine(t, skein.Config{Agents: []skein.Agent{a}})
	if _, err := e.OpenThread(context.Background(), "main", skein.Settings{}); thread.CodeOf(err) != thread.Configuration || !strings.Contains(err.Error(), "summarize") {
		t.Errorf("got %v", err)
	}
}
