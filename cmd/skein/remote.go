package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/skeinhq/skein/client"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

// remote is a talk with a server, line by line: what is typed goes there, what comes
// is the watch's. One goroutine beside it takes the watch's updates.
type remote struct {
	*app
	server *client.Client
	who    client.Who
	thread string
	person bool
	words  *wording
	tell   *teller

	typist   *typist
	part     strings.Builder // of what is typed: its lines until now
	held     []string        // what was typed and waits for the end of an answer
	prompted bool            // the prompt sign stands at the end of the screen
	failed   bool            // an answer failed

	from  *client.Watcher
	steps chan step
	leave func() // ends the watch
	view  view.View
	state client.State

	settled map[string]bool  // calls that were decided about here and wait in the view still
	outbox  []client.Message // what was typed and is not known to have arrived
	told    bool             // that the outbox waits
	expects expected
}

// step is what a watch gives.
type step struct {
	update client.Update
	err    error
}

// expected is an answer that was asked for and has not come.
type expected struct {
	after int64 // it comes after this seq; 0: none is expected
	begun bool  // a turn has been seen
	quiet time.Time
}

// remote talks with the server instead of the database here.
func (c chatCmd) remote(a *app) error {
	if a.flags.NoTranscript {
		return &thread.Error{Code: thread.Invalid, Op: "chat", Message: "what is said to a server is kept there", Hint: "leave out --no-transcript"}
	}
	at, ok := addressed(c.Server)
	if !ok {
		return &thread.Error{Code: thread.Invalid, Op: "chat", Message: fmt.Sprintf("%q is no address of a server", c.Server), Hint: "write it like http://127.0.0.1:8417"}
	}
	server, err := client.New(client.Config{URL: at.server, Token: c.Token})
	if err != nil {
		return err
	}
	person := isTerminal(a.in) && isTerminal(a.out)
	r := &remote{app: a, server: server, person: person, words: &forEyes, settled: map[string]bool{}}
	if c.ScreenReader {
		r.words = &forEars
	}
	if person && !c.Plain && !c.ScreenReader {
		if _, err := fmt.Fprintln(a.errs, "skein: with --server the talk goes line by line"); err != nil {
			return err
		}
	}
	if r.who, err = server.Who(a.ctx); err != nil {
		return err
	}
	if err := r.meet(); err != nil {
		return err
	}
	if r.thread = c.Thread; r.thread == "" {
		r.thread = at.thread
	}
	if err := r.open(); err != nil {
		return err
	}
	return r.talk()
}

// talk takes line after line, until there are no more and nothing is waited for.
func (r *remote) talk() error {
	printing := *r.app
	printing.out, printing.errs = &below{r, r.out}, &below{r, r.errs}
	inPlace := isTerminal(r.out)
	r.app = &printing
	r.tell = newTeller(r.app)
	r.tell.words, r.tell.inPlace, r.tell.object, r.tell.hint = r.words, inPlace, spoken, r.hint
	r.typist = listen(r.in)
	err := r.sit()
	if r.leave != nil {
		r.leave()
	}
	if err := errors.Join(err, r.tell.end(), r.typist.close()); err != nil {
		return err
	}
	if r.failed && !r.person {
		return errSaid
	}
	return nil
}

// below writes under the prompt sign, which is shown again later.
type below struct {
	talk *remote
	to   io.Writer
}

func (b *below) Write(p []byte) (int, error) {
	if b.talk.prompted {
		b.talk.prompted = false
		if _, err := io.WriteString(b.to, "\n"); err != nil {
			return 0, err
		}
	}
	return b.to.Write(p)
}

// spoken is a message as a talk's programs read it: {author, text, stop?} and
// {author, call, input}.
func spoken(e *view.Entry) []any {
	m := e.Message
	if m == nil || m.Role == thread.Tool {
		return nil
	}
	var out []any
	if text := m.PlainText(); text != "" {
		line := map[string]any{"author": m.Author, "text": text}
		if endings[m.Stop] != "" {
			line["stop"] = m.Stop
		}
		out = append(out, line)
	}
	for _, c := range m.Calls() {
		out = append(out, map[string]any{"author": m.Author, "call": c.Name, "input": c.Input})
	}
	return out
}

// follow watches the thread of that name from now on.
func (r *remote) follow(id string) {
	if r.leave != nil {
		r.leave()
	}
	ctx, stop := context.WithCancel(r.ctx)
	w, steps, done := r.server.Watch(id, client.WatchOptions{}), make(chan step), make(chan struct{})
	go func() {
		defer close(done)
		for u, err := range w.Updates(ctx) {
			select {
			case steps <- step{u, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	r.thread, r.from, r.steps, r.state = id, w, steps, client.CatchingUp
	r.tell.begun, r.tell.told, r.tell.making, r.tell.state = false, 0, making{}, ""
	r.leave = func() { stop(); <-done }
}

// lookForAnswer is how often it is looked whether an answer still comes.
const lookForAnswer = 250 * time.Millisecond

// sit is the talk itself.
func (r *remote) sit() error {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	tick := time.NewTicker(lookForAnswer)
	defer tick.Stop()
	r.follow(r.thread)
	for over := false; !over || len(r.held) > 0 || r.busy(); {
		if len(r.held) > 0 && r.ready(r.held[0]) {
			text := r.held[0]
			r.held = r.held[1:]
			if left, err := r.take(text); err != nil || left {
				return err
			}
			continue
		}
		if err := r.ask(over); err != nil {
			return err
		}
		var err error
		left := false
		select {
		case line := <-r.lines(over):
			r.prompted = false // what was typed has ended its line
			over = line.err != nil
			left, err = r.typed(line)
		case s := <-r.steps:
			err = r.step(s)
		case <-tick.C:
			err = errors.Join(r.send(), r.look())
		case <-interrupts:
			left, err = r.interrupted()
		case <-r.ctx.Done():
			err = r.ctx.Err()
		}
		if err != nil || left {
			return err
		}
	}
	return nil
}

// ask shows the prompt sign where a person may type.
func (r *remote) ask(over bool) error {
	if !r.person || over || r.prompted || len(r.held) > 0 || !r.tell.begun || r.part.Len() > 0 || r.answering() && !r.parked() {
		return nil
	}
	if err := r.printf(r.words.prompt, safe(r.who.Name)); err != nil {
		return err
	}
	r.prompted = true
	return nil
}

// mostHeld is how much may be typed that waits.
const mostHeld = 100

// lines are what is typed, unless too much waits.
func (r *remote) lines(over bool) <-chan typed {
	if over || len(r.held) == mostHeld || !r.tell.begun {
		return nil
	}
	return r.typist.lines
}

// typed takes a line that was typed. left says that the talk is over.
func (r *remote) typed(line typed) (left bool, err error) {
	if line.err != nil && !errors.Is(line.err, io.EOF) {
		return false, line.err
	}
	more, goesOn := strings.CutSuffix(line.text, `\`)
	if r.part.Len()+len(more) > maxTyped {
		return false, tooMuchTyped()
	}
	r.part.WriteString(more)
	if goesOn && line.err == nil {
		r.part.WriteByte('\n')
		if r.person {
			return false, r.printf("%s", r.words.more)
		}
		return false, nil
	}
	text := strings.TrimSpace(r.part.String())
	r.part.Reset()
	if text == "" {
		return false, nil
	}
	if name, _, _ := strings.Cut(text, " "); len(r.held) > 0 && name != stopCommand && name != steerCommand || !r.ready(text) {
		r.held = append(r.held, text)
		return false, nil
	}
	return r.take(text)
}

// answering says whether an answer is made, or comes.
func (r *remote) answering() bool { return r.expects.after != 0 || r.view.Docs.Agent.Turn != 0 }

// parked says whether the turn waits for an approval.
func (r *remote) parked() bool { return len(r.view.Docs.Agent.Waiting) > 0 }

// busy says whether there is something to wait for at the end of what is typed.
func (r *remote) busy() bool { return len(r.outbox) > 0 || r.answering() || !r.tell.begun }

// ready says whether what was typed can be taken now: a command for the running
// turn at once, words while there is no link too, all else after the answer.
func (r *remote) ready(text string) bool {
	name, _, _ := strings.Cut(text, " ")
	switch {
	case !r.tell.begun:
		return false
	case name == steerCommand || name == stopCommand:
		return r.person || r.view.Docs.Agent.Turn != 0 || !r.answering()
	case r.state != client.Live:
		return r.person || !strings.HasPrefix(text, "/")
	case len(r.outbox) > 0:
		return false
	}
	return !r.answering() || r.parked()
}

// take says what was typed, or runs it where it is a command.
func (r *remote) take(text string) (left bool, err error) {
	if strings.HasPrefix(text, "/") {
		left, err = r.command(text)
		return left, r.toldOf(err)
	}
	r.say(client.Message{Text: text})
	return false, r.send()
}

// toldOf tells what went wrong, and gives what ends the talk.
func (r *remote) toldOf(err error) error {
	if err == nil || r.ctx.Err() != nil || errors.Is(err, errLeft) {
		return err
	}
	_, err = fmt.Fprintf(r.errs, "skein: %s\n", safe(oneLine(err)))
	return err
}

// say puts what is said into the outbox, under a key: however often it is sent, it
// is said once.
func (r *remote) say(m client.Message) {
	m.Key = "chat-" + rand.Text()
	if !r.who.Token {
		m.Author = r.who.Name
	}
	r.tell.mine[m.Key] = true
	r.outbox = append(r.outbox, m)
}

// patience is how long a call may take.
const patience = 15 * time.Second

// send sends what is in the outbox, in order. What cannot arrive now is kept.
func (r *remote) send() error {
	for len(r.outbox) > 0 {
		if r.state != client.Live {
			return r.kept()
		}
		m := r.outbox[0]
		ctx, stop := context.WithTimeout(r.ctx, patience)
		said, err := r.server.Say(ctx, r.thread, m)
		stop()
		if err != nil && onTheWay(err) {
			return r.kept()
		}
		r.outbox, r.told = r.outbox[1:], false
		if err != nil {
			r.failed = true
			if err := r.toldOf(err); err != nil {
				return err
			}
			continue
		}
		if said.Index == nil {
			r.tell.placed[said.Seq] = true
		}
		if r.view.Docs.Agent.Turn != 0 && said.Index == nil && m.When == "" {
			if err := r.note(r.words.later); err != nil {
				return err
			}
		}
		r.expect(said.Seq)
	}
	return nil
}

// kept tells once that what was typed waits for the link.
func (r *remote) kept() error {
	if r.told {
		return nil
	}
	r.told = true
	return r.note("(kept: it is sent when the connection is back)\n")
}

// onTheWay says whether a call may have been lost on its way, or comes too early.
func onTheWay(err error) bool {
	var e *thread.Error
	if !errors.As(err, &e) {
		return false
	}
	s, answered := e.Details.(client.Status)
	if !answered {
		return e.Code == thread.Aborted || e.Code == thread.Timeout
	}
	return s.Status == http.StatusTooManyRequests || s.Status >= http.StatusBadGateway
}

// note prints words of our own; programs have no use for them.
func (r *remote) note(words string) error {
	if r.flags.JSON {
		return nil
	}
	return errors.Join(r.tell.pause(), r.printf("%s", words))
}

// expect waits for the answer to what stands at that seq.
func (r *remote) expect(seq int64) {
	r.expects = expected{after: seq, begun: r.view.Docs.Agent.Turn != 0, quiet: time.Now()}
	r.settle()
}

// step takes what the watch gives.
func (r *remote) step(s step) error {
	u := s.update
	live := r.state != client.Live && u.State == client.Live
	r.state = u.State
	if s.err != nil {
		return errors.Join(r.tell.update(r.ctx, r.from, u), s.err)
	}
	if u.Batch == nil && !r.tell.begun && u.State != client.Offline {
		return nil // it has not begun yet
	}
	if u.Batch != nil {
		r.seen(&u)
		r.view = u.View
		if !r.tell.begun {
			if err := r.enter(); err != nil {
				return err
			}
		}
	}
	if err := r.tell.update(r.ctx, r.from, u); err != nil {
		return err
	}
	r.settle()
	if live {
		return r.send()
	}
	return nil
}

// seen takes out of an update what was decided about since.
func (r *remote) seen(u *client.Update) {
	waiting := u.View.Docs.Agent.Waiting
	for call := range r.settled {
		if !slices.ContainsFunc(waiting, func(w view.Asked) bool { return w.Call == call }) {
			delete(r.settled, call)
		}
	}
	u.View.Docs.Agent.Waiting = slices.DeleteFunc(slices.Clone(waiting), func(w view.Asked) bool { return r.settled[w.Call] })
}

// enter shows what there is to show of a thread at the begin.
func (r *remote) enter() error {
	r.tell.passOver(r.view)
	r.tell.state = client.Live
	if !r.person {
		return nil
	}
	return r.printf(r.words.greeting, safe(r.thread), counted(r.view.Length, "message", "messages"))
}

// settle sees whether the answer that is expected has come.
func (r *remote) settle() {
	x, d := &r.expects, &r.view.Docs
	if x.after == 0 {
		return
	}
	if d.Agent.Turn != 0 || d.Live != nil || len(d.Inbox) > 0 || r.state != client.Live {
		x.begun, x.quiet = x.begun || d.Agent.Turn != 0, time.Now()
		return
	}
	if n := len(r.view.Entries); n > 0 {
		last := r.view.Entries[n-1]
		if m := last.Message; last.Seq > x.after && m != nil && m.Role == thread.Assistant && len(m.Calls()) == 0 {
			r.expects = expected{}
		}
	}
}

// How long nothing may happen until it is asked whether an answer still comes: after
// a turn, and before one.
const (
	quietAfter  = 300 * time.Millisecond
	quietBefore = 5 * time.Second
)

// look asks the server whether the answer that is expected still comes, where
// nothing shows it.
func (r *remote) look() error {
	r.settle()
	x := &r.expects
	most := quietBefore
	if x.begun {
		most = quietAfter
	}
	if x.after == 0 || time.Since(x.quiet) < most || r.state != client.Live {
		return nil
	}
	ctx, stop := context.WithTimeout(r.ctx, patience)
	defer stop()
	state, err := r.server.Thread(ctx, r.thread)
	x.quiet = time.Now()
	if err != nil && onTheWay(err) {
		return nil
	}
	if err == nil && (state.Turn != 0 || len(state.Inbox) > 0 || state.Last > r.newest()) {
		return nil
	}
	r.expects, r.failed = expected{}, true
	if err != nil {
		return r.toldOf(err)
	}
	return r.note("(no answer came; /retry asks for it)\n")
}

// interrupted stops the answer that is made; where none is, the talk is left.
func (r *remote) interrupted() (left bool, err error) {
	if r.parked() {
		return true, &thread.Error{Code: thread.Aborted, Op: "chat", Thread: r.thread, Message: "the talk was left", Hint: "its turn waits on at the server", Err: errLeft}
	}
	if !r.answering() {
		return true, nil
	}
	return false, r.toldOf(r.stop(nil))
}
