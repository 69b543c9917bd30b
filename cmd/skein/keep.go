package main

import (
	"fmt"
	"os"
	"runtime/debug"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/store/sqlite"
	"github.com/skeinhq/skein/thread"
)

type backupCmd struct {
	File string `arg:"" help:"The copy to make; it must not be there."`
}

func (backupCmd) Help() string { return example("skein backup monday.db") }

func (c backupCmd) Run(a *app) error {
	if _, err := os.Stat(c.File); err == nil {
		return &thread.Error{Code: thread.Invalid, Op: "backup", Message: fmt.Sprintf("there is a file %s already", c.File), Hint: "name another"}
	}
	return a.with(toRead, func(e *skein.Engine) error {
		if err := e.Backup(a.ctx, c.File); err != nil {
			return err
		}
		return a.copied("copied", a.flags.DB, c.File)
	})
}

type restoreCmd struct {
	File  string `arg:"" help:"The backup."`
	Force bool   `help:"Overwrite the database."`
}

func (restoreCmd) Help() string { return example("skein restore monday.db --db skein.db") }

// Run makes the database anew. Its threads get new epochs, so that clients
// know that what they hold may not be there any more.
func (c restoreCmd) Run(a *app) error {
	if _, err := os.Stat(c.File); err != nil {
		return &thread.Error{Code: thread.NotFound, Op: "restore", Message: fmt.Sprintf("there is no backup %s", c.File), Err: err}
	}
	if _, err := os.Stat(a.flags.DB); err == nil && !c.Force {
		return &thread.Error{Code: thread.Invalid, Op: "restore", Message: fmt.Sprintf("there is a database %s already", a.flags.DB), Hint: "--force overwrites it, --db names another"}
	}
	if err := sqlite.Restore(a.ctx, c.File, a.flags.DB, sqlite.RestoreOptions{Overwrite: c.Force}); err != nil {
		return err
	}
	return a.copied("restored", c.File, a.flags.DB)
}

// copied tells that a database was copied.
func (a *app) copied(how, from, to string) error {
	if a.flags.JSON {
		return a.printJSON(map[string]string{"from": from, "to": to})
	}
	return a.printf("%s %s to %s\n", how, safe(from), safe(to))
}

type doctorCmd struct {
	Repair bool `help:"Rebuild what is derived, and build missing lines."`
}

func (doctorCmd) Help() string { return example("skein doctor", "skein doctor --repair") }

// Run checks everything and prints what it finds, a line each.
func (c doctorCmd) Run(a *app) error {
	p := toRead
	if c.Repair {
		p = toChange
	}
	return a.with(p, func(e *skein.Engine) error {
		if c.Repair {
			if err := e.Repair(a.ctx); err != nil {
				return err
			}
		}
		found := []string{}
		for err := range e.Check(a.ctx) {
			found = append(found, oneLine(err))
			if !a.flags.JSON {
				if err := a.printf("%s\n", safe(oneLine(err))); err != nil {
					return err
				}
			}
		}
		if a.flags.JSON {
			if err := a.printJSON(map[string]any{"found": found}); err != nil {
				return err
			}
		} else if len(found) == 0 {
			return a.printf("all is well\n")
		}
		if len(found) == 0 {
			return nil
		}
		hint := "skein doctor --repair rebuilds what is derived"
		if c.Repair {
			hint = "restore a backup"
		}
		return &thread.Error{Code: thread.Storage, Op: "doctor", Message: counted(len(found), "fault", "faults"), Hint: hint}
	})
}

type versionCmd struct{}

func (versionCmd) Help() string { return example("skein version") }

// Version is the release that this is on the way to.
const Version = "0.1.0-dev"

func (versionCmd) Run(a *app) error {
	revision := ""
	goVersion := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		goVersion = info.GoVersion
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = s.Value
			}
		}
	}
	if a.flags.JSON {
		return a.printJSON(map[string]string{"version": Version, "revision": revision, "go": goVersion})
	}
	return a.printf("skein %s %s\n", Version, goVersion)
}
