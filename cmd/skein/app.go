package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/alecthomas/kong"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/cmd/skein/tui"
	"github.com/skeinhq/skein/internal/agent"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/store/sqlite"
	"github.com/skeinhq/skein/thread"
)

// Flags hold for every command.
type Flags struct {
	DB        string  `name:"db" env:"SKEIN_DB" default:"${defaultDB}" placeholder:"FILE" help:"Database file (${default})."`
	Me        string  `env:"SKEIN_ME" placeholder:"NAME" help:"Your name in the thread (the login name)."`
	Agent     string  `env:"SKEIN_AGENT" placeholder:"NAME" help:"Who answers; stays with the thread (north)."`
	Model     string  `env:"SKEIN_MODEL" placeholder:"NAME" help:"Model that answers; stays with the thread, default gives it back to the agent (the first there is a key for, else echo)."`
	Models    string  `env:"SKEIN_MODELS" placeholder:"FILE" help:"Rules and prices of models of your own, over the built-in ones."`
	Script    string  `env:"SKEIN_SCRIPT" placeholder:"FILE" help:"Replies of the scripted model, one a line."`
	Pace      float64 `env:"SKEIN_PACE" placeholder:"N" help:"Tokens a second of the echo model (0: at once)."`
	LineModel string  `env:"SKEIN_LINE_MODEL" placeholder:"NAME" help:"Model that writes the outline's lines (none: they are extracts)."`

	AnthropicURL string `name:"anthropic-url" env:"ANTHROPIC_BASE_URL" placeholder:"URL" help:"Where Anthropic's API is (Anthropic's own)."`
	OpenAIURL    string `name:"openai-url" env:"OPENAI_BASE_URL" placeholder:"URL" help:"Where OpenAI's API is (OpenAI's own)."`
	ChatURL      string `name:"chat-url" env:"CHAT_BASE_URL" placeholder:"URL" help:"Where models named chat/… are: any server that speaks Chat Completions."`

	LineGuide string `env:"SKEIN_LINE_GUIDE" placeholder:"FILE" help:"Text that tells that model how much to keep."`
	Tail      string `env:"SKEIN_TAIL" placeholder:"LOW,HIGH" help:"The outline's marks of the whole messages, in tokens; stay with the thread (20000,40000)."`
	Outline   string `name:"outline" env:"SKEIN_OUTLINE" placeholder:"LOW,HIGH" help:"Marks of the outline, in tokens; stay with the thread (4000,8000)."`
	Strategy  string `env:"SKEIN_STRATEGY" placeholder:"NAME" help:"Context strategy; stays with the thread, default gives it back to the agent (outline)."`
	Zone      string `env:"SKEIN_ZONE" placeholder:"ZONE" help:"Time zone of the thread, as Europe/Berlin (UTC)."`
	AgentsDir string `name:"agents" env:"SKEIN_AGENTS" default:"agents" placeholder:"DIR" help:"Folder of agents, one Markdown file each (${default})."`
	Workspace string `env:"SKEIN_WORKSPACE" default:"." placeholder:"DIR" help:"Folder that agents work in (${default})."`
	SkillsDir string `name:"skills" env:"SKEIN_SKILLS" default:"skills" placeholder:"DIR" help:"Folder of skills, a folder with a SKILL.md each (${default})."`
	Events    string `env:"SKEIN_EVENTS" placeholder:"FILE" help:"Append what happens to a file, as JSON, one event a line (-: standard error)."`
	JSON      bool   `name:"json" env:"SKEIN_JSON" help:"Print JSON."`

	NoTranscript  bool `env:"SKEIN_NO_TRANSCRIPT" help:"Keep nothing of a talk: it is over with the command."`
	EventsVerbose bool `env:"SKEIN_EVENTS_VERBOSE" help:"Put whole prompts and answers among the events."`

	Version kong.VersionFlag `help:"Show the version."`
}

// app is what the commands work with.
type app struct {
	ctx    context.Context
	in     io.Reader
	out    io.Writer
	errs   io.Writer
	flags  *Flags
	parsed *kong.Context
	file   *configFile
	models *catalog // once it is read
	warned *warnings
	crew   []skein.Agent // once they are read
	unfit  []string      // agents whose files were left out
	shop   *workshop     // while the engine is open
}

// defaultDB is $XDG_DATA_HOME/skein/skein.db.
func defaultDB() string {
	dir := os.Getenv("XDG_DATA_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "skein.db"
		}
		dir = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(dir, "skein", "skein.db")
}

// purpose says what a command wants the engine for.
type purpose int

const (
	toWrite   purpose = iota // the database is made where it is not there
	toChange                 // it must be there
	toRead                   // the same, and nothing is written
	toAnswer                 // as toWrite; models are asked, and the agents' tools are reached
	toGoOn                   // as toChange and toAnswer
	toPreview                // as toRead; the agents' tools are reached
	toList                   // no thread is looked at; the agents' tools are reached
)

// The sorts of purposes.
var (
	makes   = []purpose{toWrite, toAnswer}
	reads   = []purpose{toRead, toPreview}
	reaches = []purpose{toAnswer, toGoOn, toPreview, toList}
)

// with opens the engine and what agents work with, runs work and closes them.
func (a *app) with(p purpose, work func(*skein.Engine) error) error {
	hearing, err := a.audience()
	if err != nil {
		return err
	}
	defer hearing.close()
	agents := a.agents()
	shop, err := a.openWorkshop(agents, slices.Contains(reaches, p))
	if err != nil {
		return err
	}
	a.shop = shop
	e, err := a.open(p, agents, shop, append(hearing.observers, a.warner()))
	if err != nil {
		return errors.Join(err, shop.close())
	}
	return errors.Join(a.explained(work(e)), e.Close(), shop.close())
}

// explained says of an agent that is not there that its file was left out.
func (a *app) explained(err error) error {
	var e *thread.Error
	if !errors.As(err, &e) {
		return err
	}
	for _, name := range a.unfit {
		if e.Message == fmt.Sprintf("there is no agent named %q", name) {
			told := *e
			told.Message = fmt.Sprintf("the agent %s cannot answer: its file was left out", name)
			told.Hint = "mend " + filepath.Join(a.flags.AgentsDir, name+".md")
			return &told
		}
	}
	return err
}

var agentFile = regexp.MustCompile(`^the agent file (\S+)\.md `)

func (a *app) open(p purpose, agents []skein.Agent, shop *workshop, observers []skein.Observer) (*skein.Engine, error) {
	models, err := a.catalog()
	if err != nil {
		return nil, err
	}
	guide, err := a.lineGuide()
	if err != nil {
		return nil, err
	}
	skills, err := shop.skills()
	if err != nil {
		return nil, err
	}
	st, err := a.openStore(p)
	if err != nil {
		return nil, err
	}
	e, err := skein.Open(a.ctx, skein.Config{
		Store: st, WithoutTranscript: a.flags.NoTranscript || p == toList,
		Agents: agents, Agent: agent.North, Model: a.modelName(), Models: a.model, Rules: models.table,
		Sets: shop.sets, Skills: skills, Workspace: shop.root.FS(), Prompts: shop.servers.prompt, Begins: shop.begins,
		LineModel: a.flags.LineModel, LineGuide: guide, ReadOnly: slices.Contains(reads, p), Observers: observers,
	})
	if err != nil && st != nil {
		return nil, errors.Join(err, st.Close())
	}
	return e, err
}

// openStore opens the database; nil where nothing is to be kept.
func (a *app) openStore(p purpose) (store.Store, error) {
	if a.flags.NoTranscript || p == toList {
		return nil, nil
	}
	if !slices.Contains(makes, p) {
		if _, err := os.Stat(a.flags.DB); err != nil {
			return nil, &thread.Error{Code: thread.NotFound, Op: "open", Message: fmt.Sprintf("there is no database %s", a.flags.DB), Hint: "skein chat makes one; --db names another"}
		}
	}
	st, err := sqlite.Open(a.ctx, a.flags.DB, sqlite.Options{ReadOnly: slices.Contains(reads, p)})
	if err != nil {
		return nil, err
	}
	return st, nil
}

// lineGuide reads the text that tells a model how much lines are to keep.
func (a *app) lineGuide() (string, error) {
	if a.flags.LineGuide == "" {
		return "", nil
	}
	data, err := os.ReadFile(a.flags.LineGuide)
	if err != nil {
		return "", &thread.Error{Code: thread.Configuration, Op: "lines", Message: "the guide for lines cannot be read", Err: err}
	}
	return string(data), nil
}

// agents reads the folder of agents. A file that is no agent is told of and left
// out. The built-in one is there unless a file takes its name.
func (a *app) agents() []skein.Agent {
	found, bad := agent.ReadDir(os.DirFS(a.flags.AgentsDir))
	if bad != nil {
		for line := range strings.Lines(bad.Error()) {
			a.leftOut(line)
			if m := agentFile.FindStringSubmatch(line); m != nil {
				a.unfit = append(a.unfit, m[1])
			}
		}
	}
	for _, f := range found {
		if f.Name == agent.North {
			a.crew = found
			return found
		}
	}
	a.crew = append([]skein.Agent{agent.BuiltIn()}, found...)
	return a.crew
}

// settings are those that a command gives a thread.
func (a *app) settings() (skein.Settings, error) {
	s := skein.Settings{Agent: a.flags.Agent, Model: a.flags.Model, Strategy: a.flags.Strategy, Zone: a.flags.Zone}
	var err error
	if s.Tail, err = agent.ParseMarks(a.flags.Tail); err != nil {
		return s, err
	}
	s.Outline, err = agent.ParseMarks(a.flags.Outline)
	return s, err
}

// me is the name of whoever sits here: as given, else the login name where that
// can be a name.
func (a *app) me() string {
	if a.flags.Me != "" {
		return a.flags.Me
	}
	login := os.Getenv("USER")
	if u, err := user.Current(); login == "" && err == nil {
		login = u.Username
	}
	if agent.CheckName(login) == nil {
		return login
	}
	return "user"
}

// checkFlags refuses values that no command could use.
func (a *app) checkFlags() error {
	if a.flags.Me != "" {
		if err := agent.CheckName(a.flags.Me); err != nil {
			return err
		}
	}
	if !(a.flags.Pace >= 0) {
		return &thread.Error{Code: thread.Invalid, Op: "pace", Message: fmt.Sprintf("%v is not a pace", a.flags.Pace), Hint: "write tokens a second, or 0 for at once"}
	}
	_, err := a.settings()
	return err
}

// checkTranscript refuses what cannot be where nothing is kept.
func (a *app) checkTranscript() error {
	if !a.flags.NoTranscript {
		return nil
	}
	bad := func(message string) error {
		return &thread.Error{Code: thread.Invalid, Op: "transcript", Message: message, Hint: "leave out --no-transcript"}
	}
	command, _, _ := strings.Cut(a.parsed.Command(), " ")
	switch {
	case command != "chat":
		return bad("without a transcript there is nothing to " + command)
	case a.talksIn() != "":
		return &thread.Error{Code: thread.Invalid, Op: "transcript", Message: fmt.Sprintf("without a transcript the thread %s cannot be gone on with", a.talksIn()), Hint: "leave out its name, or --no-transcript"}
	}
	return nil
}

// talksIn is the thread that chat was given.
func (a *app) talksIn() string {
	for _, arg := range a.parsed.Selected().Positional {
		if arg.Name == "thread" {
			return arg.Target.String()
		}
	}
	return ""
}

// printJSON prints a value as indented JSON.
func (a *app) printJSON(v any) error {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	return a.printf("%s", safeJSON(b.String()))
}

// lineJSON prints a value as JSON on one line.
func (a *app) lineJSON(v any) error {
	data, err := thread.Encode(v)
	if err != nil {
		return err
	}
	return a.printf("%s\n", safeJSON(string(data)))
}

// safeJSON escapes, as JSON can, what safe would show as its code.
func safeJSON(s string) string {
	if !strings.ContainsFunc(s, tui.Harmful) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if tui.Harmful(r) {
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func (a *app) printf(format string, args ...any) error {
	_, err := fmt.Fprintf(a.out, format, args...)
	return err
}

// safe makes text harmless for a terminal: control characters other than
// newline and tab, and characters that turn the direction of text, show as
// their code.
func safe(s string) string {
	if !strings.ContainsFunc(s, tui.Harmful) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if tui.Harmful(r) {
			fmt.Fprintf(&b, "<U+%04X>", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
