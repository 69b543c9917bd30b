package tui

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/google/uuid"

	tea "charm.land/bubbletea/v2"

	"github.com/skeinhq/skein"
)

// framesPerSecond is how often the terminal is looked at for something to draw.
// Nothing is written where nothing changed.
const framesPerSecond = 100

// Config says what a sitting works with.
type Config struct {
	Engine   *skein.Engine
	Thread   string         // the thread to begin in; it is made where it is not there
	Settings skein.Settings // given to that thread
	Me       string         // who sits here
	Model    string         // the model's name where a thread names none
	Notice   string         // shown at first; empty: nothing
	Drafts   string         // the folder for what is typed and not said

	// Commands are the slash commands, and Run runs what was typed of one in a
	// thread. What it prints is shown.
	Commands []Command
	Run      func(ctx context.Context, t *skein.Thread, text string, out io.Writer) (Outcome, error)

	Workspace fs.FS // what agents change is looked at there; nil: nowhere

	// Warnings has show called with what is to be told beside the talk, until the
	// function that it gives is called; nil: there is nothing.
	Warnings func(show func(text string)) (end func())

	In    io.Reader      // the terminal's keys
	Out   io.Writer      // the terminal's screen
	Env   []string       // its TERM, NO_COLOR and so on; nil: the process's
	Mouse bool           // the wheel scrolls; the terminal selects text with Shift then
	Zone  *time.Location // of the times shown; nil: local

	newKey func() string
	now    func() time.Time
}

// Command is a slash command as it is listed.
type Command struct{ Name, Args, About string }

// Outcome is what a command did beside printing.
type Outcome struct {
	Thread *skein.Thread // where to go on
	Left   bool          // it was the last one
}

// Run shows the chat until somebody leaves. What was typed and not said is kept
// in a file then.
func Run(ctx context.Context, cfg Config) error {
	if cfg.Zone == nil {
		cfg.Zone = time.Local
	}
	if cfg.newKey == nil {
		cfg.newKey = func() string { return "tui-" + uuid.NewString() }
	}
	p := &program{model: newModel(cfg), mouse: cfg.Mouse}
	options := []tea.ProgramOption{tea.WithInput(cfg.In), tea.WithOutput(cfg.Out), tea.WithFPS(framesPerSecond)}
	if cfg.Env != nil {
		options = append(options, tea.WithEnvironment(cfg.Env))
	}
	running := tea.NewProgram(p, options...)
	p.shell = newShell(ctx, cfg, func(msg any) { running.Send(msg) })
	if cfg.Warnings != nil {
		defer cfg.Warnings(func(text string) { running.Send(warned{text}) })()
	}
	p.shell.do(openThread{cfg.Thread})
	// Asked to end it quits as by a key, which waits for who reads the terminal; a
	// context of its own would have it end beside them.
	defer context.AfterFunc(ctx, running.Quit)()
	_, err := running.Run()
	if ctx.Err() != nil || errors.Is(err, tea.ErrInterrupted) {
		err = nil // it was asked to end
	}
	return errors.Join(err, p.shell.close())
}

// program fits the model and the shell to Bubble Tea.
type program struct {
	model *model
	shell *shell
	mouse bool
}

// Init does nothing: the shell has begun already.
func (p *program) Init() tea.Cmd { return nil }

// Update hands a message to the model, and what it wants to the shell.
func (p *program) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	for _, e := range p.model.update(msg) {
		switch e.(type) {
		case leave:
			cmd = tea.Quit
		case suspend:
			cmd = tea.Suspend
		default:
			p.shell.do(e)
		}
	}
	return p, cmd
}

// View draws the model.
func (p *program) View() tea.View {
	s := p.model.screen()
	v := tea.NewView(s.text())
	v.AltScreen = true
	v.WindowTitle = "skein " + safeLine(p.model.id)
	if p.mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	if s.typed {
		v.Cursor = tea.NewCursor(s.x, s.y)
	}
	return v
}
