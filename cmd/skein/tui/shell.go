package tui

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// shell carries effects out. It owns every goroutine it starts, and waits for
// them in close.
type shell struct {
	cfg    Config
	drafts *drafts
	send   func(any) // brings a message to the model; after the end it does nothing

	ctx  context.Context // ends with close
	stop context.CancelFunc
	work sync.WaitGroup

	reading sync.Mutex
	reads   int64 // of a thread's state for a status so far

	mu      sync.Mutex
	seats   map[string]*seat // threads that were opened, by id
	now     *seat
	sitting int             // of the thread that is looked at
	asked   int             // sittings asked for so far; one that fails is never looked at
	missed  map[string]bool // who was named and is no agent, and that was told
	unwatch context.CancelFunc
}

func newShell(ctx context.Context, cfg Config, send func(any)) *shell {
	s := &shell{cfg: cfg, drafts: newDrafts(cfg.Drafts), send: send, seats: map[string]*seat{}, missed: map[string]bool{}}
	s.ctx, s.stop = context.WithCancel(ctx)
	return s
}

// close stops what runs, waits for it, and writes what is typed.
func (s *shell) close() error {
	s.stop()
	s.work.Wait()
	return s.drafts.close()
}

// do carries one effect out, without waiting for it.
func (s *shell) do(e effect) {
	s.mu.Lock()
	now, sitting := s.now, s.sitting
	s.mu.Unlock()
	switch e := e.(type) {
	case keepDraft:
		s.drafts.keep(e.draft)
		return
	case openThread:
		s.work.Go(func() { s.open(e.id) })
		return
	}
	if _, ok := e.(listThreads); ok {
		s.work.Go(func() {
			all, err := s.threads()
			s.tell(threadsRead{sitting, all, err}, err)
		})
		return
	}
	if now == nil {
		s.refuse(e)
		return
	}
	t := now.thread
	switch e := e.(type) {
	case sayText:
		s.say(now, sitting, e)
	case answerNow:
		s.answer(now)
	case answerAgain:
		s.work.Go(func() { s.again(now, sitting) })
	case stopAnswer:
		s.halt(now, sitting)
	case decideCall:
		s.work.Go(func() { s.decide(t, sitting, e) })
	case compactNow:
		s.work.Go(func() { s.compact(t, sitting) })
	case loadPage:
		s.work.Go(func() {
			p := s.page(t, sitting, e.from, e.to)
			p.age = e.age
			s.send(p)
		})
	case readStatus:
		s.work.Go(func() {
			st, _, err := s.status(t, true)
			s.tell(statusRead{sitting, st, err}, err)
		})
	case readOutline:
		s.work.Go(func() {
			o, err := t.Outline(s.ctx)
			s.tell(outlineRead{sitting, o, o.Strategy, err}, err)
		})
	case openLine:
		s.work.Go(func() {
			z, err := t.Zoom(s.ctx, s.cfg.Me, e.span, 1)
			s.tell(lineOpened{sitting, e.span, z, err}, err)
		})
	case findWords:
		s.work.Go(func() {
			r, err := t.Search(s.ctx, s.cfg.Me, skein.SearchQuery{Text: e.query, Limit: 100})
			s.tell(wordsFound{sitting, e.query, r, err}, err)
		})
	case runCommand:
		s.work.Go(func() { s.command(now, sitting, e.text) })
	}
}

// refuse answers an effect that wants a thread while none is open: nothing that
// was asked for is left without an answer.
func (s *shell) refuse(e effect) {
	err := &thread.Error{Code: thread.Invalid, Op: "chat", Message: "no thread is open", Hint: "Ctrl-T lists the threads"}
	var msg any
	switch e := e.(type) {
	case readOutline:
		msg = outlineRead{err: err}
	case findWords:
		msg = wordsFound{query: e.query, err: err}
	default:
		return // only an open thread's model wants the others
	}
	s.work.Go(func() { s.tell(msg, err) })
}

// tell brings a message, unless it is that of an error which only says that all
// is over.
func (s *shell) tell(msg any, err error) {
	if err != nil && s.ctx.Err() != nil {
		return
	}
	s.send(msg)
}

// open begins a sitting in a thread, which is made where it is not there. Until
// all of it is read the thread before is the one looked at, and it stays so where
// this fails.
func (s *shell) open(id string) {
	s.mu.Lock()
	s.asked++
	sitting := s.asked
	settings := s.cfg.Settings
	if s.now != nil { // only the first thread gets what the command line says
		settings = skein.Settings{}
	}
	s.mu.Unlock()

	t, err := s.cfg.Engine.OpenThread(s.ctx, id, settings)
	if err != nil {
		s.tell(opened{sitting: sitting, id: id, problem: err}, err)
		return
	}
	ctx, unwatch := context.WithCancel(s.ctx)
	batches := t.Watch(ctx) // from here on nothing is missed
	o, state, err := s.first(t, sitting)
	s.mu.Lock()
	if err != nil || s.asked != sitting { // or another was asked for since
		s.mu.Unlock()
		unwatch()
		batches(func(thread.Batch, error) bool { return false }) // lets go of the watch
		if err != nil {
			s.tell(opened{sitting: sitting, id: id, problem: err}, err)
		}
		return
	}
	seated := s.seats[id]
	if seated == nil {
		seated = &seat{thread: t}
		s.seats[id] = seated
	}
	if s.unwatch != nil {
		s.unwatch()
	}
	s.now, s.sitting, s.unwatch = seated, sitting, unwatch
	s.mu.Unlock()
	o.answering = seated.answering()
	s.send(o)
	if on := seated.answering(); on != o.answering { // what was told before o came was dropped
		s.send(answering{sitting: sitting, on: on})
	}
	s.mind(seated, &state)
	s.watch(ctx, seated, sitting, batches)
}

// first reads what a sitting begins with.
func (s *shell) first(t *skein.Thread, sitting int) (o opened, state thread.Thread, err error) {
	o = opened{sitting: sitting, id: t.ID()}
	if o.status, state, err = s.status(t, false); err != nil {
		return o, state, err
	}
	o.length = state.Length
	o.page = s.page(t, sitting, max(0, state.Length-pageMessages), state.Length)
	o.draft, err = s.draft(t)
	return o, state, err
}

// waits says whether something waits for an answer that nobody makes, and whether
// what a person said last is the viewer's. It gives the newest message too.
func (s *shell) waits(t *skein.Thread, state *thread.Thread) (waits, mine bool, last message, err error) {
	newest := s.page(t, 0, max(0, state.Length-1), state.Length)
	if newest.err != nil || len(newest.messages) == 0 {
		return false, false, last, newest.err
	}
	last = newest.messages[len(newest.messages)-1]
	waits = !state.Parked && (last.role == thread.User || state.Turn != 0 || len(state.Inbox) > 0)
	if !waits || state.Lease.Held(time.Now()) {
		return false, last.mine, last, nil
	}
	if last.role != thread.User { // a run broke off among its tools
		newest = s.page(t, 0, max(0, state.Length-pageMessages), state.Length)
	}
	for _, m := range newest.messages {
		if m.role == thread.User {
			mine = m.mine
		}
	}
	return true, mine, last, newest.err
}

// draft reads what was typed before, without what has arrived in the log since.
func (s *shell) draft(t *skein.Thread) (draft, error) {
	d, err := s.drafts.read(t.ID())
	if err != nil || len(d.Saying) == 0 {
		return d, err
	}
	arrived := map[string]bool{}
	for e, err := range t.Entries(s.ctx, store.EntriesQuery{Newest: true, Limit: 1000, Inactive: true}) {
		if err != nil {
			return d, err
		}
		arrived[e.Key] = true
	}
	var texts []string
	for _, w := range d.Saying {
		if !arrived[w.Key] {
			texts = append(texts, w.Text)
		}
	}
	if d.Text != "" {
		texts = append(texts, d.Text)
	}
	return draft{Thread: t.ID(), Text: strings.Join(texts, "\n\n")}, nil
}

// page reads messages.
func (s *shell) page(t *skein.Thread, sitting int, from, to int64) pageRead {
	p := pageRead{sitting: sitting, from: from}
	state, err := t.State(s.ctx)
	if err != nil {
		p.err = err
		return p
	}
	next := state.Tip + 1 // or seq of the message after the page
	for e, err := range t.Messages(s.ctx, from, to+1) {
		if err != nil {
			p.err = err
			return p
		}
		if e.Index >= to {
			next = e.Seq
			break
		}
		p.messages = append(p.messages, messageOf(&e, s.cfg.Me))
	}
	if len(p.messages) > 0 {
		p.err = s.between(t, p.messages, next)
	}
	return p
}

// between reads what stands among messages and after them, up to an entry.
func (s *shell) between(t *skein.Thread, messages []message, before int64) error {
	var entries []thread.Entry
	q := store.EntriesQuery{
		After: messages[0].seq, Before: before, Limit: maxBetween,
		Kinds: []thread.Kind{thread.CutKind, thread.TurnKind, thread.ApprovalKind, thread.RewindKind, thread.ResetKind},
	}
	for e, err := range t.Entries(s.ctx, q) {
		if err != nil {
			return err
		}
		entries = append(entries, e)
	}
	below(messages, entries, s.cfg.Me)
	return nil
}

// maxBetween is how many entries are read at most of what stands among the
// messages of a page.
const maxBetween = 2000

// state reads a thread's state for a status, and says which reading that was: one
// with a greater number saw a later state.
func (s *shell) state(t *skein.Thread) (state thread.Thread, read int64, err error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	s.reads++
	state, err = t.State(s.ctx)
	return state, s.reads, err
}

// fresh is the first reading of a state from now on.
func (s *shell) fresh() int64 {
	s.reading.Lock()
	defer s.reading.Unlock()
	return s.reads + 1
}

// status reads what the status line says. Why lines are not written takes a look
// at the outline, which the first screen does without.
func (s *shell) status(t *skein.Thread, whole bool) (status, thread.Thread, error) {
	state, read, err := s.state(t)
	if err != nil {
		return status{}, state, err
	}
	settings, err := t.Settings(s.ctx)
	if err != nil {
		return status{}, state, err
	}
	force, err := s.cfg.Engine.InForce(settings)
	if err != nil {
		return status{}, state, err
	}
	usage, err := t.Usage(s.ctx)
	if err != nil {
		return status{}, state, err
	}
	st := status{
		title: state.Title, agent: force.Agent, cached: -1,
		model: force.Model.Name, modelBy: force.Model.By, strategy: strings.ReplaceAll(force.Strategy.Name, ",", ", "), strategyBy: force.Strategy.By,
		cost: usage.Turns.Cost + usage.Lines.Cost, backlog: state.Backlog,
		tip: state.Tip, branch: state.Branch, read: read, length: state.Length,
	}
	if last := usage.Last[st.agent]; last != nil {
		st.prompt = int64(last.Tokens)
	}
	switch sum := usage.Turns.Input + usage.Turns.CacheRead + usage.Turns.CacheWrite; {
	case usage.Turns.CacheRead+usage.Turns.CacheWrite > 0:
		st.cached = int(100 * usage.Turns.CacheRead / sum)
	case usage.Tokens > 0 && usage.Requests > 1:
		st.cached, st.expected = int(100*usage.Same/usage.Tokens), true
	}
	var newest message
	if st.waits, st.mine, newest, err = s.waits(t, &state); err != nil {
		return st, state, err
	}
	st.newest, st.below = newest.index, newest.below
	if err := s.standing(t, &state, &st); err != nil {
		return st, state, err
	}
	if whole && state.Backlog > 0 {
		o, err := t.Outline(s.ctx)
		if err != nil {
			return st, state, err
		}
		st.problem = o.Error
	}
	return st, state, nil
}

func (s *shell) threads() (out []thread.Thread, err error) {
	for t, err := range s.cfg.Engine.Threads(s.ctx) {
		if err != nil || len(out) == maxThreads {
			return out, err
		}
		out = append(out, t)
	}
	return out, nil
}

// command runs a slash command as the plain chat does, and takes what it prints.
func (s *shell) command(now *seat, sitting int, text string) {
	var out bytes.Buffer
	before, err := now.thread.State(s.ctx)
	ran := commandRan{sitting: sitting, text: text, err: err}
	if err == nil {
		var o Outcome
		o, ran.err = s.cfg.Run(s.ctx, now.thread, text, &out)
		ran.output, ran.left = out.String(), o.Left
		if o.Thread != nil && o.Thread.ID() != now.thread.ID() {
			ran.moved = o.Thread.ID()
		}
	}
	if ran.err == nil && ran.moved == "" {
		var after thread.Thread
		after, ran.err = now.thread.State(s.ctx)
		ran.anew = after.Branch != before.Branch || !slices.Equal(after.Segments, before.Segments)
	}
	s.tell(ran, ran.err)
}
