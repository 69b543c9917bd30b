package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/signal"
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
	NoMouse      bool   `env:"SKEIN_NO_MOUSE" help:"Leave the mouse to the terminal."`
}

func (chatCmd) Help() string {
	return example("skein chat launch --me ana", "printf 'Hello\\n/prompt\\n' | skein chat launch --plain") +
		"\n\nAt a terminal it takes the whole screen; Ctrl-G shows the keys. Line by line," +
		"\nwhat you type is said, and a line that ends with \\ goes on. /help lists the" +
		"\ncommands."
}

// maxTyped is the most bytes of one typed line.
const maxTyped = skein.MaxText + 1

// chat is one sitting in a thread.
type chat struct {
	*app
	engine *skein.Engine
	thread *skein.Thread
	person bool // somebody sits at a terminal
	failed bool // an answer failed
	words  *wording
	missed map[string]bool // who was named and is no agent, and that was told
}

// Run talks until the input ends or /exit.
func (c chatCmd) Run(a *app) error {
	notice, err := a.unlock()
	if err != nil {
		return err
	}
	person := isTerminal(a.in) && isTerminal(a.out)
	screen := person && !c.Plain && !c.ScreenReader && !a.eventsOnScreen() && os.Getenv("TERM") != "dumb"
	return a.with(toWrite, func(e *skein.Engine) error {
		s, err := a.settings()
		if err != nil {
			return err
		}
		id, err := a.threadOr(e, c.Thread)
		if err != nil {
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

// talk reads line after line. A failing answer is told and the talk goes on; in
// a pipe it makes the exit code 1.
func (c *chat) talk() error {
	if c.person {
		if err := c.greet(); err != nil {
			return err
		}
	}
	lines := bufio.NewReaderSize(c.in, 64<<10)
	for {
		if c.person {
			if err := c.printf(c.words.prompt, c.me()); err != nil {
				return err
			}
		}
		text, err := c.readTyped(lines)
		if text = strings.TrimSpace(text); text != "" {
			if left, err := c.take(text); err != nil || left {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	if c.failed && !c.person {
		return errSaid
	}
	return nil
}

// readTyped reads a line, and the next where it ends with a backslash.
func (c *chat) readTyped(r *bufio.Reader) (string, error) {
	var b strings.Builder
	for {
		line, err := r.ReadString('\n')
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if b.Len()+len(line) > maxTyped {
			return "", &thread.Error{Code: thread.Invalid, Op: "chat", Message: fmt.Sprintf("a line has more than %d bytes", skein.MaxText), Hint: "say less at once"}
		}
		more, goesOn := strings.CutSuffix(line, `\`)
		b.WriteString(more)
		if err != nil || !goesOn {
			return b.String(), err
		}
		b.WriteByte('\n')
		if c.person {
			if err := c.printf("%s", c.words.more); err != nil {
				return "", err
			}
		}
	}
}

func (c *chat) greet() error {
	state, err := c.thread.State(c.ctx)
	if err != nil {
		return err
	}
	return c.printf(c.words.greeting, safe(state.ID), counted(state.Length, "message", "messages"))
}

// take says what was typed, or runs it where it is a command. left says that the
// talk is over.
func (c *chat) take(text string) (left bool, err error) {
	if strings.HasPrefix(text, "/") {
		left, err = c.command(text)
	} else {
		err = c.say(text)
	}
	if err != nil && c.ctx.Err() == nil && thread.CodeOf(err) != thread.Storage {
		c.failed = c.failed || !strings.HasPrefix(text, "/")
		_, err = fmt.Fprintf(c.errs, "skein: %s\n", safe(oneLine(err)))
	}
	return left, err
}

// say says the text and prints the answer as it comes. The first interrupt
// stops the answer; between answers one leaves.
func (c *chat) say(text string) error {
	if err := c.miss(text); err != nil {
		return err
	}
	return c.hear(func(ctx context.Context) iter.Seq2[skein.Piece, error] { return c.thread.Stream(ctx, c.me(), text) })
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

// retry has answered what no answer came to.
func (c *chat) retry() error { return c.hear(c.thread.StreamReply) }

// hear prints an answer as it comes.
func (c *chat) hear(answers func(context.Context) iter.Seq2[skein.Piece, error]) error {
	ctx, stop := signal.NotifyContext(c.ctx, os.Interrupt)
	defer stop()
	out := &answer{chat: c}
	for piece, err := range answers(ctx) {
		if err != nil {
			return errors.Join(out.end(), c.stopped(ctx, err))
		}
		if err := out.add(piece); err != nil {
			return err
		}
	}
	return out.end()
}

// stopped tells that an interrupt, and not err, has ended an answer.
func (c *chat) stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil && c.ctx.Err() == nil {
		return c.printf("%s", c.words.stopped)
	}
	return err
}

// endings says in words why an answer ended where not as it should.
var endings = map[thread.Stop]string{
	thread.StopLength:  "cut off: the answer reached its greatest length",
	thread.StopRefusal: "the model refused",
}

// answer prints pieces: each answer under its author's name, each tool call on
// a line of its own. As JSON it is one object a line: {author, text} or {author,
// call, input}.
type answer struct {
	*chat
	id     string
	open   bool // a line is begun
	author string
	stop   thread.Stop     // why it ended, where not as it should
	text   strings.Builder // of the line that is begun: as JSON all, else what is not written yet
}

func (a *answer) add(p skein.Piece) error {
	if a.flags.JSON {
		return a.addJSON(p)
	}
	switch {
	case p.Call != nil:
		return errors.Join(a.end(), a.printf(a.words.calls, safe(p.Author), safe(p.Call.Name), safe(thread.OneLine(string(p.Call.Input)))))
	case p.Retry != "":
		a.id = ""
		return errors.Join(a.end(), a.printf(a.words.again, safe(thread.OneLine(p.Retry))))
	case p.Stop != "":
		return errors.Join(a.end(), a.printf(a.words.ending, endings[p.Stop]))
	}
	if a.id != p.ID {
		if err := a.end(); err != nil {
			return err
		}
		a.id = p.ID
	}
	if !a.open && p.Text != "" {
		a.open = true
		if err := a.printf(a.words.says, safe(p.Author)); err != nil {
			return err
		}
	}
	a.text.WriteString(p.Text)
	return a.write(a.words.ready(a.text.String()))
}

// write writes the first n bytes of what is not written yet.
func (a *answer) write(n int) error {
	text := a.text.String()
	a.text.Reset()
	a.text.WriteString(text[n:])
	return a.printf("%s", safe(text[:n]))
}

func (a *answer) addJSON(p skein.Piece) error {
	switch {
	case p.Retry != "": // what came is void
		a.open = false
		a.text.Reset()
		return nil
	case p.Stop != "":
		a.stop = p.Stop
		return nil
	}
	if p.Call != nil || a.id != p.ID {
		if err := a.end(); err != nil {
			return err
		}
		a.id = p.ID
	}
	if p.Call != nil {
		return a.lineJSON(map[string]any{"author": p.Author, "call": p.Call.Name, "input": p.Call.Input})
	}
	a.open, a.author = true, p.Author
	a.text.WriteString(p.Text)
	return nil
}

func (a *answer) lineJSON(v any) error {
	data, err := thread.Encode(v)
	if err != nil {
		return err
	}
	return a.printf("%s\n", safeJSON(string(data)))
}

// end ends the line that is begun.
func (a *answer) end() error {
	if !a.open {
		return nil
	}
	a.open = false
	if a.flags.JSON {
		line := map[string]any{"author": a.author, "text": a.text.String()}
		if a.stop != "" {
			line["stop"] = a.stop
		}
		a.text.Reset()
		a.stop = ""
		return a.lineJSON(line)
	}
	return errors.Join(a.write(a.text.Len()), a.printf("\n%s", a.words.ended))
}
