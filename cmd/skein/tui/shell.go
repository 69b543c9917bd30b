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

	mu      sync.Mutex
	seats   map[string]*seat // threads that were opened, by id
	now     *seat
	sitting int             // of the thread that is looked at
	asked   int             // sittings asked for so far; one that fails is never looked at
	missed  map[string]bool // who was named and is no agent, and that was told
	unwatch context.CancelFunc
}

// seat is a thread that was opened. What answers in it goes on when another
// thread is looked at.
type seat struct {
	thread *skein.Thread

	mu      sync.Mutex
	says    []sayText
	saying  bool // a goroutine empties says
	due     bool // something waits for an answer
	running bool // a goroutine answers
	cancel  context.CancelFunc
	stopped bool
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
	case stopAnswer:
		now.halt()
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
			s.tell(outlineRead{sitting, o, err}, err)
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
	o, err := s.first(t, sitting)
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
	s.watch(ctx, t, sitting, batches)
}

// first reads what a sitting begins with.
func (s *shell) first(t *skein.Thread, sitting int) (opened, error) {
	o := opened{sitting: sitting, id: t.ID()}
	var state thread.Thread
	var err error
	if o.status, state, err = s.status(t, false); err != nil {
		return o, err
	}
	o.length = state.Length
	o.page = s.page(t, sitting, max(0, state.Length-pageMessages), state.Length)
	o.draft, err = s.draft(t)
	return o, err
}

// waits says whether something waits for an answer that nobody makes, and whether
// what a person said last is the viewer's.
func (s *shell) waits(t *skein.Thread, state *thread.Thread) (waits, mine bool, err error) {
	newest := s.page(t, 0, max(0, state.Length-1), state.Length)
	if newest.err != nil || len(newest.messages) == 0 {
		return false, false, newest.err
	}
	last := newest.messages[len(newest.messages)-1]
	waits = last.role == thread.User || state.Turn != 0 && !state.Parked || len(state.Inbox) > 0
	if !waits || state.Lease.Held(time.Now()) {
		return false, last.mine, nil
	}
	if last.role != thread.User { // a run broke off among its tools
		newest = s.page(t, 0, max(0, state.Length-pageMessages), state.Length)
	}
	for _, m := range newest.messages {
		if m.role == thread.User {
			mine = m.mine
		}
	}
	return true, mine, newest.err
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
	for e, err := range t.Messages(s.ctx, from, to) {
		if err != nil {
			p.err = err
			break
		}
		p.messages = append(p.messages, messageOf(&e, s.cfg.Me))
	}
	return p
}

// status reads what the status line says. Why lines are not written takes a look
// at the outline, which the first screen does without.
func (s *shell) status(t *skein.Thread, whole bool) (status, thread.Thread, error) {
	state, err := t.State(s.ctx)
	if err != nil {
		return status{}, state, err
	}
	settings, err := t.Settings(s.ctx)
	if err != nil {
		return status{}, state, err
	}
	usage, err := t.Usage(s.ctx)
	if err != nil {
		return status{}, state, err
	}
	st := status{
		title: state.Title, agent: s.cfg.Engine.Answering(settings), model: settings.Model, cached: -1,
		cost: usage.Turns.Cost + usage.Lines.Cost, backlog: state.Backlog,
		tip: state.Tip, branch: state.Branch, length: state.Length,
	}
	if st.model == "" {
		st.model = s.cfg.Model
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
	if st.waits, st.mine, err = s.waits(t, &state); err != nil {
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

// say puts text in the line of what is said in that thread: in order, one after
// the other.
func (s *shell) say(in *seat, sitting int, e sayText) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.says = append(in.says, e)
	if in.saying {
		return
	}
	in.saying = true
	s.work.Go(func() {
		for {
			in.mu.Lock()
			if len(in.says) == 0 {
				in.saying = false
				in.mu.Unlock()
				return
			}
			next := in.says[0]
			in.says = in.says[1:]
			in.mu.Unlock()
			entry, err := in.thread.Say(s.ctx, s.cfg.Me, next.text, skein.Key(next.key))
			told := said{sitting: sitting, key: next.key, seq: entry.Seq, queued: entry.Kind == thread.QueuedKind, err: err}
			if err == nil {
				told.remark = s.miss(in.thread, next.text)
			}
			s.tell(told, err)
			if err == nil {
				s.answer(in)
			}
		}
	})
}

// miss gives, once, what is to be said of a text that names somebody who is no
// agent, or why that cannot be told: the text itself is said already.
func (s *shell) miss(t *skein.Thread, text string) string {
	name, remark, err := Missed(s.ctx, s.cfg.Engine, t, text)
	if err != nil {
		return err.Error()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.missed[name] {
		return ""
	}
	s.missed[name] = true
	return remark
}

func (in *seat) answering() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.running
}

// halt stops the answer being made, and starts no other.
func (in *seat) halt() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.due = false
	if in.cancel != nil {
		in.stopped = true
		in.cancel()
	}
}

// answer answers whatever waits in that thread, until nothing does.
func (s *shell) answer(in *seat) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.due = true
	if in.running {
		return
	}
	in.running = true
	s.work.Go(func() {
		var err error
		stopped := false
		s.sendIn(in, func(sitting int) any { return answering{sitting: sitting, on: true} })
		for {
			in.mu.Lock()
			if !in.due || s.ctx.Err() != nil {
				in.running = false
				in.mu.Unlock()
				break
			}
			ctx, cancel := context.WithCancel(s.ctx)
			in.due, in.cancel, in.stopped = false, cancel, false
			in.mu.Unlock()
			err = in.thread.Reply(ctx)
			cancel()
			in.mu.Lock()
			stopped = in.stopped
			in.cancel = nil
			in.mu.Unlock()
		}
		s.sendIn(in, func(sitting int) any { return answering{sitting: sitting, stopped: stopped, err: err} })
	})
}

// sendIn brings a message of a thread, where that is the one looked at.
func (s *shell) sendIn(in *seat, msg func(sitting int) any) {
	s.mu.Lock()
	now, sitting := s.now, s.sitting
	s.mu.Unlock()
	if now == in && s.ctx.Err() == nil {
		s.send(msg(sitting))
	}
}
