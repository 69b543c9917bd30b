package skein

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/skeinhq/skein/guide"
	"github.com/skeinhq/skein/internal/agent"
	"github.com/skeinhq/skein/internal/line"
	"github.com/skeinhq/skein/internal/outline"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/echo"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/store/memory"
	"github.com/skeinhq/skein/strategy"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
	"github.com/skeinhq/skein/tool/history"
)

// Config says what an engine works with. Only Store is required.
type Config struct {
	// Store keeps the threads. The engine closes it.
	Store store.Store

	// WithoutTranscript keeps threads in memory until Close, instead of in a Store:
	// nothing of them is left, and no thread can be gone on with.
	WithoutTranscript bool

	// Space is the tenant whose threads the engine sees. Default: the empty one.
	Space string

	// Agents may answer. Default: the built-in north. Agent names the one that
	// answers where a thread says nothing else; default: the first.
	Agents []Agent
	Agent  string

	// Tools are what agents may use besides the history tools. An agent that names
	// no tools may use all.
	Tools []tool.Tool

	// Sets gives tools that agents may use who name the set, such as files or the
	// tools of an MCP server. It is asked at every turn.
	Sets func(ctx context.Context) []tool.Set

	// Skills may be loaded by agents: by those that name them, and by those that
	// name none.
	Skills guide.Skills

	// Strategies may be named by agents and threads besides those that come with
	// Skein.
	Strategies []strategy.Strategy

	// Begins, where it is set, is asked before a turn begins or is gone on with: its
	// error keeps the turn from that, and Reply gives it. What was said waits.
	Begins func(ctx context.Context, t *Thread, answers Agent) error

	// Workspace is the folder that instructions such as AGENTS.md are read from; nil:
	// none.
	Workspace fs.FS

	// Prompts gives the prompts of MCP servers that instructions name; nil: there are
	// none.
	Prompts func(ctx context.Context, server, name string, args map[string]string) (string, error)

	// Model names the model where neither thread nor agent says one; default echo.
	// Models gives the model of a name; default: echo alone.
	Model  string
	Models func(name string) (model.Model, error)

	// Rules is the rule and price table; default: the built-in one.
	Rules *model.Table

	// LineModel names the model that writes lines; empty: none does, and lines are
	// extracts.
	LineModel string

	// LineGuide is what that model is told of how much to keep; default: the user's
	// words first, then lasting effects, findings, open questions, steps.
	LineGuide string

	// ReadOnly keeps the engine from any work of its own: no lines are built.
	ReadOnly bool

	// Gather is how long the views of a thread that is written to fast gather commits,
	// to show them as one change: a commit after a silence of that time shows at once,
	// else it waits that long for others. Default: each shows at once.
	Gather time.Duration

	// Lease is how long a turn's owner may be silent before another process takes
	// over; default DefaultLease.
	Lease time.Duration

	// Observers are told of what happens in the threads of this engine.
	Observers []Observer

	// Now is the clock; default time.Now.
	Now func() time.Time
}

// Agent is who answers in a thread: Name, Instructions, Include (more of them,
// resolved at every turn), Model, MaxOutput (tokens), Thinking (low, medium, high),
// Tools and Skills (names; nil: all), ForgetSkills, Permissions, Strategy, MaxAge,
// Tail and Outline (Marks), Limits. The zero value of a field leaves the default in
// force.
type Agent = agent.Agent

// Limits are what a turn may take: Steps (0: 100), Calls, Tokens, Cost (US
// dollars), Time; 0 is no limit.
type Limits = agent.Limits

// ParseAgent reads an agent's Markdown file: front matter in YAML, which may be
// absent, then the instructions. own are strategies that it may name besides
// Skein's.
func ParseAgent(name string, data []byte, own ...strategy.Strategy) (Agent, error) {
	return agent.Parse(name, data, own...)
}

// Settings are what was given for a thread; they are written to it and stay:
// Agent, Model, Strategy (names, joined by commas), Tail and Outline (Marks), Zone (an IANA
// name; empty: UTC), Workspace (the folder that its agents work in, as an absolute
// path). A Model or Strategy of Unset gives the choice back to the agent.
type Settings = agent.Settings

// Unset stands in Settings for a model or a strategy that a thread is no longer to
// have of its own.
const Unset = agent.Unset

// Force is what is in force in a thread: Agent, and Model and Strategy, each with its
// Name and By, whose word it is.
type Force = agent.Force

// Choice is what was chosen: Name, and By, whose word it is.
type Choice = agent.Choice

// Source says whose word a choice is.
type Source = agent.Source

// The sources, the strongest first: the thread's settings, the agent's file, and
// nobody's.
const (
	ByThread  = agent.ByThread
	ByAgent   = agent.ByAgent
	ByDefault = agent.ByDefault
)

// Usage is what a thread's requests took: Requests (how many), Turns, Summary and
// Lines (tokens and cost of answers, summaries and lines), Tokens and Same (of all
// prompts, and how much of that was the same prefix as the request before), Agents
// (what the answers and summaries of each took), Last (each agent's newest request).
type Usage = agent.Usage

// Marks are two weights in tokens, Low and High: what weighs more than High is
// brought down to about Low.
type Marks = outline.Marks

// Engine is the front door. It owns every goroutine that works on its threads
// and waits for them in Close. Its methods may be called from many goroutines.
type Engine struct {
	cfg   Config
	store store.Store
	lines *line.Builder
	hub   hub
	uses  uses
	owner string

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu      sync.Mutex
	turns   map[string]chan struct{}           // by thread id: held while this process runs its turn
	stops   map[string]context.CancelCauseFunc // by thread id: ends what it runs
	held    map[string]bool                    // threads whose cut waits for a line
	open    map[string]*Thread
	warm    []*Thread // whose recent past is held, the last used last
	drained bool      // no turn runs here any more
	closed  bool
}

// Open starts an engine. Where it is not ReadOnly it goes on building the lines
// that an earlier process left due, and purges what was deleted long ago.
func Open(ctx context.Context, cfg Config) (*Engine, error) {
	if cfg.Store == nil && cfg.WithoutTranscript {
		cfg.Store = memory.New(memory.Options{Now: cfg.Now})
	}
	if cfg.Store == nil {
		return nil, &thread.Error{Code: thread.Configuration, Op: "open", Message: "an engine needs a store", Hint: "open one with sqlite.Open"}
	}
	if len(cfg.Agents) == 0 {
		cfg.Agents = []Agent{agent.BuiltIn()}
	}
	if cfg.Agent == "" {
		cfg.Agent = cfg.Agents[0].Name
	}
	if cfg.Model == "" {
		cfg.Model = "echo"
	}
	if cfg.Models == nil {
		cfg.Models = onlyEcho
	}
	if cfg.Rules == nil {
		cfg.Rules = model.BuiltIn()
	}
	if err := checkTools(cfg); err != nil {
		return nil, err
	}
	if err := checkObservers(cfg.Observers); err != nil {
		return nil, err
	}
	if cfg.Lease <= 0 {
		cfg.Lease = DefaultLease
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, err
	}
	e := &Engine{
		cfg: cfg, store: cfg.Store, owner: id.String(),
		turns: map[string]chan struct{}{}, stops: map[string]context.CancelCauseFunc{}, held: map[string]bool{}, open: map[string]*Thread{},
	}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	e.hub.observers = newObservers(cfg.Observers, cfg.Now)
	e.hub.rooms = e.newRooms()
	if e.lines, err = e.newBuilder(); err != nil {
		e.cancel()
		return nil, err
	}
	e.hub.observers.start(e.report)
	if !cfg.ReadOnly {
		if err := e.lines.Resume(ctx); err != nil {
			return nil, errors.Join(err, e.Close())
		}
		if _, err := e.Purge(ctx); err != nil {
			return nil, errors.Join(err, e.Close())
		}
	}
	return e, nil
}

// checkTools refuses tools, skills, permissions and strategies that cannot be used
// or cannot stand beside each other.
func checkTools(cfg Config) error {
	all, err := history.Tools(nil, nil)
	if err != nil {
		return err
	}
	all = append(all, cfg.Tools...)
	if err := tool.Check(all); err != nil {
		return err
	}
	if err := cfg.Skills.Check(all); err != nil {
		return err
	}
	for _, a := range cfg.Agents {
		if err := errors.Join(a.Permissions.Check(), a.Strategy.Check(), agent.CheckMarks("tail", a.Tail), agent.CheckMarks("outline", a.Outline)); err != nil {
			return &thread.Error{Code: thread.Configuration, Op: "agent", Message: fmt.Sprintf("the agent %s cannot be used", a.Name), Err: err}
		}
	}
	return nil
}

func onlyEcho(name string) (model.Model, error) {
	if name == "echo" {
		return echo.Model{}, nil
	}
	return nil, &thread.Error{Code: thread.Configuration, Op: "model", Message: fmt.Sprintf("there is no model named %q", name), Hint: "set Config.Models"}
}

func (e *Engine) newBuilder() (*line.Builder, error) {
	cfg := line.Config{Store: e.store, Now: e.cfg.Now, Published: e.linesBuilt, Report: e.report}
	if name := e.cfg.LineModel; name != "" && !e.cfg.ReadOnly {
		m, err := e.cfg.Models(name)
		if err != nil {
			return nil, err
		}
		cfg.Model, cfg.ModelName, cfg.Guide, cfg.Writes = m, name, e.cfg.LineGuide, e.linesAreSent
		if rules, err := e.cfg.Rules.Rules(name); err == nil {
			cfg.Price = rules.Cost
		}
	}
	return line.NewBuilder(e.ctx, cfg), nil
}

// linesAreSent says whether a thread's prompt shows lines: only then a model is
// paid for them, else extracts do.
func (e *Engine) linesAreSent(t *thread.Thread) bool {
	base, _, err := e.base(e.ctx, t.Key)
	return err == nil && base.Outlined()
}

// Close stops what runs, waits for it, has observers hear what they have not heard
// yet, for at most five seconds, and closes the store.
func (e *Engine) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	e.mu.Unlock()
	e.cancel()
	e.lines.Close()
	e.work.Wait()
	e.hub.close()
	e.hub.observers.drain(drainFor)
	return e.store.Close()
}

// Thread opens the thread of that id; not-found where there is none.
func (e *Engine) Thread(ctx context.Context, id string) (*Thread, error) {
	state, err := e.store.Thread(ctx, e.cfg.Space, id)
	if thread.CodeOf(err) == thread.NotFound && e.cfg.WithoutTranscript {
		return nil, &thread.Error{Code: thread.Configuration, Op: "open", Thread: id, Message: fmt.Sprintf("the thread %q cannot be gone on with: this engine keeps no transcript", id), Hint: "open it with the store that it is in", Err: err}
	}
	if err != nil {
		return nil, err
	}
	if !state.Deleted.IsZero() {
		return nil, &thread.Error{Code: thread.NotFound, Op: "open", Thread: id, Message: fmt.Sprintf("the thread %q was deleted", id), Hint: "undelete brings it back within 7 days"}
	}
	return e.handle(id), nil
}

// OpenThread opens the thread of that id, or makes it. What s sets is written
// to the thread and stays. It fails with configuration where the thread's agent,
// its model or its tools are not there, so that nothing is said in vain.
func (e *Engine) OpenThread(ctx context.Context, id string, s Settings) (*Thread, error) {
	state, err := e.store.Thread(ctx, e.cfg.Space, id)
	if thread.CodeOf(err) == thread.NotFound {
		if _, err := e.cast(ctx, eyes{}, s, nil); err != nil {
			return nil, err
		}
		t, err := e.Create(ctx, id, "", s)
		if thread.CodeOf(err) == thread.Conflict {
			return e.OpenThread(ctx, id, s) // somebody was faster
		}
		return t, err
	}
	if err != nil {
		return nil, err
	}
	t, err := e.Thread(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := t.Set(ctx, s); err != nil {
		return nil, err
	}
	_, err = e.castOf(ctx, state.Key)
	return t, err
}

// Create makes a thread; conflict where the id is taken.
func (e *Engine) Create(ctx context.Context, id, title string, s Settings) (*Thread, error) {
	if err := agent.CheckName(id); err != nil {
		return nil, err
	}
	if err := e.checkSettings(s); err != nil {
		return nil, err
	}
	data, err := thread.Encode(Settings{}.Over(s))
	if err != nil {
		return nil, err
	}
	_, err = e.store.Create(ctx, store.NewThread{
		Key:   thread.Key{Space: e.cfg.Space, ID: id},
		Title: clean(title),
		Docs:  []thread.Doc{{Name: thread.SettingsDoc, Data: data}},
	})
	if err != nil {
		return nil, err
	}
	return e.handle(id), nil
}

// Threads lists the threads, the last updated first, until the loop is left.
func (e *Engine) Threads(ctx context.Context) iter.Seq2[thread.Thread, error] {
	return e.list(ctx, store.ThreadsQuery{})
}

// DeletedThreads lists the threads that can be brought back.
func (e *Engine) DeletedThreads(ctx context.Context) iter.Seq2[thread.Thread, error] {
	return e.list(ctx, store.ThreadsQuery{Deleted: true})
}

func (e *Engine) list(ctx context.Context, q store.ThreadsQuery) iter.Seq2[thread.Thread, error] {
	q.Space, q.Limit = e.cfg.Space, 100
	return func(yield func(thread.Thread, error) bool) {
		for {
			page, err := e.store.Threads(ctx, q)
			if err != nil {
				yield(thread.Thread{}, err)
				return
			}
			for _, t := range page {
				if !yield(t, nil) {
					return
				}
			}
			if len(page) < q.Limit {
				return
			}
			last := page[len(page)-1]
			q.Before, q.BeforeID = last.Updated, last.ID
		}
	}
}

// Undelete shows a deleted thread again. What was promised in it is not.
func (e *Engine) Undelete(ctx context.Context, id string) error {
	state, err := e.store.Thread(ctx, e.cfg.Space, id)
	if err != nil {
		return err
	}
	if err := e.release(ctx, state.Key); err != nil {
		return err
	}
	if err := e.store.Undelete(ctx, state.Key); err != nil {
		return err
	}
	e.mindLines(&state)
	return nil
}

// KeepDeleted is how long a deleted thread can be brought back.
const KeepDeleted = 7 * 24 * time.Hour

// Purge removes for good what was deleted longer than KeepDeleted ago and no
// fork still reaches.
func (e *Engine) Purge(ctx context.Context) (int, error) {
	return e.store.Purge(ctx, e.cfg.Now().Add(-KeepDeleted))
}

// Agents gives the names of the agents that may answer.
func (e *Engine) Agents() []string {
	var names []string
	for _, a := range e.cfg.Agents {
		names = append(names, a.Name)
	}
	return names
}

// Answering gives the name of the agent that answers in a thread with those
// settings.
func (e *Engine) Answering(s Settings) string {
	if s.Agent != "" {
		return s.Agent
	}
	return e.cfg.Agent
}

// InForce gives what is in force in a thread with those settings. Errors:
// configuration (there is no such agent).
func (e *Engine) InForce(s Settings) (Force, error) {
	a, err := e.agent(e.Answering(s))
	return s.InForce(a, e.cfg.Model), err
}

func (e *Engine) agent(name string) (Agent, error) {
	if i := slices.IndexFunc(e.cfg.Agents, func(a Agent) bool { return a.Name == name }); i >= 0 {
		return e.cfg.Agents[i], nil
	}
	return Agent{}, &thread.Error{Code: thread.Configuration, Op: "agent", Message: fmt.Sprintf("there is no agent named %q", name), Hint: fmt.Sprintf("known: %s; add a file %s.md to the agents' folder", strings.Join(e.Agents(), ", "), name)}
}

func (e *Engine) checkSettings(s Settings) error {
	if s.Agent != "" {
		if _, err := e.agent(s.Agent); err != nil {
			return err
		}
	}
	s = Settings{}.Over(s)
	if s.Model != "" {
		if _, err := e.cfg.Models(s.Model); err != nil {
			return err
		}
		if _, err := e.cfg.Rules.Rules(s.Model); err != nil {
			return err
		}
	}
	if _, err := agent.ChainOf(s, Agent{}, e.cfg.Strategies); err != nil {
		return err
	}
	if err := errors.Join(agent.CheckMarks("tail", s.Tail), agent.CheckMarks("outline", s.Outline)); err != nil {
		return err
	}
	if s.Zone != "" {
		if _, err := time.LoadLocation(s.Zone); err != nil {
			return &thread.Error{Code: thread.Invalid, Op: "settings", Message: fmt.Sprintf("%q is no time zone", s.Zone), Hint: "write an IANA name such as Europe/Berlin", Err: err}
		}
	}
	return nil
}

// handle gives the one handle of a thread, so that what it holds of the thread
// is held once.
func (e *Engine) handle(id string) *Thread {
	e.mu.Lock()
	defer e.mu.Unlock()
	if t, ok := e.open[id]; ok {
		return t
	}
	t := &Thread{engine: e, id: id}
	e.open[id] = t
	return t
}

// maxWarm is how many threads' recent pasts are held in memory at once.
const maxWarm = 64

// keepWarm notes that a thread's recent past was used, and lets go of the one
// that was not for the longest.
func (e *Engine) keepWarm(t *Thread) {
	if cold := e.warmed(t); cold != nil {
		cold.recent.Forget()
	}
}

// warmed puts t last and gives the thread that falls out.
func (e *Engine) warmed(t *Thread) (cold *Thread) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if i := slices.Index(e.warm, t); i >= 0 {
		e.warm = slices.Delete(e.warm, i, i+1)
	}
	e.warm = append(e.warm, t)
	if len(e.warm) > maxWarm {
		cold = e.warm[0]
		e.warm = slices.Delete(e.warm, 0, 1)
	}
	return cold
}

// goOn starts work that Close waits for. It does nothing on a closed engine.
func (e *Engine) goOn(work func(ctx context.Context)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	e.work.Go(func() { work(e.ctx) })
}
