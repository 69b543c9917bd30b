package main

import (
	"fmt"
	"os"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/transcript"
)

type importCmd struct {
	File string `arg:"" help:"The transcript; its format is found out."`
	As   string `required:"" placeholder:"THREAD" help:"The thread that it becomes, or goes on in."`
	User string `placeholder:"NAME" help:"Name of the user where the transcript has none (user)."`
}

func (importCmd) Help() string {
	return example("skein import session.jsonl --as refactoring") +
		"\n\nFormats: pi sessions, OpenAI chat messages. Importing a file again adds only what is new."
}

// Run imports the file and prints the report.
func (c importCmd) Run(a *app) error {
	f, err := os.Open(c.File)
	if err != nil {
		return &thread.Error{Code: thread.NotFound, Op: "import", Message: "the transcript cannot be opened", Err: err}
	}
	defer f.Close()
	s, err := a.settings()
	if err != nil {
		return err
	}
	if _, err := transcript.Read(a.ctx, f, transcript.Options{}); err != nil {
		return err // before a thread is made for it
	}
	return a.with(toWrite, func(e *skein.Engine) error {
		t, err := e.OpenThread(a.ctx, c.As, s)
		if err != nil {
			return err
		}
		report, err := t.Import(a.ctx, f, transcript.Options{User: c.User, Agent: e.Answering(s)})
		if err != nil {
			return err
		}
		if a.flags.JSON {
			return a.printJSON(report)
		}
		for _, n := range report.Notes {
			where := ""
			if n.Line > 0 {
				where = fmt.Sprintf("%d: ", n.Line)
			}
			if err := a.printf("%s%s\n", where, safe(n.Reason)); err != nil {
				return err
			}
		}
		differs := ""
		if report.Differs > 0 {
			differs = fmt.Sprintf(", %d there already with other content, which stays", report.Differs)
		}
		return a.printf("%s; %d added to %s%s\n", safe(report.String()), report.Added, safe(c.As), differs)
	})
}
