// Command skein holds conversations that never end: it talks, looks back,
// imports, backs up and repairs.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/skeinhq/skein/cmd/skein/tui"
	"github.com/skeinhq/skein/thread"
)

// cli is the whole command line. The flags before the commands hold for all of
// them.
type cli struct {
	Flags `embed:"" group:"everywhere"`

	Chat      chatCmd      `cmd:"" help:"Talk in a thread, line by line."`
	Threads   threadsCmd   `cmd:"" help:"List the threads, the last used first."`
	Show      showCmd      `cmd:"" help:"Show a thread's log."`
	Prompt    promptCmd    `cmd:"" help:"Show what the model would be sent."`
	Outline   outlineCmd   `cmd:"" help:"Show a thread's outline."`
	Zoom      zoomCmd      `cmd:"" help:"Open a line of the outline."`
	Read      readCmd      `cmd:"" help:"Read messages whole."`
	Search    searchCmd    `cmd:"" help:"Search everything ever said in a thread."`
	Fake      fakeCmd      `cmd:"" help:"Start a fake provider on this machine, to try things without a key."`
	Models    modelsCmd    `cmd:"" help:"List the models, their limits and prices."`
	Lines     linesCmd     `cmd:"" help:"Show who wrote a thread's lines, and what they took."`
	Tools     toolsCmd     `cmd:"" help:"List an agent's tools, what they take, and what the permissions say."`
	Usage     usageCmd     `cmd:"" help:"Show what a thread's requests took."`
	Watch     watchCmd     `cmd:"" help:"Follow a thread, here or at a server."`
	Serve     serveCmd     `cmd:"" help:"Serve the threads over HTTP, with a page for browsers."`
	Token     tokenCmd     `cmd:"" help:"Make, list and revoke the tokens of a server."`
	Import    importCmd    `cmd:"" help:"Import a transcript of another program."`
	Reply     replyCmd     `cmd:"" help:"Answer what waits in a thread, or go on with the turn that is open."`
	Approvals approvalsCmd `cmd:"" help:"List the calls that wait for an approval."`
	Approve   approveCmd   `cmd:"" help:"Allow a call that waits for an approval."`
	Deny      denyCmd      `cmd:"" help:"Deny a call that waits for an approval."`
	Stop      stopCmd      `cmd:"" help:"Stop a thread's turn, whoever runs it."`
	Compact   compactCmd   `cmd:"" help:"Make a thread's prompt smaller now."`
	Title     titleCmd     `cmd:"" help:"Name a thread."`
	Rewind    rewindCmd    `cmd:"" help:"Undo every message after the given one."`
	Reset     resetCmd     `cmd:"" help:"Start a thread over; what was said stays readable."`
	Fork      forkCmd      `cmd:"" help:"Make a thread that shares another's past."`
	Delete    deleteCmd    `cmd:"" help:"Hide a thread; it is removed for good after 7 days."`
	Undelete  undeleteCmd  `cmd:"" help:"Bring a deleted thread back."`
	Backup    backupCmd    `cmd:"" help:"Copy the database while it is in use."`
	Restore   restoreCmd   `cmd:"" help:"Make a database from a backup."`
	Doctor    doctorCmd    `cmd:"" help:"Check the database, and repair what can be rebuilt."`
	Config    configCmd    `cmd:"" help:"Show the settings in force and where each comes from."`
	About     versionCmd   `cmd:"" name:"version" help:"Show the version."`
}

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is main without the process: it gives the exit code. 0: done; 1: it
// failed; 2: what was asked for is wrong or not there.
func run(args []string, in io.Reader, out, errs io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	c := &cli{}
	app := &app{ctx: ctx, in: in, out: out, errs: errs, flags: &c.Flags, warned: &warnings{}}
	var err error
	if app.file, err = readConfig(); err != nil {
		return app.fail(err)
	}
	if len(args) == 1 && args[0] == "help" {
		args = []string{"--help"}
	}
	exited := -1
	parser, err := kong.New(c,
		kong.Name("skein"),
		kong.Description("Conversations that never end: the whole log is kept, the prompt stays small, every word stays in reach."),
		kong.Writers(out, errs),
		kong.Exit(func(code int) { exited = code }),
		kong.Bind(app),
		kong.Resolvers(app.resolver()),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.ExplicitGroups([]kong.Group{{Key: "everywhere", Title: "Flags for every command, which SKEIN_… in the environment and skein.yaml set too:"}}),
		kong.Vars{"defaultDB": defaultDB(), "version": "skein " + Version},
	)
	if err != nil {
		return app.fail(err)
	}
	parsed, err := parser.Parse(args)
	if exited >= 0 {
		return exited
	}
	if err != nil {
		return app.misused(err)
	}
	app.parsed = parsed
	if err := errors.Join(app.checkFlags(), app.checkTranscript()); err != nil {
		return app.fail(err)
	}
	if err := parsed.Run(); err != nil {
		return app.fail(err)
	}
	return 0
}

// errSaid ends a command whose failure was told already.
var errSaid = errors.New("it was told")

// fail tells of an error in one line and gives the exit code.
func (a *app) fail(err error) int {
	if errors.Is(err, errSaid) {
		return 1
	}
	if a.ctx.Err() != nil {
		fmt.Fprintln(a.errs, "skein: stopped by a signal; what was acknowledged is kept")
		return 1
	}
	fmt.Fprintf(a.errs, "skein: %s\n", safe(oneLine(err)))
	switch thread.CodeOf(err) {
	case thread.Invalid, thread.NotFound, thread.Configuration:
		return 2
	}
	return 1
}

// misused tells of a command line that cannot be understood.
func (a *app) misused(err error) int {
	hint := "skein --help lists the commands"
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil && parse.Context.Selected() != nil {
		hint = parse.Context.Selected().FullPath() + " --help shows how"
	}
	fmt.Fprintf(a.errs, "skein: %s (%s)\n", safe(oneLine(err)), hint)
	return 2
}

func oneLine(err error) string { return tui.Words(err) }
