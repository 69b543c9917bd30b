package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"github.com/skeinhq/skein/model/modeltest"
)

type fakeCmd struct {
	Addr string `default:"127.0.0.1:8418" placeholder:"HOST:PORT" help:"Where it listens, on this machine only (${default})."`
}

func (fakeCmd) Help() string {
	return example("skein fake --pace 40") + `

Then, elsewhere, with what it prints:

  skein chat --model claude-opus-5-5`
}

// Run serves until it is interrupted. What goes wrong with printing ends it.
func (c fakeCmd) Run(a *app) error {
	ctx, stop := signal.NotifyContext(a.ctx, os.Interrupt)
	defer stop()
	told := make(chan error, 1)
	seen := func(e modeltest.Exchange) {
		if err := a.printf("%s\n", exchangeLine(e)); err != nil {
			select {
			case told <- err:
			default:
			}
		}
	}
	l, err := modeltest.Listen(modeltest.NewServer(modeltest.Config{Pace: a.flags.Pace, Keep: 1, Seen: seen}), c.Addr)
	if err != nil {
		return err
	}
	if err := a.fakeSettings(l.URL); err != nil {
		return errors.Join(err, l.Close())
	}
	select {
	case <-ctx.Done():
		err = nil
	case err = <-told:
	}
	return errors.Join(err, l.Close())
}

// fakeSettings prints what makes skein ask the fake provider.
func (a *app) fakeSettings(url string) error {
	set := []variable{
		{"ANTHROPIC_API_KEY", modeltest.DefaultKey}, {"ANTHROPIC_BASE_URL", url},
		{"OPENAI_API_KEY", modeltest.DefaultKey}, {"OPENAI_BASE_URL", url + "/v1"},
		{"CHAT_BASE_URL", url + "/ollama/v1"},
	}
	if a.flags.JSON {
		values := map[string]string{}
		for _, s := range set {
			values[s.name] = s.value
		}
		return a.printJSON(values)
	}
	return a.printf(`A fake provider listens at %s. Elsewhere:

export %s %s
export %s %s
export %s

skein chat --model claude-opus-5-5     as Anthropic
skein chat --model gpt-6-sol           as OpenAI
skein chat --model chat/qwen3:8b       as Ollama

Ctrl-C ends it. Each request is told here:
`, url, set[0], set[1], set[2], set[3], set[4])
}

// variable is one of the environment's.
type variable struct{ name, value string }

func (s variable) String() string { return s.name + "=" + s.value }

// exchangeLine tells of a request in one line.
func exchangeLine(e modeltest.Exchange) string {
	line := fmt.Sprintf("%s %s %d", e.Path, cmp.Or(e.Asked.Model, "-"), e.Status)
	if e.Status != 200 {
		return line
	}
	return line + fmt.Sprintf(" input %d, read %d, written %d, output %d", e.Usage.Input, e.Usage.CacheRead, e.Usage.CacheWrite, e.Usage.Output)
}
