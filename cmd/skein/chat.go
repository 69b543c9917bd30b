package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/cmd/skein/tui"
	"github.com/skeinhq/skein/thread"
)

type chatCmd struct {
	Thread       string `arg:"" optional:"" help:"The thread; without one the last used, or main."`
	Plain        bool   `help:"Talk line by line, as from a pipe."`
	ScreenReader bool   `env:"SKEIN_SCREEN_READER" help:"Talk line by line, with words for what is else seen."`
	Server       string `env:"SKEIN_SERVER" placeholder:"URL" help:"Talk with a server, line by line, instead of the database here."`
	Token        string `env:"SKEIN_TOKEN" placeholder:"SECRET" help:"Token for the server."`
	NoMouse      bool   `env:"SKEIN_NO_MOUSE" help:"Leave the mouse to the terminal."`
}

func (chatCmd) Help() string {
	return example("skein chat launch --me ana", "printf 'Hello\\n/prompt\\n' | skein chat launch --plain") +
		"\n\nAt a terminal it takes the whole screen; Ctrl-G shows the keys. Line by line," +
		"\nwhat you type is said, and a line that ends with \\ goes on. /help lists the" +
		"\ncommands."
}

// chat is one sitting in a thread.
type chat struct {
	*app
	engine *skein.Engine
	thread *skein.Thread
	person bool // somebody sits at a terminal
	failed bool // an answer failed
	words  *wording
	missed map[string]bool // who was named and is no agent, and that was told

	typist  *typist // nil: nobody types
	held    []typed // lines that were typed during an answer, and wait for its end
	waiting *wait   // for what has to come before the turn goes on; nil: for nothing
	goesOn  bool    // a command has let the turn go on
	halted  bool    // the answer was stopped
	pending bool    // since then what was said has no answer
	known   int64   // the log's tip when one last has
}

// Run talks until the input ends or /exit.
func (c chatCmd) Run(a *app) error {
	if c.Server != "" {
		return c.remote(a)
	}
	notice, err := a.unlock()
	if err != nil {
		return err
	}
	person := isTerminal(a.in) && isTerminal(a.out)
	screen := person && !c.Plain && !c.ScreenReader && !a.eventsOnScreen() && os.Getenv("TERM") != "dumb"
	return a.with(toAnswer, func(e *skein.Engine) error {
		s, err := a.settings()
		if err != nil {
			return err
		}
		id, err := a.threadOr(e, c.Thread)
		if err != nil {
			return err
		}
		if notice, err = a.still(e, id, s, notice); err != nil {
			return err
		}
		if err := a.opens(e, id, s); err != nil {
			return err
		}
		if screen {
			return a.fullScreen(e, id, s, notice, !c.NoMouse)
		}
		t, err := e.OpenThread(a.ctx, id, s)
		if err != nil {
			return err
		}
		if err := a.notify(t, notice, person); err != nil {
			return err
		}
		ch := &chat{app: a, engine: e, thread: t, person: person, words: &forEyes, missed: map[string]bool{}}
		if c.ScreenReader {
			ch.words = &forEars
		}
		return ch.talk()
	})
}

// notify says what is to be said of the model: to a person always, else before
// the first words of a thread.
func (a *app) notify(t *skein.Thread, notice string, person bool) error {
	if notice == "" {
		return nil
	}
	if state, err := t.State(a.ctx); err != nil || state.Length > 0 && !person {
		return err
	}
	_, err := fmt.Fprintf(a.errs, "skein: %s\n", safe(notice))
	return err
}

// still gives what is to be said of the model where neither the thread nor who
// answers there names another one.
func (a *app) still(e *skein.Engine, id string, s skein.Settings, notice string) (string, error) {
	t, err := e.Thread(a.ctx, id)
	switch {
	case err == nil:
		kept, err := t.Settings(a.ctx)
		if err != nil {
			return "", err
		}
		s = kept.Over(s)
	case thread.CodeOf(err) == thread.Storage:
		return "", err
	}
	name := e.Answering(s)
	if s.Model != "" || slices.ContainsFunc(a.crew, func(x skein.Agent) bool { return x.Name == name && x.Model != "" }) {
		return "", nil
	}
	return notice, nil
}

// threadOr gives the id, or that of the thread last used, or main.
func (a *app) threadOr(e *skein.Engine, id string) (string, error) {
	if id != "" {
		return id, nil
	}
	for t, err := range e.Threads(a.ctx) {
		return t.ID, err
	}
	return "main", nil
}

func isTerminal(f any) bool {
	file, ok := f.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// talk takes line after line, until there are no more and nothing is waited for. A
// failing answer is told and the talk goes on; in a pipe it makes the exit code 1.
func (c *chat) talk() error {
	if c.person {
		if err := c.greet(); err != nil {
			return err
		}
	}
	c.typist = listen(c.in)
	err := c.sit()
	c.unwait()
	if err := errors.Join(err, c.typist.close()); err != nil {
		return err
	}
	if c.failed && !c.person {
		return errSaid
	}
	return nil
}

// sit is the talk itself.
func (c *chat) sit() error {
	if err := c.resume(); err != nil {
		return err
	}
	for over := false; !over || c.waiting != nil; {
		if c.person && !over {
			if err := c.printf(c.words.prompt, c.me()); err != nil {
				return err
			}
		}
		line, came, err := c.next(over)
		if err != nil {
			return err
		}
		if !came {
			if err := c.told(c.waited()); err != nil {
				return err
			}
			continue
		}
		text, err := c.whole(line)
		text = strings.TrimSpace(text)
		switch {
		case text != "":
			if left, err := c.take(text); err != nil || left {
				return err
			}
		case c.pending && err == nil:
			if err := c.told(c.retry()); err != nil {
				return err
			}
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		over = err != nil
	}
	return nil
}

// next gives the line that comes next, or says that none came, and what was waited
// for has an end.
func (c *chat) next(over bool) (line typed, came bool, err error) {
	if line, ok := c.unheld(); ok {
		return line, true, nil
	}
	var lines chan typed
	if !over {
		lines = c.typist.lines
	}
	var ended chan struct{}
	if c.waiting != nil {
		ended = c.waiting.ended
	}
	select {
	case line = <-lines:
		return line, true, nil
	case <-ended:
		return line, false, nil
	case <-c.ctx.Done():
		return line, false, c.ctx.Err()
	}
}

// whole gives what was typed from a line on: the next belongs to it where it ends
// with a backslash.
func (c *chat) whole(line typed) (string, error) {
	var b strings.Builder
	for {
		if b.Len()+len(line.text) > maxTyped {
			return "", tooMuchTyped()
		}
		more, goesOn := strings.CutSuffix(line.text, `\`)
		b.WriteString(more)
		if line.err != nil || !goesOn {
			return b.String(), line.err
		}
		b.WriteByte('\n')
		if c.person {
			if err := c.printf("%s", c.words.more); err != nil {
				return "", err
			}
		}
		if next, ok := c.unheld(); ok {
			line = next
			continue
		}
		select {
		case line = <-c.typist.lines:
		case <-c.ctx.Done():
			return "", c.ctx.Err()
		}
	}
}

// unheld gives the oldest line that was held.
func (c *chat) unheld() (line typed, ok bool) {
	if len(c.held) == 0 {
		return line, false
	}
	line, c.held = c.held[0], c.held[1:]
	return line, true
}

func (c *chat) greet() error {
	state, err := c.thread.State(c.ctx)
	if err != nil {
		return err
	}
	s, err := c.thread.Settings(c.ctx)
	if err != nil {
		return err
	}
	f, err := c.engine.InForce(s)
	if err != nil {
		return err
	}
	force := fmt.Sprintf(c.words.force, choiceWords(f.Model), choiceWords(f.Strategy))
	return c.printf(c.words.greeting, safe(state.ID), counted(state.Length, "message", "messages")+safe(force))
}

// choiceWords names what was chosen, and by whose word.
func choiceWords(c skein.Choice) string {
	return strings.ReplaceAll(c.Name, ",", ", ") + " (" + tui.By(c.By) + ")"
}

// take says what was typed, or runs it where it is a command. left says that the
// talk is over.
func (c *chat) take(text string) (left bool, err error) {
	if strings.HasPrefix(text, "/") {
		left, err = c.command(text)
		if err != nil {
			return left, c.tell(err)
		}
	} else {
		err = c.say(text)
	}
	if err == nil && c.goesOn {
		err = c.goOn()
	}
	return left, c.told(err)
}

// told tells what an answer has failed by, and that makes the talk a failed one.
func (c *chat) told(err error) error {
	c.failed = c.failed || err != nil
	return c.tell(err)
}

// tell tells what went wrong, and gives what ends the talk.
func (c *chat) tell(err error) error {
	if err == nil || c.ctx.Err() != nil || thread.CodeOf(err) == thread.Storage || errors.Is(err, errLeft) {
		return err
	}
	_, err = fmt.Fprintf(c.errs, "skein: %s\n", safe(oneLine(err)))
	return err
}

// say says the text and prints the answer as it comes. The first interrupt
// stops the answer; between answers one leaves. While the turn waits, the text does
// too.
func (c *chat) say(text string) error {
	if err := c.miss(text); err != nil {
		return err
	}
	if c.waiting != nil {
		return c.sayLater(text)
	}
	c.pending = false
	return c.follow(func(ctx context.Context) iter.Seq2[skein.Piece, error] { return c.thread.Stream(ctx, c.me(), text) })
}

// miss tells once that whoever a text names is no agent, so that another answers.
func (c *chat) miss(text string) error {
	name, remark, err := tui.Missed(c.ctx, c.engine, c.thread, text)
	if err != nil || remark == "" || c.missed[name] {
		return err
	}
	c.missed[name] = true
	_, err = fmt.Fprintf(c.errs, "skein: %s\n", safe(remark))
	return err
}
